# SPDX-License-Identifier: MIT
"""Runs from Python are those of the program, and arrays look at the state itself."""

import ctypes
import gc
import os
import pathlib
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sandglass
from sandglass import Simulation, World, _native


@pytest.mark.parametrize("scene, options, flags", [
    ("hourglass", {"bodies": 300}, ["--bodies", 300]),
    ("hourglass", {"bodies": 300, "seed": 7, "knobs": {"neck": 0.4}}, ["--bodies", 300, "--seed", 7, "--set", "neck=0.4"]),
    ("cylinder", {"bodies": 200, "solver": "gauss-seidel", "iterations": 20, "precision": "double"},
     ["--bodies", 200, "--solver", "gauss-seidel", "--iterations", 20, "--precision", "double"]),
    ("rubble", {"bodies": 60, "threads": 1, "friction": "coulomb", "solver": "admm"},
     ["--bodies", 60, "--friction", "coulomb", "--solver", "admm"]),
    ("hourglass", {"bodies": 200, "start": "settled"}, ["--bodies", 200, "--start", "settled"]),
])
def test_the_bits_are_those_of_the_program(bench, scene, options, flags):
    sim = Simulation.load(scene, **options).step(40)
    figures = bench(scene, 40, *flags)
    assert sim.hash == figures["hash"]
    assert sim.counters.contacts == figures["contacts"]
    assert sim.kinetic_energy == pytest.approx(figures["kinetic_energy"], rel=1e-5)  # as printed


def test_threads_do_not_change_the_bits():
    hashes = {Simulation.load("hourglass", bodies=200, threads=threads).step(20).hash for threads in (1, 2, 3)}
    assert len(hashes) == 1


def test_simulations_in_several_threads():
    def run(seed):
        return Simulation.load("hourglass", bodies=100, seed=seed, threads=2).step(30).hash

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(run, range(6))) == [run(seed) for seed in range(6)]


def test_bodies_are_views_of_the_state():
    sim = Simulation.load("hourglass", bodies=100)
    positions, velocities = sim.positions, sim.velocities
    assert positions.shape == (100, 3) and sim.rotations.shape == (100, 4) and sim.radii.shape == (100,)
    assert np.shares_memory(positions, sim.positions) and not positions.flags.writeable
    before = positions.copy()
    sim.step()
    moved = positions - before
    assert np.allclose(moved, sim.step_length * velocities, atol=1e-15)  # the integrator: x += h v'
    assert np.abs(moved).max() > 0


def test_a_view_keeps_its_owner_alive():
    sim = Simulation.load("hourglass", bodies=100).step(30)
    positions, contacts = sim.positions, sim.contacts
    kept = positions.copy(), contacts.copy()
    del sim
    gc.collect()
    Simulation.load("hourglass", bodies=100)  # would take the memory, were it free
    assert np.array_equal(positions, kept[0]) and np.array_equal(contacts, kept[1])


def test_contacts_belong_to_their_step():
    sim, plain = (Simulation.load("hourglass", bodies=200).step(20) for _ in range(2))
    held = []
    for _ in range(15):
        sim.step()
        plain.step()
        contacts, impulses = sim.contacts, sim.impulses
        assert np.shares_memory(contacts, sim.contacts)  # twice the same memory
        held.append((contacts, contacts.copy(), impulses, impulses.copy()))
    for contacts, as_it_was, impulses, as_they_were in held:
        assert np.array_equal(contacts, as_it_was) and np.array_equal(impulses, as_they_were)
    assert len({contacts.ctypes.data for contacts, *_ in held}) == len(held)  # each has memory of its own
    assert sim.hash == plain.hash  # looking changes nothing
    assert np.array_equal(sim.impulses, plain.impulses)


def test_contacts_that_nobody_holds_reuse_their_memory():
    sim = Simulation.load("hourglass", bodies=200).step(60)
    places = {sim.step().impulses.ctypes.data for _ in range(10)}
    assert len(places) < 10


def test_nothing_leaks():
    held = _native.library.sand_bytes_held
    held.restype = ctypes.c_uint64
    gc.collect()
    before = held()
    sim = Simulation.load("hourglass", bodies=100, threads=1).step(30)
    kept = [(sim.step().contacts, sim.impulses) for _ in range(5)]
    problem = sim.problem()
    kept.append(problem.solve(curve=True).impulses)
    with pytest.raises(sandglass.SandglassError):
        Simulation.load("hourglass", bodies=100, solver="jacoby")  # refused after the world was built
    assert held() > before
    del sim, kept, problem
    gc.collect()
    assert held() == before


def test_a_restored_run_has_the_same_bits():
    sim = Simulation.load("hourglass", bodies=150, threads=1).step(30)
    state, here = sim.save(), sim.hash
    contacts, kept = sim.contacts, sim.contacts.copy()
    first = sim.step(20).hash
    sim.set_solver("jacobi")
    sim.restore(state)
    assert sim.hash == here and sim.time == state.time and sim.contact_count == 0
    assert sim.step(20).hash != first
    sim.set_solver("p-spg-fb")
    sim.restore(state)
    assert sim.step(20).hash == first
    assert np.array_equal(contacts, kept)


@pytest.mark.parametrize("scene, options", [("hourglass", {"bodies": 150, "probes": ["waist flow point=0,0,0 normal=0,0,-1 rate=15"]}),
                                            ("hopper", {"bodies": 200}), ("wrecking-ball", {}), ("drum", {"bodies": 100})])
def test_a_state_goes_on_elsewhere(scene, options, tmp_path):
    options = dict(options, threads=1)
    sim = Simulation.load(scene, **options).step(60)
    state, path = sim.save(), tmp_path / "a.state"
    end = sim.step(20)
    assert state.step_index == 60 and state.body_count == sim.body_count and state.time == pytest.approx(60 * sim.step_length)
    assert Simulation.load(scene, **options).step(7).save(path) != state and sandglass.State.read(path).step_index == 7
    state.write(path)
    for other in (Simulation.load(scene, state=state, **options), sandglass.load(scene, state=path, **options),
                  Simulation.load(scene, **options).step(33)):
        other.restore(sandglass.State(state.to_bytes()))
        assert other.save() == state
        assert other.step(20).save() == end.save() and other.hash == end.hash
        for figure in ("contacts", "warm_started", "iterations", "lost_total", "entered_total", "left_total"):
            assert getattr(other.counters, figure) == getattr(end.counters, figure)
        for name, probe in end.probes.items():
            assert np.array_equal(other.probes[name].values, probe.values)


def test_a_clone_goes_its_own_way():
    sim = Simulation.load("rubble", bodies=40, threads=1).step(40)
    twin = sim.clone()
    assert twin.hash == sim.hash and twin.name == sim.name and twin.solver == sim.solver
    sim.set_solver("jacobi")
    other = twin.clone()
    first = sim.step(10).hash
    assert twin.step(10).hash == other.step(10).hash != first
    del sim
    gc.collect()
    assert twin.step(10).hash == other.step(10).hash


def test_a_clone_of_a_world_of_ones_own(tmp_path):
    world = World(step=0.01)
    world.material("stone", density=2600, mu=0.4)
    world.terrain(np.zeros((4, 5)), (2, 2))
    world.revolution([(1.0, 1.0), (1.0, 0.0)], name="ring")
    world.add_spheres([(0.25 * k - 0.4, 0, 0.2) for k in range(4)], 0.1)
    world.add_box((0.1, 0.1, 0.1), (0, 0.5, 0.3))
    sim = world.simulate(threads=1).step(10)
    twin = sim.clone()
    assert twin.step(40).hash == sim.step(40).hash


def test_the_program_and_the_package_share_their_files(program, tmp_path):
    path = tmp_path / "run.state"
    program("run", "hourglass", "--bodies", 200, "--threads", 1, "--seconds", 0.5, "--checkpoint", path, "--json")
    sim = Simulation.load("hourglass", bodies=200, threads=1, state=path)
    assert sim.step_index > 0
    assert sim.hash == Simulation.load("hourglass", bodies=200, threads=1).step(sim.step_index).hash


def test_backends_are_listed():
    found = sandglass.backends()
    assert " GB" in found["cpu"] and set(found) <= {"cpu", "cuda"}


def test_a_forked_process_is_refused_what_is_not_its_own():
    sim = Simulation.load("hourglass", bodies=50, threads=2).step()
    child = os.fork()
    if child == 0:
        try:
            sim.step()
        except sandglass.SandglassError as error:
            del sim
            os._exit(7 if "another process" in str(error) and Simulation.load("hourglass", bodies=50, threads=2).step() else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    sim.step()


def test_the_ground_carries_the_weight():
    world = World(step=0.01)
    world.material("stone", density=2600, mu=0.4)
    ground = world.plane()
    bodies = world.add_spheres([(0.25 * k, 0, 0.1) for k in range(5)], 0.1)
    sim = world.simulate(iterations=500, tolerance=1e-10, precision="double").step(30)
    pairs, impulses = sim.contact_bodies, sim.impulses
    assert (pairs[:, 1] == -1 - ground).sum() == len(bodies) and set(pairs[:, 0]) == set(bodies)
    for body, impulse in zip(pairs[:, 0], impulses):  # on the ground, which is b
        assert impulse == pytest.approx([0, 0, -sim.masses[body] * 9.81 * sim.step_length], abs=1e-7)
    assert np.linalg.norm(sim.residuals) == pytest.approx(sim.residual, abs=1e-12)


def test_edited_bodies_fly_as_they_must():
    world = World(gravity=(0, 0, -10), step=0.01)
    world.material("glass")
    world.add_sphere(0.1, (0, 0, 1))
    sim = world.simulate().step(5)
    with sim.edit() as bodies:
        bodies.positions[0] = 0, 0, 2
        bodies.velocities[0] = 3, 0, 4
    with pytest.raises(ValueError):
        bodies.positions[0] = 0
    n, h = 20, 0.01
    sim.step(n)  # symplectic Euler in closed form
    assert sim.positions[0] == pytest.approx([3 * n * h, 0, 2 + 4 * n * h - 10 * h * h * n * (n + 1) / 2], abs=1e-12)
    sim.gravity = 0, 0, 0
    speed = sim.velocities[0].copy()
    sim.step()
    assert np.array_equal(sim.velocities[0], speed)


def test_switching_the_solver_while_running():
    sim = Simulation.load("hourglass", bodies=200, iterations=5).step(60)
    loose = sim.residual
    sim.set_solver(iterations=500, tolerance=1e-4)
    assert sim.step().residual < 0.1 * loose
    sim.set_solver("gauss-seidel", friction="coulomb", iterations=30, order="symmetric")
    assert sim.solver["solver"] == "gauss-seidel" and sim.solver["order"] == "symmetric" and sim.solver["iterations"] == 30
    assert sim.step().counters.iterations <= 30
    with pytest.raises(sandglass.SandglassError, match="did you mean jacobi"):
        sim.set_solver("jacoby")
    assert sim.solver["solver"] == "gauss-seidel"  # what was refused changed nothing


def test_the_frozen_problem_is_that_of_the_coming_step():
    sim = Simulation.load("hourglass", bodies=200, threads=1).step(30)
    problem = sim.problem()
    solution = problem.solve(precision="float", **{k: v for k, v in sim.solver.items() if k in ("solver", "iterations")})
    sim.step()
    # A solve on its own, which is measured in double, returns the nearest impulses that are admissible in double.
    assert np.allclose(solution.impulses, sim.impulses, rtol=0, atol=1e-6 * np.abs(sim.impulses).max())


def test_figures_of_a_step():
    sim = Simulation.load("hourglass", bodies=200).step(30)
    assert len(sim.curve) == 0  # nobody asked for it
    sim.keep_curve()
    counters, profile = sim.step().counters, sim.profile
    assert sim.curve["iteration"][-1] == counters.iterations and len(sim.curve) > 10
    assert sim.curve["residual"][-1] < 0.5 * sim.curve["residual"][0]
    assert counters.bodies == 200 and counters.contacts == sim.contact_count == len(sim.impulses) == len(sim.contacts)
    assert counters.metrics.residual == sim.residual and counters.status in ("solved", "budget reached")
    assert 0 <= profile.solve <= profile.step and sim.on_host and sim.time == pytest.approx(0.31)
    speed2 = (sim.velocities**2).sum(axis=1)
    inertia = 0.4 * sim.masses * sim.radii**2
    energy = 0.5 * (sim.masses @ speed2 + inertia @ (sim.spins**2).sum(axis=1))
    assert sim.kinetic_energy == pytest.approx(energy, rel=1e-12)


def test_messages_go_to_the_log(caplog):
    world = World()
    world.material("glass")
    world.add_sphere(0.1, (0, 0, 0), velocity=(1e5, 0, 0))
    sim = world.simulate().run(0.3)
    assert "body 0 left the world" in caplog.text and sim.gone[0] == 1 and sim.counters.lost_total == 1


def test_scenes_from_text_and_by_name():
    assert "hourglass" in sandglass.scenes()
    text = """
name: drop
about: A ball.
materials: [{name: glass, density: 2500, mu: 0.3}]
bodies: [{material: glass, shape: sphere, radius: 0.1, position: [0, 0, 1]}]
"""
    sim = Simulation.load("drop.yaml", text=text)
    assert sim.name == "drop" and sim.about == "A ball." and sim.body_count == 1 and sim.radii[0] == 0.1
    assert Simulation.load("hourglass", bodies=50).knobs["neck"].unit == "m"


@pytest.mark.parametrize("call, sentence", [
    (lambda: Simulation.load("hourglas"), "did you mean hourglass"),
    (lambda: Simulation.load("hourglass", knobs={"nek": 1}), "no such knob; there are mu, neck"),
    (lambda: Simulation.load("hourglass", bodies=50, knobs={"neck": 1e9}), "neck: expected"),
    (lambda: Simulation.load("hourglass", bodies=50, backend="gpu"), "gpu: there is no such backend"),
    (lambda: Simulation.load("hourglass", bodies=50, precision="half"), "expected float or double"),
    (lambda: Simulation.load("hourglass", bodies=50, friction="cones"), "did you mean cone"),
    (lambda: Simulation.load("hourglass", bodies=50, budget_ms=-1), "budget_ms: expected"),
    (lambda: Simulation.load("hourglass", bodies=50, iterations=-1), "iterations: expected"),
    (lambda: Simulation.load("hourglass", bodies=50, tolerance=float("nan")), "tolerance: expected"),
    (lambda: Simulation.load("hourglass", bodies=50, accuracy=101), "accuracy: expected"),
    (lambda: Simulation.load("hourglass", bodies=50, seed=-1), "seed -1: expected"),
    (lambda: setattr(Simulation.load("two-spheres"), "gravity", (0, 0, float("nan"))), "gravity must be finite"),
    (lambda: Simulation.load("hourglass", bodies=50, threads=-1), "threads: expected"),
    (lambda: Simulation.load("x.yaml", text="name: x\nabout: y\nseeed: 3\n"), "x.yaml:3"),
])
def test_errors_are_one_sentence(call, sentence):
    with pytest.raises(sandglass.SandglassError, match=sentence):
        call()


def rod_on_a_hinge(**settings):
    """A rod of 1 m that is let go at 60 degrees."""
    world = World(step=0.01, **settings)
    world.material("wood")
    half = np.pi / 6
    world.add_box((0.02, 0.02, 0.5), (-0.5 * np.sin(2 * half), 0, -0.5 * np.cos(2 * half)),
                  rotation=(np.cos(half), 0, np.sin(half), 0))
    world.join("hinge", -1, 0, (0, 0, 0), axis=(0, 1, 0))
    return world.simulate(precision="double", iterations=1000, tolerance=1e-12)


@pytest.mark.parametrize("passes, keeps", [(1, False), (3, True)])
def test_a_pendulum_keeps_its_energy_with_joint_passes(passes, keeps):
    sim = rod_on_a_hinge(joint_passes=passes)
    kept, mass = [], sim.masses[0]
    for _ in range(1000):
        sim.step()
        middle = sim.velocities[0, 2] * 0.5 * 0.01  # the velocity is that of half a step before
        kept.append(sim.kinetic_energy + sim.potential_energy - mass * 9.81 * middle)
    spread = (max(kept) - min(kept)) / (mass * 9.81 * 0.25)  # of the energy of the swing
    assert (spread < 0.001) == keeps


def test_a_world_takes_every_setting():
    header = pathlib.Path(__file__).parents[2] / "include/sandglass/world.h"
    names = re.findall(r"^    SETTING\(\w+, (\w+),", header.read_text(), re.MULTILINE)
    assert "recovery" in names
    for name in names:
        standard = getattr(sandglass.World()._struct, name)
        world = sandglass.World(**{name: 2 if isinstance(standard, int) else 0.125})
        assert getattr(world._struct, name) != standard


@pytest.mark.parametrize("settings, sentence", [
    ({"joint_passes": 11}, "joint_passes is 11"),
    ({"joint_passes": 2.5}, "joint_passes 2.5"),
    ({"looks": 5}, "looks"),
    ({"recovery_fraction": -1}, "recovery"),
])
def test_settings_of_a_world_are_checked(settings, sentence):
    with pytest.raises(sandglass.SandglassError, match=sentence):
        rod_on_a_hinge(**settings)


def test_the_table_of_solvers():
    names = [solver.name for solver in sandglass.solvers()]
    assert names[0] == "p-spg-fb" and len(names) == len(set(names)) >= 15
    first = sandglass.solvers()[0]
    assert "cone" in first.friction and "coulomb" in sandglass.friction_models() and first.parameters
    for parameter in first.parameters:
        assert parameter.least <= parameter.value <= parameter.most
