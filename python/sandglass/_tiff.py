# SPDX-License-Identifier: MIT
"""Heights of a patch of ground from a GeoTIFF: plain or deflated strips and tiles of one sample a pixel, and how far apart they are."""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import Array
from ._native import SandglassError

_MOST = 1 << 28  # bytes of pixels
_KINDS = {1: "B", 2: "s", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 11: "f", 12: "d", 13: "I", 16: "Q", 17: "q", 18: "Q"}
_PACKED = {2: "CCITT", 3: "CCITT", 4: "CCITT", 5: "LZW", 6: "JPEG", 7: "JPEG", 32773: "PackBits", 34887: "LERC", 34925: "LZMA",
           50000: "ZSTD", 50001: "WebP"}
_LINEAR = {9001: 1., 9002: 0.3048, 9003: 1200 / 3937}  # m, of the units of EPSG: meter, foot, survey foot
_NAMES = {256: "width", 257: "height", 258: "bits", 259: "compression", 277: "samples", 317: "predictor", 339: "format"}


@dataclass
class Ground:
    """Heights (m), rows upwards, and how far apart they are along x and y (m); None where the file does not say."""

    heights: Array
    spacing: tuple[float, float] | None


class _File:
    """The first image of a TIFF file, and its tags."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = name, data
        self.order = "<" if data[:2] == b"II" else ">"
        self.big = self.unpack("H", 2)[0] == 43
        self.tags: dict[int, Any] = {}
        at = self.unpack("Q", 8)[0] if self.big else self.unpack("I", 4)[0]
        size, count, entry = (8, "Q", 20) if self.big else (2, "H", 12)
        for k in range(min(self.unpack(count, at)[0], 4096)):
            self.read_tag(at + size + k * entry)

    def wrong(self, what: str) -> SandglassError:
        return SandglassError(f"{self.name}: {what}")

    def unpack(self, form: str, at: int) -> tuple[Any, ...]:
        try:
            return struct.unpack_from(self.order + form, self.data, at)
        except (struct.error, OverflowError):
            raise self.wrong("the file ends too early") from None

    def read_tag(self, at: int) -> None:
        number, kind, count = self.unpack("HHQ" if self.big else "HHI", at)
        form = _KINDS.get(kind)
        if form is None:
            return  # fractions and what is not known: nothing that is asked for
        size, inline = count * struct.calcsize("=" + form), 8 if self.big else 4
        if size > len(self.data):
            raise self.wrong(f"tag {number} is longer than the file")
        where = at + (12 if self.big else 8)
        if size > inline:
            where = self.unpack("Q" if self.big else "I", where)[0]
        self.tags[number] = self.unpack(f"{count}{form}", where)

    def one(self, number: int, otherwise: int | None = None) -> int:
        """A whole number of the first image."""
        found = self.tags.get(number)
        if not found or not isinstance(found[0], int):
            if otherwise is None:
                raise self.wrong(f"it has no {_NAMES.get(number, f'tag {number}')}")
            return otherwise
        return found[0]

    def all(self, number: int, what: str) -> tuple[int, ...]:
        found = self.tags.get(number, ())
        if not found or not all(isinstance(value, int) for value in found):
            raise self.wrong(f"it has no {what}")
        return tuple(found)

    # --- pixels ---

    def type(self) -> np.dtype[Any]:
        """The type of a sample."""
        bits, form = self.one(258, 1), self.one(339, 1)
        kind = {1: "u", 2: "i", 3: "f"}.get(form)
        if kind is None or bits not in {"u": (8, 16, 32), "i": (8, 16, 32), "f": (32, 64)}[kind]:
            raise self.wrong(f"samples of {bits} bits and format {form} are no heights: integers of 8, 16 and 32 bits and floats are")
        return np.dtype(f"{self.order}{kind}{bits // 8}")

    def pixels(self) -> Array:
        """The samples, rows downwards."""
        width, height, kind = self.one(256), self.one(257), self.type()
        if self.one(277, 1) != 1:
            raise self.wrong(f"it has {self.one(277)} samples a pixel; expected one, a height")
        if width < 2 or height < 2 or width * height * kind.itemsize > _MOST:
            raise self.wrong(f"{width} x {height} pixels are no ground; 2 x 2 to {_MOST} bytes are possible")
        tiled = 322 in self.tags
        across, down = (self.one(322), self.one(323)) if tiled else (width, min(self.one(278, height), height))
        offsets = self.all(324 if tiled else 273, "place of its pixels")
        sizes = self.all(325 if tiled else 279, "size of its pixels")
        if across < 1 or down < 1 or across * down * kind.itemsize > _MOST:
            raise self.wrong(f"it has tiles of {across} x {down} pixels")
        columns, rows = -(-width // across), -(-height // down)
        if len(offsets) != columns * rows or len(sizes) != columns * rows:
            raise self.wrong(f"it has {len(offsets)} parts in place of {columns * rows}")
        made = np.zeros((rows * down, columns * across), kind.newbyteorder("="))
        for k, (offset, size) in enumerate(zip(offsets, sizes)):
            y, x = k // columns * down, k % columns * across
            lines = down if tiled else min(down, height - y)
            made[y:y + lines, x:x + across] = self.part(k, self.data[offset:offset + size], lines, across, kind)
        return made[:height, :width]

    def part(self, number: int, raw: bytes, lines: int, across: int, kind: np.dtype[Any]) -> Array:
        """The samples of a strip or a tile."""
        packing, size = self.one(259, 1), lines * across * kind.itemsize
        if packing in (8, 32946):
            try:
                raw = zlib.decompressobj().decompress(raw, size)
            except zlib.error as error:
                raise self.wrong(f"part {number} is damaged: {error}") from None
        elif packing != 1:
            raise self.wrong(f"pixels packed by {_PACKED.get(packing, f'method {packing}')} are not read; plain and deflated ones are")
        if len(raw) < size:
            raise self.wrong(f"part {number} has {len(raw)} bytes of pixels in place of {size}")
        guess = self.one(317, 1)
        if guess == 3 and kind.kind == "f":
            planes = np.add.accumulate(np.frombuffer(raw, np.uint8, size).reshape(lines, -1), axis=1, dtype=np.uint8)
            planes = planes.reshape(lines, kind.itemsize, across).transpose(0, 2, 1)
            return np.ascontiguousarray(planes).view(kind.newbyteorder(">")).reshape(lines, across)
        samples = np.frombuffer(raw, kind, lines * across).reshape(lines, across).astype(kind.newbyteorder("="))
        if guess == 2 and kind.kind != "f":
            return np.add.accumulate(samples, axis=1, dtype=samples.dtype)
        if guess != 1:
            raise self.wrong(f"pixels by predictor {guess} are not read")
        return samples

    # --- where it is ---

    def keys(self) -> dict[int, int]:
        """The geographic keys that are whole numbers."""
        words = self.tags.get(34735, ())
        return {words[k]: words[k + 3] for k in range(4, len(words) - 3, 4) if words[k + 1] == 0}

    def unit(self, key: int) -> float:
        """Meters of a unit, 1 where none is named."""
        code = self.keys().get(key, 9001)
        if code not in _LINEAR:
            raise self.wrong(f"its unit {code} is not known; meters and feet are")
        return _LINEAR[code]

    def spacing(self) -> tuple[tuple[float, float] | None, bool]:
        """How far pixels are apart in m, and whether rows go upwards."""
        scale, matrix = self.tags.get(33550), self.tags.get(34264)
        if scale is not None and len(scale) >= 2:
            x, y = float(scale[0]), -float(scale[1])
        elif matrix is not None and len(matrix) == 16:
            x, y = float(matrix[0]), float(matrix[5])
            if matrix[1] != 0 or matrix[4] != 0:
                raise self.wrong("its pixels are turned against its coordinates; warp it to the north first")
        else:
            return None, False
        if not (0 < x < math.inf and 0 < abs(y) < math.inf):
            raise self.wrong(f"its pixels are {x:g} and {abs(y):g} apart")
        if self.keys().get(1024) == 2:
            return None, y > 0  # degrees
        return (x * self.unit(3076), abs(y) * self.unit(3076)), y > 0


def read(name: str, data: bytes) -> Ground:
    """The ground of a GeoTIFF file."""
    file = _File(name, data)
    pixels: Any = file.pixels().astype(float)
    told = file.tags.get(42113)
    if told:
        try:
            nothing = float(told[0].rstrip(b"\0 ").decode())
        except (ValueError, AttributeError):
            raise file.wrong("its value for no height is not a number") from None
        pixels[pixels == nothing] = math.nan
    lacking = int(np.count_nonzero(~np.isfinite(pixels)))
    if lacking:
        raise file.wrong(f"{lacking} of {pixels.size} pixels have no height; cut or fill it first")
    spacing, upwards = file.spacing()
    heights: Array = file.unit(4099) * (pixels if upwards else pixels[::-1])
    return Ground(np.ascontiguousarray(heights), spacing)
