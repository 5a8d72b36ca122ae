# SPDX-License-Identifier: MIT
"""What must not crash or hang: wrong numbers in edits, copies and pickles, a second thread, a forked process."""

import copy
import gc
import os
import pickle
import threading

import numpy as np
import pytest
import sandglass
from sandglass import SandglassError, Simulation, World


def spheres(count=3, **options):
    world = World()
    world.material("glass")
    world.plane()
    world.add_spheres(np.c_[np.arange(count) * 0.25, np.zeros(count), np.full(count, 0.15)], 0.1)
    return world.simulate(threads=1, **options).step()


@pytest.mark.parametrize("field", ["positions", "rotations", "velocities", "spins"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("count", [1, 3, 50])
def test_numbers_that_are_not_finite_are_refused(field, value, count):
    sim = spheres(count)
    before = sim.hash
    with sim.edit() as bodies:
        getattr(bodies, field)[0, 0] = value
    with pytest.raises(SandglassError, match=f"body 0: its {field[:-1] if field != 'velocities' else 'velocity'}"):
        sim.step()
    assert sim.step_index == 1  # nothing has moved
    with sim.edit() as bodies:
        getattr(bodies, field)[0, 0] = 0.5
    assert sim.step().step_index == 2 and sim.hash != before


@pytest.mark.parametrize("value", [5e4, 1e9, 1e30, 1e300, -1e300])
def test_a_body_far_away_is_taken_out(value, caplog):
    sim = spheres()
    with sim.edit() as bodies:
        bodies.positions[0, 0] = value
    assert sim.step(3).counters.lost_total == 1 and list(sim.gone) == [1, 0, 0]
    assert "body 0 left the world" in caplog.text


def test_velocities_that_cross_the_world_are_refused():
    sim = spheres()
    for field, words in (("velocities", "body 1: its velocity"), ("spins", "body 1: with its spin")):
        with sim.edit() as bodies:
            getattr(bodies, field)[1] = 1e300, 0, 0
        with pytest.raises(SandglassError, match=words):
            sim.step()
        with sim.edit() as bodies:
            getattr(bodies, field)[1] = 0
    sim.step()


def test_rotations_are_scaled_to_length_one():
    sim = spheres()
    with sim.edit() as bodies:
        bodies.rotations[2] = 3, 0, 4, 0
    assert np.linalg.norm(sim.step().rotations[2]) == pytest.approx(1, abs=1e-15)
    with sim.edit() as bodies:
        bodies.rotations[2] = 0
    with pytest.raises(SandglassError, match="body 2: its rotation"):
        sim.step()


def test_a_part_of_an_edit_that_is_kept_writes_nothing_later():
    sim = spheres()
    with sim.edit() as bodies:
        row = bodies.positions[0]
    row[:] = np.nan
    assert np.isfinite(sim.step().positions).all()


def test_an_edit_that_raises_changes_nothing():
    sim = spheres()
    before = sim.hash
    with pytest.raises(ZeroDivisionError), sim.edit() as bodies:
        bodies.positions[0] = 7
        1 / 0
    assert sim.hash == before
    state = sim.save()
    with sim.edit():
        for call in (sim.step, lambda: sim.restore(state), lambda: sim.edit().__enter__()):
            with pytest.raises(SandglassError, match="leave the block of `edit` first"):
                call()
    sim.step()


@pytest.mark.parametrize("call, sentence", [
    (lambda sim: sim.set_solver(iterations=-5), "iterations: expected"),
    (lambda sim: sim.set_solver(tolerance=float("nan")), "tolerance: expected"),
    (lambda sim: sim.run(float("nan")), "run nan: expected"),
    (lambda sim: sim.run(-1), "run -1: expected"),
    (lambda sim: setattr(sim, "gravity", (0, 0, float("inf"))), "gravity must be finite"),
])
def test_wrong_settings_are_refused(call, sentence):
    sim = spheres()
    with pytest.raises(SandglassError, match=sentence):
        call(sim)
    sim.step()


def test_gravity_beyond_reason_fails_the_step():
    sim = spheres()
    sim.gravity = 0, 0, -1e300
    with pytest.raises(SandglassError, match="gravity"):
        sim.step()
    sim.gravity = 0, 0, -9.81
    sim.step()


def test_a_text_in_place_of_a_number_is_named():
    with pytest.raises(TypeError, match="density: expected a number, got heavy"):
        World().material("glass", density="heavy")


# --- copies and pickles -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("make", [
    lambda sim: sim,
    lambda sim: World(),
    lambda sim: sim._handle,
    lambda sim: sim._step_contacts(),
])
def test_owners_refuse_to_be_copied(way, make):
    sim = Simulation.load("two-spheres").step(3)
    owner = make(sim)
    with pytest.raises(TypeError, match="cannot be (copied|pickled)"):
        way(owner)
    del owner
    gc.collect()
    assert sim.step(10).body_count == 2


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda state: pickle.loads(pickle.dumps(state))])
def test_a_state_is_copied_and_pickled(way):
    sim = Simulation.load("two-spheres").step(20)
    state, here = sim.save(), sim.hash
    kept = way(state)
    assert kept == state and hash(kept) == hash(state)
    del state
    sim.step(5).restore(kept)
    assert sim.hash == here


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-1], lambda data: data[:1000], lambda data: data + bytes(8),
                                    lambda data: data[:500] + bytes([data[500] ^ 4]) + data[501:]])
def test_damaged_states_are_refused(damage, tmp_path):
    data = Simulation.load("two-spheres").step(20).save().to_bytes()
    with pytest.raises(SandglassError, match="the state: "):
        sandglass.State(damage(data))
    path = tmp_path / "a.state"
    path.write_bytes(damage(data))
    with pytest.raises(SandglassError, match="a.state: "):
        sandglass.State.read(path)


def test_a_state_of_another_world_changes_nothing():
    state = Simulation.load("hourglass", bodies=100).step(20).save()
    for options in ({"bodies": 101}, {"bodies": 100, "step": 0.005}, {"bodies": 100, "knobs": {"neck": 0.4}}):
        sim, twin = (Simulation.load("hourglass", **options).step(30) for _ in range(2))
        contacts = sim.contacts
        with pytest.raises(SandglassError, match="another world"):
            sim.restore(state)
        assert sim.contact_count == len(contacts) > 0 and np.array_equal(sim.impulses, twin.impulses)
        assert sim.step(5).hash == twin.step(5).hash


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_problems_are_copied_and_pickled(way):
    problem = Simulation.load("hourglass", bodies=100).step(40).problem()
    twin = way(problem)
    assert twin.contact_count == problem.contact_count > 10
    assert np.array_equal(twin.contacts, problem.contacts) and np.array_equal(twin.start, problem.start)
    assert not np.shares_memory(twin.contacts, problem.contacts)
    solution = twin.solve(iterations=20)
    assert np.array_equal(solution.impulses, problem.solve(iterations=20).impulses)
    assert copy.deepcopy(solution) is solution
    assert np.array_equal(copy.deepcopy(solution.impulses), solution.impulses)  # an array is data


def test_arrays_are_pickled_as_data():
    sim = spheres()
    assert np.array_equal(pickle.loads(pickle.dumps(sim.positions)), sim.positions)
    assert pickle.loads(pickle.dumps(sim.counters)).contacts == sim.counters.contacts


# --- threads and processes ----------------------------------------------------------------------------------------


def test_a_second_thread_is_refused():
    sim = Simulation.load("hourglass", bodies=200, threads=2).step()
    errors, steps = [], []

    def work():
        for _ in range(60):
            try:
                sim.step()
                steps.append(1)
            except SandglassError as error:
                errors.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sim.step_index == 1 + len(steps)  # every step that was not refused was taken, and once
    assert all("another thread is using this simulation" in error for error in errors)


def test_what_a_thread_does_beside_a_call_is_refused():
    sim = spheres()
    found = []

    def beside():
        for call in (sim.step, sim.save, sim.problem, lambda: sim.contacts, lambda: sim.impulses, lambda: sim.joint_rows,
                     lambda: sim.set_solver(iterations=3), lambda: sim.edit().__enter__()):
            try:
                call()
            except SandglassError as error:
                found.append("another thread" in str(error))
        sim.positions, sim.time  # reading bodies is no harm

    with sim._handle:  # as a call holds it
        thread = threading.Thread(target=beside)
        thread.start()
        thread.join()
    assert found == 8 * [True]
    sim.step()


def test_a_forked_process_may_drop_what_is_not_its_own():
    sim = Simulation.load("hourglass", bodies=50, threads=2).step()
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (sim.step, sim.save, lambda: sim.contacts, lambda: sim.positions):
            try:
                call()
            except SandglassError as error:
                refused += "another process" in str(error)
        del sim
        gc.collect()
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    sim.step()


# --- rows of joints -----------------------------------------------------------------------------------------------


def test_contacts_are_contacts_and_joints_are_joints():
    world = World(step=0.01)
    world.material("oak", density=1000, mu=0.5)
    floor = world.plane(name="floor")
    world.add_box((0.5, 0.1, 0.1), (0, 0, 0.1))
    hanging, arm = world.add_box((0.1, 0.1, 0.1), (0, 0, 1)), world.add_box((0.1, 0.1, 0.1), (0.3, 0, 1))
    fixed = world.join("fixed", -1, hanging, (0, 0, 1))
    hinge = world.join("hinge", hanging, arm, (0.15, 0, 1), axis=(0, 1, 0), motor_speed=0, strength=1e4)
    sim = world.simulate(iterations=500, tolerance=1e-10, precision="double").run(1)
    h, weight = sim.step_length, 9.81 * sim.masses
    assert sim.contact_count == sim.counters.contacts == len(sim.contacts) == len(sim.impulses) == len(sim.residuals) == 4
    assert set(map(tuple, sim.contact_bodies)) == {(0, -1 - floor)}
    assert sim.impulses[:, 2].sum() / h == pytest.approx(-weight[0], rel=1e-6)
    assert not sim.contacts.flags.writeable and not sim.impulses.flags.writeable
    rows = sim.joint_rows
    assert len(rows) == sim.counters.joint_rows == 4
    assert list(rows["joint"]) == sorted(rows["joint"]) or set(rows["joint"]) == {fixed, hinge}
    assert set(rows["kind"][rows["joint"] == fixed]) == {"fixed"} and set(rows["kind"][rows["joint"] == hinge]) == {"hinge"}
    assert set(rows["a"]) == {-1, hanging} and set(rows["b"]) == {hanging, arm}
    forces = rows[~rows["angular"]]
    assert forces["impulse"][forces["joint"] == fixed][:, 2].sum() / h == pytest.approx(weight[1] + weight[2], rel=1e-6)
    assert forces["impulse"][forces["joint"] == hinge][:, 2].sum() / h == pytest.approx(weight[2], rel=1e-6)
    torque = rows[rows["angular"] & (rows["joint"] == hinge)]  # N m s: the motor carries the arm
    assert abs((torque["impulse"] * torque["axis"]).sum()) / h == pytest.approx(0.15 * weight[2], rel=1e-6)
    problem = sim.problem()
    assert problem.contact_count == 8 and problem.is_joint.sum() == 4
    assert len(spheres().joint_rows) == 0 and not spheres().problem().is_joint.any()


# --- by chance ----------------------------------------------------------------------------------------------------

WRONG = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, -1e300, 1e-300, 1e30, -5, 2**31, 10**400, "x", None]


class Fuzz:
    """Random calls with numbers of which some are wrong. An hour of it: SANDGLASS_FUZZ=200000 python/tests/run build -k chance."""

    def __init__(self, seed):
        self.random, self.odds = np.random.default_rng(seed), [0, 0.02, 0.15][seed % 3]

    def pick(self, values):
        return values[self.random.integers(len(values))]

    def number(self, low, high):
        return self.pick(WRONG) if self.random.random() < self.odds else float(self.random.uniform(low, high))

    def vector(self, reach):
        return [self.number(-reach, reach) for _ in range(3)]

    def world(self):
        world = World(gravity=self.vector(10), step=self.number(0.001, 0.02))
        world.material("a", density=self.number(500, 3000), mu=self.number(0, 1), restitution=self.number(0, 1))
        calls = [lambda: world.plane(point=(0, 0, self.number(-0.1, 0))), lambda: world.box_walls(self.vector(3)),
                 lambda: world.add_sphere(self.number(0.05, 0.2), self.vector(1)),
                 lambda: world.add_box(self.vector(0.2), self.vector(1), velocity=self.vector(3)),
                 lambda: world.add_hull([self.vector(0.2) for _ in range(8)], self.vector(1)),
                 lambda: world.join(self.pick(["ball", "hinge", "rope", "knot"]), self.pick([-1, 0, 99]), self.pick([0, 1, -7]),
                                    self.vector(1)),
                 lambda: world.probe("force", "p", boundary=self.pick([0, 5, -1]))]
        for _ in range(12):
            self.refused(self.pick(calls))
        return world.simulate(threads=int(self.random.integers(1, 3)))

    def refused(self, call):
        """Runs a call that may be refused, in a sentence and in no other way."""
        try:
            return call()
        except (SandglassError, ValueError, TypeError, IndexError, OverflowError) as error:
            assert str(error)

    def edit(self, sim):
        with sim.edit() as bodies:
            array = self.pick([bodies.positions, bodies.rotations, bodies.velocities, bodies.spins])
            if len(array):
                array[self.random.integers(len(array)), 0] = self.number(-1, 1)

    def run(self):
        sim = self.refused(self.world)
        if sim is None:
            return
        states = [sim.save()]
        calls = [sim.step, sim.step, lambda: self.edit(sim), lambda: setattr(sim, "gravity", self.vector(10)),
                 lambda: sim.set_solver(self.pick([s.name for s in sandglass.solvers()]), iterations=20),
                 lambda: sim.set_solver(iterations=self.pick([5, -5, 10**30, "x"])),
                 lambda: states.append(sim.save()), lambda: sim.restore(self.pick(states)), sim.problem, lambda: sim.residuals,
                 lambda: (sim.contacts, sim.impulses, sim.contact_bodies, sim.joint_rows), lambda: copy.deepcopy(sim),
                 lambda: sim.run(self.pick([0.05, -1, np.nan])), lambda: sim.counters, lambda: sim.curve, sim.keep_curve,
                 lambda: sim.raycast(self.vector(3), self.vector(1), passes=self.pick([-1, 0, 10**9, 2**40])),
                 lambda: sim.closest(self.vector(3), reach=self.number(0, 5)),
                 lambda: sim.overlap(self.vector(2), self.number(0, 2)),
                 lambda: sim.overlap(lower=self.vector(2), upper=self.vector(2)),
                 lambda: (sim.contact_forces, sim.boundary_torques, sim.boundary_force(self.pick([0, 1, -1, "a", 2**70]))),
                 lambda: sim.keep_events(self.pick([True, False])), sim.contact_events]
        for _ in range(25):
            self.refused(self.pick(calls))
            if sim.counters.bodies:
                assert sim.contact_count == len(sim.contacts) == len(sim.contact_bodies) == len(sim.impulses)


@pytest.mark.parametrize("seed", range(int(os.environ.get("SANDGLASS_FUZZ", 60))))
def test_calls_by_chance(seed):
    Fuzz(seed).run()
