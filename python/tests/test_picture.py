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


# --- colors of one's own, and what pixels show ------------------------------------------------------------------------


def test_an_array_of_speeds_has_the_colors_of_speed(balls):
    sim = Simulation.load("hourglass", bodies=60).step(30)
    speeds = np.linalg.norm(sim.velocities, axis=1)
    look = dict(camera="front", range=(2.9, 2.95), quality="low")
    theirs = sim.draw(64, 64, color="speed", **look)
    assert np.array_equal(sim.draw(64, 64, color=speeds, **look), theirs)
    assert not np.array_equal(sim.draw(64, 64, color=speeds[::-1], **look), theirs)
    look["range"] = speeds.min(), speeds.max()  # where none is given
    assert np.array_equal(sim.draw(64, 64, color=speeds, camera="front", quality="low"), sim.draw(64, 64, color="speed", **look))
    with pytest.raises(ValueError, match="60 numbers"):
        sim.draw(64, 64, color=speeds[1:])
    with pytest.raises(ValueError, match="finite"):
        sim.draw(64, 64, color=np.full(60, np.nan))


def test_materials_as_colors(balls):
    world = World()
    world.material("glass")
    world.material("steel")
    world.add_spheres([(-0.6, 0, 0), (0.6, 0, 0)], [0.5, 0.5], material=1)
    world.add_sphere(0.5, (0, 0, 1), material=0)
    sim = world.simulate()
    drawn = sim.draw(64, 64, color="material", quality="low")
    assert np.array_equal(drawn, sim.draw(64, 64, color=[1, 1, 0], quality="low"))
    assert not np.array_equal(drawn, sim.draw(64, 64, color=[0, 1, 0], quality="low"))


EYE, BALL, RADIUS, ANGLE = np.array([1.0, -6.0, 2.0]), np.array([0.2, 0.3, 0.1]), 0.7, np.radians(28)


def one_ball():
    world = World()
    world.material("glass")
    world.add_sphere(RADIUS, tuple(BALL))
    world.plane((0, 0, -5), (0, 0, 1))
    return world.simulate()


def rays_of(width, height, target):
    """The rays of a camera at EYE that looks at a target, 28 degrees high: its axes by hand."""
    forward = (target - EYE) / np.linalg.norm(target - EYE)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    half = np.tan(0.5 * ANGLE)
    x = (2 * (np.arange(width) + 0.5) / width - 1) * half * width / height
    y = (1 - 2 * (np.arange(height) + 0.5) / height) * half
    return forward + x[None, :, None] * right + y[:, None, None] * up


def test_depth_of_a_ball_and_the_ground(balls):
    target = np.array([0.0, 0.5, 0.0])
    image = one_ball().draw(80, 60, camera=(*EYE, *target), depth=True, normals=True, ids=True, quality="low")
    along = rays_of(80, 60, target)  # goes forward by 1
    a, b = (along**2).sum(-1), along @ (EYE - BALL)
    root = b**2 - a * (((EYE - BALL)**2).sum() - RADIUS**2)
    ball = root > 0
    assert np.array_equal(image.ids == 0, ball) and 100 < ball.sum() < 2000
    depth = (-b - np.sqrt(np.where(ball, root, 0))) / a
    assert np.allclose(image.depth[ball], depth[ball], atol=1e-9)
    points = EYE + image.depth[..., None] * along
    assert np.allclose(image.normals[ball], ((points - BALL) / RADIUS)[ball], atol=1e-9)
    ground = ~ball & (along[..., 2] < 0)
    assert np.array_equal(image.ids == -1, ground) and np.allclose(points[ground][:, 2], -5)
    assert np.allclose(image.normals[ground], [0, 0, 1])
    sky = ~ball & ~ground
    assert (image.ids[sky] == sandglass.NOTHING).all() and np.isinf(image.depth[sky]).all() and not image.normals[sky].any()
    plain = one_ball().draw(80, 60, camera=(*EYE, *target), quality="low")
    assert np.array_equal(plain, image) and plain.depth is plain.ids is plain.normals is None


@pytest.mark.parametrize("camera", ["front", "top", "corner", (2, -4, 3, 0, 0, 0.4)])
def test_ids_are_where_the_renderer_draws(balls, camera):
    """Where a body is drawn, its color changes with the number that it has."""
    world = World()
    world.material("glass")
    world.add_spheres([(-0.6, 0, 0), (0.7, 0.2, 0.3)], [0.5, 0.6])
    world.add_box((0.3, 0.4, 0.2), (0, 0, 1.2), rotation=(0.9, 0.1, 0.3, 0.2))
    sim = world.simulate()
    look = dict(camera=camera, quality="low", range=(0, 1))
    image = sim.draw(160, 120, color=[0, 0, 0], ids=True, **look)
    for body in range(3):
        other = sim.draw(160, 120, color=np.arange(3) == body, **look)
        changed = np.abs(other.astype(int) - image).sum(-1) > 60  # more than light that falls on others
        shown = image.ids == body
        assert shown.sum() > 200
        assert (changed != shown).sum() < 0.12 * shown.sum()  # pixels at the edge are mixed


def test_an_unknown_word_is_refused(balls):
    with pytest.raises(TypeError, match="draw has no argument dept; did you mean depth"):
        balls.draw(16, 16, dept=True)
