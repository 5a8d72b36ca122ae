# SPDX-License-Identifier: MIT
"""States of a simulation: bytes that it goes on from, in memory, in files, in a pickle."""

from __future__ import annotations

import os
from ctypes import byref
from typing import Any

from . import _native


class State:
    """A state of a simulation, made by `Simulation.save`; it never changes.

    `Simulation.restore` goes on from there with the same bits. It can be pickled, and sent to another process; its file is
    that of the program's `--checkpoint`.
    """

    __slots__ = ("_bytes", "_info")

    def __init__(self, data: bytes, name: str = "the state") -> None:
        """From the bytes of `to_bytes`; what is cut off or damaged is refused."""
        self._bytes, self._info = bytes(data), _native.StateInfo()
        _native.state_info(self._bytes, len(self._bytes), name.encode(), byref(self._info))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> State:
        """Reads a file of `write`, or of the program's `--checkpoint`."""
        try:
            with open(path, "rb") as file:
                return cls(file.read(), os.fspath(path))
        except OSError as error:
            raise _native.SandglassError(f"{os.fspath(path)}: {error.strerror}") from None

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file, which has the state of before or this one, whole, whatever happens."""
        part = os.fspath(path) + ".part"
        try:
            with open(part, "wb") as file:
                file.write(self._bytes)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except OSError as error:
            raise _native.SandglassError(f"{os.fspath(path)}: {error.strerror}") from None

    def to_bytes(self) -> bytes:
        """What a file of it has."""
        return self._bytes

    @property
    def time(self) -> float:
        """s"""
        return float(self._info.time)

    @property
    def step_index(self) -> int:
        """Steps taken."""
        return int(self._info.steps)

    @property
    def body_count(self) -> int:
        """Bodies, those that have not entered yet or are gone included."""
        return int(self._info.bodies)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __copy__(self) -> State:
        return self

    def __deepcopy__(self, memo: Any) -> State:
        return self

    def __reduce__(self) -> tuple[type[State], tuple[bytes]]:
        return State, (self._bytes,)

    def __repr__(self) -> str:
        return f"<State: {self.body_count} bodies, t = {self.time:.3f} s, {len(self._bytes)} bytes>"
