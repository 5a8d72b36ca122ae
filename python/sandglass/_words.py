# SPDX-License-Identifier: MIT
"""Sentences about names that are wrong: they name the thing, and the nearest word or all that there are."""

from __future__ import annotations

import collections
import difflib
import functools
import inspect
from typing import Any, Callable, Iterable, TypeVar

import numpy as np

from ._native import SandglassError

Class = TypeVar("Class", bound=type)


# What other engines call it.
_OTHERS = {"friction": "mu", "dt": "step", "timestep": "step", "time_step": "step", "orientation": "rotation", "quaternion": "rotation",
           "angular_velocity": "spin", "omega": "spin", "pos": "position", "vel": "velocity", "half_extents": "half", "size": "half"}
_MOST = 12  # names that a sentence lists


def close(word: str, known: Iterable[str]) -> str | None:
    """The nearest of the known words; None where none is near."""
    names = list(known)
    if _OTHERS.get(word) in names:
        return _OTHERS[word]
    found = difflib.get_close_matches(str(word), names, 1, 0.6)
    return found[0] if found else None


def hint(word: str, known: Iterable[str]) -> str:
    """What follows a wrong word: `; did you mean this?`, or what there is."""
    names = list(known)
    near = close(word, names)
    if near:
        return f"; did you mean {near}?"
    return f"; there are {', '.join(names) or 'none'}" if len(names) <= _MOST else ""


def arguments(function: Callable[..., Any]) -> list[str]:
    """The names of the arguments of a function that may be given by name."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind in named and p.name not in ("self", "cls")]


@functools.lru_cache(None)
def _settings() -> frozenset[str]:
    """What any solver can be told: the settings of a solve and the parameters of all methods."""
    from .solvers import change, solvers
    parameters = {p.name.replace("-", "_") for solver in solvers() for p in solver.parameters}
    return frozenset({*arguments(change), *parameters} - {"solve"})


def _refuse(name: str, word: str, known: list[str], rest: str | None) -> None:
    """Refuses an argument by name; `rest`: what collects those that the function does not name itself."""
    if rest in ("settings", "changes"):
        if word.replace("-", "_") in _settings():
            return
        near = close(word, [*known, *_settings()])
        if near:
            raise SandglassError(f"{name} has no argument {word}; did you mean {near}?")
    elif rest is None or rest == "body":
        raise TypeError(f"{name} has no argument {word}{hint(word, known)}")


def _checked(function: Callable[..., Any], name: str, beyond: list[str]) -> Callable[..., Any]:
    """The function, but arguments that it does not have are refused with the nearest that it has."""
    rest = next((p.name for p in inspect.signature(function).parameters.values() if p.kind is p.VAR_KEYWORD), None)
    known = arguments(function) + (beyond if rest == "body" else [])

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        for word in named:
            if word not in known:
                _refuse(name, word, known, rest)
        return function(*given, **named)

    return call


def explained(made: Class) -> Class:
    """A class whose functions refuse an unknown argument by its nearest. `**body` is what `add` takes, `**settings` and
    `**changes` what a solver does."""
    beyond = arguments(vars(made)["add"]) if "add" in vars(made) else []
    for name, member in list(vars(made).items()):
        if name.startswith("_") and name != "__init__":
            continue
        title = made.__name__ if name == "__init__" else f"{made.__name__}.{name}"
        if inspect.isfunction(member):
            setattr(made, name, _checked(member, title, beyond))
        elif isinstance(member, classmethod):
            setattr(made, name, classmethod(_checked(member.__func__, title, beyond)))
    return made


class Named(dict[str, Any]):
    """A dictionary that refuses an unknown name with the nearest."""

    def __init__(self, what: str, items: Iterable[tuple[str, Any]]) -> None:
        super().__init__(items)
        self._what = what

    def __missing__(self, name: str) -> Any:
        raise KeyError(f"{name}: there is no such {self._what}{hint(name, self)}")


class Numbered(Named):
    """Things of a simulation by name, and by number: those without a name of their own have their number in its place."""

    def __init__(self, what: str, things: list[Any]) -> None:
        names = collections.Counter(thing.name for thing in things)
        super().__init__(what, ((thing.name if thing.name and names[thing.name] == 1 else thing.number, thing) for thing in things))
        self._things, self._names = things, names

    def __missing__(self, name: Any) -> Any:
        if isinstance(name, (int, np.integer)) and 0 <= name < len(self._things):
            return self._things[name]
        if self._names.get(name, 0) > 1:
            same = ", ".join(str(thing.number) for thing in self._things if thing.name == name)
            raise KeyError(f"{name}: several have this name; their numbers are {same}")
        raise KeyError(f"{name}: there is no such {self._what}{hint(str(name), [n for n in self._names if n])}")
