# SPDX-License-Identifier: MIT
"""Contact problems given as arrays, and their solutions (docs/problem.md has the mathematics)."""

from __future__ import annotations

import os
import tempfile
from ctypes import byref
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _endings, _native
from ._arrays import Array, numbers, vectors, view
from ._owned import Constant, Owner
from .solvers import change


@dataclass(frozen=True)
class Metrics:
    """How good a solution is, measured in the same way for every method."""

    residual: float
    """m/s"""
    residual_rms: float
    """m/s, root mean square over the contacts"""
    objective: float
    """J"""
    complementarity: float
    """J"""
    relative: float
    """Without dimension; NaN where not all metrics were wanted."""
    r_norm: float
    """m/s; NaN likewise."""


def metrics_of(struct: Any) -> Metrics:
    """The metrics of a struct of the library."""
    return Metrics(struct.residual, struct.residual_rms, struct.objective, struct.complementarity, struct.relative,
                   struct.r_norm)


@dataclass(frozen=True)
class Islands:
    """Parts of a problem whose bodies touch nothing else that moves, and how many were solved directly."""

    count: int
    """Zero where none were to be solved directly."""
    solved: int
    factorizations: int
    """That the one which took most of them took."""
    rms: float
    """m/s, the largest of those solved: root mean square of the residual over contacts"""


def islands_of(struct: Any) -> Islands:
    """The islands of a struct of the library."""
    return Islands(struct.count, struct.solved, struct.factorizations, struct.rms)


class Solution(Constant):
    """What a solve returned. Its arrays are memory of the library that this object and its arrays keep alive."""

    def __init__(self, struct: Any, problem: Problem) -> None:
        self._memory = _SolutionMemory(struct)
        contacts, bodies = problem.contact_count, problem.body_count
        self.status: str = _native.status_text(struct.status).decode()
        """In words: "solved", "budget reached"."""
        self.solved: bool = struct.status > 0
        self.iterations: int = struct.iterations
        """Products with N."""
        self.seconds: float = struct.seconds
        self.metrics: Metrics = metrics_of(struct.metrics)
        self.islands: Islands = islands_of(struct.islands)
        self.impulses: Array = view(struct.impulse, "f8", (contacts, 3), self._memory)
        """N s, world frame, on body b; (contacts, 3)."""
        torques = contacts if problem.rolls else 0
        self.torques: Array = view((struct.impulse or 0) + 24 * contacts, "f8", (torques, 3), self._memory)
        """N m s, on body b, where contacts have rolling friction; else empty."""
        self.velocities: Array = view(struct.velocity, "f8", (bodies, 3), self._memory)
        """m/s, of the bodies after contact."""
        self.spins: Array = view(struct.spin, "f8", (bodies, 3), self._memory)
        """rad/s"""
        self.curve: Array = view(struct.curve, _native.CURVE, (struct.curve_count,), self._memory)
        """The convergence curve: iteration, seconds, residual, objective; empty unless it was asked for."""

    def __repr__(self) -> str:
        return f"<Solution: {self.status} after {self.iterations} iterations, residual {self.metrics.residual:.3g} m/s>"


class _SolutionMemory(Owner):
    """The arrays of a solution; freed with the last array that looks at them."""

    def __init__(self, struct: Any) -> None:
        self.struct = struct

    def __del__(self, free: Any = _native.solution_free) -> None:
        free(byref(self.struct))


class _ProblemMemory(Owner):
    """A problem whose arrays belong to the library; freed with the last array that looks at them."""

    def __init__(self) -> None:
        self.struct = _native.Problem()

    def __del__(self, free: Any = _native.problem_free) -> None:
        free(byref(self.struct))


def _inverse_inertias(inertias: Any, count: int, dynamic: int) -> Array:
    """The inverse inertia of each body as xx, yy, zz, xy, xz, yz; zero for bodies of infinite mass."""
    given = np.asarray(inertias, float)
    full = given[..., None, None] * np.eye(3) if given.ndim < 2 else given
    try:
        full = np.broadcast_to(full, (count, 3, 3))
    except ValueError:
        raise ValueError(f"inertias: expected ({count},) or ({count}, 3, 3), got {given.shape}") from None
    inverse = np.zeros((count, 3, 3))
    inverse[:dynamic] = np.linalg.inv(full[:dynamic])
    return inverse[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def _columns(matrix: Any) -> tuple[Array, Array, Array]:
    """A matrix in compressed columns: where each begins, the rows of the entries, the entries."""
    if hasattr(matrix, "tocsc"):
        sparse = matrix.tocsc()
        sparse.sort_indices()
        return tuple(np.ascontiguousarray(a, t) for a, t in  # type: ignore[return-value]
                     ((sparse.indptr, np.int32), (sparse.indices, np.int32), (sparse.data, float)))
    dense = np.asarray(matrix, float)
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
        raise ValueError(f"W: expected a square matrix, got shape {dense.shape}")
    column, row = np.nonzero(dense.T)
    begin = np.searchsorted(column, np.arange(len(dense) + 1)).astype(np.int32)
    return begin, row.astype(np.int32), np.ascontiguousarray(dense[row, column])


class Problem:
    """The contact problem of one step: minimize 1/2 g'N g + r'g over impulses g in the friction cones.

    `Problem(...)` takes it as arrays, `Problem.load` from a file, `Simulation.problem` from a running simulation.

    Bodies: `masses` in kg, infinite for the ground and other bodies that do not yield, which come last; `inertias` in
    kg m^2, a number for each body (a sphere) or a (3, 3) tensor in the world frame; `velocities` and `spins` after the
    forces of the step and before contact; `positions` in m, which only methods with a coarse grid read.

    Contacts: `pairs` (contacts, 2) of bodies a < b, sorted by a, where a is a body of finite mass; `normals` from a to b, of
    length 1; `arms_a` and `arms_b`, the contact point minus the center of mass; `gaps` in m, negative for a penetration;
    `mu`; and, where there are any, `rolling` and `spinning` friction in m, `bounce` in m/s.

    `start` are the impulses that a solve starts from. `recovery` is the largest speed in m/s at which a penetration is
    pushed apart. All of it is checked, and an error names the body or contact.
    """

    def __init__(self, *, masses: Any, inertias: Any, velocities: Any, spins: Any = 0.0, positions: Any = 0.0, pairs: Any,
                 normals: Any, arms_a: Any, arms_b: Any, gaps: Any = 0.0, mu: Any, rolling: Any = 0.0,
                 spinning: Any = 0.0, bounce: Any = 0.0, start: Any = None, step: float = 0.01,
                 recovery: float = 1.0) -> None:
        mass = np.atleast_1d(np.asarray(masses, float))
        pair = np.asarray(pairs, np.int32).reshape(-1, 2)
        bodies, contacts = np.zeros(len(mass), _native.BODY), np.zeros(len(pair), _native.CONTACT)
        dynamic = int(np.isfinite(mass).sum())
        if np.isfinite(mass[dynamic:]).any() or (mass <= 0).any() or np.isnan(mass).any():
            raise ValueError("masses: expected numbers above 0, those of infinite mass last")
        bodies["inverse_mass"] = 1 / mass
        bodies["inverse_inertia"] = _inverse_inertias(inertias, len(mass), dynamic)
        for field, values in (("velocity", velocities), ("spin", spins), ("position", positions)):
            bodies[field] = vectors(values, len(mass), field)
        contacts["a"], contacts["b"] = pair.T
        for field, values in (("normal", normals), ("arm_a", arms_a), ("arm_b", arms_b)):
            contacts[field] = vectors(values, len(pair), field)
        for field, values in (("gap", gaps), ("mu", mu), ("rolling", rolling), ("spinning", spinning), ("bounce", bounce)):
            contacts[field] = numbers(values, len(pair), field)
        rolls = bool(contacts["rolling"].any() or contacts["spinning"].any())
        begin = vectors(0 if start is None else start, len(pair) * (2 if rolls else 1), "start").copy()
        self._adopt(_native.Problem(), (bodies, contacts, begin))
        for name, array in (("bodies", bodies), ("contacts", contacts), ("start", begin)):
            setattr(self._struct, name, array.ctypes.data)
        self._struct.body_count, self._struct.dynamic_count = len(mass), dynamic
        self._struct.contact_count = len(pair)
        self._struct.rolls, self._struct.bounces = rolls, bool(contacts["bounce"].any())
        self._struct.step, self._struct.recovery.speed = step, recovery
        _native.problem_check(byref(self._struct), b"the problem")

    def _adopt(self, struct: Any, owner: object) -> None:
        self._struct, self._owner = struct, owner

    @classmethod
    def _of_memory(cls, memory: _ProblemMemory) -> Problem:
        problem = cls.__new__(cls)
        problem._adopt(memory.struct, memory)
        return problem

    @classmethod
    def from_matrix(cls, matrix: Any, q: Any, mu: Any) -> Problem:
        """The local problem u = W r + q, as Siconos and FCLIB state it: three rows for each contact, the normal first.

        `matrix` is W, dense or a sparse matrix of scipy, symmetric and positive semidefinite; q in m/s. Impulses are in the
        frames of the contacts, and bodies are there in name only. Needs a build with the reference methods.
        """
        begin, row, value = _columns(matrix)
        rows = np.ascontiguousarray(q, float).ravel()
        if len(rows) % 3 or len(begin) != len(rows) + 1 or (len(row) and row.max() >= len(rows)):
            raise ValueError(f"W of {len(begin) - 1} columns and q of {len(rows)}: expected three for each contact")
        friction = numbers(mu, len(rows) // 3, "mu")
        if not (np.isfinite(value).all() and np.isfinite(rows).all() and np.isfinite(friction).all()):
            raise ValueError("W, q and mu: expected finite numbers")
        definition = _native.MatrixDef(contacts=len(friction), begin=begin.ctypes.data, row=row.ctypes.data,
                                       value=value.ctypes.data, q=rows.ctypes.data, mu=friction.ctypes.data)
        memory = _ProblemMemory()
        _native.problem_of_matrix(byref(memory.struct), byref(definition))
        return cls._of_memory(memory)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        """Reads a problem saved by `save` or by `sandglass freeze`; with the reference methods also files of FCLIB."""
        memory = _ProblemMemory()
        _native.problem_open(byref(memory.struct), os.fsencode(path))
        return cls._of_memory(memory)

    @classmethod
    def _copy_of(cls, source: Any) -> Problem:
        memory = _ProblemMemory()
        _native.problem_copy(byref(memory.struct), source)
        return cls._of_memory(memory)

    def __copy__(self) -> Problem:
        return Problem._copy_of(byref(self._struct))

    def __deepcopy__(self, memo: Any) -> Problem:
        return self.__copy__()

    def __reduce__(self) -> Any:
        """A pickle has the bytes of a .sand file."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "problem.sand")
            self.save(path)
            with open(path, "rb") as file:
                return _problem_of_bytes, (file.read(),)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a .sand file, which loads to the same bits."""
        _endings.check(path, ".sand")
        _native.problem_save(byref(self._struct), os.fsencode(path))

    @property
    def body_count(self) -> int:
        """Bodies, those of infinite mass included."""
        return int(self._struct.body_count)

    @property
    def dynamic_count(self) -> int:
        """Bodies of finite mass; they come first."""
        return int(self._struct.dynamic_count)

    @property
    def contact_count(self) -> int:
        """Contacts, blocks of joints included."""
        return int(self._struct.contact_count)

    @property
    def is_joint(self) -> Array:
        """Which of the contacts are blocks of joints; (contacts,) of bool"""
        if not self._struct.joint_count:
            return np.zeros(self.contact_count, bool)
        return view(self._struct.joint, "i4", (self.contact_count,), self._owner) >= 0

    @property
    def rolls(self) -> bool:
        """Whether contacts may have rolling or spinning friction."""
        return bool(self._struct.rolls)

    @property
    def step(self) -> float:
        """s"""
        return float(self._struct.step)

    @property
    def bodies(self) -> Array:
        """The bodies as a structured array: inverse_mass, inverse_inertia, velocity, spin, radius, position."""
        return view(self._struct.bodies, _native.BODY, (self.body_count,), self._owner)

    @property
    def contacts(self) -> Array:
        """The contacts as a structured array: a, b, normal, arm_a, arm_b, gap, mu, rolling, spinning, bounce, pull."""
        return view(self._struct.contacts, _native.CONTACT, (self.contact_count,), self._owner)

    @property
    def start(self) -> Array:
        """The impulses that a solve starts from, N s."""
        return view(self._struct.start, "f8", (self.contact_count * (2 if self.rolls else 1), 3), self._owner)

    def solve(self, solver: str = "p-spg-fb", *, precision: str = "double", threads: int = 1, curve: bool = False,
              **settings: Any) -> Solution:
        """Solves the problem with any method of `solvers()`.

        `settings` are those of `Simulation.set_solver`: iterations (1000 unless given), tolerance, friction, parameters of
        the method. With `curve` the solution has its convergence curve.
        """
        solve = change(_native.default_solve(), solver, **{"iterations": 1000, **settings})
        cpu = _native.cpu_create(threads, _native.precision(precision))
        struct = _native.Solution(want_curve=curve, want_metrics=True)
        try:
            _native.cpu_solve(cpu, byref(self._struct), byref(solve), byref(struct))
        except _native.SandglassError:
            _native.solution_free(byref(struct))
            raise
        finally:
            _native.cpu_free(cpu)
        return Solution(struct, self)

    def __repr__(self) -> str:
        return f"<Problem: {self.contact_count} contacts, {self.dynamic_count} bodies, step {self.step:g} s>"


def _problem_of_bytes(data: bytes) -> Problem:
    """The problem of a pickle."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "problem.sand")
        with open(path, "wb") as file:
            file.write(data)
        return Problem.load(path)
