# SPDX-License-Identifier: MIT
"""Rays, nearest surfaces, overlaps, forces and events: answers of the library, in the shapes that Python promises."""

import numpy as np
import pytest
import sandglass
from sandglass import NOTHING, SandglassError, World


def balls(*positions, radius=0.5, step=0.01, **settings):
    world = World(step=step, **settings)
    glass = world.material("glass", density=1000, mu=0)
    world.plane((0, 0, 0), (0, 0, 1), name="floor")
    world.add_spheres(np.array(positions, float), np.full(len(positions), radius), material=glass)
    return world.simulate(precision="double", tolerance=1e-12, iterations=500)


def test_rays():
    sim = balls((0, 0, 2), (3, 0, 2))
    hits = sim.raycast([(0, 0, 9), (3, 0.3, 9), (6, 0, 9), (6, 0, 9)], [(0, 0, -3), (0, 0, -1), (0, 0, -1), (0, 0, 1)])
    distances, bodies = hits
    assert np.allclose(distances[:3], [6.5, 6.6, 9], atol=1e-12) and np.isinf(distances[3])
    assert bodies.tolist() == [0, 1, -1, NOTHING] and len(hits) == 4
    assert np.allclose(hits.points[1], [3, 0.3, 2.4]) and np.allclose(hits.normals[1], [0, 0.6, 0.8])
    fan = np.stack([np.linspace(-1, 1, 501), np.zeros(501), np.full(501, -1.0)], axis=1)
    distances, bodies = sim.raycast((0, 0, 9), fan)  # one origin for all
    assert distances.shape == (501,) and bodies[250] == 0 and distances.min() == pytest.approx(6.5)
    assert sim.raycast((0, 0, 9), (0, 0, -1), passes=0).bodies.tolist() == [-1]
    assert sim.raycast((0, 0, 9), (0, 0, -1), reach=6).bodies.tolist() == [NOTHING]
    assert len(sim.raycast(np.zeros((0, 3)), np.zeros((0, 3)))) == 0


def test_wrong_rays_are_refused():
    sim = balls((0, 0, 2))
    with pytest.raises(SandglassError, match="ray 1 has no direction"):
        sim.raycast([(0, 0, 9)] * 2, [(0, 0, 1), (0, 0, 0)])
    with pytest.raises(ValueError, match="directions"):
        sim.raycast(np.zeros((3, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="origins"):
        sim.raycast((0, 0), (0, 0, 1))
    with pytest.raises(SandglassError, match="passes"):
        sim.raycast((0, 0, 9), (0, 0, 1), passes=0.5)


def test_the_nearest_surface():
    sim = balls((0, 0, 2), (3, 0, 2))
    near = sim.closest([(0, 0, 5), (1, 0, 0.2), (3, 0, 2.4), (40, 0, 1)])
    assert near.bodies.tolist() == [0, -1, 1, -1]
    assert np.allclose(near.distances, [2.5, 0.2, -0.1, 1])
    assert np.allclose(near.points[2], [3, 0, 2.5])
    assert sim.closest((40, 0, 1), reach=0.5).bodies.tolist() == [NOTHING]


def test_overlaps():
    sim = balls((0, 0, 2), (3, 0, 2), (0, 3, 2))
    assert sim.overlap((1.5, 0, 2), 1.01).tolist() == [0, 1]
    assert sim.overlap((1.5, 0, 2), 0.99).tolist() == []
    assert sim.overlap(lower=(-1, -1, 2.4), upper=(1, 4, 3)).tolist() == [0, 2]
    assert sim.overlap(lower=(-1, -1, 2.6), upper=(1, 4, 3)).tolist() == []
    with pytest.raises(TypeError, match="a center and a radius, or lower and upper"):
        sim.overlap((0, 0, 0))


def test_forces_carry_the_weight():
    sim = balls((0, 0, 0.5), (0, 0, 1.5), (3, 0, 0.5)).step(5)
    weight = sim.masses * 9.81
    assert np.allclose(sim.contact_forces, np.outer(weight, [0, 0, 1]), atol=1e-6 * weight[0])
    assert np.allclose(sim.boundary_force("floor"), [0, 0, -weight.sum()], atol=1e-6 * weight[0])
    assert np.allclose(sim.boundary_torques[0], [0, 3 * weight[2], 0], atol=1e-6 * weight[0])
    assert np.allclose(sim.contact_torques, 0, atol=1e-6 * weight[0])
    assert np.array_equal(sim.boundary_force(0), sim.boundary_forces[0])
    with pytest.raises(SandglassError, match="flor: there is no such boundary; .*floor"):
        sim.boundary_force("flor")
    with pytest.raises(SandglassError, match="there are 1"):
        sim.boundary_force(1)


def test_events_of_a_bounce():
    world = World(step=0.001)
    world.material("rubber", density=1000, mu=0, restitution=0.8)
    world.plane((0, 0, 0), (0, 0, 1))
    world.add_spheres([(0, 0, 1.5)], [0.5], material=0)
    sim = world.simulate(precision="double", tolerance=1e-12, iterations=500)
    sim.keep_events()
    assert len(sim.contact_events()) == 0
    sim.run(2)  # falls in 0.45 s, comes up for 0.72 s, then for 0.58 s
    (event,) = sim.contact_events()
    assert (event["a"], event["b"], event["begins"], event["ends"], event["touching"]) == (0, -1, 3, 3, False)
    assert event["impulse"] == pytest.approx(1.8 * sim.masses[0] * np.sqrt(2 * 9.81), rel=1e-2)
    assert event["hardest"] == pytest.approx(np.sqrt(2 / 9.81), abs=2e-3)
    assert np.allclose(event["normal"], [0, 0, -1])
    assert len(sim.contact_events()) == 0


def test_answers_do_not_depend_on_the_threads():
    def ask(threads):
        sim = sandglass.load("hourglass", bodies=800, threads=threads).step(20)
        directions = np.random.default_rng(3).normal(size=(3000, 3))
        hits = sim.raycast(sim.positions.mean(axis=0) + 3 * directions, -directions)
        return hits.distances.tobytes() + hits.bodies.tobytes() + hits.normals.tobytes()

    assert ask(1) == ask(3)
