# SPDX-License-Identifier: MIT
"""What a simulation says of itself: counters and times of a step, knobs and outlets of a scene, arrays to edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._arrays import Array, DeviceArray
from ._words import hint
from .problem import Islands, Metrics


@dataclass(frozen=True)
class Counters:
    """What the last step did."""

    bodies: int
    contacts: int
    """Of bodies with each other and with boundaries."""
    joint_rows: int
    """Blocks of three rows that hold and drive joints; see `Simulation.joint_rows`."""
    asleep: int
    solved_contacts: int
    warm_started: int
    iterations: int
    status: str
    metrics: Metrics
    islands: Islands
    solved: float
    """Percent of the step that is solved."""
    penetration_max: float
    """m, of the gaps the step began with"""
    penetration_walls: float
    lost_total: int
    infeasible_total: int
    entered_total: int
    left_total: int
    """Bodies that left through outlets."""
    left_mass: float
    """kg"""


@dataclass(frozen=True)
class Profile:
    """Milliseconds of the phases of the last step."""

    collide: float
    warm_start: float
    build: float
    solve: float
    integrate: float
    step: float
    downloaded: int
    """Bytes of bodies and contacts that came from a device to the host."""


@dataclass(frozen=True)
class GpuArrays:
    """Bodies and impulses in the memory of a GPU; nothing is copied."""

    positions: DeviceArray
    """m, of the centers of mass; (bodies, 3)"""
    rotations: DeviceArray
    """Unit quaternions w, x, y, z; (bodies, 4)"""
    velocities: DeviceArray
    """m/s; (bodies, 3)"""
    spins: DeviceArray
    """rad/s, world frame; (bodies, 3)"""
    impulses: DeviceArray
    """N s, of the contacts of the last step and the rows of joints among them, in float; (rows, 3)"""


@dataclass(frozen=True)
class Knob:
    """A quantity that a scene offers to change."""

    name: str
    about: str
    unit: str
    value: float
    least: float
    most: float


@dataclass(frozen=True)
class Outlet:
    """What left through an outlet so far."""

    name: str
    bodies: int
    mass: float
    """kg"""


@dataclass(frozen=True)
class Bodies:
    """Arrays of the bodies to write to, within `Simulation.edit`."""

    positions: Array
    rotations: Array
    velocities: Array
    spins: Array

    def __getattr__(self, name: str) -> Any:
        known = "" if name.startswith("_") else hint(name, self.__dataclass_fields__)
        raise AttributeError(f"bodies have no {name}{known}")


def _refuse_array(bodies: Bodies, name: str, value: Any) -> None:
    if name in bodies.__dataclass_fields__:
        raise AttributeError(f"{name} is an array to write into: `bodies.{name}[...] = values`")
    getattr(bodies, name)


# In place of what a frozen dataclass says.
setattr(Bodies, "__setattr__", _refuse_array)
