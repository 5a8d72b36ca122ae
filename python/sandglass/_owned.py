# SPDX-License-Identifier: MIT
"""Objects that own memory or threads of the library, which Python's own ways of copying know nothing of."""

from __future__ import annotations

from typing import Any, NoReturn

from ._words import hint


class Owner:
    """Owns something of the library: a copy of its fields would free it twice. Refuses to be copied and pickled."""

    _advice = "it owns memory of the library"

    def _refuse(self, what: str) -> NoReturn:
        raise TypeError(f"a {type(self).__name__.lstrip('_')} cannot be {what}: {self._advice}")

    def __copy__(self) -> Any:
        self._refuse("copied")

    def __deepcopy__(self, memo: Any) -> Any:
        self._refuse("copied")

    def __reduce_ex__(self, protocol: Any) -> Any:
        self._refuse("pickled")


class Declared:
    """Has the attributes that its class names, and no others: a word with a slip of the pen is refused, and not kept."""

    def _members(self) -> list[str]:
        kinds = type(self).__mro__
        names = {name for kind in kinds for name in (*vars(kind), *vars(kind).get("__annotations__", ()))}
        return sorted(name for name in names if not name.startswith("_"))

    def __getattr__(self, name: str) -> Any:
        known = "" if name.startswith("_") else hint(name, self._members())
        raise AttributeError(f"a {type(self).__name__} has no {name}{known}")

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in self._members():
            raise AttributeError(f"a {type(self).__name__} has no {name}{hint(name, self._members())}")
        object.__setattr__(self, name, value)


class Constant(Owner):
    """An owner that nothing ever changes: it is its own copy, as a number is."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self
