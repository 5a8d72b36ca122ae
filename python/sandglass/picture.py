# SPDX-License-Identifier: MIT
"""Pictures: arrays of bytes that a notebook displays, and the path of a camera."""

from __future__ import annotations

import base64
import os
import struct
import threading
import zlib
from ctypes import addressof, byref
from typing import Any, Sequence

import numpy as np

from . import _endings, _native
from ._arrays import Array
from ._owned import Owner
from ._words import hint

_lock = threading.Lock()  # one context for the process
_library: Any = None


def _pictures() -> Any:
    global _library
    with _lock:
        _library = _library or _native.Pictures()
    return _library


class Image(np.ndarray[Any, Any]):
    """A picture, (height, width, 3) of uint8, from the top down. A notebook displays it; `save` writes a PNG."""

    depth: Array | None = None
    """m, along the view from the eye; infinite where there is nothing; (height, width)"""
    normals: Array | None = None
    """Unit, in the world, of the surface that is seen; 0 where there is none; (height, width, 3)"""
    ids: Array | None = None
    """The number of the body that is seen; boundary k is -1 - k; NOTHING; (height, width)"""

    def png(self) -> bytes:
        """The picture as a PNG file."""
        height, width, channels = self.shape
        if channels != 3 or self.dtype != np.uint8:
            raise ValueError("a picture is (height, width, 3) of uint8")
        rows = np.zeros((height, 1 + 3 * width), np.uint8)  # a byte before each row names its filter: none
        rows[:, 1:] = np.asarray(self).reshape(height, -1)
        head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a PNG file, so the name ends in .png."""
        _endings.check(path, ".png")
        with open(path, "wb") as file:
            file.write(self.png())

    def _repr_png_(self) -> bytes:
        return self.png()

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.png()).decode()
        return f'<img width="{self.shape[1]}" height="{self.shape[0]}" src="data:image/png;base64,{data}">'


def _view_text(camera: Any) -> str:
    if isinstance(camera, str):
        return camera
    return ",".join(repr(float(number)) for number in np.asarray(camera, float).ravel())


def _values(color: Any, count: int) -> Array:
    """What an array says of each body."""
    values = np.ascontiguousarray(color, float)
    if values.shape != (count,):
        raise ValueError(f"color: expected a name or {count} numbers, one for each body, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("color: expected finite numbers")
    return values


def _range_of(values: Array) -> tuple[float, float]:
    """The range of an array, for colors."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


class Painter(Owner):
    """Draws one simulation."""

    def __init__(self, handle: Any, box: tuple[Any, Any], studio: Any) -> None:
        self._pictures, self._handle = _pictures(), handle
        lower, upper = (_native.vec3(corner) for corner in box)
        self._pointer = self._pictures.create(handle.pointer, lower, upper, addressof(studio) if studio else None)

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            self._pictures.free(self._pointer)

    def draw(self, width: int, height: int, camera: Any, followed: Any, look: dict[str, Any], bodies: int) -> Image:
        """Draws it; `followed` is how far the body that the scene follows has come, `bodies` how many there are."""
        definition = self._pictures.default()
        kept: list[Any] = [_view_text(camera).encode()]  # texts and arrays must outlive the call
        wanted = {name: look.pop(name, False) for name in ("depth", "normals", "ids")}
        if not isinstance(look.get("color", ""), str):
            kept.append(_values(look.pop("color"), bodies))
            definition.values = kept[-1].ctypes.data
            look.setdefault("range", _range_of(kept[-1]))
        definition.width, definition.height, definition.view = width, height, _native.address(kept[0])
        definition.followed, definition.follows = _native.vec3(followed), isinstance(camera, str)
        for key, value in look.items():
            if key in ("quality", "color", "map"):
                kept.append(str(value).encode())
                setattr(definition, key, _native.address(kept[-1]))
            elif key in ("chains", "samples", "exposure"):
                setattr(definition, key, value)
            elif key == "range":
                definition.has_range, (definition.low, definition.high) = True, value
            else:
                known = ("width", "height", "camera", "quality", "color", "map", "chains", "samples", "exposure", "range",
                         *wanted)
                raise TypeError(f"draw has no argument {key}{hint(key, known)}")
        pixels = np.empty((max(height, 0), max(width, 0), 3), np.uint8)
        with _lock:
            self._pictures.draw(self._pointer, self._handle.pointer, byref(definition), pixels.ctypes.data)
        image = pixels.view(Image)
        if any(wanted.values()):
            self._measure(definition, image, wanted)
        return image

    def _measure(self, definition: Any, image: Image, wanted: dict[str, bool]) -> None:
        """Adds what the pixels show to a picture."""
        size = image.shape[:2]
        if wanted["depth"]:
            image.depth = np.empty(size)
        if wanted["normals"]:
            image.normals = np.empty((*size, 3))
        if wanted["ids"]:
            image.ids = np.empty(size, np.int32)
        to = [array.ctypes.data if array is not None else None for array in (image.depth, image.normals, image.ids)]
        self._pictures.measure(self._pointer, self._handle.pointer, byref(definition), *to)


class Views:
    """The path of a camera: `add` views at times, and `at` gives the view at any time, smoothly, for `draw(camera=...)`.

    It passes through every view, moves around the target rather than through it, and starts and stops with zero speed.
    """

    def __init__(self) -> None:
        self._times: list[float] = []
        self._views: list[list[float]] = []

    def add(self, time: float, eye: Sequence[float], target: Sequence[float]) -> Views:
        """Adds a view at a time (s), eye and target in m, and returns the path."""
        view = [float(number) for number in (*eye, *target)]
        if len(view) != 6:
            raise ValueError("eye and target have three numbers each")
        self._times.append(float(time))
        self._views.append(view)
        return self

    def at(self, time: float) -> np.ndarray[Any, Any]:
        """The view at a time: eye and target, six numbers."""
        times, views, found = np.array(self._times), np.array(self._views), np.zeros(6)
        _pictures().path(times.ctypes.data, views.ctypes.data, len(times), time, found.ctypes.data)
        return found
