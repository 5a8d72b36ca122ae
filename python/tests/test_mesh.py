# SPDX-License-Identifier: MIT
"""Meshes, compounds and heights in Python, against geometry by hand."""

import math
import struct
import zlib

import numpy as np
import pytest
import sandglass
from sandglass import Mesh, Solid, World
from sandglass.heightmap import heightmap

OUTLINE = np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)], float)  # an L, which is not convex


def prism(outline=OUTLINE, triangles=((0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5))):
    n = len(outline)
    vertices = np.array([(x, y, z) for z in (0, 1) for x, y in outline])
    faces = [(a, c, b) for a, b, c in triangles] + [(a + n, b + n, c + n) for a, b, c in triangles]
    for k in range(n):
        faces += [(k, (k + 1) % n, (k + 1) % n + n), (k, (k + 1) % n + n, k + n)]
    return Mesh(vertices, np.array(faces))


def write_obj(path, mesh):
    lines = [f"v {x} {y} {z}" for x, y, z in mesh.vertices] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.faces]
    path.write_text("\n".join(lines))
    return path


def test_a_mesh_has_its_solid():
    solid = prism().solid
    # 3 x 1 about (1.5, 0.5) and 1 x 1 about (0.5, 1.5)
    assert solid.volume == pytest.approx(4) and solid.center == pytest.approx([1.25, 0.75, 0.5])
    xx, yy = 3 * (1 / 12 + 0.0625) + 1 / 12 + 0.5625, 3 * (9 / 12 + 0.0625) + 1 / 12 + 0.5625
    xy = 3 * 0.25 * -0.25 + -0.75 * 0.75
    assert solid.inertia == pytest.approx(np.array([(yy * 0 + xx + 4 / 12, -xy, 0), (-xy, yy + 4 / 12, 0), (0, 0, xx + yy)]), abs=1e-12)
    mirrored = prism().scaled((-2, 1, 1)).solid
    assert mirrored.volume == pytest.approx(8) and mirrored.center == pytest.approx([-2.5, 0.75, 0.5])


def test_files_have_the_mesh(tmp_path):
    path = write_obj(tmp_path / "l.obj", prism())
    mesh = Mesh.read(path)
    assert np.array_equal(mesh.vertices, prism().vertices) and np.array_equal(mesh.faces, prism().faces)
    with pytest.raises(sandglass.SandglassError, match="none.stl: cannot be opened"):
        Mesh.read(tmp_path / "none.stl")


@pytest.mark.parametrize("faces, words", [([], "faces"), ([(0, 1)], "faces"), ([(0, 1, 9)], "from 0 to 2"), ([(0, 1, -1)], "from 0 to 2"),
                                          ([(0.5, 1, 2)], "whole numbers")])
def test_faces_that_are_none_are_refused(faces, words):
    with pytest.raises(ValueError, match=words):
        Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], faces)


def test_a_mesh_from_arrays_carries_a_ball():
    world = World()
    world.material("glass")
    world.mesh(vertices=[(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], faces=[(0, 1, 2), (0, 2, 3)])
    world.add_sphere(0.1, (0.1, 0, 0.3))
    assert world.simulate().run(1).positions[0] == pytest.approx([0.1, 0, 0.1], abs=1e-3)
    with pytest.raises(ValueError, match="a mesh is a path"):
        World().mesh()


def test_a_compound_is_where_its_pieces_are():
    world = World(gravity=(0, 0, 0))
    world.material("stone", density=1000)
    box, ball = world.box_shape((0.5, 0.5, 0.5)), world.sphere_shape()
    quarter = (math.cos(math.pi / 4), 0, 0, math.sin(math.pi / 4))
    two = world.compound_shape([(box, (0, 0, 0)), (box, (1, 0, 0), quarter)])
    three = world.compound_shape([(box, (0, 0, 0), (1, 0, 0, 0), 2), (ball, (3, 0, 0), (1, 0, 0, 0), 0.5)],
                                 solid=Solid(5, np.array([1., 0, 0]), np.diag([1., 2, 3])))
    world.add(two, (0, 0, 5))
    world.add(three, (9, 0, 5))
    sim = world.simulate()
    assert sim.masses == pytest.approx([2000, 5000])
    assert sim.positions == pytest.approx(np.array([(0.5, 0, 5), (10, 0, 5)]))


def test_a_wrong_piece_is_named():
    world = World()
    box = world.box_shape((1, 1, 1))
    clump = world.clump_shape([(0, 0, 0)], 1)
    with pytest.raises(IndexError, match="piece 1: there is no shape 7"):
        world.compound_shape([(box,), (7,)])
    with pytest.raises(sandglass.SandglassError, match="piece 0 of the compound is a clump"):
        world.compound_shape([(clump,)])
    with pytest.raises(sandglass.SandglassError, match="0 pieces"):
        world.compound_shape([])


def test_a_hull_takes_as_many_corners_as_it_may():
    angles = np.linspace(0, 2 * math.pi, 200, endpoint=False)
    points = [(math.cos(a), math.sin(a), z) for a in angles for z in (0, 1)]
    world = World(gravity=(0, 0, 0))
    world.material("stone", density=1000)
    with pytest.raises(sandglass.SandglassError, match="400 corners; at most 64"):
        world.hull_shape(points)
    world.add(world.hull_shape(points, at_most=64), (0, 0, 0))
    assert 0.97 * 1000 * math.pi < world.simulate().masses[0] < 1000 * math.pi  # inside the cylinder


def test_a_convex_mesh_is_one_piece():
    square = prism(np.array([(0, 0), (2, 0), (2, 1), (0, 1)], float), ((0, 1, 2), (0, 2, 3)))
    assert len(square.pieces()) == 1
    world = World()
    world.material("stone", density=1000)
    world.plane()
    world.add(world.mesh_shape(square), (0, 0, 0.2))
    sim = world.simulate().run(1)
    assert sim.masses[0] == pytest.approx(2000) and sim.positions[0, 2] == pytest.approx(0.5, abs=1e-3)


def test_a_decomposition_is_kept_beside_the_file(tmp_path):
    pytest.importorskip("coacd", reason="CoACD is not installed")
    mesh = Mesh.read(write_obj(tmp_path / "l.obj", prism()))
    pieces = mesh.pieces()
    kept = tmp_path / "l.obj.pieces.npz"
    assert len(pieces) >= 2 and kept.exists()
    before = kept.stat().st_mtime_ns
    again = Mesh.read(tmp_path / "l.obj").pieces()
    assert kept.stat().st_mtime_ns == before and all(np.array_equal(a, b) for a, b in zip(pieces, again))
    kept.write_bytes(b"damaged")
    assert len(mesh.pieces()) == len(pieces)
    world = World()
    world.material("stone", density=1000)
    world.plane()
    world.add(world.mesh_shape(mesh), (0, 0, 0))
    world.add_sphere(0.3, (2, 1.4, 0.5), mass=1)  # in the corner that its hull would fill
    sim = world.simulate()
    assert sim.masses[0] == pytest.approx(4000)  # of the mesh, not of its pieces
    sim.run(0.5)
    assert sim.positions[0] == pytest.approx([1.25, 0.75, 0.5], abs=2e-2) and sim.positions[1, 2] < 0.31


def test_without_coacd_the_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "coacd", None)
    with pytest.raises(sandglass.SandglassError, match="pip install coacd"):
        prism().pieces()


# --- heights --------------------------------------------------------------------------------------------------------


def png(values, bits, filters):
    """A grayscale PNG of these values, its rows filtered in turn by these filters."""
    height, width = values.shape
    step = bits // 8
    rows = values.astype(f">u{step}").view(np.uint8).reshape(height, width * step).astype(int)
    raw, above = b"", np.zeros(width * step, int)
    for y, row in enumerate(rows):
        left = np.concatenate([np.zeros(step, int), row[:-step]])
        corner = np.concatenate([np.zeros(step, int), above[:-step]])
        p = left + above - corner
        da, db, dc = abs(p - left), abs(p - above), abs(p - corner)
        paeth = np.where((da <= db) & (da <= dc), left, np.where(db <= dc, above, corner))
        guess = [0 * row, left, above, (left + above) // 2, paeth][filters[y % len(filters)]]
        raw += bytes([filters[y % len(filters)]]) + ((row - guess) % 256).astype(np.uint8).tobytes()
        above = row
    return container(struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0), zlib.compress(raw))


def container(header, pixels):
    chunks = [(b"IHDR", header), (b"tEXt", b"ground"), (b"IDAT", pixels[:10]), (b"IDAT", pixels[10:]), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
                                           for kind, body in chunks)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("filters", [(0,), (1,), (2,), (3,), (4,), (0, 1, 2, 3, 4)])
def test_heights_are_those_of_the_picture(tmp_path, bits, filters):
    values = np.random.default_rng(3).integers(0, 2**bits, (9, 7))
    (tmp_path / "ground.png").write_bytes(png(values, bits, filters))
    heights, _ = heightmap(tmp_path / "ground.png", (1, 1), -2, 3)
    assert heights == pytest.approx(-2 + 5 * values[::-1] / (2**bits - 1))


def test_a_ball_rests_on_the_heights_of_a_picture(tmp_path):
    values = np.full((5, 5), 32768)
    (tmp_path / "ground.png").write_bytes(png(values, 16, (0,)))
    world = World()
    world.material("glass")
    world.terrain(tmp_path / "ground.png", (2, 2), low=-1, high=3)
    world.add_sphere(0.1, (0.1, 0.1, 1.3))
    assert world.simulate().run(1).positions[0, 2] == pytest.approx(-1 + 4 * 32768 / 65535 + 0.1, abs=1e-3)
    with pytest.raises(ValueError, match="low and high"):
        world.terrain(np.zeros((3, 3)), (1, 1), high=2)


def test_pictures_that_are_no_heights_are_refused(tmp_path):
    path = tmp_path / "a.png"
    good = png(np.zeros((4, 4), int), 16, (0,))
    color = container(struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0), zlib.compress(b"\0" * 52))
    huge = container(struct.pack(">IIBBBBB", 10**9, 10**9, 8, 0, 0, 0, 0), zlib.compress(b""))
    for data, words in ((b"GIF89a", "which this is not"), (color, "grayscale"), (huge, "no ground"), (good[:60], "damaged|0 bytes"),
                        (good.replace(b"IHDR", b"IHDX"), "damaged")):
        path.write_bytes(data)
        with pytest.raises(sandglass.SandglassError, match=words):
            heightmap(path, (1, 1), None, None)
    with pytest.raises(sandglass.SandglassError, match="cannot be read"):
        heightmap(tmp_path / "none.png", (1, 1), None, None)


def test_pictures_changed_by_chance_are_read_or_refused(tmp_path):
    dice, path = np.random.default_rng(5), tmp_path / "a.png"
    good = png(dice.integers(0, 65536, (6, 6)), 16, (0, 1, 2, 3, 4))
    for _ in range(400):
        data = bytearray(good)
        for _ in range(int(dice.integers(1, 4))):
            data[int(dice.integers(len(data)))] = int(dice.integers(256))
        path.write_bytes(bytes(data[:int(dice.integers(1, len(data) + 1))] if dice.random() < 0.3 else data))
        try:
            assert np.isfinite(heightmap(path, (1, 1), None, None)[0]).all()
        except sandglass.SandglassError:
            pass
