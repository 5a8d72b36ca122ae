# SPDX-License-Identifier: MIT
"""Joints of a simulation: where they are, how fast they move, and what drives them, which may be told anew while it runs."""

from __future__ import annotations

import ctypes
import math
from ctypes import byref
from typing import TYPE_CHECKING, Any

from . import _native
from ._native import real

if TYPE_CHECKING:
    from .simulation import Simulation


def motor(drive: Any, *, position: float | None = None, speed: float | None = None, rate: float | None = None,
          fastest: float | None = None, strength: float | None = None) -> None:
    """Sets what is given of a motor: it goes to a position, or keeps a speed."""
    if position is not None and speed is not None:
        raise ValueError("a motor goes to a position or keeps a speed, not both")
    if position is not None:
        drive.motor, drive.target = _native.constants["MOTOR_POSITION"], real(position, "position")
    if speed is not None:
        drive.motor, drive.target = _native.constants["MOTOR_SPEED"], real(speed, "speed")
    for name, value in (("rate", rate), ("speed", fastest), ("strength", strength)):
        if value is not None:
            setattr(drive, name, real(value, "fastest" if name == "speed" else name))


class Joint:
    """A joint of a simulation: `sim.joints["elbow"]`."""

    def __init__(self, sim: Simulation, number: int, row: Any) -> None:
        self._sim = sim
        self.number: int = number
        self.name: str = row.name.decode()
        self.kind: str = _native.joint_kind_name(row.kind).decode()
        self.a: int = row.a
        """The first body, -1 for the world."""
        self.b: int = row.b

    @property
    def _state(self) -> Any:
        state = _native.JointState()
        with self._sim._handle as pointer:
            _native.read_joint(pointer, self.number, byref(state))
        return state

    @property
    def position(self) -> float:
        """m or rad: how far b has moved along the axis of a slider or turned about that of a hinge, or the length of a distance"""
        return float(self._state.position)

    @property
    def speed(self) -> float:
        """m/s or rad/s, how fast that changes"""
        return float(self._state.speed)

    @property
    def motor_torque(self) -> float:
        """N m, or N of a slider: what the motor gave b in the last step; nan without a motor or a step"""
        with self._sim._handle as pointer:
            contacts = self._sim._step_contacts()
            return float(_native.simulation_motor(pointer, self.number)) if contacts.rows else math.nan

    @property
    def _drive(self) -> Any:
        return _native.Joint.from_address(self._sim._world.joints + self.number * ctypes.sizeof(_native.Joint)).drive

    @property
    def drive(self) -> dict[str, Any]:
        """What acts on the coordinate: limits, motor, spring and damper. `motor` is None, "position" or "speed"."""
        d = self._drive
        names = {_native.constants["MOTOR_POSITION"]: "position", _native.constants["MOTOR_SPEED"]: "speed"}
        found: dict[str, Any] = {"low": d.low, "high": d.high, "motor": names.get(d.motor), "target": d.target, "rate": d.rate,
                                 "fastest": d.speed, "strength": d.strength, "stiffness": d.stiffness, "damping": d.damping,
                                 "rest": d.rest}
        return found

    def _change(self) -> Any:
        """The drive, to be changed before the next step, which checks it."""
        with self._sim._handle as pointer:
            _native.simulation_change(pointer)
        return self._drive

    def set_motor(self, *, position: float | None = None, speed: float | None = None, rate: float | None = None,
                  fastest: float | None = None, strength: float | None = None) -> None:
        """Tells the motor where to go (m or rad) or how fast (m/s or rad/s), from the next step on; what is not given stays.

        On its way to a position it wants `rate` (1/s) times what is left as its speed, at most `fastest`; `strength` (N or N m)
        is the most that it gives.
        """
        motor(self._change(), position=position, speed=speed, rate=rate, fastest=fastest, strength=strength)

    def motor_off(self) -> None:
        """Lets the motor give nothing."""
        self._change().motor = _native.constants["MOTOR_NONE"]

    def set_limits(self, low: float = -math.inf, high: float = math.inf) -> None:
        """Between which the coordinate stays, m or rad; without arguments there are none."""
        drive = self._change()
        drive.low, drive.high = real(low, "low"), real(high, "high")

    def set_spring(self, *, stiffness: float | None = None, damping: float | None = None, rest: float | None = None) -> None:
        """Spring (N/m or N m/rad) and damper (N s/m or N m s/rad) of the coordinate; what is not given stays."""
        drive = self._change()
        for name, value in (("stiffness", stiffness), ("damping", damping), ("rest", rest)):
            if value is not None:
                setattr(drive, name, real(value, name))

    def __repr__(self) -> str:
        return f"<Joint {self.number}: {self.kind}{' ' + self.name if self.name else ''} of {self.a} and {self.b}>"
