# SPDX-License-Identifier: MIT
"""Vector environments of Gymnasium over a batch of worlds: a bucket that digs in stones, and a rover that climbs a slope.

    import gymnasium, sandglass.gym
    env = gymnasium.make_vec("sandglass/RoverOnSlope-v0", num_envs=64)
    observations, infos = env.reset(seed=1)
    observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())

An environment that has ended begins anew with the next step, which ignores its action (`AutoresetMode.NEXT_STEP`). The same
seed and actions give the same bits, with any number of threads and of environments beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError("sandglass.gym needs Gymnasium 1.1 or newer: pip install sandglass-sim[gym]") from error

from ._arrays import Array
from .batch import Batch
from .simulation import Simulation
from .world import World

_GRAVITY = 9.81  # m/s^2


class _Worlds(VectorEnv):
    """What the environments share: a batch, actions from -1 to 1 that become targets of motors, and episodes of a length."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20, "autoreset_mode": AutoresetMode.NEXT_STEP}
    seconds_per_action = 0.05

    def __init__(self, start: Simulation, num_envs: int, *, observations: int, targets: Array, seconds: float, scatter: float,
                 threads: int, render_mode: str | None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode {render_mode}: expected rgb_array or None")
        self.num_envs, self.render_mode = num_envs, render_mode
        self.batch = Batch(start, num_envs, scatter=scatter, threads=threads)
        self.single_observation_space = Box(-np.inf, np.inf, (observations,), np.float32)
        self.single_action_space = Box(-1, 1, (len(targets),), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._targets = targets  # of each motor for each action
        self._steps = round(self.seconds_per_action / start.step_length)
        self._most = round(seconds / self.seconds_per_action)
        self._seed, self._episode = 0, np.zeros(num_envs, int)
        self._done, self._taken = np.zeros(num_envs, bool), np.zeros(num_envs, int)

    # What an environment defines, for all worlds at once.
    def _observe(self) -> tuple[Array, Array]:
        """What is observed, (worlds, observations), and a measure of success, (worlds,), whose growth is the reward."""
        raise NotImplementedError

    def _fallen(self) -> Array:
        """Worlds in which nothing can be won any more."""
        return np.zeros(self.num_envs, bool)

    def _begin(self, world: int, random: np.random.Generator) -> None:
        """Changes a world that has just begun."""

    def _infos(self) -> dict[str, Any]:
        return {}

    def _restart(self, mask: Array) -> None:
        """Begins worlds anew, each by the seed, its number and that of its episode, whatever the others do."""
        seeds = np.zeros(self.num_envs, np.uint64)
        worlds = np.flatnonzero(mask).tolist()
        self._episode[mask] += 1
        randoms = [np.random.default_rng([self._seed, world, int(self._episode[world])]) for world in worlds]
        for world, random in zip(worlds, randoms):
            seeds[world] = random.integers(2**63)
        self.batch.reset(mask, seeds=seeds)
        for world, random in zip(worlds, randoms):
            self._begin(world, random)
        self._taken[mask], self._done[mask] = 0, False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begins anew in all worlds, or in those of the mask `options["reset_mask"]`."""
        super().reset(seed=seed)
        if seed is not None or not self._episode.any():
            self._seed, self._episode[:] = int(self.np_random.integers(2**63)), 0
        mask = (options or {}).get("reset_mask")
        self._restart(np.ones(self.num_envs, bool) if mask is None else np.asarray(mask, bool))
        observations, self._success = self._observe()
        return observations.astype(np.float32), self._infos()

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Takes an action of `seconds_per_action` in each world."""
        begun = self._done.copy()
        chosen = np.clip(np.asarray(actions, float).reshape(self.action_space.shape), -1, 1)
        if not np.isfinite(chosen).all():
            raise ValueError(f"actions: that of world {int(np.argwhere(~np.isfinite(chosen))[0, 0])} is not finite")
        self.batch.step(chosen @ self._targets, steps=self._steps, mask=~begun)
        self._taken[~begun] += 1
        if begun.any():
            self._restart(begun)
        observations, success = self._observe()
        rewards = np.where(begun, 0.0, success - self._success)
        terminations = self._fallen() & ~begun
        truncations = (self._taken >= self._most) & ~begun
        self._done, self._success = terminations | truncations, success
        return observations.astype(np.float32), rewards, terminations, truncations, self._infos()

    def render(self) -> tuple[Array, ...] | None:
        """A picture of each world."""
        if self.render_mode is None:
            return None
        return tuple(np.asarray(world.draw(480, 360)) for world in self.batch)

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the worlds."""
        vars(self).pop("batch", None)


def _stone_shapes(world: World, random: np.random.Generator) -> list[int]:
    """Hulls of ten points on a unit sphere each."""
    clouds = [random.normal(size=(10, 3)) for _ in range(4)]
    return [world.hull_shape(points / np.linalg.norm(points, axis=1)[:, None]) for points in clouds]


def _turned(random: np.random.Generator) -> tuple[float, ...]:
    rotation = random.normal(size=4)
    return tuple(rotation / np.linalg.norm(rotation))


class BucketInStones(_Worlds):
    """An excavator's boom, stick and bucket over a bed of stones, which the bucket is to lift.

    Actions are the speeds of the three joints, of at most 1 rad/s. The reward is the mass of stones (kg) that is lifted above
    `RIM` more than before. Observed are angles, speeds and torques (over their strength) of the joints, position and pitch of
    the bucket, the force on it (over the weight of the machine), the mass lifted, and the height of the stones in eight parts
    along the bed. Seeds move the stones by a twentieth of their size.
    """

    RIM = 0.6
    """m: what is above has been lifted"""
    STRENGTHS = (6000.0, 4000.0, 2000.0)
    """N m, of boom, stick and bucket"""
    _BASE = (-0.9, 0.0, 0.9)  # m, where the boom turns
    _FRONT, _END, _HALF, _PARTS = -0.25, 1.3, 0.3, 8  # m, the bed along x, its half width; parts of its profile

    def __init__(self, num_envs: int = 1, *, stones: int = 200, seconds: float = 8, threads: int = 0,
                 render_mode: str | None = None) -> None:
        world = World(step=0.005)
        world.material("stone", density=2600, mu=0.6)
        world.material("steel", density=7800, mu=0.3)
        world.pair("steel", "steel", mu=0.1)
        world.box_walls((self._END, self._HALF, 2), position=(0, 0, 2), name="bed")
        step = (self._END + self._FRONT) / 2, self._HALF, 0.2
        world.box_walls(step, inside=False, position=(-self._END + step[0], 0, step[2]), name="step")
        self._stones = np.array(self._add_stones(world, stones))
        self._bucket = self._add_arm(world)
        start = world.simulate("p-spg-fb", iterations=60, threads=threads)
        start.run(1.5)  # the stones come to rest
        self._masses = start.masses[self._stones].copy()
        self._level = 0.0  # the pitch of its principal axes where the bucket is level
        self._weight = _GRAVITY * float(start.masses[self._bucket - 2:].sum())
        super().__init__(start, num_envs, observations=9 + 4 + 3 + 1 + self._PARTS, targets=np.eye(3), seconds=seconds,
                         scatter=0.05, threads=threads, render_mode=render_mode)
        self._level = self._pitch()[0]

    def _pitch(self) -> Array:
        """rad, of the bucket about y"""
        w, _, y, _ = self.batch.bodies([self._bucket]).rotations[:, 0].T
        return np.asarray(2 * np.arctan2(y, w) - self._level)

    def _add_stones(self, world: World, count: int) -> list[int]:
        random = np.random.default_rng(0)
        shapes, pitch = _stone_shapes(world, random), 0.13
        across, along = int(2 * self._HALF / pitch), int((self._END - self._FRONT) / pitch)
        bodies = []
        for k in range(count):
            x, y, z = k % along, k // along % across, k // (along * across)
            place = (self._FRONT + pitch * (x + 0.5), pitch * (y - (across - 1) / 2), pitch * (z + 0.6))
            bodies.append(world.add(shapes[k % 4], place, material="stone", scale=random.uniform(0.05, 0.065), rotation=_turned(random)))
        return bodies

    def _add_arm(self, world: World) -> int:
        """Boom, stick and bucket; returns the bucket, which is the last."""
        base = np.array(self._BASE)
        elbow, wrist = base + (0.8, 0, 0.6), base + (1.3, 0, 0.2)
        bodies = [self._beam(world, base, elbow), self._beam(world, elbow, wrist)]
        bodies.append(world.add(self._bucket_shape(world), tuple(wrist + (0, 0, -0.17)), material="steel"))
        ranges = ((-0.9, 0.7), (-1.2, 1.0), (-1.6, 1.2))
        joints = zip(("boom", "stick", "bucket"), (-1, bodies[0], bodies[1]), bodies, (base, elbow, wrist), ranges, self.STRENGTHS)
        for name, a, b, place, (low, high), strength in joints:
            world.join("hinge", a, b, tuple(place), axis=(0, 1, 0), low=low, high=high, motor_speed=0.0, strength=strength, name=name)
        world.keep_apart(bodies[0], bodies[2])
        return bodies[2]

    @staticmethod
    def _beam(world: World, begin: Array, end: Array) -> int:
        """A beam from one point of the plane y = 0 to another."""
        along = end - begin
        angle = -np.arctan2(along[2], along[0])  # about y
        shape = world.box_shape((float(np.linalg.norm(along)) / 2, 0.04, 0.05))
        return world.add(shape, tuple((begin + end) / 2), material="steel", rotation=(np.cos(angle / 2), 0, np.sin(angle / 2), 0))

    @staticmethod
    def _bucket_shape(world: World) -> int:
        """Back, floor and two cheeks, open towards -x; its frame is in the middle, 0.17 m below the hinge."""
        back, floor = world.box_shape((0.015, 0.2, 0.15)), world.box_shape((0.16, 0.2, 0.015))
        cheek = world.box_shape((0.16, 0.015, 0.15))
        return world.compound_shape([(back, (0.16, 0, 0)), (floor, (0, 0, -0.15)), (cheek, (0, 0.19, 0)), (cheek, (0, -0.19, 0))])

    def _observe(self) -> tuple[Array, Array]:
        places = self.batch.positions[:, self._stones]
        bucket = self.batch.bodies([self._bucket])
        lifted = ((places[:, :, 2] > self.RIM) * self._masses).sum(axis=1)
        torques = np.nan_to_num(self.batch.motor_torques) / self.STRENGTHS
        seen = [self.batch.joint_positions, self.batch.joint_speeds, torques, bucket.positions[:, 0], self._pitch()[:, None],
                self.batch.contact_forces([self._bucket])[:, 0] / self._weight, lifted[:, None], self._profile(places)]
        return np.concatenate(seen, axis=1), lifted

    def _profile(self, places: Array) -> Array:
        """m, the highest stone in each part of the bed."""
        part = np.clip(((places[:, :, 0] - self._FRONT) / (self._END - self._FRONT) * self._PARTS).astype(int), 0, self._PARTS - 1)
        heights = np.zeros((self.num_envs, self._PARTS))
        np.maximum.at(heights, (np.arange(self.num_envs)[:, None], part), places[:, :, 2])
        return heights


class RoverOnSlope(_Worlds):
    """A rover with four wheels among sharp stones on a slope, uphill along x, of another angle in each world and episode.

    Actions are the speeds of the wheels on its left and right, of at most 8 rad/s. The reward is the way uphill (m). An episode
    ends where the rover has fallen over. Observed are its axes along and up and the direction of gravity in its frame, velocity
    and spin, its place across the slope, and speeds and torques (over their strength) of its wheels. Seeds move the stones by a
    fifth of their size; `infos["slope"]` has the angles (rad).
    """

    SLOPES = (0.05, 0.45)
    """rad, between which each episode draws its angle"""
    STRENGTH = 15.0
    """N m, of a wheel"""
    _WHEELS = np.array([[8.0, 8.0, 0, 0], [0, 0, 8.0, 8.0]])  # rad/s: the two on the left, and those on the right
    _TIPPED = 0.2  # of its upward axis, along the normal of the slope

    def __init__(self, num_envs: int = 1, *, stones: int = 60, seconds: float = 10, threads: int = 0,
                 render_mode: str | None = None) -> None:
        world = World(step=0.005)
        world.material("stone", density=2600, mu=0.6)
        world.material("rubber", density=1100, mu=0.9)
        world.plane(name="slope")
        random = np.random.default_rng(0)
        shapes = _stone_shapes(world, random)
        for k in range(stones):
            place = random.uniform(0.7, 6), random.uniform(-1.2, 1.2), 0.06
            world.add(shapes[k % 4], place, material="stone", scale=random.uniform(0.02, 0.05), rotation=_turned(random))
        self._rover = self._add_rover(world)
        start = world.simulate("p-spg-fb", iterations=60, threads=threads)
        start.run(0.5)  # it stands on its wheels
        self._slope = np.zeros(num_envs)
        super().__init__(start, num_envs, observations=9 + 6 + 1 + 8, targets=self._WHEELS,
                         seconds=seconds, scatter=0.2, threads=threads, render_mode=render_mode)

    def _add_rover(self, world: World) -> int:
        """Returns the chassis; wheels are joined to it, left before right."""
        chassis = world.add_box((0.35, 0.18, 0.06), (0, 0, 0.2), material="rubber", mass=20)
        wheel = world.cylinder_shape(0.12, 0.08)
        half = np.sqrt(0.5)
        for side, name in ((1, "left"), (-1, "right")):
            for end, where in ((1, "front"), (-1, "back")):
                place = (0.25 * end, 0.24 * side, 0.13)
                body = world.add(wheel, place, material="rubber", mass=2, rotation=(half, half, 0, 0))
                world.join("hinge", chassis, body, place, axis=(0, 1, 0), motor_speed=0.0, strength=self.STRENGTH, name=f"{where} {name}")
        return chassis

    def _begin(self, world: int, random: np.random.Generator) -> None:
        angle = self._slope[world] = random.uniform(*self.SLOPES)
        self.batch[world].gravity = -_GRAVITY * np.sin(angle), 0, -_GRAVITY * np.cos(angle)

    def _observe(self) -> tuple[Array, Array]:
        rover = self.batch.bodies([self._rover])
        along, up = self._axes(rover.rotations[:, 0])
        across = np.cross(up, along)
        down = np.stack([-np.sin(self._slope), np.zeros(self.num_envs), -np.cos(self._slope)], axis=1)
        felt = np.stack([(down * axis).sum(axis=1) for axis in (along, across, up)], axis=1)
        self._up = up[:, 2]
        place = rover.positions[:, 0]
        torques = np.nan_to_num(self.batch.motor_torques) / self.STRENGTH
        seen = [along, up, felt, rover.velocities[:, 0], rover.spins[:, 0], place[:, 1:2], self.batch.joint_speeds, torques]
        return np.concatenate(seen, axis=1), place[:, 0].copy()

    @staticmethod
    def _axes(rotation: Array) -> tuple[Array, Array]:
        """The axes x and z of bodies in the world."""
        w, x, y, z = rotation.T
        along = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1)
        up = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
        return along, up

    def _fallen(self) -> Array:
        return np.asarray(self._up < self._TIPPED)

    def _infos(self) -> dict[str, Any]:
        return {"slope": self._slope.copy()}


for _name in ("BucketInStones", "RoverOnSlope"):
    gymnasium.register(f"sandglass/{_name}-v0", vector_entry_point=f"sandglass.gym:{_name}")
