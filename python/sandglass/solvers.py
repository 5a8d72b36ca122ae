# SPDX-License-Identifier: MIT
"""The methods of the library, and how to choose one: the table is the library's own."""

from __future__ import annotations

import ctypes
from ctypes import byref
from dataclasses import dataclass
from typing import Any

from . import _native


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method."""

    name: str
    value: float | str
    """Its default; of a choice, the name."""
    least: float
    most: float
    text: str
    """What raising it does."""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Solver:
    """A method: a row of the table that docs/solvers.md shows."""

    name: str
    paper: str
    idea: str
    weakness: str
    friction: tuple[str, ...]
    """The friction models that it can do."""
    on_cuda: bool
    assembled: bool
    """Whether it needs N as a matrix: one of the reference methods."""
    parameters: tuple[Parameter, ...]


def _strings(pointer: int | None) -> tuple[str, ...]:
    """The texts of an array of pointers that NULL ends."""
    if not pointer:
        return ()
    array = ctypes.cast(pointer, ctypes.POINTER(ctypes.c_char_p))
    count = 0
    while array[count] is not None:
        count += 1
    return tuple((array[i] or b"").decode() for i in range(count))


def _parameter(row: Any) -> Parameter:
    choices = _strings(row.choices)
    value = choices[int(row.value)] if choices else row.value
    return Parameter(_native.text(row.name), value, row.least, row.most, _native.text(row.text), choices)


def _table(name: str, row: Any) -> Any:
    """A table of the library, as an array of its rows."""
    return ctypes.cast(ctypes.addressof(ctypes.c_char.in_dll(_native.library, name)), ctypes.POINTER(row))


def friction_models() -> dict[str, str]:
    """The friction models by name, with a line about each."""
    rows = _table("sand_friction_table", _native.FrictionRow)
    return {_native.text(rows[k].name): _native.text(rows[k].text) for k in range(_native.constants["FRICTION_COUNT"])}


def _row(index: int) -> Solver:
    row = _table("sand_solver_table", _native.Solver)[index]
    models = tuple(name for k, name in enumerate(friction_models()) if row.friction >> k & 1)
    parameters = tuple(_parameter(p) for p in row.params if p.name)
    return Solver(_native.text(row.name), _native.text(row.paper), _native.text(row.idea), _native.text(row.weakness),
                  models, row.on_cuda, row.assembled, parameters)


def solvers() -> list[Solver]:
    """The methods that this build has, in the order of the table; the first is the default."""
    return [_row(index) for index in range(_native.solver_count())]


def find_solver(name: str) -> int:
    """The index of a method; an unknown name is refused with the nearest one."""
    index: int = _native.solver_find(name.encode())
    if index < 0:
        _native.solver_refuse(b"", name.encode())
    return index


def _find_friction(name: str) -> int:
    index: int = _native.friction_find(name.encode())
    if index < 0:
        _native.friction_refuse(b"", name.encode())
    return index


def _find_bounds(name: str) -> int:
    names = [_native.text(_table("sand_bounds_table", _native.BoundsRow)[k].name)
             for k in range(_native.constants["BOUNDS_COUNT"])]
    if name not in names:
        raise _native.SandglassError(f"bounds {name}: there are {', '.join(names)}")
    return names.index(name)


def change(solve: Any, solver: str | None = None, *, friction: str | None = None, bounds: str | None = None,
           facets: int | None = None, iterations: int | None = None, budget_ms: float | None = None,
           tolerance: float | None = None, relative: bool | None = None, accuracy: float | None = None,
           islands: int | None = None,
           **parameters: float | str) -> Any:
    """Changes settings of a solve (a SandSolveDef) as the options of the program of these names do, and returns it.

    What is not given stays as it is. `parameters` are those of the method, with underscores for dashes.
    """
    if solver is not None and (index := find_solver(solver)) != solve.solver:
        _native.solve_choose(byref(solve), index)
    if friction is not None:
        solve.friction = _find_friction(friction)
    if bounds is not None:
        solve.bounds = _find_bounds(bounds)
    if facets is not None:
        solve.facets = _native.integer(facets, "facets")
    if iterations is not None:
        solve.iterations, solve.budget_ms = _native.integer(iterations, "iterations"), 0
    if budget_ms is not None:
        solve.iterations, solve.budget_ms = 1000000, budget_ms
    if tolerance is not None:
        solve.tolerance, solve.accuracy = tolerance, 0
    if accuracy is not None:
        solve.tolerance, solve.accuracy = 0, accuracy
    if relative is not None:
        solve.relative = relative
    if islands is not None:
        solve.islands = _native.integer(islands, "islands")
    for name, value in parameters.items():
        _native.solve_set(byref(solve), name.replace("_", "-").encode(), str(value).encode())
    _native.solve_check(byref(solve))
    return solve


def settings(solve: Any) -> dict[str, Any]:
    """The settings of a solve by name: the method, the friction model, the budget and the parameters."""
    solver = _row(solve.solver)
    values = {p.name: p.choices[int(solve.params[k])] if p.choices else solve.params[k]
              for k, p in enumerate(solver.parameters)}
    return {"solver": solver.name, "friction": list(friction_models())[solve.friction], "iterations": solve.iterations,
            "budget_ms": solve.budget_ms, "tolerance": solve.tolerance, "accuracy": solve.accuracy,
            "islands": solve.islands, **values}
