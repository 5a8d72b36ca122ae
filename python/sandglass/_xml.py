# SPDX-License-Identifier: MIT
"""XML with the line of every element, for sentences about it. Nothing is expanded, and nothing is fetched."""

from __future__ import annotations

import os
from typing import Any, Iterator
from xml.parsers import expat

from ._native import SandglassError
from ._words import hint

_DEEPEST = 200  # elements within each other
_MOST = 1 << 26  # bytes of a file


class Place:
    """Where something stands in a file, for sentences about it."""

    def __init__(self, where: str) -> None:
        self.where = where

    def wrong(self, what: str) -> SandglassError:
        """What is to be raised about it."""
        return SandglassError(f"{self.where} {what}")


class Element(Place):
    """An element: its tag, attributes, elements within it, and where it stands."""

    def __init__(self, tag: str, attributes: dict[str, str], file: str, line: int) -> None:
        super().__init__(f"{file}:{line}: <{tag}>")
        self.tag, self.attributes, self.file, self.line = tag, attributes, file, line
        self.children: list[Element] = []
        self.content = ""  # its text, the first 200 letters

    def all(self, tag: str) -> Iterator[Element]:
        """The elements right within it that have this tag."""
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> Element | None:
        """The first of them."""
        return next(self.all(tag), None)

    def needed(self, tag: str) -> Element:
        """The first of them, which must be there."""
        found = self.one(tag)
        if found is None:
            raise self.wrong(f"lacks the element <{tag}>")
        return found

    def text(self, name: str) -> str:
        """An attribute that must be there."""
        if name not in self.attributes:
            raise self.wrong(f"lacks the attribute {name}{hint(name, self.attributes)}")
        return self.attributes[name]

    def numbers(self, name: str, count: int, otherwise: Any = None) -> list[float]:
        """An attribute of `count` finite numbers, or what stands in for it."""
        if name not in self.attributes and otherwise is not None:
            return list(otherwise)
        found = self.some(name)
        if len(found) != count:
            raise self.wrong(f"has {name} {self.text(name)[:40]!r}; expected {count} numbers")
        return found

    def some(self, name: str) -> list[float]:
        """An attribute of any number of finite numbers."""
        words = self.text(name).split()
        try:
            found = [float(word) for word in words]
        except ValueError:
            found = [float("nan")]
        if not found or any(not abs(value) < 1e30 for value in found):
            raise self.wrong(f"has {name} {self.text(name)[:40]!r}; expected finite numbers")
        return found

    def number(self, name: str, otherwise: float | None = None) -> float:
        """An attribute of one number."""
        return self.numbers(name, 1, None if otherwise is None else [otherwise])[0]


def read(path: str | os.PathLike[str]) -> Element:
    """The root of an XML file."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST + 1)
    except OSError as error:
        raise SandglassError(f"{name}: cannot be read: {error.strerror}") from None
    if len(data) > _MOST:
        raise SandglassError(f"{name}: a file of more than {_MOST} bytes is no machine")
    return _parse(name, data)


def _parse(name: str, data: bytes) -> Element:
    parser, stack, roots = expat.ParserCreate(), [], []  # type: ignore[var-annotated]

    def begin(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, name, parser.CurrentLineNumber)
        if len(stack) >= _DEEPEST:
            raise element.wrong("lies too deep")
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def declare(*_: Any) -> None:
        raise SandglassError(f"{name}:{parser.CurrentLineNumber}: entities are not read")

    def read_text(text: str) -> None:
        stack[-1].content = (stack[-1].content + text).strip()[:200]

    parser.StartElementHandler, parser.EndElementHandler = begin, lambda tag: stack.pop()
    parser.buffer_text, parser.CharacterDataHandler = True, read_text
    parser.EntityDeclHandler = declare
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise SandglassError(f"{name}: no XML: {error}") from None
    return roots[0]  # type: ignore[no-any-return]
