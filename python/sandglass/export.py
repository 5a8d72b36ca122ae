# SPDX-License-Identifier: MIT
"""Exports: bodies and contacts over time, in files of other programs."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref
from typing import Any, Callable

from . import _native
from ._handle import Handle
from ._owned import Owner


class Export(Owner):
    """A file that is being written, made by `Simulation.export`; the block of `with` closes it."""

    _advice = "it is a file that is being written"

    def __init__(self, handle: Handle, definition: Any, path: str, leave: Callable[[Export], None]) -> None:
        self.path = path
        """Of the file."""
        self._handle, self._leave = handle, leave
        with handle as pointer:
            self._pointer: int | None = _native.export_open(pointer, byref(definition))

    def _step(self) -> None:
        """Writes a frame where one is due."""
        if self._pointer:
            _native.export_step(self._pointer)

    def close(self) -> None:
        """Waits until all frames are written; raises where something is missing. It may be closed again."""
        pointer, self._pointer = self._pointer, None
        if pointer:
            self._leave(self)
            _native.export_close(pointer)

    def __enter__(self) -> Export:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self, close: Any = _native.export_close) -> None:
        pointer = getattr(self, "_pointer", None)
        if pointer and os.getpid() == self._handle._process:
            close(pointer)

    def __repr__(self) -> str:
        return f"<Export {self.path}, {'open' if self._pointer else 'closed'}>"


def definition_of(path: str, rate: float, columns: Any, contacts: bool, messages: Any) -> tuple[Any, list[bytes]]:
    """The definition of an export, with the texts that must outlive the call."""
    names = columns if columns is None or isinstance(columns, str) else ",".join(columns)
    kept = [os.fsencode(path), b"" if names is None else names.encode()]
    definition = _native.default_export(kept[0])
    definition.columns = _native.address(kept[1]) if names is not None else None
    definition.rate, definition.contacts = _native.real(rate, "rate"), bool(contacts)
    definition.on_message = ctypes.cast(messages, ctypes.c_void_p)
    return definition, kept
