# SPDX-License-Identifier: MIT
"""What a simulation owns in the library: the simulation itself, and the contacts of one step."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import byref
from typing import Any

from . import _native
from ._arrays import Array, view
from ._owned import Owner


class Handle(Owner):
    """Owns the C simulation; freed with the last array that looks at it.

    A process that was forked has the memory of its parent but not the threads: there it is neither used nor freed. `with
    handle as pointer:` keeps other threads out meanwhile; they are refused and do not wait.
    """

    def __init__(self, pointer: int) -> None:
        self._pointer, self._process, self._lock = pointer, os.getpid(), threading.RLock()
        self._retired: list[int] = []  # arrays that were too small for all bodies, at which arrays of numpy may look

    @property
    def pointer(self) -> int:
        if os.getpid() != self._process:
            raise _native.SandglassError("this simulation belongs to another process; load one here, or start processes "
                                         "with spawn instead of fork")
        return self._pointer

    def __enter__(self) -> int:
        pointer = self.pointer
        if not self._lock.acquire(blocking=False):
            raise _native.SandglassError("another thread is using this simulation; let one call end before the next, or give "
                                         "each thread a simulation of its own")
        return pointer

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def reserve(self, world: Any, bodies: int) -> None:
        """Reserves arrays for this many bodies; those of numpy that look at them keep what they look at."""
        most = _native.constants["PYTHON_ARRAYS"]
        retired, count = (ctypes.c_void_p * most)(), ctypes.c_int()
        try:
            _native.reserve(ctypes.addressof(world), bodies, retired, byref(count))
        finally:
            self._retired += [address for address in retired[:count.value] if address]

    def __del__(self, free: Any = _native.simulation_free, process: Any = os.getpid, release: Any = _native.free) -> None:
        if process() == self._process:
            free(self._pointer)
            for address in self._retired:
                release(address)


class Lent(Handle):
    """A simulation that another object owns, which it keeps alive: a world of a batch."""

    def __init__(self, pointer: int, owner: object) -> None:
        super().__init__(pointer)
        self._owner = owner

    def __del__(self, free: Any = None, process: Any = os.getpid, release: Any = _native.free) -> None:
        if process() == self._process:
            for address in self._retired:
                release(address)


class StepContacts(Owner):
    """The contacts of one step. While the step is the last the simulation has their memory; afterwards they have it."""

    def __init__(self, handle: Handle) -> None:
        self.handle: Handle | None = handle
        self.problem = _native.simulation_problem(handle.pointer).contents
        self.solution = _native.simulation_solution(handle.pointer).contents
        self.rows: int = _native.solved_contacts(handle.pointer)
        """Contacts, and blocks of joints among them."""
        self.count: int = self.rows - (self.problem.joint_count if self.rows else 0)
        """Contacts alone."""

    def without_joints(self, array: Array) -> Array:
        """An array over all rows as one over contacts alone: itself where there are no joints, else a copy."""
        if self.count == self.rows:
            return array
        chosen: Array = array[view(self.problem.joint, "i4", (self.rows,), self) < 0]
        chosen.flags.writeable = False
        return chosen

    def take_over(self) -> None:
        assert self.handle is not None
        self.problem, self.solution = _native.Problem(), _native.Solution()
        _native.release_contacts(self.handle.pointer, byref(self.problem), byref(self.solution))
        self.handle = None

    def __del__(self, free_problem: Any = _native.problem_free, free_solution: Any = _native.solution_free) -> None:
        if self.handle is None:
            free_problem(byref(self.problem))
            free_solution(byref(self.solution))
