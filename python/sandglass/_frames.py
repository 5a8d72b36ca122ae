# SPDX-License-Identifier: MIT
"""Frames: rotations as 3 x 3 matrices and places, for the trees of machines."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Sequence

import numpy as np

from ._arrays import Array


class Frame(NamedTuple):
    """Where a frame is in another: the matrix whose columns are its axes, and its origin (m)."""

    turn: Array
    at: Array

    def of(self, inner: Frame) -> Frame:
        """A frame within this one, in the frame that this one is in."""
        return Frame(self.turn @ inner.turn, self.turn @ inner.at + self.at)

    def point(self, place: Any) -> Array:
        """A point of this frame in the one that it is in."""
        made: Array = self.turn @ np.asarray(place, float) + self.at
        return made

    def direction(self, way: Any) -> Array:
        """A direction, likewise."""
        made: Array = self.turn @ np.asarray(way, float)
        return made

    @property
    def inverse(self) -> Frame:
        """The other frame in this one."""
        return Frame(self.turn.T, -self.turn.T @ self.at)

    @property
    def quaternion(self) -> tuple[float, ...]:
        """The rotation as w, x, y, z."""
        m = self.turn
        square = np.array([1 + m[0, 0] + m[1, 1] + m[2, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2],
                           1 - m[0, 0] + m[1, 1] - m[2, 2], 1 - m[0, 0] - m[1, 1] + m[2, 2]])
        x, y, z = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
        a, b, c = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
        table = [(square[0], x, y, z), (x, square[1], a, b), (y, a, square[2], c), (z, b, c, square[3])]
        q = np.array(table[int(square.argmax())])
        return tuple((q / np.linalg.norm(q)).tolist())


IDENTITY = Frame(np.eye(3), np.zeros(3))


def of_quaternion(q: Sequence[float]) -> Array:
    """The matrix of w, x, y, z, of any length but 0."""
    norm = math.sqrt(sum(v * v for v in q))
    if not norm > 1e-9:
        raise ValueError("a quaternion of length 0")
    w, x, y, z = (v / norm for v in q)
    return np.array([(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
                     (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                     (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))])


def about(axis: Any, angle: float) -> Array:
    """The matrix of a turn by an angle (rad) about an axis."""
    way = np.asarray(axis, float)
    norm = float(np.linalg.norm(way))
    if not norm > 1e-9:
        raise ValueError("an axis of length 0")
    return of_quaternion((math.cos(angle / 2), *(math.sin(angle / 2) * way / norm).tolist()))


def rolled(roll: float, pitch: float, yaw: float) -> Array:
    """The matrix of roll, pitch and yaw (rad): about the fixed x, then y, then z."""
    made: Array = about((0, 0, 1), yaw) @ about((0, 1, 0), pitch) @ about((1, 0, 0), roll)
    return made


def along_z(way: Any) -> Array:
    """A matrix whose z axis points this way: the least turn there."""
    to = np.asarray(way, float) / np.linalg.norm(way)
    axis, cosine = np.cross((0, 0, 1), to), float(to[2])
    if np.linalg.norm(axis) < 1e-12:
        return np.eye(3) if cosine > 0 else np.diag([1., -1., -1.])
    return about(axis, math.atan2(float(np.linalg.norm(axis)), cosine))
