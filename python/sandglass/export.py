# SPDX-License-Identifier: MIT
"""Exports: bodies and contacts over time, in files of other programs."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref
from typing import Any, Callable, Sequence

from . import _native
from ._arrays import Array
from ._handle import Handle
from ._owned import Owner


class Export(Owner):
    """A file that is being written, made by `Simulation.export`; the block of `with` closes it."""

    _advice = "it is a file that is being written"

    def __init__(self, handle: Handle, definition: Any, path: str, leave: Callable[[Export], None]) -> None:
        self.path = path
        """Of the file."""
        self._handle, self._leave = handle, leave
        with handle as pointer:
            self._pointer: int | None = _native.export_open(pointer, byref(definition))

    def _step(self) -> None:
        """Writes a frame where one is due."""
        if self._pointer:
            _native.export_step(self._pointer)

    def close(self) -> None:
        """Waits until all frames are written; raises where something is missing. It may be closed again."""
        pointer, self._pointer = self._pointer, None
        if pointer:
            self._leave(self)
            _native.export_close(pointer)

    def __enter__(self) -> Export:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self, close: Any = _native.export_close) -> None:
        pointer = getattr(self, "_pointer", None)
        if pointer and os.getpid() == self._handle._process:
            close(pointer)

    def __repr__(self) -> str:
        return f"<Export {self.path}, {'open' if self._pointer else 'closed'}>"


class Exporting:
    """The part of a simulation that writes files for other programs."""

    name: str
    _handle: Handle
    _exports: list[Export]
    _seed: int | None
    _box: tuple[Array, Array] | None
    _hearing: Any

    def export(self, path: str | os.PathLike[str], *, rate: float = 30, columns: str | Sequence[str] | None = None,
               contacts: bool = False) -> Export:
        """Writes bodies and contacts over time: `with sim.export("run.vtkhdf", contacts=True): sim.run(5)`.

        The ending says the format: .vtkhdf, .pvd, .gsd, .usda or .csv. The first frame is the state of now; `rate` is how many follow
        for each simulated second, one for each step at most. `columns` chooses by name. The file says where it came from.
        """
        file = os.fspath(path)
        names = columns if columns is None or isinstance(columns, str) else ",".join(columns)
        kept = [os.fsencode(file), self.name.encode(), (names or "").encode()]  # texts must outlive the call
        definition = _native.default_export(kept[0])
        definition.scene = _native.address(kept[1])
        definition.columns = _native.address(kept[2]) if names is not None else None
        definition.rate, definition.contacts = _native.real(rate, "rate"), bool(contacts)
        definition.has_seed, definition.seed = self._seed is not None, self._seed or 0
        definition.on_message = ctypes.cast(self._hearing, ctypes.c_void_p)
        if self._box:
            definition.lower, definition.upper = (_native.vec3(corner) for corner in self._box)
        export = Export(self._handle, definition, os.fsdecode(file), self._exports.remove)
        self._exports.append(export)
        return export
