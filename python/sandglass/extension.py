# SPDX-License-Identifier: MIT
"""A running simulation as a world to which bodies are added: what `Simulation.extend` lends."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NoReturn

from . import _native
from .world import World

if TYPE_CHECKING:
    from .simulation import Simulation


class Extension(World):
    """Adds shapes and bodies to a running simulation, by the functions of `World`; the rest of a world stays as it was made."""

    _advice = "it was lent by `extend`, whose block has ended"

    def __init__(self, sim: Simulation) -> None:
        self._sim, self._taken = sim, False
        with sim._handle as pointer:
            _native.change_bodies(pointer)
        shapes = ctypes.cast(sim._world.shapes, ctypes.POINTER(_native.Shape))
        spheres = [k for k in range(sim._world.shape_count) if shapes[k].kind == _native.constants["SPHERE"]]
        self._sphere = spheres[0] if spheres else None

    @property
    def _struct(self) -> Any:
        if self._taken:
            raise _native.SandglassError(f"this world cannot be used any more: {self._advice}")
        return self._sim._world

    def _reserve(self, bodies: int) -> None:
        self._sim._handle.reserve(self._struct, self._struct.body_count + bodies)

    def _refuse_other(self, *given: Any, **named: Any) -> NoReturn:
        """Not of a running simulation."""
        raise _native.SandglassError("a running simulation takes shapes and bodies; the rest of its world is made before")


for _name in ("material", "pair", "plane", "box_walls", "sphere_wall", "revolution", "mesh", "terrain", "join", "outlet", "probe",
              "simulate"):
    setattr(Extension, _name, Extension._refuse_other)
