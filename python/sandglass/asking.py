# SPDX-License-Identifier: MIT
"""Questions to a simulation between two steps: rays, nearest surfaces, overlaps, forces and events of contacts."""

from __future__ import annotations

import ctypes
from ctypes import byref
from dataclasses import dataclass
from typing import Any, Iterator

import numpy as np

from . import _native
from ._arrays import Array, numbers, rows, vectors
from ._handle import Handle
from ._words import hint

NOTHING = -2**31
"""In `Hits.bodies`: neither a body nor a boundary."""


@dataclass(frozen=True, eq=False)
class Hits:
    """What rays met, or what is nearest to points: `distances, bodies = sim.raycast(origins, directions)`."""

    distances: Array
    """m; infinite where there is nothing; (n,)"""
    bodies: Array
    """Numbers of bodies; boundary k is -1 - k; NOTHING; (n,)"""
    points: Array
    """m, on the surface; (n, 3)"""
    normals: Array
    """Unit, out of the body, or to the side of the boundary on which bodies are; (n, 3)"""

    def __iter__(self) -> Iterator[Array]:
        return iter((self.distances, self.bodies))

    def __len__(self) -> int:
        return len(self.distances)


def _hits_of(found: Array) -> Hits:
    boundary = np.where(found["boundary"] >= 0, -1 - found["boundary"], NOTHING)
    bodies = np.where(found["body"] >= 0, found["body"], boundary).astype(np.int32)
    return Hits(found["distance"].copy(), bodies, found["point"].copy(), found["normal"].copy())


class Asking:
    """The part of a simulation that answers questions."""

    _handle: Handle

    def raycast(self, origins: Any, directions: Any, *, reach: Any = np.inf, passes: Any = -1) -> Hits:
        """Finds what each ray meets first: `distances, bodies = sim.raycast(origins, directions)`.

        Origins (m) and directions, of any length, are (n, 3), or one for all. `reach` (m) is how far a ray goes, and `passes`
        a body that it passes through, such as the one that carries a sensor: one number, or one for each ray. A ray that
        starts in a body meets it at distance 0. A boundary is met from the side on which bodies are.
        """
        begin, along = rows(np.atleast_2d(origins), "origins"), rows(np.atleast_2d(directions), "directions")
        count = max(len(begin), len(along)) if len(begin) and len(along) else 0
        rays = np.zeros(count, _native.RAY)
        rays["from"], rays["along"] = vectors(begin, count, "origins"), vectors(along, count, "directions")
        rays["reach"] = numbers(reach, count, "reach")
        rays["passes"] = [_native.integer(body, "passes") for body in np.broadcast_to(passes, (count,)).tolist()]
        found = np.zeros(count, _native.HIT)
        with self._handle as pointer:
            _native.raycast(pointer, rays.ctypes.data, count, found.ctypes.data)
        return _hits_of(found)

    def closest(self, points: Any, *, reach: float = np.inf) -> Hits:
        """Finds the body or boundary whose surface is nearest to each point (m, (n, 3)), within `reach`.

        Distances are negative in a body and behind a boundary.
        """
        places = rows(np.atleast_2d(points), "points")
        found = np.zeros(len(places), _native.HIT)
        with self._handle as pointer:
            _native.closest(pointer, places.ctypes.data, len(places), _native.real(reach, "reach"), found.ctypes.data)
        return _hits_of(found)

    def overlap(self, center: Any = None, radius: float | None = None, *, lower: Any = None, upper: Any = None) -> Array:
        """The numbers of the bodies that a sphere, or a box from `lower` to `upper`, overlaps or touches, in their order."""
        shape, pose, scale = _native.Shape(), _native.Pose(rotation=_native.Quat(1, 0, 0, 0)), 1.0
        if center is not None and radius is not None and lower is None and upper is None:
            pose.position, scale = _native.vec3(center, "center"), _native.real(radius, "radius")
            _native.shape_sphere(byref(shape))
        elif lower is not None and upper is not None and center is None and radius is None:
            low, high = (np.array(_native.reals(corner, 3, "a corner of the box")) for corner in (lower, upper))
            pose.position = _native.vec3(0.5 * (low + high))
            _native.shape_box(byref(shape), _native.vec3(0.5 * (high - low)))
        else:
            raise TypeError("overlap takes a center and a radius, or lower and upper")
        try:
            return self._overlap(shape, scale, pose)
        finally:
            _native.shape_free(byref(shape))

    def _overlap(self, shape: Any, scale: float, pose: Any) -> Array:
        with self._handle as pointer:
            most = int(_native.simulation_world(pointer).contents.body_count)
            found = np.zeros(most, np.int32)
            count = _native.overlap(pointer, byref(shape), scale, pose, found.ctypes.data, most)
        return found[:count].copy()

    # --- forces ---------------------------------------------------------------------------------------------------

    def _forces(self, function: Any, count: str) -> tuple[Array, Array]:
        with self._handle as pointer:
            size = getattr(_native.simulation_world(pointer).contents, count)
            force, torque = np.zeros((size, 3)), np.zeros((size, 3))
            function(pointer, force.ctypes.data, torque.ctypes.data)
        return force, torque

    @property
    def contact_forces(self) -> Array:
        """N, of the contacts of the last step on each body; (bodies, 3). A copy."""
        return self._forces(_native.contact_forces, "body_count")[0]

    @property
    def contact_torques(self) -> Array:
        """N m, of the same contacts, about the centers of mass; (bodies, 3). A copy."""
        return self._forces(_native.contact_forces, "body_count")[1]

    @property
    def boundary_forces(self) -> Array:
        """N, of the contacts of the last step on each boundary; (boundaries, 3). A copy."""
        return self._forces(_native.boundary_forces, "boundary_count")[0]

    @property
    def boundary_torques(self) -> Array:
        """N m, of the same contacts, about the positions of the boundaries; (boundaries, 3). A copy."""
        return self._forces(_native.boundary_forces, "boundary_count")[1]

    def boundary_force(self, boundary: str | int) -> Array:
        """N, of the contacts of the last step on a boundary, by its name or number; (3,)"""
        force: Array = self.boundary_forces[self._boundary_number(boundary)]
        return force

    def _boundary_number(self, boundary: str | int) -> int:
        world = _native.simulation_world(self._handle.pointer).contents
        table = ctypes.cast(world.boundaries, ctypes.POINTER(_native.Boundary))
        names = [table[k].name.decode() for k in range(world.boundary_count)]
        if isinstance(boundary, str):
            if boundary not in names:
                raise _native.SandglassError(f"{boundary}: there is no such boundary{hint(boundary, names)}")
            return names.index(boundary)
        if not 0 <= _native.integer(boundary, "boundary") < len(names):
            raise _native.SandglassError(f"boundary {boundary}: there are {len(names)}")
        return boundary

    # --- events ---------------------------------------------------------------------------------------------------

    def keep_events(self, keep: bool = True) -> None:
        """Whether the steps that follow keep the events of contacts. On a GPU their contacts then come to the host."""
        with self._handle as pointer:
            _native.keep_events(pointer, keep)

    def contact_events(self) -> Array:
        """What happened between pairs since the last call: a structured array, a copy, with a row for each pair that touched.

        Fields: a, b, its bodies, boundary k as -1 - k; begins and ends, how often they began to touch and parted; touching,
        whether they do now; first and last (s), the steps in which they touched; impulse (N s) of the hardest step, its time
        hardest (s), and point (m) and normal, from a to b, of the contact with the largest share of it.
        """
        with self._handle as pointer:
            count = _native.contact_events(pointer, None, 0)
            found = np.zeros(count, _native.CONTACT_EVENT)
            _native.contact_events(pointer, found.ctypes.data, count)
        return found
