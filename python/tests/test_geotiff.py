# SPDX-License-Identifier: MIT
"""Ground from GeoTIFF files: every form of samples and parts, scale and units, what is refused; and GDAL's own files where it is."""

import math
import struct
import zlib

import numpy as np
import pytest
import sandglass
from sandglass.heightmap import heightmap

FORMS = {"u": 1, "i": 2, "f": 3}


def packed(block, predictor, order, deflate):
    """The bytes of a strip or a tile."""
    if predictor == 2:
        block = np.diff(block, axis=1, prepend=block.dtype.type(0))
    raw = block.astype(block.dtype.newbyteorder(order)).tobytes()
    if predictor == 3:  # bytes of a row by their weight, the largest first, each less the one before
        planes = block.astype(block.dtype.newbyteorder(">"), order="C").view(np.uint8).reshape(*block.shape, -1).transpose(0, 2, 1)
        raw = np.diff(planes.reshape(len(block), -1), axis=1, prepend=np.uint8(0)).tobytes()
    return zlib.compress(raw) if deflate else raw


def tiff(pixels, order="<", tile=None, rows=3, predictor=1, deflate=False, big=False, **tags):
    """A GeoTIFF of these pixels; tags by number as (letter, values)."""
    height, width = pixels.shape
    down, across = tile or (rows, width)
    padded = np.pad(pixels, ((0, -height % down), (0, -width % across)), mode="edge") if tile else pixels
    parts = [packed(padded[y:y + down, x:x + across], predictor, order, deflate)
             for y in range(0, height, down) for x in range(0, width, across)]
    head, body, offsets = 16 if big else 8, b"", []
    for part in parts:
        offsets.append(head + len(body))
        body += part
    found = {256: ("I", [width]), 257: ("I", [height]), 258: ("H", [8 * pixels.itemsize]), 259: ("H", [8 if deflate else 1]),
             277: ("H", [1]), 339: ("H", [FORMS[pixels.dtype.kind]]), 317: ("H", [predictor])}
    places = ("I", offsets), ("I", [len(part) for part in parts])
    found.update({322: ("I", [across]), 323: ("I", [down]), 324: places[0], 325: places[1]} if tile
                 else {278: ("I", [rows]), 273: places[0], 279: places[1]})
    found.update({int(name[1:]): value for name, value in tags.items()})
    entries, extra, inline = b"", b"", 8 if big else 4
    at = head + len(body)
    after = at + (8 + 20 * len(found) + 8 if big else 2 + 12 * len(found) + 4)
    for number, (letter, values) in sorted(found.items()):
        data = values if letter == "s" else struct.pack(f"{order}{len(values)}{letter}", *values)
        kind = {"B": 1, "s": 2, "H": 3, "I": 4, "d": 12}[letter]
        entry = struct.pack(order + ("HHQ" if big else "HHI"), number, kind, len(data) if letter == "s" else len(values))
        if len(data) > inline:
            place, extra = after + len(extra), extra + data
            data = struct.pack(order + ("Q" if big else "I"), place)
        entries += entry + data.ljust(inline, b"\0")
    first = struct.pack(order + ("HHHQ" if big else "HI"), *((43, 8, 0, at) if big else (42, at)))
    count = struct.pack(order + ("Q" if big else "H"), len(found))
    return (b"II" if order == "<" else b"MM") + first + body + count + entries + bytes(inline) + extra


def hills(kind, height=7, width=10):
    y, x = np.mgrid[:height, :width]
    heights = 40 + 30 * np.sin(0.9 * x) * np.cos(0.7 * y)
    return (heights if kind[0] == "f" else np.round(heights)).astype(kind)


SCALE = dict(t33550=("d", [2.0, 3.0, 0.0]))


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("words", [{}, dict(order=">"), dict(deflate=True), dict(tile=(4, 4)), dict(tile=(16, 16), deflate=True, order=">"),
                                   dict(big=True), dict(predictor=2, deflate=True), dict(predictor=2, order=">", tile=(4, 4))])
def test_heights_of_every_form(tmp_path, kind, words):
    pixels, words = hills(kind), dict(words)
    if kind[0] == "f" and "predictor" in words:
        words["predictor"] = 3
    (tmp_path / "a.tif").write_bytes(tiff(pixels, **words, **SCALE))
    heights, half = heightmap(tmp_path / "a.tif", None, None, None)
    assert np.array_equal(heights, pixels[::-1].astype(float)) and half == (9.0, 9.0)  # 9 times 2 m and 6 times 3 m, halved
    heights, half = heightmap(tmp_path / "a.tif", (1, 2), 5, None)
    assert heights.min() == 5 and np.ptp(heights) == pytest.approx(np.ptp(pixels.astype(float))) and half == (1, 2)


def test_units_and_directions(tmp_path):
    pixels = hills("f4")

    def read(**tags):
        (tmp_path / "a.tif").write_bytes(tiff(pixels, **tags))
        return heightmap(tmp_path / "a.tif", None, None, None)

    feet = dict(t34735=("H", [1, 1, 0, 3, 1024, 0, 1, 1, 3076, 0, 1, 9002, 4099, 0, 1, 9002]))
    heights, half = read(**SCALE, **feet)
    assert np.allclose(heights, 0.3048 * pixels[::-1]) and half == pytest.approx((9 * 0.3048, 9 * 0.3048))
    matrix = [2, 0, 0, 500, 0, -3, 0, 900, 0, 0, 0, 0, 0, 0, 0, 1]
    assert np.array_equal(read(t34264=("d", matrix))[0], pixels[::-1]) and read(t34264=("d", matrix))[1] == (9, 9)
    matrix[5] = 3  # rows go to the north
    assert np.array_equal(read(t34264=("d", matrix))[0], pixels)


def test_a_ball_rests_on_ground_of_a_file(tmp_path):
    pixels = np.add.outer(np.zeros(9), np.arange(9)).astype("f4") + 300  # 1 m up for each pixel to the east
    (tmp_path / "slope.tif").write_bytes(tiff(pixels, deflate=True, t33550=("d", [10.0, 10.0, 0.0])))
    world = sandglass.World()
    world.material("rough", mu=1)
    world.terrain(tmp_path / "slope.tif", low=0)
    world.add_box((1, 1, 0.5), (20, 0, 6.8))
    box = world.simulate(iterations=100).run(2).positions[0]
    slope = math.atan(0.1)  # the middle of its lower face lies on the slope
    foot = box - 0.5 * np.array([-math.sin(slope), 0, math.cos(slope)])
    assert foot[2] == pytest.approx((foot[0] + 40) / 10, abs=0.01) and abs(box[0] - 20) < 0.2


@pytest.mark.parametrize("words, said", [
    (dict(t259=("H", [5])), "packed by LZW are not read"), (dict(t277=("H", [3])), "3 samples a pixel"),
    (dict(t339=("H", [5])), "samples of 32 bits and format 5"), (dict(t317=("H", [9])), "predictor 9"),
    (dict(t256=("I", [1])), "no ground"), (dict(t256=("I", [10**9])), "no ground"), (dict(t273=("I", [8])), "1 parts in place of 3"),
    (dict(t279=("I", [9, 9, 9])), "part 0 has 9 bytes of pixels in place of 120"), (dict(t33550=("d", [0.0, 1.0, 0.0])), "0 and 1 apart"),
    (dict(t34264=("d", [1, 1] + [0.0] * 14)), "turned against"), (dict(t42113=("s", b"10\0")), "1 of 70 pixels have no height"),
    (dict(t34735=("H", [1, 1, 0, 1, 3076, 0, 1, 9999]), **SCALE), "unit 9999"), ({}, "does not say in meters or feet"),
    (dict(t34735=("H", [1, 1, 0, 1, 1024, 0, 1, 2]), **SCALE), "does not say in meters or feet"),
])
def test_what_is_no_ground_is_refused(tmp_path, words, said):
    pixels = hills("f4")
    pixels[3, 3] = 10
    (tmp_path / "a.tif").write_bytes(tiff(pixels, **words))
    with pytest.raises(sandglass.SandglassError, match=said):
        heightmap(tmp_path / "a.tif", None, None, None)
    with pytest.raises(sandglass.SandglassError, match="takes no high"):
        heightmap(tmp_path / "a.tif", (1, 1), 0, 1)


def test_files_changed_by_chance_are_read_or_refused(tmp_path):
    dice, path = np.random.default_rng(1), tmp_path / "a.tif"
    files = [tiff(hills("f4"), deflate=True, tile=(4, 4), **SCALE), tiff(hills("u2"), predictor=2, **SCALE), tiff(hills("i2"), big=True, **SCALE)]
    read = refused = 0
    for trial in range(900):
        data = bytearray(files[trial % 3])
        for _ in range(int(dice.integers(1, 4))):
            data[int(dice.integers(4, len(data)))] = int(dice.integers(256))
        path.write_bytes(data[:len(data) if trial % 2 else int(dice.integers(len(data)))])
        try:
            assert np.isfinite(heightmap(path, (1, 1), None, None)[0]).all()
            read += 1
        except sandglass.SandglassError:
            refused += 1
    assert read > 50 and refused > 300


@pytest.mark.parametrize("words", [dict(), dict(compress="deflate", predictor=2), dict(compress="deflate", tiled=True, blockxsize=16, blockysize=16),
                                   dict(compress="deflate", predictor=3, dtype="float32"), dict(bigtiff="yes"), dict(endianness="big")])
def test_files_of_gdal(tmp_path, words):
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    words = dict(words)
    pixels = hills(np.dtype(words.pop("dtype", "int16")).str[1:], 40, 50)
    with rasterio.open(tmp_path / "a.tif", "w", driver="GTiff", width=50, height=40, count=1, dtype=pixels.dtype, crs="EPSG:32632", nodata=-9999,
                       transform=rasterio.transform.from_origin(4e5, 5e6, 30, 25), **words) as file:
        file.write(pixels, 1)
    heights, half = heightmap(tmp_path / "a.tif", None, None, None)
    assert np.array_equal(heights, pixels[::-1]) and half == (15 * 49, 12.5 * 39)
