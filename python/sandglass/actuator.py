# SPDX-License-Identifier: MIT
"""Actuators of a machine's file: the motors of its joints, with the file's strength, and what a control asks of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .model import Joint
    from .simulation import Simulation

EVERYTHING = (-math.inf, math.inf)
_BEYOND = 1e3  # rad/s or m/s, a speed that a motor which gives a torque never comes to


@dataclass(eq=False)
class Actuator:
    """What drives a joint of a file: a motor that gives a torque, or one that keeps a position or a velocity."""

    name: str
    kind: str  # motor, position, velocity
    joint: str  # its name in the file
    where: str = ""  # file, line and element
    ratio: float = 1  # what a control of 1 asks of the joint: N m or N, rad or m, rad/s or m/s
    gear: float = 1
    limits: tuple[float, float] = EVERYTHING  # of its control
    forces: tuple[float, float] = EVERYTHING  # of what it gives, before the gear
    rate: float | None = None  # 1/s, of a position
    zero: float = 0  # the coordinate that the file gives to where it is loaded
    number: int = -1  # of the joint in the world
    start: float = 0  # the control that it is loaded with

    @property
    def strength(self) -> float:
        """N m or N, the most that it gives its joint."""
        most = abs(self.gear) * max(map(abs, self.forces))
        return min(most, abs(self.ratio) * max(map(abs, self.limits))) if self.kind == "motor" else most

    def target(self, control: float) -> float:
        """What a control asks of the joint, within the limits of the file."""
        value = self.ratio * min(max(float(control), self.limits[0]), self.limits[1])
        if self.kind != "motor":
            return value - (self.zero if self.kind == "position" else 0)
        low, high = sorted(self.gear * force for force in self.forces)
        return min(max(value, low), high)

    def apply(self, sim: Simulation, control: float) -> None:
        """Tells the motor what to do from the next step on, in the units of the file: `ctrl` of MJCF."""
        if math.isnan(control):
            raise ValueError(f"{self.name}: its control is not a number")
        joint, value = sim.joints[self.number], self.target(control)
        if self.kind == "position":
            joint.set_motor(position=value)
        elif self.kind == "velocity":
            joint.set_motor(speed=value)
        else:
            joint.set_motor(speed=math.copysign(_BEYOND, value), strength=abs(value))


def wire(actuators: list[Actuator], joints: dict[str, Joint], ignored: list[str]) -> list[Actuator]:
    """Gives joints the motors of actuators; returns those that drive one. What others say is listed in `ignored`."""
    found: dict[str, Actuator] = {}
    for actuator in actuators:
        joint = joints.get(actuator.joint)
        if joint is None or joint.kind not in ("hinge", "slider"):
            ignored.append(f"{actuator.where} {actuator.name} acts on no hinge or slider of the world: {actuator.joint}")
        elif actuator.joint in found:
            ignored.append(f"{actuator.where} {actuator.name} is not read: {found[actuator.joint].name} drives {joint.name} already")
        else:
            found[actuator.joint], actuator.zero = actuator, joint.zero
            joint.motor.update(_motor(actuator, joint))
    return list(found.values())


def _motor(actuator: Actuator, joint: Joint) -> dict[str, Any]:
    """Words of World.join: a position or velocity is kept, and a motor gives nothing."""
    words: dict[str, Any] = {"strength": min(actuator.strength, joint.motor.get("strength", math.inf))}
    if actuator.kind == "position":
        words["motor_position"] = actuator.target(actuator.start)
        if actuator.rate is not None:
            words["motor_rate"] = actuator.rate
    if actuator.kind == "velocity":
        words["motor_speed"] = actuator.target(actuator.start)
    return words
