# SPDX-License-Identifier: MIT
"""Simulations: a world and the device that steps it.

Who owns what. A simulation owns its memory, and every array that looks at it keeps it alive, so that no array ever points
to nothing. Arrays of bodies (`positions`, `velocities`, ...) show the state as it is now: they change when a step is taken;
copy what is to be kept. Arrays of contacts (`contacts`, `impulses`) belong to the step that they were taken from and never
change: where one is still in use when the next step comes, the simulation leaves it its memory and makes new. Neither
copies anything on the CPU. With the backend cuda the bodies are on the device: each access downloads them, and arrays are
copies of the state at that moment.
"""

from __future__ import annotations

import ctypes
import logging
import math
import os
import threading
import weakref
from contextlib import contextmanager
from ctypes import byref
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import _native, _push
from ._arrays import Array, DeviceArray, view
from ._handle import Handle, StepContacts
from ._owned import Declared, Owner
from ._words import Named, Numbered, explained
from .asking import Asking
from .export import Exporting
from .figures import Bodies, Counters, GpuArrays, Knob, Outlet, Profile
from .extension import Extension
from .joint import Joint
from .motion import Boundary
from .picture import Image, Painter
from .probe import Probe
from .problem import Problem, islands_of, metrics_of
from .solvers import change, settings
from .state import State

_log = logging.getLogger("sandglass")


def _hear(user: int, sentence: bytes) -> None:
    """Messages of the library, a lost body or an infeasible step, go to the log."""
    _log.warning(sentence.decode(errors="replace"))


_hearing = _native.MessageCallback(_hear)


def backends() -> dict[str, str]:
    """What can take the steps, with its device, or why it cannot on this machine."""
    found: dict[str, str] = {}
    for index in range(_native.backend_count()):
        name, about = _native.backend_name(index), _native.DeviceInfo()
        try:
            _native.backend_describe(_native.backend_find(name), byref(about))
            found[name.decode()] = f"{about.name.decode(errors='replace')}, {about.memory / 1e9:.0f} GB"
        except _native.SandglassError as error:
            found[name.decode()] = str(error)
    return found


def scenes() -> dict[str, str]:
    """The scenes that come with the package, with what each shows."""
    entries, count = ctypes.POINTER(_native.SceneEntry)(), ctypes.c_int()
    _native.scenes_list(byref(entries), byref(count))
    listed = {entries[i].name.decode(): entries[i].about.decode() for i in range(count.value)}
    _native.free(entries)
    return listed


_opening = threading.Lock()  # the name of the folder of scenes is in one static buffer


def _open_scene(scene: Any, name: str | os.PathLike[str], text: str | None, options: Any) -> None:
    with _opening:
        if text is None:
            _native.scene_open(byref(scene), os.fsencode(name), byref(options))
        else:
            raw = text.encode()
            _native.scene_open_text(byref(scene), raw, len(raw), os.fsencode(name), byref(options))


def _set_knobs(scene: Any, knobs: dict[str, float]) -> None:
    for name, value in knobs.items():
        index = _native.scene_knob(byref(scene), name.encode())
        if index < 0:
            known = ", ".join(k.name.decode() for k in scene.knobs[:scene.knob_count]) or "none"
            raise _native.SandglassError(f"{name}: the scene {scene.name.decode()} has no such knob; there are {known}")
        _native.scene_set_knob(byref(scene), index, value)


@explained
class Simulation(Declared, Owner, Asking, Exporting):
    """A running simulation, made by `Simulation.load` or `World.simulate`.

    One thread uses it at a time: a second one is refused while a call of the first has not ended.
    """

    _advice = "it has threads and memory of its own; `clone` makes another one, and `save` keeps its state"

    name: str
    """Of the scene."""
    about: str
    """What to look at."""
    seconds: float
    """s, how long the scene is worth watching"""
    knobs: dict[str, Knob]
    _handle: Handle
    _definition: Any
    _solve: Any
    _contacts: Callable[[], StepContacts | None]
    _editing: bool
    _moving: dict[int, Callable[[float], Any]]
    _pushing: list[Any]
    _painter: Painter | None
    _box: tuple[Array, Array] | None
    _studio: Any
    _follow: tuple[int, Array] | None
    _hearing = _hearing

    def __init__(self) -> None:
        raise TypeError("use Simulation.load(scene) or World.simulate()")

    # --- making one -----------------------------------------------------------------------------------------------

    @classmethod
    def load(cls, scene: str | os.PathLike[str], *, text: str | None = None, bodies: int = 0, seed: int | None = None,
             step: float = 0, start: str | None = None, knobs: dict[str, float] | None = None,
             probes: Sequence[str] = (), solver: str | None = None, threads: int = 0, precision: str = "float",
             backend: str = "cpu", state: State | str | os.PathLike[str] | None = None, **settings: Any) -> Simulation:
        """Loads a scene by its name ("hourglass"), by the path of a YAML file, or from `text`, and builds it.

        Arguments are the options of the program: `bodies`, `seed`, `step` (s), `start` ("lattice" or "settled"); `knobs` of
        the scene by name; `probes` beside those of the scene, as text ("slope surface lower=-1,-1,-1 upper=1,1,1"); `threads` (0: one for each core; the result does not depend on it); `precision` of the solver;
        `backend` ("cpu", "cuda", "auto"); `solver` and its settings as in `set_solver`. With a `state`, or a file of one, it
        begins there and not at the start.
        """
        if seed is not None and not (isinstance(seed, (int, np.integer)) and 0 <= seed < 2**64):
            raise _native.SandglassError(f"seed {seed}: expected a number of 64 bits, at least 0")
        if isinstance(probes, str):
            raise TypeError(f"probes: expected a list of texts, got one text, {probes[:40]}")
        options = _native.SceneOptions(bodies=_native.integer(bodies, "bodies"), step=step, has_seed=seed is not None, seed=seed or 0)
        if start is not None:
            if start not in ("lattice", "settled"):
                raise _native.SandglassError(f"start {start}: expected lattice or settled")
            options.start = _native.constants[f"START_{start.upper()}"]
        texts = (ctypes.c_char_p * len(probes))(*(text.encode() for text in probes))  # kept while the scene is open
        options.probes, options.probe_count = ctypes.addressof(texts), len(probes)
        opened = _native.Scene()
        _open_scene(opened, scene, text, options)
        try:
            _set_knobs(opened, knobs or {})
            _native.scene_build(byref(opened), _native.integer(threads, "threads"))
            sim = cls._of_world(opened.world, opened.solve, opened, opened.name.decode(),
                                dict(settings, solver=solver, threads=threads, precision=precision, backend=backend))
        finally:
            _native.scene_free(byref(opened))
        if state is not None:
            sim.restore(state)
        return sim

    @classmethod
    def _of_world(cls, world: Any, solve: Any, scene: Any, name: str, options: dict[str, Any]) -> Simulation:
        """Takes the world over, unless a setting is refused."""
        definition = _native.default_simulation()
        threads, precision, backend = options.pop("threads"), options.pop("precision"), options.pop("backend")
        definition.threads, definition.precision = _native.integer(threads, "threads"), _native.precision(precision)
        definition.solve = change(solve, **options)
        chosen = ctypes.c_void_p()
        _native.backend(backend.encode(), byref(definition.solve), definition.precision, byref(chosen))
        definition.backend = chosen.value
        sim = cls._started(world, definition)
        sim._describe(scene, name)
        return sim

    @classmethod
    def _started(cls, world: Any, definition: Any) -> Simulation:
        """Takes the world over."""
        sim = cls._around(Handle(_native.simulation_create(byref(world), byref(definition))), definition)
        _native.on_message(sim._handle.pointer, _hearing, None)
        return sim

    @classmethod
    def _around(cls, handle: Handle, definition: Any) -> Simulation:
        sim = cls.__new__(cls)
        sim._handle = handle
        sim._definition, sim._solve = definition, definition.solve
        sim._contacts = lambda: None
        sim._editing = False
        sim._moving, sim._pushing = {}, []
        sim._painter = None
        sim._exports, sim._seed = [], None
        return sim

    @classmethod
    def _lent(cls, handle: Handle, definition: Any, name: str, like: Simulation | None) -> Simulation:
        """A simulation that somebody else owns, and hears the messages of; seen as one that it is like."""
        sim = cls._around(handle, definition)
        sim._describe(None, name)
        if like:
            sim._look_like(like)
        return sim

    def _look_like(self, other: Simulation) -> None:
        self.about, self.seconds, self.knobs = other.about, other.seconds, dict(other.knobs)
        self._box, self._studio, self._follow, self._seed = other._box, other._studio, other._follow, other._seed

    def _describe(self, scene: Any, name: str) -> None:
        self.name = name
        self.about = scene.about.decode() if scene else ""
        self.seconds = scene.seconds if scene else 10.0
        knobs = scene.knobs[:scene.knob_count] if scene else []
        self.knobs = {k.name.decode(): Knob(k.name.decode(), k.about.decode(), k.unit.decode(), k.value, k.least, k.most)
                      for k in knobs}
        self._box, self._studio, self._follow = None, None, None
        if scene:
            corners = scene.view_lower, scene.view_upper, scene.follow_from
            lower, upper, start = (np.array([v.x, v.y, v.z]) for v in corners)
            self._box = lower, upper
            self._seed = scene.seed
            self._follow = (scene.follow, start) if scene.follow >= 0 else None
            self._studio = _native.Studio.from_buffer_copy(scene.studio)

    # --- steps ----------------------------------------------------------------------------------------------------

    def step(self, count: int = 1) -> Simulation:
        """Takes steps, and returns the simulation."""
        for _ in range(_native.integer(count, "step")):
            with self._handle as pointer:
                self._prepare_step()
                _native.simulation_step(pointer)
                self._complete_step()
        return self

    def _prepare_step(self) -> None:
        """What Python does before a step."""
        self._refuse_while_editing("takes no step")
        self._leave_contacts()
        for number, motion in list(self._moving.items()):
            self.boundaries[number]._move(motion(self.time))

    def _complete_step(self) -> None:
        """What Python does after it."""
        self._pushing.clear()
        for export in self._exports:
            export._step()

    def run(self, seconds: float) -> Simulation:
        """Takes the steps of this time."""
        if not math.isfinite(seconds) or seconds < 0:
            raise _native.SandglassError(f"run {seconds}: expected seconds, at least 0")
        return self.step(round(seconds / self._world.step))

    def _refuse_while_editing(self, what: str) -> None:
        if self._editing:
            raise _native.SandglassError(f"a simulation {what} while its bodies are edited; leave the block of `edit` first")

    def _leave_contacts(self) -> None:
        """Contacts of the last step that are still looked at keep their memory."""
        contacts = self._contacts()
        if contacts is not None:
            contacts.take_over()
        self._contacts = lambda: None

    def set_solver(self, solver: str | None = None, **changes: Any) -> None:
        """Changes the method or its budget from the next step on.

        `iterations`, `budget_ms`, `tolerance` (m/s), `accuracy` (percent), `relative`, `friction`, `bounds`, `facets` as the
        options of the program, and the parameters of the method by their names. What is not given stays as it is.
        """
        with self._handle as pointer:
            wanted = change(_native.SolveDef.from_buffer_copy(self._solve), solver, **changes)
            _native.set_solve(pointer, byref(wanted))
            self._solve = wanted

    @property
    def solver(self) -> dict[str, Any]:
        """The method, its budget and its parameters."""
        return settings(self._solve)

    def save(self, path: str | os.PathLike[str] | None = None) -> State:
        """Keeps the state of now, and writes it to a file where a path is given.

        A run that goes on from there, after `restore`, has the same bits: in this simulation or in another one of the same
        world, solver, precision and backend, also in another process.
        """
        memory, size = ctypes.c_void_p(), ctypes.c_size_t()
        with self._handle as pointer:
            _native.simulation_save(pointer, byref(memory), byref(size))
        try:
            state = State(ctypes.string_at(memory.value or 0, size.value))
        finally:
            _native.free(memory)
        if path is not None:
            state.write(path)
        return state

    def restore(self, state: State | str | os.PathLike[str]) -> None:
        """Goes back, or on, to a state, or to that in a file: of this simulation or of another one of the same world.

        A state of another world is refused, and nothing has changed. There are no contacts until the next step.
        """
        if not isinstance(state, (State, str, os.PathLike)):
            raise TypeError(f"restore: expected a State or the path of one, got {state!r:.40}")
        if not isinstance(state, State):
            state = State.read(state)
        data = state.to_bytes()
        with self._handle as pointer:
            self._refuse_while_editing("is not restored")
            _native.simulation_restore(pointer, data, len(data))
            self._leave_contacts()

    def clone(self) -> Simulation:
        """Makes another simulation of the same world in the same state: steps of both give the same bits."""
        state, world = self.save(), _native.World()
        definition = _native.SimulationDef.from_buffer_copy(self._definition)
        definition.solve = self._solve
        with self._handle as pointer:
            _native.world_copy(byref(world), _native.simulation_world(pointer))
        twin = Simulation._started(world, definition)
        twin.name = self.name
        twin._look_like(self)
        twin.restore(state)
        return twin

    # --- what a step did ------------------------------------------------------------------------------------------

    @property
    def _world(self) -> Any:
        return _native.simulation_world(self._handle.pointer).contents

    @property
    def time(self) -> float:
        """s"""
        return float(self._world.time)

    @property
    def step_length(self) -> float:
        """s"""
        return float(self._world.step)

    @property
    def step_index(self) -> int:
        """Steps taken."""
        return int(self._world.step_index)

    @property
    def hash(self) -> str:
        """Of the bits of time, poses and velocities, as `sandglass bench --json` prints it."""
        with self._handle as pointer:
            _native.simulation_fetch(pointer)
        return f"{_native.world_hash(ctypes.addressof(self._world)):016x}"

    @property
    def counters(self) -> Counters:
        """What the last step did."""
        c = _native.simulation_counters(self._handle.pointer).contents
        values = {name: getattr(c, name) for name in Counters.__dataclass_fields__}
        values["status"], values["metrics"] = _native.status_text(c.status).decode(), metrics_of(c.metrics)
        values["islands"] = islands_of(c.islands)
        return Counters(**values)

    @property
    def residual(self) -> float:
        """m/s, of the last step"""
        return float(_native.simulation_counters(self._handle.pointer).contents.metrics.residual)

    @property
    def profile(self) -> Profile:
        """Milliseconds of the phases of the last step."""
        p = _native.simulation_profile(self._handle.pointer).contents
        return Profile(**{name: getattr(p, name) for name in Profile.__dataclass_fields__})

    @property
    def kinetic_energy(self) -> float:
        """J"""
        return float(_native.simulation_energy(self._handle.pointer).kinetic)

    @property
    def potential_energy(self) -> float:
        """J, 0 at the origin"""
        return float(_native.simulation_energy(self._handle.pointer).potential)

    @property
    def outlets(self) -> list[Outlet]:
        """The outlets, with what left through each."""
        world = self._world
        rows = ctypes.cast(world.outlets, ctypes.POINTER(_native.Outlet))
        return [Outlet(rows[k].name.decode(), rows[k].bodies, rows[k].mass) for k in range(world.outlet_count)]

    @property
    def probes(self) -> dict[str, Probe]:
        """The probes of the scene by name, with what they read: `sim.probes["neck"]["rate_kg_s"]`."""
        world = self._world
        rows = ctypes.cast(world.probes, ctypes.POINTER(_native.Probe))
        found = [Probe(self._handle, world, k, rows[k]) for k in range(world.probe_count)]
        return Named("probe", ((probe.name, probe) for probe in found))

    @property
    def joints(self) -> dict[Any, Joint]:
        """The joints by name, or by number: `sim.joints["elbow"].position`, `sim.joints["elbow"].set_motor(position=0.3)`."""
        world = self._world
        rows = ctypes.cast(world.joints, ctypes.POINTER(_native.Joint))
        return Numbered("joint", [Joint(self, k, rows[k]) for k in range(world.joint_count)])

    @property
    def boundaries(self) -> dict[Any, Boundary]:
        """The boundaries by name, or by number: `sim.boundaries["drum"].motion = dict(rate=3)`."""
        world = self._world
        rows = ctypes.cast(world.boundaries, ctypes.POINTER(_native.Boundary))
        return Numbered("boundary", [Boundary(self, k, rows[k].name.decode()) for k in range(world.boundary_count)])

    @property
    def device(self) -> str:
        """What takes the steps."""
        return str(_native.device_name(self._handle.pointer).decode())

    @property
    def on_host(self) -> bool:
        """Whether arrays look at the state itself; false: they are copies of a device's."""
        return bool(_native.on_host(self._handle.pointer))

    @property
    def gravity(self) -> Array:
        """m/s^2; may be set between steps"""
        g = self._world.gravity
        return np.array([g.x, g.y, g.z])

    @gravity.setter
    def gravity(self, value: Any) -> None:
        vector = _native.vec3(value)
        if not math.isfinite(vector.x + vector.y + vector.z):
            raise _native.SandglassError("gravity must be finite")
        with self._handle as pointer:
            _native.simulation_change(pointer).contents.gravity = vector

    # --- bodies ---------------------------------------------------------------------------------------------------

    def _bodies(self, field: str, kind: Any, *width: int) -> Array:
        if self.on_host:
            return self._host_bodies(field, kind, *width)
        with self._handle as pointer:
            _native.simulation_fetch(pointer)
            return self._host_bodies(field, kind, *width).copy()

    def _host_bodies(self, field: str, kind: Any, *width: int, writable: bool = False) -> Array:
        world = self._world
        return view(getattr(world, field), kind, (world.body_count, *width), self._handle, writable)

    @property
    def body_count(self) -> int:
        """Bodies, those that have not entered yet or are gone included."""
        return int(self._world.body_count)

    @property
    def positions(self) -> Array:
        """m, of the centers of mass; (bodies, 3)"""
        return self._bodies("position", "f8", 3)

    @property
    def rotations(self) -> Array:
        """Unit quaternions w, x, y, z, body frame to world frame; (bodies, 4)"""
        return self._bodies("rotation", "f8", 4)

    @property
    def velocities(self) -> Array:
        """m/s; (bodies, 3)"""
        return self._bodies("velocity", "f8", 3)

    @property
    def spins(self) -> Array:
        """rad/s, world frame; (bodies, 3)"""
        return self._bodies("spin", "f8", 3)

    @property
    def radii(self) -> Array:
        """m, of spheres; of other bodies the factor by which their shape is scaled"""
        return self._bodies("scale", "f8")

    @property
    def masses(self) -> Array:
        """kg"""
        return self._bodies("mass", "f8")

    @property
    def shapes(self) -> Array:
        """The number of each body's shape."""
        return self._bodies("shape", "i4")

    @property
    def materials(self) -> Array:
        """The number of each body's material."""
        return self._bodies("material", "i4")

    @property
    def gone(self) -> Array:
        """Not 0 where a body has left the world: 1 lost, 2 + k through outlet k."""
        return self._bodies("gone", "u1")

    @property
    def gpu(self) -> GpuArrays:
        """The bodies and the impulses of the last step on the GPU, without copies: `cupy.asarray(sim.gpu.positions)`.

        With the backend cuda alone. Read them and do not write; to change bodies use `edit`. Arrays of bodies show the state
        as it is now, as those on the host do; that of impulses is of the last step, and is lost with the next.
        """
        found = _native.DeviceArrays()
        with self._handle as pointer:
            _native.device_arrays(pointer, byref(found))

        def array(address: int | None, kind: str, count: int, width: int) -> DeviceArray:
            return DeviceArray(address, kind, (count, width), self._handle)

        return GpuArrays(array(found.position, "f8", found.bodies, 3), array(found.rotation, "f8", found.bodies, 4),
                         array(found.velocity, "f8", found.bodies, 3), array(found.spin, "f8", found.bodies, 3),
                         array(found.impulse, "f4", found.contacts, 3))

    def apply_force(self, bodies: Any, forces: Any = None, torques: Any = None, at: Any = None) -> None:
        """Adds forces (N) and torques (N m), world frame, to what acts on bodies in the coming step; after it they are gone.

        `bodies` is a number, a list of them, a mask, or None for all; one row of the other arrays stands for all of them. A force
        acts at the center of mass, or at the points `at` (m). With the backend cuda, and for all bodies, forces and torques may
        be arrays (bodies, 3) on the GPU, which are not copied and must not change until the step has ended.
        """
        count = self.body_count
        with self._handle as pointer:
            if _push.on_device(forces) or _push.on_device(torques):
                if bodies is not None or at is not None:
                    raise ValueError("arrays on the GPU are forces on all bodies at their centers: bodies and at are None")
                _native.apply_device_force(pointer, _push.device_address(forces, count, "forces"),
                                           _push.device_address(torques, count, "torques"))
                self._pushing += [forces, torques]
            else:
                row, kept = _push.host_forces(bodies, count, forces, torques, at)
                _native.apply_force(pointer, byref(row))
                del kept

    @contextmanager
    def extend(self) -> Iterator[Extension]:
        """Adds bodies between two steps: `with sim.extend() as world: world.add_sphere(0.1, (0, 0, 3))`.

        The world takes shapes and bodies as `World` does. A block that raises adds nothing. Arrays of bodies that were taken
        before keep their length, and may no longer show the state; take them again.
        """
        with self._handle:
            self._refuse_while_editing("takes no bodies")
            world = Extension(self)
            before = self.body_count
        self._editing = True
        try:
            yield world
        except BaseException:
            self._world.body_count = before
            raise
        finally:
            self._editing, world._taken = False, True

    def remove(self, bodies: Any) -> None:
        """Takes bodies out for good: a number, a list of them or a mask. Their numbers stay, and `gone` is 1."""
        numbers = _push.numbers_of(bodies, self.body_count)
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < self.body_count:
            raise IndexError(f"there is no body {numbers.min() if numbers.min() < 0 else numbers.max()}")
        with self._handle as pointer:
            self._refuse_while_editing("loses no bodies")
            world = _native.change_bodies(pointer)
            for body in numbers.tolist():
                _native.remove_body(world, body)

    @contextmanager
    def edit(self) -> Iterator[Bodies]:
        """Arrays of the bodies to move or push them between two steps: `with sim.edit() as bodies:`.

        They are copies, which become the state where the block ends; a block that raises changes nothing. The next step
        checks them, and raises where a number is no pose or velocity; a body outside of the world's box is taken out.
        """
        fields = (("position", 3), ("rotation", 4), ("velocity", 3), ("spin", 3))
        with self._handle as pointer:
            self._refuse_while_editing("is not edited")
            _native.simulation_fetch(pointer)
            arrays = [self._host_bodies(field, "f8", width).copy() for field, width in fields]
        self._editing = True
        try:
            yield Bodies(*arrays)
        finally:
            self._editing = False
            for array in arrays:
                array.flags.writeable = False
        with self._handle as pointer:
            _native.change_bodies(pointer)
            for (field, width), array in zip(fields, arrays):
                self._host_bodies(field, "f8", width, writable=True)[...] = array

    # --- contacts -------------------------------------------------------------------------------------------------

    def _step_contacts(self) -> StepContacts:
        with self._handle as pointer:
            contacts = self._contacts()
            if contacts is None:
                _native.fetch_contacts(pointer)
                contacts = StepContacts(self._handle)
                self._contacts = weakref.ref(contacts)
            return contacts

    @property
    def contact_count(self) -> int:
        """Contacts of the last step whose impulses are known."""
        return self._step_contacts().count

    @property
    def contacts(self) -> Array:
        """The contacts of the last step as a structured array.

        Fields: a, b (see `contact_bodies`), normal from a to b, arm_a, arm_b, gap, mu, rolling, spinning, bounce, pull.
        """
        step = self._step_contacts()
        return step.without_joints(view(step.problem.contacts, _native.CONTACT, (step.rows,), step))

    @property
    def impulses(self) -> Array:
        """N s, of the contacts of the last step, on body b, world frame; (contacts, 3)"""
        step = self._step_contacts()
        return step.without_joints(view(step.solution.impulse, "f8", (step.rows, 3), step))

    @property
    def contact_bodies(self) -> Array:
        """The two bodies of each contact, (contacts, 2), by the numbers of `positions`; boundary k is -1 - k. A copy."""
        with self._handle as pointer:
            contacts, step = self.contacts, self._step_contacts()
            dynamic = step.problem.dynamic_count
            order = view(_native.simulation_order(pointer), "i4", (dynamic,), step)
            boundaries = -1 - np.arange(step.problem.body_count - dynamic, dtype=np.int32)
            numbers = np.concatenate([order, boundaries])
        if not len(contacts):
            return np.zeros((0, 2), np.int32)
        return np.stack([numbers[contacts["a"]], numbers[contacts["b"]]], axis=1)

    @property
    def joint_rows(self) -> Array:
        """What held and drove the joints in the last step: a structured array, a copy, of blocks of three rows each.

        Fields: joint, its number; kind, its name; block, the first that hold the joint, then limits, motor and spring; a and
        b, its bodies, -1 for the world; angular, whether the block is one of angles; axis, along which limits, motor and
        spring act; impulse on b, world frame, in N s, or in N m s where it is angular.
        """
        fields = ["joint", "block", "a", "b", "angular", "axis", "impulse"]
        with self._handle as pointer:
            self._step_contacts()
            rows = np.zeros(_native.joint_rows(pointer, None, 0), _native.JOINT_ROW)
            _native.joint_rows(pointer, rows.ctypes.data, len(rows))
            joints = ctypes.cast(self._world.joints, ctypes.POINTER(_native.Joint))
            kinds = [_native.joint_kind_name(joints[k].kind).decode() for k in rows["joint"].tolist()]
        kind = ("kind", "U12")
        found = np.zeros(len(rows), [("joint", "i4"), kind, *((f, rows.dtype[f]) for f in fields[1:])])
        for field in fields:
            found[field] = rows[field]
        found["kind"] = kinds
        return found

    @property
    def residuals(self) -> Array:
        """m/s, the share of each contact in the residual of the last step. A copy; costs about an iteration."""
        with self._handle as pointer:
            step = self._step_contacts()
            shares = view(_native.simulation_residuals(pointer), "f8", (step.rows,), self._handle).copy()
        return step.without_joints(shares)

    def keep_curve(self, keep: bool = True) -> None:
        """Whether the steps that follow keep the convergence curve of their solve."""
        _native.want_curve(self._handle.pointer, keep)

    @property
    def curve(self) -> Array:
        """The convergence curve of the last step, where `keep_curve` asked for it: iteration, seconds, residual, objective."""
        step = self._step_contacts()
        return view(step.solution.curve, _native.CURVE, (step.solution.curve_count,), step)

    def problem(self) -> Problem:
        """The contact problem of the coming step, as a copy: what `sandglass freeze` saves."""
        with self._handle as pointer:
            self._leave_contacts()
            _native.simulation_build(pointer)
            return Problem._copy_of(_native.simulation_problem(pointer))

    # --- pictures -------------------------------------------------------------------------------------------------

    def draw(self, width: int = 640, height: int = 480, *, camera: Any = "default", **look: Any) -> Image:
        """Draws the bodies as they are now: a (height, width, 3) array of bytes that a notebook displays.

        `camera` is a preset ("front", "top", "corner", ...), which moves with the body that a scene follows, or six numbers,
        eye and target in m. `look`: `quality` ("low",
        "medium", "high"), `color` ("body", "speed", "contacts", "force", "residual", "material", or an array with a number for
        each body), `map` ("viridis", "cividis"), `range` (low, high), `chains` (force chains), `samples` (along a side of a
        pixel), `exposure`. With `depth`, `normals` and `ids` the picture has arrays of these names, of what its pixels show.
        """
        if self._painter is None:
            self._painter = Painter(self._handle, self.box, self._studio)
        followed = self.positions[self._follow[0]] - self._follow[1] if self._follow else np.zeros(3)
        with self._handle:
            if isinstance(look.get("color"), str) and look["color"] == "material":
                look["color"] = self.materials
            return self._painter.draw(width, height, camera, followed, look, self.body_count)

    @property
    def box(self) -> tuple[Array, Array]:
        """The lower and the upper corner (m) of what a camera should show: the scene's, or that of the bodies."""
        return self._box or self._extent()

    def _extent(self) -> tuple[Array, Array]:
        """The box of the bodies, for a world that no scene file describes."""
        world = self._world
        shapes = ctypes.cast(world.shapes, ctypes.POINTER(_native.Shape))
        bounds = np.array([shapes[k].bound for k in range(world.shape_count)] or [1.0])
        if not world.body_count:
            return np.full(3, -1.0), np.full(3, 1.0)
        reach = (self.radii * bounds[self.shapes])[:, None]
        return (self.positions - reach).min(axis=0), (self.positions + reach).max(axis=0)

    def _repr_png_(self) -> bytes:
        return self.draw()._repr_png_()

    def __repr__(self) -> str:
        return f"<Simulation {self.name}: {self.body_count} bodies, t = {self.time:.3f} s>"
