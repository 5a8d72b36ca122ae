# SPDX-License-Identifier: MIT
"""Probes: instruments that measure inside a run (docs/probes.md has the kinds and the formulas)."""

from __future__ import annotations

from ctypes import byref
from typing import Any, Sequence

import numpy as np

from . import _native
from ._arrays import Array, view
from ._native import vec3
from ._words import hint


class Probe:
    """What a probe of a simulation has read. `values` shows the last sample, and changes with the next."""

    def __init__(self, handle: Any, world: Any, index: int, struct: Any) -> None:
        self._handle, self._index = handle, index
        count = _native.probe_columns(byref(struct))
        cells = range(_native.probe_cells(byref(struct)))
        centers = [_native.probe_cell_center(byref(struct), cell) for cell in cells]
        self.name: str = struct.name.decode()
        self.kind: str = _native.probe_kind_name(struct.kind).decode()
        self.columns: tuple[str, ...] = tuple(_native.probe_column(byref(struct), k).decode() for k in range(count))
        """Names with units, "rate_kg_s"."""
        self.centers: Array = np.array([(c.x, c.y, c.z) for c in centers])
        """m, of its cells; (cells, 3)"""
        self.values: Array = view(_native.probe_values(byref(world), index), "f8", (len(cells), count), handle)
        """Of the last sample; (cells, columns)"""

    @property
    def sampled(self) -> bool:
        """Whether the last step took a sample."""
        return bool(_native.probe_sampled(_native.simulation_world(self._handle.pointer), self._index))

    def __getitem__(self, column: str) -> Any:
        """A column of the last sample: a number, or an array over the cells where there are several."""
        if column not in self.columns:
            raise KeyError(f"{column}: the probe {self.name} has {', '.join(self.columns)}")
        values = self.values[:, self.columns.index(column)]
        return float(values[0]) if len(values) == 1 else values.copy()

    def __repr__(self) -> str:
        return f"<Probe {self.name}: {self.kind}, {len(self.values)} cells of {', '.join(self.columns)}>"


def make(kind: str, name: str, point: Sequence[float] | None, normal: Sequence[float], **places: Any) -> Any:
    """A probe as the world takes it; `places` are the arguments of `World.probe`."""
    kinds = [_native.probe_kind_name(k).decode() for k in range(_native.constants["PROBE_KINDS"])]
    if kind not in kinds:
        raise _native.SandglassError(f"{kind}: there is no such probe{hint(kind, kinds)}")
    number = kinds.index(kind)
    flow = number == _native.constants["PROBE_FLOW"] and point is not None
    probe = _native.probe_flow(vec3(point, "point"), vec3(normal, "normal")) if flow else _native.probe_of(number)
    probe.name, probe.rate = name.encode(), places["rate"]
    if places["lower"] is not None:
        _native.probe_box(byref(probe), vec3(places["lower"], "lower"), vec3(places["upper"], "upper"))
    if places["line"] is not None:
        begin, end = places["line"]
        _native.probe_line(byref(probe), vec3(begin, "line"), vec3(end, "line"), places["width"], places["bins"])
    for key in ("outlet", "boundary", "body", "radius", "least_force"):
        if places[key] is not None:
            setattr(probe, key, places[key])
    if places["cells"] is not None:
        probe.cells[:] = places["cells"]
    return probe
