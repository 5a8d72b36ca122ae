# SPDX-License-Identifier: MIT
"""A world with all that can be in one at once: a bucket on a motor, stones, a conveyor, forces, rays, events, exports, states."""

import numpy as np
import pytest

import sandglass as sg

STEP = 2e-3
BELT = -1  # what a ray meets: boundary k is -1 - k


@pytest.fixture
def world():
    world = sg.World(step=STEP)
    world.material(mu=0.4, name="gravel")
    world.plane((0, 0, 0), (0, 0, 1), material="gravel", surface_velocity=(0.2, 0, 0), name="belt")
    floor, wall = world.box_shape((0.3, 0.3, 0.02)), world.box_shape((0.02, 0.3, 0.2))
    side = world.box_shape((0.3, 0.02, 0.2))
    bucket = world.compound_shape([(floor, (0, 0, -0.18)), (wall, (0.28, 0, 0)), (wall, (-0.28, 0, 0)), (side, (0, 0.28, 0)),
                                   (side, (0, -0.28, 0))])
    number = world.add(bucket, (0, 0, 1.5))
    world.join("hinge", -1, number, (0, 0, 1.7), axis=(0, 1, 0), name="bail", motor_position=0.0, motor_rate=10, strength=200)
    grid = 0.08 * (np.stack(np.meshgrid(*[np.arange(4)] * 3), -1).reshape(-1, 3) - 1.5)
    world.add_spheres(grid + [0, 0, 1.52], np.full(len(grid), 0.035), materials="gravel")
    return world


def test_a_bucket_holds_what_falls_into_it(world):
    sim = world.simulate(iterations=100)
    sim.run(0.5)
    balls = np.arange(1, len(sim.positions))
    assert np.all(np.abs(sim.positions[balls, :2]) < 0.28) and np.all(sim.positions[balls, 2] > 1.2)
    # The hinge carries the bucket and all that is in it; contacts push the bucket down by the weight of the balls.
    weight = 9.81 * sim.masses[balls].sum()
    assert sim.contact_forces[0, 2] == pytest.approx(-weight, rel=0.1)
    # From above a ray meets a ball, from below the floor of the bucket, beside it the belt.
    hits = sim.raycast([(0.04, 0.04, 3), (0, 0, 0.5), (1, 1, 1)], [(0, 0, -1), (0, 0, 1), (0, 0, -1)])
    assert hits.bodies[0] in balls and hits.bodies[1] == 0 and hits.bodies[2] == BELT
    assert hits.distances[1] == pytest.approx(1.5 - 0.2 - 0.5, abs=0.02) and hits.distances[2] == pytest.approx(1)


def test_a_copy_that_is_told_the_same_has_the_same_bits(world, tmp_path):
    first = world.simulate(iterations=30)
    first.run(0.1)
    second = first.clone()

    def tell(sim):
        for n in range(60):
            sim.joints["bail"].set_motor(position=0.5 * np.sin(0.1 * n), rate=20, strength=300)
            sim.apply_force([0, 5], [(0, 5, 0), (2, 0, 1)], torques=[(0, 1, 0), (0, 0, 0)])
            sim.step()

    with first.export(tmp_path / "run.csv", rate=30):
        tell(first)
    second.keep_events()
    tell(second)
    assert second.hash == first.hash and len(second.contact_events()) > 0
    assert abs(first.joints["bail"].position) > 0.05
    assert (tmp_path / "run.csv").read_text().count("\n") > 2 * 65
