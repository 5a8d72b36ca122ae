# SPDX-License-Identifier: MIT
"""Many worlds at once: the bits of a world alone, masks, seeds, arrays over all worlds, and what is refused."""

import gc
import pickle

import numpy as np
import pytest
import sandglass as sg


def spheres(count=40, mu=0.4):
    world = sg.World()
    world.material("glass", mu=mu)
    world.plane(name="floor")
    places = np.stack(np.meshgrid(np.arange(4), np.arange(4), np.arange(4)), -1).reshape(-1, 3)[:count]
    world.add_spheres(places * 0.21 + (0, 0, 0.12), 0.1)
    return world


def arm(count=20):
    """An arm on a motor above spheres, which its body is the last of."""
    world = spheres(count)
    body = world.add_box((0.3, 0.05, 0.05), (0.3, 0, 2))
    world.join("hinge", -1, body, (0, 0, 2), axis=(0, 1, 0), motor_position=0.0, strength=500, name="elbow")
    return world


def hash_alone(world, seed=None, steps=30):
    if seed is not None:
        world.scatter(seed)
    return world.simulate().step(steps).hash


@pytest.mark.parametrize("make", [spheres, arm])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_world_has_the_bits_that_it_has_alone(make, threads):
    batch = sg.Batch(make(), 5, seeds=range(10, 15), threads=threads).step(steps=30)
    assert batch.hashes == [hash_alone(make(), seed) for seed in range(10, 15)]
    assert len(set(batch.hashes)) == 5


def test_the_line_of_the_guide():
    world = arm()
    batch = sg.Batch(world, 4, seeds=range(4))
    actions = np.array([[0.1], [0.2], [-0.1], [0.0]])
    mask = np.array([True, False, False, True])
    batch.step(actions)
    batch.reset(mask)
    assert [w.step_index for w in batch] == [0, 1, 1, 0]
    assert world.body_count == 21  # it can be used again
    assert hash_alone(arm(), 2, 0) == sg.Batch(world, seeds=[2]).hashes[0]


def test_resets_begin_the_same_run_or_that_of_another_seed():
    batch = sg.Batch(spheres(), 3, seeds=[7, 8, 9]).step(steps=30)
    before = batch.hashes
    batch.reset([0, 2]).step(steps=30, mask=[0, 2])
    assert batch.hashes == before
    batch.reset([1, 2], seeds=[7, 20]).step(steps=30, mask=[1, 2])
    assert batch.hashes == [before[0], before[0], hash_alone(spheres(), 20)]
    batch.keep_start().step(steps=10).reset()
    assert batch.hashes == [before[0], before[0], hash_alone(spheres(), 20)]


def test_copies_of_a_simulation_begin_where_it_is():
    sim = arm().simulate("gauss-seidel", iterations=20)
    sim.joints["elbow"].set_motor(position=0.3)
    sim.step(25)
    batch = sg.Batch(sim, 3)
    assert batch[1].solver["solver"] == "gauss-seidel" and batch[1].time == sim.time
    sim.step(10)
    assert set(batch.step(steps=10).hashes) == {sim.hash}
    assert len(set(sg.Batch(sim, 3, seeds=range(3)).step().hashes)) == 3


def test_a_function_makes_a_world_of_each_seed():
    def make(seed):
        return sg.load("cylinder", bodies=60 + seed, seed=seed)

    batch = sg.Batch(make, seeds=[1, 2, 3]).step(steps=20)
    for world, seed in zip(batch, (1, 2, 3)):
        assert world.hash == make(seed).step(20).hash
    assert batch.positions.shape == (3, 63, 3)
    assert np.isnan(batch.positions[0, 61:]).all() and np.isfinite(batch.positions[2]).all()
    with pytest.raises(ValueError, match="scatters no bodies"):
        batch.reset(seeds=[1, 2, 3])


def test_arrays_have_a_row_for_each_world():
    batch = sg.Batch(arm(), 3, seeds=range(3)).step([[0.1], [0.2], [0.3]], steps=40)
    for k, world in enumerate(batch):
        for field in ("positions", "rotations", "velocities", "spins"):
            assert np.array_equal(getattr(batch, field)[k], getattr(world, field))
        some = batch.bodies([20, 3])
        assert np.array_equal(some.positions[k], world.positions[[20, 3]])
        assert np.array_equal(batch.contact_forces()[k], world.contact_forces)
        joint = world.joints["elbow"]
        assert batch.joint_positions[k, 0] == joint.position and batch.joint_speeds[k, 0] == joint.speed
        assert batch.motor_torques[k, 0] == joint.motor_torque
        assert batch.counter("contacts")[k] == world.counters.contacts
    assert (batch.times == batch[0].time).all()
    assert np.abs(batch.contact_forces()).max() > 0


def test_motors_go_where_each_world_sends_them():
    world = sg.World(gravity=(0, 0, 0))
    world.material("steel")
    body = world.add_box((0.3, 0.05, 0.05), (0.3, 0, 0))
    world.join("hinge", -1, body, (0, 0, 0), axis=(0, 1, 0), motor_position=0.0, strength=500, name="elbow")
    batch = sg.Batch(world, 3, motors=["elbow"])
    batch.step([[0.1], [-0.2], [0.3]], steps=200)
    assert batch.joint_positions[:, 0] == pytest.approx([0.1, -0.2, 0.3], abs=1e-3)
    batch.step([0.0], steps=200, mask=[1])  # one row for all, but one world is meant
    assert batch.joint_positions[:, 0] == pytest.approx([0.1, 0, 0.3], abs=1e-3)


def test_forces_and_gravity_by_world():
    """Free bodies: after a step of h the speed is h (g + F / m)."""
    world = sg.World(gravity=(0, 0, 0), step=0.01)
    world.material("glass")
    world.add_spheres([(0, 0, 0), (1, 0, 0)], 0.1, masses=2.0)
    batch = sg.Batch(world, 3)
    batch.gravity = [(0, 0, -1), (0, 0, -2), (0, 0, -3)]
    forces = np.zeros((3, 1, 3))
    forces[:, 0, 0] = 10, 20, 30
    batch.apply_force([1], forces)
    batch.step()
    assert batch.velocities[:, :, 2] == pytest.approx(-0.01 * np.array([[1, 1], [2, 2], [3, 3]]))
    assert batch.velocities[:, 1, 0] == pytest.approx([0.05, 0.1, 0.15]) and not batch.velocities[:, 0, 0].any()
    assert batch.gravity[2, 2] == -3


def test_friction_by_world():
    """A block on a slope of 20 degrees slides where mu is below its tangent, 0.364, and rests where it is above."""
    world = sg.World(gravity=9.81 * np.array([np.sin(np.radians(20)), 0, -np.cos(np.radians(20))]))
    world.material("stone", mu=0.3)
    world.plane()
    world.add_box((0.2, 0.2, 0.1), (0, 0, 0.1))
    batch = sg.Batch(world, 4)
    batch.set_pair("stone", "stone", mu=[0.1, 0.3, 0.4, 0.8])
    batch.run(1)
    moved = batch.positions[:, 0, 0]
    slide = 0.5 * 9.81 * (np.sin(np.radians(20)) - np.array([0.1, 0.3]) * np.cos(np.radians(20)))
    assert moved[:2] == pytest.approx(slide, rel=0.02)  # a step of 10 ms puts (t + h) t in the place of t^2
    assert np.abs(moved[2:]).max() < 1e-3


def test_probes_of_all_worlds():
    world = sg.World()
    world.material("glass")
    floor = world.plane(name="floor")
    world.add_sphere(0.1, (0, 0, 0.1), mass=2)
    world.probe("force", "ground", boundary=floor)
    batch = sg.Batch(world, 3)
    batch.gravity = [(0, 0, -1), (0, 0, -2), (0, 0, -3)]
    batch.step(steps=50)
    column = batch[0].probes["ground"].columns.index(next(c for c in batch[0].probes["ground"].columns if "z" in c))
    assert np.abs(batch.probe("ground")[:, 0, column]) == pytest.approx([2, 4, 6], rel=1e-3)
    name = batch[0].probes["ground"].columns[column]
    assert np.abs(batch.probe("ground", name)) == pytest.approx([2, 4, 6], rel=1e-3)


def test_a_world_is_a_simulation(tmp_path):
    batch = sg.Batch(spheres(), 3, seeds=range(3))
    world = batch[1]
    impulses = world.step(20).impulses
    kept = impulses.copy()
    with world.export(tmp_path / "one.csv", rate=100):
        batch.step(steps=10)
    assert np.array_equal(impulses, kept)  # those of their step, though the batch has taken others
    assert len({row.split(",")[0] for row in (tmp_path / "one.csv").read_text().splitlines()[1:]}) == 11
    state = pickle.loads(pickle.dumps(world.save()))
    batch.restore(state)
    assert len(set(batch.hashes)) == 1
    twin = world.clone()
    positions = world.positions
    del batch, world
    gc.collect()
    assert np.array_equal(positions, twin.positions)  # which still have their memory


def test_a_motion_by_a_function_is_asked_at_every_step():
    """A plate that a function lifts at 1 m/s, and that the batch steps several times in one call."""
    world = spheres(4)
    batch = sg.Batch(world, 2)
    batch[1].boundaries["floor"].motion = lambda time: dict(velocity=(0, 0, 1 if time < 0.045 else 0))
    batch.step(steps=10)
    assert batch[0].boundaries["floor"].position[2] == 0
    assert batch[1].boundaries["floor"].position[2] == pytest.approx(0.05)


def test_what_worlds_report_names_them(caplog):
    batch = sg.Batch(spheres(), 3)
    with batch[2].edit() as bodies:
        bodies.positions[5] = 1e9, 0, 0
    batch.step()
    assert [record.getMessage()[:14] for record in caplog.records] == ["world 2: body "]


def test_errors_name_the_world_and_the_thing():
    batch = sg.Batch(arm(), 3)
    with batch[1].edit() as bodies:
        bodies.velocities[4] = np.nan
    with pytest.raises(sg.SandglassError, match="^world 1: body 4"):
        batch.step()
    assert [world.step_index for world in batch] == [1, 0, 1]
    for wrong, sentence in ((lambda: batch.step(np.zeros((2, 1))), r"actions: expected shape \(3, 1\), got \(2, 1\)"),
                            (lambda: batch.step([[np.nan]]), "joint 0: the target nan is not finite"),
                            (lambda: batch.step(mask=[True]), "mask: expected 3 booleans"),
                            (lambda: batch.step(mask=[5]), "there is no world 5"),
                            (lambda: batch[3], "there is no world 3"),
                            (lambda: batch.bodies([99]), "world 0: there is no body 99"),
                            (lambda: batch.reset(seeds=[1]), "seeds: expected 3, got 1"),
                            (lambda: batch.counter("contact"), "did you mean contacts"),
                            (lambda: batch.probe("neck"), "there is no such probe"),
                            (lambda: batch.set_pair(0, 0, friction=1), "did you mean mu"),
                            (lambda: sg.Batch(arm(), 3, seeds=range(2)), "seeds: expected 3"),
                            (lambda: sg.Batch(arm(), 0), "at least 1 world"),
                            (lambda: sg.Batch(arm()), "number of its worlds"),
                            (lambda: sg.Batch(arm(), 2, motors=["knee"]), "there is no such joint"),
                            (lambda: sg.Batch(spheres(), 2).step([[0]]), "no joint of these worlds has one"),
                            (lambda: sg.Batch("hourglass", 2), "expected a World"),
                            (lambda: sg.Batch(arm(), 2, iteration=3), "did you mean iterations"),
                            (lambda: pickle.dumps(batch), "cannot be pickled")):
        with pytest.raises((sg.SandglassError, ValueError, IndexError, KeyError, TypeError), match=sentence):
            wrong()


def test_a_gpu_steps_worlds_together_or_says_why_not():
    if "GB" not in sg.backends().get("cuda", ""):
        with pytest.raises(sg.SandglassError, match="CUDA|cuda"):
            sg.Batch(spheres(), 2, backend="cuda")
        return
    batch = sg.Batch(spheres(), 3, seeds=range(3), backend="cuda").step(steps=30)
    alone = spheres()
    alone.scatter(2)
    assert batch.hashes[2] == alone.simulate(backend="cuda").step(30).hash
    assert batch.positions.shape == (3, 40, 3) and batch.counter("contacts").min() > 0
    batch.reset([1], seeds=[2]).step(steps=30, mask=[1])
    assert batch.hashes[1] == batch.hashes[2]
    with pytest.raises(sg.SandglassError, match="joints"):
        sg.Batch(arm(), 2, backend="cuda")
