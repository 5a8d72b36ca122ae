# SPDX-License-Identifier: MIT
"""The vector environments of Gymnasium: the interface, the same bits again, and that what they ask for can be done."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="without gymnasium its vector environments are not tested")

import sandglass.gym as sgym  # noqa: E402

KINDS = {"BucketInStones": dict(stones=25), "RoverOnSlope": dict(stones=20)}


def make(kind, count, **options):
    return getattr(sgym, kind)(count, **{**KINDS[kind], **options})


def roll(env, seed, actions):
    """Everything that a random policy sees."""
    seen = [env.reset(seed=seed)[0]]
    policy = np.random.default_rng(5)
    for _ in range(actions):
        chosen = policy.uniform(-1, 1, (20, env.single_action_space.shape[0]))[:env.num_envs]
        seen += [np.atleast_2d(part) for part in env.step(chosen)[:4]]
    return seen


@pytest.mark.parametrize("kind", KINDS)
def test_a_random_policy_runs(kind):
    env = gymnasium.make_vec(f"sandglass/{kind}-v0", num_envs=3, seconds=0.3, **KINDS[kind])
    assert isinstance(env.unwrapped, gymnasium.vector.VectorEnv) and env.num_envs == 3
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP
    observations, infos = env.reset(seed=1)
    assert observations in env.observation_space and isinstance(infos, dict)
    env.action_space.seed(1)
    ended = np.zeros(3, int)
    for k in range(15):
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        assert observations in env.observation_space and np.isfinite(observations).all()
        assert rewards.shape == terminations.shape == truncations.shape == (3,)
        assert terminations.dtype == truncations.dtype == bool and np.isfinite(rewards).all()
        ended += terminations | truncations
    assert ended.tolist() == [2, 2, 2]  # after 6 actions of 0.05 s; the next begins anew, and after 6 more again
    env.close()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_bits(kind):
    first, again = (roll(make(kind, 3, threads=threads, seconds=0.2), 4, 8) for threads in (1, 3))
    assert all(np.array_equal(a, b) for a, b in zip(first, again))
    alone = roll(make(kind, 1, seconds=0.2), 4, 8)
    assert all(np.array_equal(a[0] if a.shape[0] == 3 else a[0, :1], b[0]) for a, b in zip(first, alone))
    other = roll(make(kind, 3, seconds=0.2), 5, 8)
    assert not np.array_equal(first[0], other[0])
    assert not np.array_equal(first[0][0], first[0][1])  # no two worlds are alike


def test_an_ended_world_begins_anew_alone():
    env = make("RoverOnSlope", 2, seconds=10)
    env.reset(seed=1)
    forward = np.ones((2, 2))
    for _ in range(5):
        env.step(forward)
    slopes = env.step(forward)[4]["slope"]
    with env.batch[1].edit() as bodies:  # upside down
        bodies.rotations[env._rover] = 0, 1, 0, 0
    _, rewards, terminations, truncations, _ = env.step(forward)
    assert terminations.tolist() == [False, True] and not truncations.any()
    observations, rewards, terminations, truncations, infos = env.step(forward)
    assert rewards[1] == 0 and rewards[0] > 0 and not terminations.any()
    assert infos["slope"][0] == slopes[0] and infos["slope"][1] != slopes[1]
    assert env.batch.times[1] == pytest.approx(0.5) and env.batch.times[0] > 0.8
    mask = np.array([True, False])
    _, infos = env.reset(options={"reset_mask": mask})
    assert infos["slope"][0] != slopes[0] and env.batch.times[0] == pytest.approx(0.5)


def test_a_rover_climbs_a_slope_that_its_friction_holds():
    env = make("RoverOnSlope", 3, stones=0)
    env.reset(seed=2)
    way = sum(env.step(np.ones((3, 2)))[1] for _ in range(40))  # two seconds at 8 rad/s on wheels of 0.12 m
    assert (way > 1.2).all() and (way < 8 * 0.12 * 2 + 0.05).all()


def test_a_bucket_that_digs_is_rewarded():
    """To the bed, through the stones with the lip ahead, and up."""
    env = make("BucketInStones", 1, stones=120)
    observations, total = env.reset(seed=3)[0], 0.0
    for way in ((0.4, -0.6, -0.6), (0.72, -0.5, -0.7), (0.72, 0.25, -0.9), (0.7, 0.35, 0.5), (0.2, 0.5, 0.95), (-0.4, 0.5, 0.95)):
        for _ in range(26):
            observations, rewards = env.step(np.clip(6 * (np.array(way) - observations[0, :3]), -1, 1)[None])[:2]
            total += rewards[0]
    assert total > 3  # kg, several stones
    stones = env.batch[0].positions[env._stones]
    assert total == pytest.approx(env._masses[stones[:, 2] > env.RIM].sum())


def test_what_is_wrong_is_said():
    env = make("RoverOnSlope", 2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="that of world 1 is not finite"):
        env.step([[0, 0], [0, np.nan]])
    with pytest.raises(ValueError, match="render_mode"):
        make("RoverOnSlope", 1, render_mode="human")
