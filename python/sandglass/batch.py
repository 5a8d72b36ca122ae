# SPDX-License-Identifier: MIT
"""Many worlds at once: copies of a world, or different ones, stepped side by side by the threads of the CPU."""

from __future__ import annotations

import ctypes
import logging
from ctypes import byref
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import _native
from ._arrays import Array, numbers
from ._handle import Lent
from ._owned import Declared, Owner
from ._words import explained, hint
from .figures import Bodies, Counters
from .simulation import Simulation
from .solvers import change
from .state import State
from .world import World, set_laws

_LAWS = ("mu", "restitution", "cohesion", "rolling", "spinning")
_log = logging.getLogger("sandglass")


def _hear(user: int, world: int, sentence: bytes) -> None:
    """Messages of the worlds go to the log."""
    _log.warning("world %d: %s", world, sentence.decode(errors="replace"))


_hearing = _native.BatchMessageCallback(_hear)


def _seeds_of(seeds: Any, count: int | None) -> Array | None:
    """Seeds as the library takes them, one for each world."""
    if seeds is None:
        return None
    given = [seeds] if np.ndim(seeds) == 0 else list(seeds)
    for seed in given:
        if not (isinstance(seed, (int, np.integer)) and 0 <= seed < 2**64):
            raise _native.SandglassError(f"seed {str(seed)[:40]}: expected a number of 64 bits, at least 0")
    if count is not None and len(given) != count:
        raise ValueError(f"seeds: expected {count}, one for each world, got {len(given)}")
    return np.array(given, np.uint64)


def _copy_of(source: Any) -> Any:
    """A copy of the world of a `World`, or of a `Simulation` that has taken no step."""
    world = _native.World()
    if isinstance(source, World):
        _native.world_copy(byref(world), byref(source._struct))
    elif isinstance(source, Simulation):
        if source.step_index:
            raise _native.SandglassError(f"a simulation that has taken {source.step_index} steps is no world of a batch of "
                                         "different ones; make one that has taken none")
        with source._handle as pointer:
            _native.world_copy(byref(world), _native.simulation_world(pointer))
    else:
        raise TypeError(f"expected a World or a Simulation, got {source!r:.40}")
    return world


class _Memory(Owner):
    """Owns the C batch; freed with the last that looks at one of its worlds."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer

    def __del__(self, free: Any = _native.batch_free) -> None:
        free(self.pointer)


@explained
class Batch(Declared, Owner):
    """Many worlds, stepped side by side: `batch = sandglass.Batch(world, 1024, seeds=range(1024))`.

    `world` is a `World` or a `Simulation`, whose state of now all begin with; it stays as it is. Or it is a function, from a
    seed to a `World` or a `Simulation` that has taken no step, called for each of the `seeds`. Of one world, seeds move the
    bodies that no joint holds by up to `scatter` (0.001) of their size, so that no two runs are alike.

    Each world has the same bits as alone. Arrays have a row for each world, and are copies. A `mask` of worlds is an array of
    booleans, or the numbers of those that are meant. `motors` are the joints that actions are for, by name or number; not
    given, all that have a motor. Other arguments are those of `Simulation.load`; `threads` step a world each.
    """

    _advice = "it has threads and memory of its own; save the states of its worlds: batch[0].save()"

    count: int
    """Worlds."""
    motors: list[int]
    """Numbers of the joints that actions are for, in their order."""
    _owner: _Memory
    _worlds: dict[int, Simulation]
    _definition: Any
    _like: Simulation | None
    _scatter: float

    def __init__(self, world: World | Simulation | Callable[[int], Any], count: int | None = None, *, seeds: Any = None,
                 scatter: float | None = None, motors: Sequence[str | int] | None = None, solver: str | None = None,
                 threads: int = 0, precision: str | None = None, backend: str = "cpu", **settings: Any) -> None:
        given = _seeds_of(seeds, None if count is None else _native.integer(count, "count"))
        if count is None and given is None:
            raise ValueError("a batch needs the number of its worlds, or their seeds")
        self.count = count if count is not None else len(given if given is not None else ())
        self._worlds, self._like = {}, None
        start: Any
        if isinstance(world, (World, Simulation)):
            sources, start = [world], world
        elif callable(world):
            if given is None:
                raise ValueError("seeds: a function makes each world from its seed")
            sources = [world(int(seed)) for seed in given]
            start = sources[0] if sources else None
        else:
            raise TypeError(f"expected a World, a Simulation or a function that makes one from a seed, got {world!r:.40}")
        self._like = start if isinstance(start, Simulation) else None
        self._scatter = float((0.0 if callable(world) else 1e-3) if scatter is None else _native.real(scatter, "scatter"))
        self._definition = self._define(solver, threads, precision, backend, settings)
        definition = _native.default_batch()
        definition.count, definition.simulation, definition.scatter = self.count, self._definition, self._scatter
        if len(sources) == 1 and not callable(world):
            self._copies(sources[0], definition, given)
        else:
            self._different(sources, definition)
        _native.batch_on_message(self._owner.pointer, _hearing, None)
        self.motors = self._numbers_of_motors(motors)

    def _define(self, solver: str | None, threads: int, precision: str | None, backend: str, settings: dict[str, Any]) -> Any:
        """What the simulations are made with: what is given, else as the simulation that they are copies of."""
        like, definition = self._like, _native.default_simulation()
        definition.solve = change(like._solve if like else _native.default_solve(), solver, **settings)
        definition.precision = (_native.precision(precision) if precision is not None else
                                like._definition.precision if like else definition.precision)
        definition.threads = _native.integer(threads, "threads")
        chosen = ctypes.c_void_p()
        if backend != "auto":  # which is the CPU: only it steps many worlds at once
            _native.backend(backend.encode(), byref(definition.solve), definition.precision, byref(chosen))
        definition.backend = chosen.value
        return definition

    def _copies(self, source: World | Simulation, definition: Any, seeds: Array | None) -> None:
        """Copies of one world, in the state that it is in."""
        state = source.save() if isinstance(source, Simulation) else None
        if state is None and seeds is not None:
            definition.seeds = seeds.ctypes.data
        if isinstance(source, Simulation):
            with source._handle as pointer:
                memory = _native.simulation_world(pointer)
                self._owner = _Memory(_native.batch_create(memory, byref(definition)))
        else:
            self._owner = _Memory(_native.batch_create(byref(source._struct), byref(definition)))
        if state is not None:
            self.restore(state)
            self.keep_start()
            if seeds is not None:
                self.reset(seeds=seeds)

    def _different(self, sources: list[Any], definition: Any) -> None:
        """Worlds of which each has its own."""
        worlds = (_native.World * len(sources))()
        try:
            for k, source in enumerate(sources):
                worlds[k] = _copy_of(source)
        except Exception:
            for world in worlds:
                _native.world_free(byref(world))
            raise
        self._owner = _Memory(_native.batch_of_worlds(worlds, byref(definition)))

    def _numbers_of_motors(self, motors: Sequence[str | int] | None) -> list[int]:
        joints = self[0].joints
        if motors is None:
            return sorted(j.number for j in joints.values() if j.drive["motor"] is not None)
        return [joints[motor].number for motor in motors]

    # --- worlds ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, world: int) -> Simulation:
        """One world as a simulation, with all that one has: `batch[3].draw()`, `batch[3].save()`."""
        if not isinstance(world, (int, np.integer)):
            raise TypeError(f"a world of a batch has a number, got {world!r:.40}")
        if not -self.count <= world < self.count:
            raise IndexError(f"there is no world {world}; the batch has {self.count}")
        number = int(world) % self.count
        if number not in self._worlds:
            handle = Lent(_native.batch_simulation(self._owner.pointer, number), self._owner)
            self._worlds[number] = Simulation._lent(handle, self._definition, f"world {number}", self._like)
        return self._worlds[number]

    def __iter__(self) -> Iterator[Simulation]:
        return (self[k] for k in range(self.count))

    def _mask(self, mask: Any) -> Array | None:
        """A mask as the library takes it."""
        if mask is None:
            return None
        given = np.atleast_1d(np.asarray(mask))
        if given.dtype == bool:
            if given.shape != (self.count,):
                raise ValueError(f"mask: expected {self.count} booleans, one for each world, got shape {given.shape}")
            return np.ascontiguousarray(given)
        if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
            raise ValueError(f"mask: expected booleans or numbers of worlds, got {str(mask)[:40]}")
        chosen = np.zeros(self.count, bool)
        for world in given.tolist():
            if not 0 <= world < self.count:
                raise IndexError(f"mask: there is no world {world}; the batch has {self.count}")
            chosen[world] = True
        return chosen

    # --- steps ----------------------------------------------------------------------------------------------------

    def step(self, actions: Any = None, *, steps: int = 1, mask: Any = None) -> Batch:
        """Takes steps of all worlds, or of those of a mask.

        `actions` are the targets of the `motors`, (worlds, motors): m or rad, or m/s or rad/s where a motor keeps a speed. They
        hold until others are given.
        """
        chosen, count = self._mask(mask), _native.integer(steps, "steps")
        if actions is not None:
            targets = self._shaped(actions, (self.count, len(self.motors)), "actions")
            self._set_targets(targets, chosen)
        seen = [world for k, world in self._worlds.items() if chosen is None or chosen[k]]
        alone = any(world._moving or world._exports for world in seen)  # what Python does at each step
        for _ in range(count if alone else min(count, 1)):
            for world in seen:
                world._prepare_step()
            _native.batch_step(self._owner.pointer, _address(chosen), 1 if alone else count)
            for world in seen:
                world._complete_step()
        return self

    def run(self, seconds: float) -> Batch:
        """Takes the steps of this time, of the first world's length, in all worlds."""
        return self.step(steps=round(_native.real(seconds, "run") / self[0].step_length))

    def reset(self, mask: Any = None, *, seeds: Any = None) -> Batch:
        """Brings all worlds, or those of a mask, back to their start: with the bodies scattered by other seeds, one for each world of
        the batch or of the mask, or as they were the last time."""
        chosen = self._mask(mask)
        given = None if seeds is None else self._all_seeds(seeds, chosen)
        if given is not None and not self._scatter > 0:
            raise ValueError("seeds: this batch scatters no bodies; make it with a scatter above 0")
        self._leave(chosen)
        _native.batch_reset(self._owner.pointer, _address(chosen), _address(given))
        return self

    def _all_seeds(self, seeds: Any, chosen: Array | None) -> Array:
        given = _seeds_of(seeds, None)
        assert given is not None
        if chosen is None or len(given) == self.count:
            return _checked_count(given, self.count)
        every = np.zeros(self.count, np.uint64)
        every[chosen] = _checked_count(given, int(chosen.sum()))
        return every

    def restore(self, state: State, mask: Any = None) -> Batch:
        """Puts a state of a simulation of the same world into all worlds, or those of a mask."""
        if not isinstance(state, State):
            raise TypeError(f"restore: expected a State, got {state!r:.40}")
        chosen, data = self._mask(mask), state.to_bytes()
        self._leave(chosen)
        _native.batch_restore(self._owner.pointer, _address(chosen), data, len(data))
        return self

    def keep_start(self, mask: Any = None) -> Batch:
        """Makes what the worlds are now the start that `reset` brings them back to."""
        _native.batch_keep_start(self._owner.pointer, _address(self._mask(mask)))
        return self

    def _leave(self, chosen: Array | None) -> None:
        for k, world in self._worlds.items():
            if chosen is None or chosen[k]:
                world._refuse_while_editing("is not restored")
                world._leave_contacts()

    # --- actions --------------------------------------------------------------------------------------------------

    @staticmethod
    def _shaped(values: Any, shape: tuple[int, ...], what: str) -> Array:
        """Numbers as a contiguous array of this shape; leading axes that are missing are those of one row for all."""
        try:
            array = np.asarray(values, float)
            return np.ascontiguousarray(np.broadcast_to(array, shape))
        except (TypeError, ValueError):
            raise ValueError(f"{what}: expected shape {shape}, got {np.shape(values)}") from None

    def _set_targets(self, targets: Array, chosen: Array | None) -> None:
        if not self.motors:
            raise _native.SandglassError("actions are targets of motors, and no joint of these worlds has one")
        joints = np.array(self.motors, np.int32)
        _native.batch_set_targets(self._owner.pointer, _address(chosen), joints.ctypes.data, len(joints), targets.ctypes.data)

    def apply_force(self, bodies: Any, forces: Any = None, torques: Any = None, *, mask: Any = None) -> None:
        """Adds forces (N) and torques (N m) to what acts in the coming step on these bodies, by number, of each world.

        They are (worlds, bodies, 3); axes that are missing in front stand for all.
        """
        chosen, which = self._mask(mask), self._bodies_of(bodies)
        shape = (self.count, len(which), 3)
        arrays = [None if values is None else self._shaped(values, shape, what)
                  for values, what in ((forces, "forces"), (torques, "torques"))]
        _native.batch_apply_force(self._owner.pointer, _address(chosen), which.ctypes.data, len(which), _address(arrays[0]),
                                  _address(arrays[1]))

    @property
    def gravity(self) -> Array:
        """m/s^2, (worlds, 3); may be set between steps, one for all or one for each"""
        return np.array([world.gravity for world in self])

    @gravity.setter
    def gravity(self, value: Any) -> None:
        for world, row in zip(self, self._shaped(value, (self.count, 3), "gravity")):
            world.gravity = row

    def set_pair(self, material_a: int | str, material_b: int | str, *, mask: Any = None, **laws: Any) -> None:
        """Sets laws of a pair of materials from the next step on: `mu`, `restitution`, `cohesion`, `rolling` and `spinning`, one
        number for all worlds or one for each."""
        chosen = self._mask(mask)
        for law in laws:
            if law not in _LAWS:
                raise TypeError(f"Batch.set_pair has no argument {law}{hint(law, _LAWS)}")
        columns = {law: numbers(values, self.count, law) for law, values in laws.items()}
        for k in range(self.count):
            if chosen is None or chosen[k]:
                world = _native.simulation_change(_native.batch_simulation(self._owner.pointer, k)).contents
                set_laws(world, material_a, material_b, {law: float(column[k]) for law, column in columns.items()})

    # --- observations ---------------------------------------------------------------------------------------------

    @property
    def body_count(self) -> int:
        """The most bodies that a world has: arrays over all bodies have nan where a world has fewer."""
        return int(_native.batch_body_count(self._owner.pointer))

    def _bodies_of(self, bodies: Any) -> Array:
        """Numbers of bodies as the library takes them."""
        given = np.atleast_1d(np.asarray(bodies))
        if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
            raise ValueError(f"bodies: expected numbers of bodies, got {str(bodies)[:40]}")
        return np.ascontiguousarray(given, np.int32)

    def _read(self, bodies: Any, **fields: int) -> list[Array]:
        """Fields of these bodies in all worlds, each with its width in numbers."""
        which = None if bodies is None else self._bodies_of(bodies)
        count = self.body_count if which is None else len(which)
        arrays = [np.empty((self.count, count, width)) for width in fields.values()]
        to = _native.BatchBodies(**{field: array.ctypes.data for field, array in zip(fields, arrays)})
        _native.batch_read_bodies(self._owner.pointer, _address(which), count, byref(to))
        return arrays

    def bodies(self, numbers: Any = None) -> Bodies:
        """Positions, rotations, velocities and spins of the bodies of these numbers, (worlds, numbers, 3 or 4)."""
        return Bodies(*self._read(numbers, position=3, rotation=4, velocity=3, spin=3))

    @property
    def positions(self) -> Array:
        """m, (worlds, bodies, 3)"""
        return self._read(None, position=3)[0]

    @property
    def rotations(self) -> Array:
        """Unit quaternions w, x, y, z, (worlds, bodies, 4)"""
        return self._read(None, rotation=4)[0]

    @property
    def velocities(self) -> Array:
        """m/s, (worlds, bodies, 3)"""
        return self._read(None, velocity=3)[0]

    @property
    def spins(self) -> Array:
        """rad/s, (worlds, bodies, 3)"""
        return self._read(None, spin=3)[0]

    def contact_forces(self, numbers: Any = None) -> Array:
        """N, of the contacts of the last step on the bodies of these numbers; (worlds, numbers, 3)"""
        return self._read(numbers, force=3)[0]

    def contact_torques(self, numbers: Any = None) -> Array:
        """N m, likewise"""
        return self._read(numbers, torque=3)[0]

    def _joints(self, field: str) -> Array:
        array = np.empty((self.count, _native.batch_joint_count(self._owner.pointer)))
        _native.batch_read_joints(self._owner.pointer, None, 0, byref(_native.BatchJoints(**{field: array.ctypes.data})))
        return array

    @property
    def joint_positions(self) -> Array:
        """m or rad, (worlds, joints), by the numbers of the joints; `Joint.position`"""
        return self._joints("position")

    @property
    def joint_speeds(self) -> Array:
        """m/s or rad/s, (worlds, joints)"""
        return self._joints("speed")

    @property
    def motor_torques(self) -> Array:
        """N m, or N of a slider, of the last step, (worlds, joints); nan without a motor or a step"""
        return self._joints("motor")

    def probe(self, name: str, column: str | None = None) -> Array:
        """What a probe read last in all worlds: (worlds, cells, columns), or of one column (worlds, cells), where there is one cell
        (worlds,)."""
        probes = self[0].probes
        probe = probes[name]
        values = np.empty((self.count, *probe.values.shape))
        _native.batch_read_probe(self._owner.pointer, list(probes).index(name), values.ctypes.data)
        if column is None:
            return values
        if column not in probe.columns:
            raise KeyError(f"{column}: the probe {name} has {', '.join(probe.columns)}")
        chosen: Array = values[:, :, probe.columns.index(column)]
        return chosen[:, 0] if chosen.shape[1] == 1 else chosen

    def counter(self, name: str) -> Array:
        """A number of `Counters` in all worlds, (worlds,): `batch.counter("left_total")`."""
        kept = [field for field in Counters.__dataclass_fields__ if field not in ("status", "metrics", "islands")]
        if name not in kept:
            raise KeyError(f"{name}: there is no such counter{hint(name, kept)}")
        pointers = (_native.batch_simulation(self._owner.pointer, k) for k in range(self.count))
        return np.array([getattr(_native.simulation_counters(pointer).contents, name) for pointer in pointers])

    @property
    def times(self) -> Array:
        """s, of each world"""
        return np.array([world.time for world in self])

    @property
    def hashes(self) -> list[str]:
        """Of the bits of each world, as `Simulation.hash`."""
        return [world.hash for world in self]

    def __repr__(self) -> str:
        return f"<Batch of {self.count} worlds: {self.body_count} bodies each>"


def _address(array: Array | None) -> int | None:
    return None if array is None else int(array.ctypes.data)


def _checked_count(seeds: Array, count: int) -> Array:
    if len(seeds) != count:
        raise ValueError(f"seeds: expected {count}, got {len(seeds)}")
    return seeds
