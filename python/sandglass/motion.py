# SPDX-License-Identifier: MIT
"""How boundaries move: a motion as a dictionary, and boundaries of a simulation, which are told another one while it runs."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Union

import numpy as np

from . import _native
from ._arrays import Array
from ._native import real, vec3
from ._words import hint

if TYPE_CHECKING:
    from .simulation import Simulation

Motion = Union["dict[str, Any]", Callable[[float], Any], None]

_VECTORS = ("velocity", "center", "axis", "amplitude", "surface")
_NUMBERS = ("rate", "start", "stop", "swing", "frequency", "phase")
_KEYS = (*_VECTORS, *_NUMBERS, "path")


def struct_of(motion: dict[str, Any], axis: Any, center: Any) -> Any:
    """A motion as the library takes it, but its path; axis and center where it names none."""
    row = _native.Motion(axis=axis, center=center)
    for key, value in motion.items():
        what = f"motion, {key}"
        if key not in _KEYS:
            raise ValueError(f"motion: {key} is none of its keys{hint(key, _KEYS)}")
        if key == "amplitude" and np.ndim(value) == 0:
            value = (0, 0, value)
        if key != "path":
            setattr(row, key, vec3(value, what) if key in _VECTORS else real(value, what))
    if ("amplitude" in motion or "swing" in motion) and "frequency" not in motion:
        raise ValueError("motion: what has an amplitude or a swing needs a frequency")
    return row


def path_of(motion: dict[str, Any]) -> Array | None:
    """Its path as the library takes it."""
    if "path" not in motion:
        return None
    try:
        rows = np.asarray(motion["path"], float)
    except (TypeError, ValueError):
        rows = np.zeros(0)
    if rows.ndim != 2 or rows.shape[1] not in (4, 5):
        raise ValueError("motion, path: expected rows of time, x, y, z and, where it turns, an angle")
    path = np.zeros(len(rows), _native.MOTION_POINT)
    path["time"], path["shift"] = rows[:, 0], rows[:, 1:4]
    path["angle"] = rows[:, 4] if rows.shape[1] == 5 else 0
    return path


def follow(boundary: int, path: Array | None) -> None:
    """Gives the boundary at an address a path, if there is one."""
    if path is not None:
        _native.boundary_path(boundary, path.ctypes.data, len(path))


def _check_path(path: Array | None) -> None:
    """Refuses a path that no boundary can follow, before anything has changed."""
    nobody = _native.Boundary()
    try:
        follow(ctypes.addressof(nobody), path)
    finally:
        _native.boundary_free(ctypes.byref(nobody))


class Boundary:
    """A boundary of a simulation: `sim.boundaries["drum"]`."""

    def __init__(self, sim: Simulation, number: int, name: str) -> None:
        self._sim = sim
        self.number, self.name = number, name

    def _address(self, world: Any) -> int:
        return int(world.boundaries) + self.number * ctypes.sizeof(_native.Boundary)

    @property
    def _row(self) -> Any:
        return _native.Boundary.from_address(self._address(self._sim._world))

    @property
    def _pose(self) -> Any:
        world = self._sim._world
        return _native.boundary_pose(self._address(world), world.time)

    @property
    def position(self) -> Array:
        """m, where it is now"""
        p = self._pose.position
        return np.array([p.x, p.y, p.z])

    @property
    def rotation(self) -> Array:
        """A unit quaternion w, x, y, z."""
        q = self._pose.rotation
        return np.array([q.w, q.x, q.y, q.z])

    @property
    def motion(self) -> Motion:
        """How it moves: a dictionary, as `World.plane` takes it, a function, or None where it stands still; may be set.

        It goes on from where it is, with times of a path and an oscillation from now on; axis and center stay where they are
        unless they are given. A function is called with the time (s) before each step, and returns the motion of that step or
        None.
        """
        told = self._sim._moving.get(self.number)
        row = self._row
        if told is not None or not row.moves:
            return told
        found: dict[str, Any] = {key: getattr(row.motion, key) for key in _NUMBERS}
        vectors = {key: getattr(row.motion, key) for key in _VECTORS}
        found.update({key: (v.x, v.y, v.z) for key, v in vectors.items()})
        return {key: value for key, value in found.items() if np.any(np.asarray(value))}

    @motion.setter
    def motion(self, motion: Motion) -> None:
        if callable(motion):
            self._sim._moving[self.number] = motion
            return
        self._move(motion)
        self._sim._moving.pop(self.number, None)

    def _move(self, motion: dict[str, Any] | None) -> None:
        """Replaces the motion from now on."""
        if motion is not None and not isinstance(motion, dict):
            raise TypeError(f"motion of {self.name}: expected a dictionary, a function or None, got {motion!r:.40}")
        with self._sim._handle as pointer:
            world = self._sim._world
            address = self._address(world)
            axis = self._row.motion.axis if self._row.moves else vec3((0, 0, 1))
            center = _native.boundary_center(address, world.time)
            row = struct_of(motion or {}, axis, center)
            path = path_of(motion or {})
            _check_path(path)
            _native.simulation_change(pointer)
            _native.set_motion(ctypes.addressof(world), self.number, row)
            follow(address, path)
            if not motion:
                self._row.moves = False

    def __repr__(self) -> str:
        return f"<Boundary {self.number}: {self.name}>"
