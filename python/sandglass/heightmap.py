# SPDX-License-Identifier: MIT
"""Heights of a patch of ground from a grayscale PNG of 8 or 16 bits, or a GeoTIFF, without a library for pictures."""

from __future__ import annotations

import os
import struct
import zlib
from typing import Any

import numpy as np

from . import _tiff
from ._arrays import Array
from ._native import SandglassError, real

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_MOST = 1 << 28  # bytes of a picture


def _chunks(name: str, data: bytes) -> dict[bytes, bytes]:
    """The bytes of each kind of chunk, joined; a chunk that was damaged is refused."""
    found: dict[bytes, bytes] = {}
    at = len(_SIGNATURE)
    while at + 12 <= len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if len(body) < size or data[at + 8 + size:at + 12 + size] != struct.pack(">I", zlib.crc32(kind + body)):
            raise SandglassError(f"{name}: the chunk {kind.decode('latin1')} is damaged")
        found[kind] = found.get(kind, b"") + body
        at += 12 + size
    return found


def _unfilter(name: str, raw: bytes, width: int, height: int, step: int) -> Array:
    """Undoes the filter of each row, which is said by its first byte; `step` bytes make a pixel."""
    line = width * step
    lines = np.frombuffer(raw, np.uint8).reshape(height, line + 1)
    out = np.zeros((height + 1, line + step), np.uint8)  # a row above and a pixel to the left are zero
    for y in range(height):
        kind, row, above, to = lines[y, 0], lines[y, 1:], out[y], out[y + 1]
        if kind == 0:
            to[step:] = row
        elif kind == 1:
            to[step:] = np.add.accumulate(row.reshape(width, step), axis=0, dtype=np.uint8).ravel()
        elif kind == 2:
            to[step:] = row + above[step:]
        elif kind in (3, 4):
            _unfilter_slowly(int(kind), row, above, to, step)
        else:
            raise SandglassError(f"{name}: row {y} has the unknown filter {kind}")
    return out[1:, step:]


def _unfilter_slowly(kind: int, row: Array, above: Array, to: Array, step: int) -> None:
    """The filters that need the pixel to the left: the average, and Paeth's."""
    values, up, left = row.tolist(), above.tolist(), [0] * step
    for k, value in enumerate(values):
        a, b, c = left[k], up[k + step], up[k]
        if kind == 3:
            guess = (a + b) // 2
        else:
            p = a + b - c
            near = (abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c)
            guess = min(near)[2]
        left.append((value + guess) & 255)
    to[:] = np.array(left, np.uint8)


def heightmap(path: str | os.PathLike[str], half: Any, low: float | None, high: float | None) -> tuple[Array, tuple[float, float]]:
    """The heights (m) of the pixels of a file, rows upwards, and half the lengths of the ground.

    Of a PNG black is `low`, 0 unless given, and white is `high`, 1 unless given. A GeoTIFF has heights in m, which `low` moves so that
    the least is there, and says how far they are apart.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise SandglassError(f"{name}: cannot be read: {error.strerror}") from None
    if data[:4] in _TIFF:
        return _of_tiff(name, data, half, low, high)
    if not data.startswith(_SIGNATURE):
        raise SandglassError(f"{name}: heights are read from a PNG or a GeoTIFF file, which this is not")
    if half is None:
        raise SandglassError(f"{name}: a PNG does not say how far its pixels are apart; give half, half the lengths of the ground in m")
    limits = real(0 if low is None else low, "low"), real(1 if high is None else high, "high")
    return _of_png(name, data, limits), (half[0], half[1])


def _of_tiff(name: str, data: bytes, half: Any, low: float | None, high: float | None) -> tuple[Array, tuple[float, float]]:
    if high is not None:
        raise SandglassError(f"{name}: a GeoTIFF has heights in m, and takes no high")
    ground = _tiff.read(name, data)
    heights = ground.heights
    if low is not None:
        heights = heights + (real(low, "low") - heights.min())
    if half is None:
        if ground.spacing is None:
            raise SandglassError(f"{name}: it does not say in meters or feet how far its pixels are apart; give half, half the lengths "
                                 "of the ground in m")
        half = [0.5 * (count - 1) * apart for count, apart in zip(heights.shape[::-1], ground.spacing)]
    return heights, (half[0], half[1])


def _of_png(name: str, data: bytes, limits: tuple[float, float]) -> Array:
    chunks = _chunks(name, data)
    if len(chunks.get(b"IHDR", b"")) != 13:
        raise SandglassError(f"{name}: the PNG has no header")
    width, height, bits, color, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if color != 0 or bits not in (8, 16) or interlaced:
        raise SandglassError(f"{name}: heights are a grayscale PNG of 8 or 16 bits, not interlaced")
    return _read_pixels(name, chunks.get(b"IDAT", b""), width, height, bits // 8, limits)


def _read_pixels(name: str, packed: bytes, width: int, height: int, step: int, limits: tuple[float, float]) -> Array:
    size = height * (width * step + 1)
    if width < 2 or height < 2 or size > _MOST:
        raise SandglassError(f"{name}: {width} x {height} pixels are no ground; 2 x 2 to {_MOST} bytes are possible")
    try:
        raw = zlib.decompressobj().decompress(packed, size + 1)
    except zlib.error as error:
        raise SandglassError(f"{name}: the pixels are damaged: {error}") from None
    if len(raw) != size:
        raise SandglassError(f"{name}: it has {len(raw)} bytes of pixels in place of {size}")
    pixels: Any = _unfilter(name, raw, width, height, step).reshape(height, width, step)
    value = pixels[..., 0].astype(float) if step == 1 else pixels[..., 0] * 256. + pixels[..., 1]
    low, high = limits
    heights: Array = low + (high - low) * value[::-1] / (256**step - 1)
    return heights
