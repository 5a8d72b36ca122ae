"""Objects that own memory or threads of the library, which Python's own ways of copying know nothing of."""

from __future__ import annotations

from typing import Any, NoReturn


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


class Constant(Owner):
    """An owner that nothing ever changes: it is its own copy, as a number is."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self
