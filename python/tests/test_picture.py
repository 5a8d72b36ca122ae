# SPDX-License-Identifier: MIT
"""Pictures: those of the program, as arrays."""

import shutil
import struct
import subprocess
import threading
import zlib

import numpy as np
import pytest
import sandglass
from sandglass import Simulation, Views, World, _native


@pytest.fixture(scope="module")
def balls():
    sim = Simulation.load("two-spheres")
    try:
        sim.draw(16, 16)
    except sandglass.SandglassError as error:
        pytest.skip(str(error))
    return sim


@pytest.mark.parametrize("scene, frames", [("two-spheres", 1), ("rover", 6)])  # the camera follows the rover
def test_the_picture_is_that_of_the_program(balls, program, tmp_path, scene, frames):
    if not shutil.which("convert"):
        pytest.skip("there is no convert to read a PNG with")
    program("record", scene, "--backend", "cpu", "--frames", frames, "--fps", 20, "--size", "160x120", "--camera", "corner",
            "--out", tmp_path)
    last = sorted(tmp_path.glob("*.png"))[-1]
    theirs = subprocess.run(["convert", last, "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
    sim = Simulation.load(scene).run((frames - 1) / 20)
    ours = sim.draw(160, 120, camera="corner", quality="high", samples=2)
    assert ours.shape == (120, 160, 3) and ours.dtype == np.uint8
    assert np.array_equal(ours.ravel(), np.frombuffer(theirs, np.uint8))


def chunks_of(png):
    """The chunks of a PNG file, with their checksums verified."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at:at + 4])
        kind, data = png[at + 4:at + 8], png[at + 8:at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length:at + 12 + length]) == (zlib.crc32(png[at + 4:at + 8 + length]),)
        chunks[kind], at = data, at + 12 + length
    return chunks


def test_without_egl_the_rest_works(monkeypatch):
    monkeypatch.setattr(_native, "_path", lambda name: "/nowhere/" + name)
    with pytest.raises(sandglass.SandglassError, match="no pictures.*libegl1"):
        _native.Pictures()


def test_a_picture_is_saved_as_png(balls, tmp_path):
    image = balls.draw(40, 30, quality="low")
    for name in ("a.png", "plain"):
        image.save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == image.png()
    with pytest.raises(ValueError, match=r"a\.bmp: expected a name that ends in \.png"):
        image.save(tmp_path / "a.bmp")
    assert not (tmp_path / "a.bmp").exists()


def test_a_notebook_displays_it(balls):
    image = balls.draw(40, 30, quality="low")
    chunks = chunks_of(image._repr_png_())
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"] and struct.unpack(">IIBB", chunks[b"IHDR"][:10]) == (40, 30, 8, 2)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(30, 121)
    assert not rows[:, 0].any() and np.array_equal(rows[:, 1:].reshape(30, 40, 3), image)
    assert image._repr_html_().startswith("<img") and balls._repr_png_().startswith(b"\x89PNG")


def test_the_ball_is_where_the_camera_looks():
    world = World()
    world.material("glass")
    world.add_sphere(0.5, (10, 20, 30))
    sim = world.simulate()
    near, away = (np.asarray(sim.draw(60, 60, camera=(10, 17, 30, 10 + shift, 20, 30), quality="low"), int) for shift in (0, 50))
    difference = np.abs(near - away).sum(axis=2)
    assert difference[25:35, 25:35].min() > 20  # the ball, and the backdrop in its place


def test_other_threads_may_draw(balls):
    wanted, got = balls.draw(32, 24, quality="low"), []
    thread = threading.Thread(target=lambda: got.append(balls.draw(32, 24, quality="low")))
    thread.start()
    thread.join()
    assert np.array_equal(wanted, got[0]) and np.array_equal(wanted, balls.draw(32, 24, quality="low"))


def test_colors_mean_something(balls):
    sim = Simulation.load("hourglass", bodies=60, start="settled").step(5)
    looks = ({}, {"color": "speed"}, {"color": "speed", "map": "cividis"}, {"color": "speed", "range": (0, 0.1)}, {"chains": True})
    pictures = [sim.draw(48, 48, quality="low", **look).tobytes() for look in looks]
    assert len(set(pictures)) == len(pictures)


@pytest.mark.parametrize("look, sentence", [
    ({"color": "spead"}, "did you mean speed"),
    ({"camera": "frnt"}, "did you mean front"),
    ({"quality": "best"}, "there are low, medium, high"),
    ({"width": 0}, "0 x 480"),
    ({"range": (2, 1)}, "smaller one first"),
    ({"samples": 99}, "samples 99"),
])
def test_errors_are_one_sentence(balls, look, sentence):
    with pytest.raises(sandglass.SandglassError, match=sentence):
        balls.draw(**look)


def test_a_camera_moves_through_its_views(balls):
    path = Views().add(0, (3, 0, 1), (0, 0, 0)).add(2, (0, 3, 1), (0, 0, 0)).add(5, (0, 3, 2), (0, 1, 0))
    assert path.at(-1) == pytest.approx([3, 0, 1, 0, 0, 0]) and path.at(2) == pytest.approx([0, 3, 1, 0, 0, 0])
    assert path.at(9) == pytest.approx([0, 3, 2, 0, 1, 0])
    assert np.hypot(*path.at(1)[:2]) == pytest.approx(3)  # around the target, not through it
    with pytest.raises(sandglass.SandglassError):
        Views().at(0)
