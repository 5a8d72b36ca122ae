# SPDX-License-Identifier: MIT
"""Worlds built in Python, against geometry and mechanics by hand."""

import math

import numpy as np
import pytest
import sandglass
from sandglass import World

CUBE = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)


def test_a_sphere_falls_and_rests():
    world = World()
    world.material("glass", density=2500, mu=0.3)
    world.plane()
    world.add_sphere(0.1, (0, 0, 1))
    sim = world.simulate()
    assert sim.masses[0] == pytest.approx(2500 * 4 / 3 * math.pi * 0.1**3)
    sim.run(1)
    assert sim.positions[0] == pytest.approx([0, 0, 0.1], abs=1e-4)


def test_a_shape_lies_where_it_was_described():
    world = World(gravity=(0, 0, 0))
    world.material("stone", density=1000)
    quarter = (math.cos(math.pi / 4), 0, 0, math.sin(math.pi / 4))  # about z
    world.add_hull(CUBE, (5, 0, 0), rotation=quarter)
    world.add_box((0.5, 0.5, 0.5), (0, 3, 0))
    world.add(world.clump_shape([(0, 0, 0), (1, 0, 0)], 0.6), (0, 0, 9))
    world.add(world.cylinder_shape(0.5, 2), (9, 9, 9))
    world.add(world.capsule_shape(0.5, 2), (-9, 9, 9))
    sim = world.simulate()
    assert sim.positions[:2] == pytest.approx(np.array([(4.5, 0.5, 0.5), (0, 3, 0)]), abs=1e-9)
    assert sim.positions[2] == pytest.approx([0.5, 0, 9], abs=1e-3)  # its quadrature is good to 0.1 %
    assert sim.masses[[0, 1]] == pytest.approx(1000)
    assert sim.masses[3] == pytest.approx(1000 * math.pi * 0.25 * 2)
    assert sim.masses[4] == pytest.approx(1000 * math.pi * (0.25 * 2 + 4 / 3 * 0.125))


def test_a_shape_is_made_by_its_name():
    world = World(gravity=(0, 0, 0))
    world.material("stone", density=1000)
    sizes = {"cylinder": {"radius": 0.5, "height": 2}, "capsule": {"radius": 0.5, "length": 2}, "box": {"size": (1, 2, 3)}}
    for k, (kind, size) in enumerate(sizes.items()):
        world.add(world.shape(kind, **size), (0, 0, 9 * k))
    volumes = math.pi * 0.25 * 2, math.pi * (0.25 * 2 + 4 / 3 * 0.125), 6
    assert world.simulate().masses == pytest.approx([1000 * v for v in volumes])
    with pytest.raises(ValueError, match="there is no shape 'egg'; there are sphere, clump, box, cylinder, capsule, hull"):
        world.shape("egg")
    with pytest.raises(sandglass.SandglassError, match="a hull is not made from sizes"):
        world.shape("hull", radius=1)


def test_boundaries_hold_what_is_in_them():
    world = World()
    world.material("sand", mu=0.4)
    world.revolution([(0, 0), (1, 0), (1, 3)], name="cup")
    points = np.random.default_rng(1).uniform(-0.5, 0.5, (40, 3))
    points[:, 2] = 0.2 + 0.25 * np.arange(40)
    world.add_spheres(points, 0.1)
    sim = world.simulate(iterations=100).run(2)
    assert np.hypot(*sim.positions[:, :2].T).max() < 0.91 and sim.positions[:, 2].min() > 0.09 and not sim.gone.any()


@pytest.mark.parametrize("add", [
    lambda world: world.box_walls((1, 1, 1), position=(0, 0, 1)),
    lambda world: world.sphere_wall(1, position=(0, 0, 1)),
    lambda world: world.terrain(np.zeros((3, 4)), (2, 2)),
])
def test_every_boundary_carries_a_ball(add):
    world = World()
    world.material("glass")
    add(world)
    world.add_sphere(0.1, (0, 0, 0.3))
    assert world.simulate().run(1).positions[0] == pytest.approx([0, 0, 0.1], abs=1e-3)


def test_a_belt_carries_a_box_along():
    world = World()
    world.material("rubber", mu=1)
    world.plane(motion={"velocity": (0.5, 0, 0)})
    world.add_box((0.1, 0.1, 0.1), (0, 0, 0.1))
    assert world.simulate(iterations=200).run(1).velocities[0] == pytest.approx([0.5, 0, 0], abs=1e-3)


def test_a_rod_keeps_its_length():
    world = World()
    world.material("steel")
    ball = world.add_sphere(0.1, (1, 0, 0))
    world.join("rod", -1, ball, (0, 0, 0), anchor_b=(1, 0, 0))
    sim = world.simulate(iterations=200, precision="double").run(0.5)
    assert np.linalg.norm(sim.positions[0]) == pytest.approx(1, abs=1e-3) and sim.positions[0, 2] < -0.5
    with pytest.raises(ValueError, match="there are ball, hinge"):
        World().join("glue", -1, 0, (0, 0, 0))


def test_a_restitution_of_one_half():
    world = World(step=0.001, gravity=(0, 0, 0))
    world.material("steel", restitution=0.5)
    world.plane()
    world.add_sphere(0.1, (0, 0, 0.2), velocity=(0, 0, -4))
    assert world.simulate().run(0.1).velocities[0, 2] == pytest.approx(2, rel=1e-6)


def test_a_pair_has_laws_of_its_own():
    """A ball of glass bounces from glass by the restitution of glass, and from felt by that of the pair."""
    speeds = []
    for laws in ({}, {"restitution": 0.25}, {"mu": 0.1}):
        world = World(step=0.001, gravity=(0, 0, 0))
        glass, felt = world.material("glass", restitution=0.64), world.material("felt", restitution=0.25)
        world.plane(material=felt)
        world.add_sphere(0.1, (0, 0, 0.2), velocity=(0, 0, -4), material=glass)
        world.pair(felt, glass, **laws)
        speeds.append(world.simulate().run(0.1).velocities[0, 2])
    assert speeds == pytest.approx([1.6, 1, 1.6], rel=1e-6)


def test_outlets_count_what_leaves():
    world = World()
    world.material("sand", density=1000)
    world.outlet(point=(0, 0, -1), normal=(0, 0, 1), name="drain")
    world.add_spheres([(k, 0, 0) for k in range(4)], 0.1)
    world.add_sphere(0.1, (0, 0, 50))
    sim = world.simulate().run(1)
    (drain,) = sim.outlets
    assert drain.name == "drain" and drain.bodies == 4 and drain.mass == pytest.approx(4 * sim.masses[0])
    assert sim.counters.left_total == 4 and (sim.gone > 0).tolist() == [True] * 4 + [False]


def test_what_is_wrong_is_refused():
    world = World()
    with pytest.raises(sandglass.SandglassError):
        world.add_sphere(0.1, (0, 0, 0))  # there is no material
    world.material("glass")
    with pytest.raises(sandglass.SandglassError, match="glass"):
        world.material("glass")
    with pytest.raises(sandglass.SandglassError):
        world.add_hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])  # in one plane
    with pytest.raises(IndexError):
        world.add(7, (0, 0, 0))
    with pytest.raises(ValueError, match="motion: sped"):
        world.plane(motion={"sped": 1})


def test_material_has_a_look():
    world = sandglass.World()
    world.material("mirror", look="chrome", color=(0.9, 0.5, 0.1))
    with pytest.raises(ValueError, match="chrom: there is no such look; there are sand, stone, metal, chrome"):
        world.material("other", look="chrom")
    with pytest.raises(sandglass.SandglassError, match="material third: color 2 must be from 0 to 1"):
        world.material("third", color=(0, 0, 2))
