# SPDX-License-Identifier: MIT
"""What is wrong is named, with the nearest word: arguments, settings, attributes, arrays, a world that was handed over."""

import numpy as np
import pytest

import sandglass
from sandglass import SandglassError, Simulation, World


def built():
    world = World()
    world.material("stone")
    world.plane()
    return world


WRONG = {
    "an argument": (lambda: World(gravty=(0, 0, 0)), TypeError, "World has no argument gravty; did you mean gravity"),
    "another engine's word": (lambda: built().material("a", friction=1), TypeError, "World.material has no argument friction; did you mean mu"),
    "an argument behind another function": (lambda: built().add_sphere(1, (0, 0, 1), masss=1), TypeError,
                                            "World.add_sphere has no argument masss; did you mean mass"),
    "a place": (lambda: built().probe("flow", "a", pint=(0, 0, 0)), TypeError, "World.probe has no argument pint; did you mean point"),
    "a setting": (lambda: built().simulate(itertions=3), SandglassError, "World.simulate has no argument itertions; did you mean iterations"),
    "an option": (lambda: Simulation.load("two-spheres", bodis=3), SandglassError, "Simulation.load has no argument bodis; did you mean bodies"),
    "a parameter of another method": (lambda: Simulation.load("two-spheres", solver="apgd", memory=3), SandglassError,
                                      "memory: solver apgd has no such parameter"),
    "a motion": (lambda: built().plane(motion={"velocty": (0, 0, 1)}), ValueError, "motion: velocty is none of its keys; did you mean velocity"),
    "a joint": (lambda: built().join("hinje", -1, 0, (0, 0, 0)), ValueError, "hinje: there is no such joint; did you mean hinge"),
    "a probe": (lambda: built().probe("densty", "a"), SandglassError, "densty: there is no such probe; did you mean density"),
    "a number": (lambda: World(step="a"), TypeError, "step: expected a number, got a"),
    "a radius": (lambda: built().add_sphere("big", (0, 0, 1)), TypeError, "radius: expected a number, got big"),
    "a whole number": (lambda: built().add("box", (0, 0, 1)), SandglassError, "shape box: expected a whole number"),
    "threads": (lambda: Simulation.load("two-spheres", threads=1.5), SandglassError, "threads 1.5: expected a whole number"),
    "a seed": (lambda: Simulation.load("two-spheres", seed="x"), SandglassError, "seed x: expected a number"),
    "a vector": (lambda: built().plane((0, 0)), ValueError, r"point: expected 3 numbers, got \(0, 0\)"),
    "a rotation": (lambda: built().add_box((1, 1, 1), (0, 0, 2), rotation=(1, 0, 0)), ValueError, "rotation: expected 4 numbers"),
    "a flat array": (lambda: built().add_spheres([0, 0, 1], 0.1), ValueError, r"positions: expected shape \(n, 3\), got \(3,\)"),
    "an array in the plane": (lambda: built().add_hull(np.zeros((4, 2))), ValueError, r"points: expected shape \(n, 3\), got \(4, 2\)"),
    "rows of two lengths": (lambda: built().add_spheres([(0, 0, 1), (0, 1)], 1), ValueError, "positions: expected numbers, all rows of one length"),
    "too many radii": (lambda: built().add_spheres([(0, 0, 1)], [1, 2]), ValueError, "radii: expected one number or 1"),
    "a text for texts": (lambda: Simulation.load("two-spheres", probes="e energy"), TypeError, "probes: expected a list of texts"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_named(case):
    call, kind, sentence = WRONG[case]
    with pytest.raises(kind, match=sentence):
        call()


def test_a_world_is_used_once():
    world = built()
    world.add_sphere(0.1, (0, 0, 1))
    sim = world.simulate()
    for use in (lambda: world.add_sphere(0.1, (0, 0, 2)), world.plane, world.simulate, lambda: world.body_count):
        with pytest.raises(SandglassError, match="was handed to a simulation and cannot be used again: build another"):
            use()
    assert sim.body_count == 1


def test_a_world_that_was_refused_is_still_there():
    world = built()
    world.add_sphere(0.1, (0, 0, 1))
    with pytest.raises(SandglassError, match="did you mean apgd"):
        world.simulate(solver="apdg")
    assert world.body_count == 1 and world.simulate().body_count == 1


@pytest.fixture(scope="module")
def sim():
    return Simulation.load("two-spheres", threads=1)


def test_attributes_have_their_names(sim):
    for name, meant in (("postions", "positions"), ("gravty", "gravity")):
        with pytest.raises(AttributeError, match=f"a Simulation has no {name}; did you mean {meant}"):
            getattr(sim, name)
        with pytest.raises(AttributeError, match=f"a Simulation has no {name}; did you mean {meant}"):
            setattr(sim, name, 0)
    assert not hasattr(sim, "nothing_of_the_kind")
    sim.gravity = (0, 0, -1)
    assert sim.gravity.tolist() == [0, 0, -1]


def test_bodies_are_written_into(sim):
    with sim.edit() as bodies:
        with pytest.raises(AttributeError, match="bodies have no velocites; did you mean velocities"):
            bodies.velocites = 0
        with pytest.raises(AttributeError, match="velocities is an array to write into"):
            bodies.velocities = 0


def test_what_a_run_is_asked_for_has_a_name(sim):
    with pytest.raises(KeyError, match="engy: there is no such probe; did you mean energy"):
        Simulation.load("two-spheres", probes=["energy energy"]).probes["engy"]
    with pytest.raises(SandglassError, match="step 1.5: expected a whole number"):
        sim.step(1.5)
    with pytest.raises(TypeError, match="restore: expected a State or the path of one, got 3"):
        sim.restore(3)
    with pytest.raises(SandglassError, match="set_solver has no argument toleranc; did you mean tolerance"):
        sim.set_solver("apgd", toleranc=1)


def test_every_function_keeps_its_signature():
    import inspect
    assert "gravity" in inspect.signature(World).parameters
    assert "bodies" in inspect.signature(sandglass.load).parameters and World.add.__doc__.startswith("Adds a body")
