# SPDX-License-Identifier: MIT
"""Acting on a running simulation: forces, joints, boundaries, bodies that come and go. Against mechanics by hand."""

import math

import numpy as np
import pytest
import sandglass
from sandglass import World

GRAVITY = 9.81


def balls(count=3, **world):
    made = World(gravity=(0, 0, 0), **world)
    made.material("glass", density=2500, mu=0.3)
    made.add_spheres([(k, 0, 0) for k in range(count)], 0.1)
    return made.simulate(threads=1)


# --- forces -------------------------------------------------------------------------------------------------------


def test_forces_accelerate_for_one_step():
    sim = balls()
    h, mass = sim.step_length, sim.masses[0]
    sim.apply_force([0, 2], [(1, 0, 0), (0, 2, 0)])
    sim.apply_force(2, (0, 2, 0), torques=(0, 0, 1))
    sim.step(2)  # the second step without
    assert sim.velocities[:, 0] == pytest.approx([h / mass, 0, 0], rel=1e-12)
    assert sim.velocities[:, 1] == pytest.approx([0, 0, 4 * h / mass], rel=1e-12)
    assert sim.spins[2, 2] == pytest.approx(h / (0.4 * mass * 0.01), rel=1e-9)
    sim.apply_force(np.array([False, True, False]), torques=(3, 0, 0))
    sim.apply_force(None, np.zeros((3, 3)))
    sim.step()
    assert sim.spins[1, 0] > 0 and sim.velocities[1] == pytest.approx(0)


def test_a_force_at_a_point_turns():
    sim = balls()
    sim.apply_force(1, (0, 0, 5), at=sim.positions[1] + (0.1, 0, 0))
    sim.step()
    inertia = 0.4 * sim.masses[1] * 0.01
    assert sim.spins[1] == pytest.approx([0, -0.5 * sim.step_length / inertia, 0], rel=1e-9)


def test_a_force_carries_a_ball():
    world = World()
    world.material("glass")
    world.add_sphere(0.1, (0, 0, 1))
    sim = world.simulate()
    for _ in range(100):
        sim.apply_force(0, (0, 0, GRAVITY * sim.masses[0]))
        sim.step()
    assert sim.positions[0] == pytest.approx([0, 0, 1], abs=1e-12)


@pytest.mark.parametrize("given, error, words", [
    ((1, (0, math.nan, 0)), sandglass.SandglassError, "body 1: its force"),
    ((3, (0, 0, 0)), sandglass.SandglassError, "there is no body 3"),
    (("one", (0, 0, 0)), ValueError, "expected numbers of bodies"),
    (([1.5], (0, 0, 0)), ValueError, "expected numbers of bodies"),
    (([0, 1], np.zeros((3, 3))), ValueError, r"forces: expected shape \(2, 3\)"),
    (([True], np.zeros(3)), ValueError, "expected a mask of 3"),
    ((2**40, np.zeros(3)), ValueError, "32 bits"),
])
def test_wrong_forces_are_refused(given, error, words):
    sim = balls()
    with pytest.raises(error, match=words):
        sim.apply_force(*given)
    assert not sim.step().velocities.any()


class OnGpu:
    """Says of itself that it is an array on a GPU."""

    def __init__(self, shape, kind="<f8", strides=None):
        self.__cuda_array_interface__ = {"data": (16, False), "shape": shape, "typestr": kind, "strides": strides, "version": 3}


def test_arrays_on_a_gpu_are_refused_where_steps_are_on_the_host():
    sim = balls()
    with pytest.raises(sandglass.SandglassError, match="the backend cpu takes no arrays of forces on a device"):
        sim.apply_force(None, OnGpu((3, 3)))
    for wrong in (OnGpu((2, 3)), OnGpu((3, 3), "<f4"), OnGpu((3, 3), strides=(8, 24))):
        with pytest.raises(ValueError, match=r"expected a contiguous array \(3, 3\) of float64"):
            sim.apply_force(None, wrong)
    with pytest.raises(ValueError, match="both on the GPU or both not"):
        sim.apply_force(None, OnGpu((3, 3)), np.zeros((3, 3)))
    with pytest.raises(ValueError, match="bodies and at are None"):
        sim.apply_force(0, OnGpu((3, 3)))


# --- joints -------------------------------------------------------------------------------------------------------


def arm(**motor):
    world = World(step=0.01)
    world.material("steel", density=1000)
    body = world.add_box((0.4, 0.05, 0.05), (0.5, 0, 0))
    world.join("hinge", -1, body, (0, 0, 0), axis=(0, 1, 0), name="elbow", **motor)
    return world.simulate(precision="double", iterations=2000, tolerance=1e-12)


def test_a_motor_holds_an_angle_and_says_its_torque():
    sim = arm(motor_position=0.0, motor_rate=10, strength=500)
    elbow = sim.joints["elbow"]
    moment = sim.masses[0] * GRAVITY * 0.5
    assert math.isnan(elbow.motor_torque)  # before the first step
    sim.run(3)
    assert (elbow.position, elbow.speed) == pytest.approx((0, 0), abs=1e-6)
    assert elbow.motor_torque == pytest.approx(-moment, rel=1e-4)
    elbow.set_motor(position=0.3, rate=20)
    sim.run(3)
    assert elbow.position == pytest.approx(0.3, abs=1e-6)
    assert elbow.motor_torque == pytest.approx(-moment * math.cos(0.3), rel=1e-4)
    elbow.set_motor(speed=-0.5)
    sim.step()
    assert elbow.speed == pytest.approx(-0.5, abs=1e-9)
    assert elbow.drive["motor"] == "speed" and elbow.drive["strength"] == 500 and elbow.drive["rate"] == 20
    elbow.set_limits(high=1)
    elbow.motor_off()
    elbow.set_spring(damping=5)
    sim.run(5)
    assert elbow.position == pytest.approx(1, abs=1e-2) and math.isnan(elbow.motor_torque)


def test_joints_are_found_by_name_and_number():
    world = World()
    world.material("steel")
    bodies = world.add_spheres([(k, 0, 0) for k in range(3)], 0.1)
    world.join("ball", -1, bodies[0], (0, 0, 0), name="neck")
    world.join("slider", -1, bodies[1], (1, 0, 0), axis=(0, 0, 1))
    with pytest.raises(sandglass.SandglassError, match="joint 2: joint 0 has the name neck already"):
        world.join("ball", -1, bodies[2], (0, 0, 0), name="neck")
    sim = world.simulate()
    assert sim.joints["neck"].kind == "ball" and sim.joints[1].kind == "slider" and list(sim.joints) == ["neck", 1]
    assert (sim.joints[1].a, sim.joints[1].b) == (-1, 1)
    with pytest.raises(KeyError, match="nek: there is no such joint; did you mean neck"):
        sim.joints["nek"]
    with pytest.raises(KeyError, match="2: there is no such joint"):
        sim.joints[2]
    with pytest.raises(ValueError, match="not both"):
        sim.joints[1].set_motor(position=1, speed=1)
    sim.joints["neck"].set_motor(speed=1)
    with pytest.raises(sandglass.SandglassError, match="a ball joint has no limits, motor or spring"):
        sim.step()


def test_a_plate_on_a_slider_holds_a_stress():
    world = World()
    world.material("stone", density=2600, mu=0.5)
    ground = world.plane()
    places = [(0.21 * (k % 4 - 1.5), 0.21 * (k // 4 % 4 - 1.5), 0.1 + 0.205 * (k // 16)) for k in range(32)]
    world.add_spheres(places, 0.1)
    plate = world.add_box((0.5, 0.5, 0.02), (0, 0, 0.5))
    world.join("slider", -1, plate, (0, 0, 0.5), axis=(0, 0, 1), motor_speed=-1, strength=3000 * 1.0, name="press")
    world.probe("force", "ground", boundary=ground)
    sim = world.simulate(precision="double", iterations=300).run(1)
    for force in (3000, 500):
        sim.joints["press"].set_motor(strength=force)
        sim.run(0.5)
        carried = sim.probes["ground"].values[0, 2]
        assert abs(carried) == pytest.approx(force + sim.masses.sum() * GRAVITY, rel=0.01)
        assert sim.joints["press"].motor_torque == pytest.approx(-force, rel=1e-6)


# --- boundaries ---------------------------------------------------------------------------------------------------


def block(**plane):
    world = World(step=0.001)
    world.material("rubber", mu=0.4)
    world.plane(name="belt", **plane)
    world.add_box((0.2, 0.2, 0.05), (0, 0, 0.05))
    return world.simulate(precision="double", iterations=500, tolerance=1e-10)


def test_a_conveyor_carries_a_block():
    sim = block(surface_velocity=(2, 0, 0)).run(0.2)
    assert sim.velocities[0, 0] == pytest.approx(0.4 * GRAVITY * 0.2, rel=0.01)
    sim.run(1)
    assert sim.velocities[0, 0] == pytest.approx(2, abs=1e-4)
    assert not sim.boundaries["belt"].position.any()
    sim.boundaries["belt"].motion = None
    sim.run(1)
    assert sim.velocities[0, 0] == pytest.approx(0, abs=1e-4)


def test_motions_are_told_anew():
    sim = block(motion=dict(amplitude=0.01, frequency=5))
    belt = sim.boundaries["belt"]
    sim.run(0.05)
    assert belt.position == pytest.approx([0, 0, 0.01], abs=1e-12)
    belt.motion = dict(velocity=(1, 0, 0))
    assert belt.motion == {"velocity": (1, 0, 0), "axis": (0, 0, 1), "center": (0, 0, 0.01), "start": pytest.approx(0.05)}
    sim.run(0.1)
    assert belt.position == pytest.approx([0.1, 0, 0.01], abs=1e-12)
    belt.motion = dict(path=[(0, 0, 0, 0), (0.1, 0, 0, 0.05)])
    sim.run(0.05)
    assert belt.position == pytest.approx([0.1, 0, 0.035], abs=1e-12)
    belt.motion = dict(rate=1, center=(0, 0, 0.035))
    sim.run(0.1)
    belt.motion = dict(rate=2)  # about the same axis through the same center
    sim.run(0.1)
    assert 2 * math.asin(belt.rotation[3]) == pytest.approx(0.3, abs=1e-12)
    assert belt.position == pytest.approx([0.1 * math.cos(0.3), 0.1 * math.sin(0.3), 0.035], abs=1e-12)
    belt.motion = None
    assert belt.motion is None


def test_a_function_moves_a_boundary_step_by_step():
    sim = block()
    belt = sim.boundaries["belt"]
    asked = []

    def up(time):
        asked.append(time)
        return dict(velocity=(0, 0, 0.1)) if time < 0.0499 else None

    belt.motion = up
    sim.step(100)
    assert asked == pytest.approx(0.001 * np.arange(100))
    assert belt.motion is up and belt.position == pytest.approx([0, 0, 0.005], abs=1e-12)
    assert sim.positions[0, 2] == pytest.approx(0.055, abs=1e-4)
    belt.motion = lambda time: 1 / 0
    with pytest.raises(ZeroDivisionError):
        sim.step()
    belt.motion = dict(velocity=(0, 0, 0))
    sim.step()
    assert len(asked) == 100


@pytest.mark.parametrize("motion, words", [
    (dict(velocty=(1, 0, 0)), "velocty is none of its keys; did you mean velocity"),
    (dict(amplitude=0.1), "needs a frequency"),
    (dict(path=[(1, 2)]), "expected rows of time, x, y, z"),
])
def test_wrong_motions_are_refused(motion, words):
    sim = block()
    with pytest.raises(ValueError, match=words):
        sim.boundaries["belt"].motion = motion
    with pytest.raises(ValueError, match=words):
        block(motion=motion)
    with pytest.raises(TypeError, match="expected a dictionary, a function or None"):
        sim.boundaries["belt"].motion = 3
    with pytest.raises(sandglass.SandglassError, match="not behind the one before it"):
        sim.boundaries["belt"].motion = dict(path=[(1, 0, 0, 0), (1, 0, 0, 0)])
    assert sim.step().boundaries["belt"].motion is None


def test_boundaries_of_one_name_have_numbers():
    world = World()
    world.material("glass")
    world.plane()
    world.plane((0, 0, 9), (0, 0, -1))
    world.sphere_wall(50, name="sky")
    sim = world.simulate()
    assert list(sim.boundaries) == [0, 1, "sky"] and sim.boundaries[1].position[2] == 9
    with pytest.raises(KeyError, match="plane: several have this name; their numbers are 0, 1"):
        sim.boundaries["plane"]


# --- bodies -------------------------------------------------------------------------------------------------------


def test_bodies_come_and_go():
    sim = balls()
    before, gone = sim.positions, sim.gone
    with sim.extend() as world:
        numbers = world.add_spheres([(10 + k, 0, 0) for k in range(1000)], 0.2, velocities=(0, 0, 1), materials="glass")
        box = world.add_box((0.1, 0.1, 0.1), (0, 5, 0), spin=(0, 0, 1))
        with pytest.raises(sandglass.SandglassError, match="takes shapes and bodies"):
            world.plane()
        with pytest.raises(sandglass.SandglassError, match="takes no step while"):
            sim.step()
    assert list(numbers) == list(range(3, 1003)) and box == 1003 and sim.body_count == 1004
    with pytest.raises(sandglass.SandglassError, match="whose block has ended"):
        world.add_sphere(0.1, (0, 0, 0))
    sim.remove([0, box])
    sim.remove(np.arange(1004) == 1)
    sim.step(10)
    assert before.shape == (3, 3) and before.tolist() == [[0, 0, 0], [1, 0, 0], [2, 0, 0]]  # what was taken stays readable
    assert not gone.any() and list(sim.gone[[0, 1, 2, 3, box]]) == [1, 1, 0, 0, 1]
    assert sim.counters.bodies == 1001 and sim.counters.lost_total == 0
    assert sim.positions[3:1003, 2] == pytest.approx(0.1)
    with pytest.raises(IndexError, match="there is no body 1004"):
        sim.remove(1004)


def test_an_extension_that_fails_adds_nothing():
    sim = balls()
    hash = sim.hash
    with pytest.raises(ZeroDivisionError):
        with sim.extend() as world:
            world.add_sphere(0.1, (0, 9, 0))
            1 / 0
    assert sim.body_count == 3 and sim.hash == hash
    sim.step()
    with sim.extend() as world:
        assert world.add_sphere(0.1, (0, 9, 0)) == 3
    assert sim.step().positions.shape == (4, 3)


def test_materials_have_names():
    world = World()
    world.material("glass", density=2500)
    world.material("steel", density=8000)
    world.pair("glass", "steel", mu=0.1)
    world.add_spheres([(0, 0, 0), (1, 0, 0), (2, 0, 0)], 0.1, materials=["steel", 0, "glass"], masses=[1, 2, 3])
    world.add_sphere(0.1, (3, 0, 0), material="steel")
    world.add_spheres([(4, 0, 0)], 0.1, spins=[(1, 2, 3)], materials="steel")
    with pytest.raises(sandglass.SandglassError, match="stel: there is no such material; did you mean steel"):
        world.add_sphere(0.1, (9, 0, 0), material="stel")
    with pytest.raises(ValueError, match="materials: expected one or 2, got 3"):
        world.add_spheres([(5, 0, 0), (6, 0, 0)], 0.1, materials=["glass"] * 3)
    sim = world.simulate()
    assert list(sim.materials) == [1, 0, 0, 1, 1]
    assert sim.masses[:4] == pytest.approx([1, 2, 3, 8000 * 4 / 3 * math.pi * 1e-3])
    assert list(sim.spins[4]) == [1, 2, 3]
