# SPDX-License-Identifier: MIT
"""Machines from files: links and joints of a URDF or MJCF file become bodies, compounds and joints of a world.

A reader, _urdf.py or _mjcf.py, makes a tree of links of the file. Here links that a fixed joint holds become one body with the
pieces of all, and mass, center and inertia that are the sums of those of the file, and the tree is added to the world.
"""

from __future__ import annotations

import logging
import math
import os
from ctypes import byref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _frames, _native, _xml
from ._arrays import Array
from ._frames import Frame
from ._native import SandglassError
from ._owned import Declared
from ._words import Named
from .actuator import Actuator, wire
from .mesh import Mesh, Solid, hulls

if TYPE_CHECKING:
    from .world import World

_log = logging.getLogger("sandglass")


@dataclass(eq=False)
class Geometry:
    """A shape of a link: its kind, sizes in m, and where it is in the link."""

    kind: str  # sphere, box, cylinder, capsule, ellipsoid, mesh, plane
    frame: Frame
    sizes: dict[str, Any] = field(default_factory=dict)  # as of World.shape
    mesh: Mesh | None = None
    density: float = 1000
    mass: float | None = None
    collides: bool = True


@dataclass(eq=False)
class Inertial:
    """Mass (kg), center (m) and inertia about it (kg m^2), in the frame of a link."""

    mass: float
    center: Array
    inertia: Array


@dataclass(eq=False)
class Joint:
    """What holds a link to its parent; anchor and axes are in the frame of the link."""

    kind: str  # hinge, slider, ball, universal, fixed, free
    name: str
    element: _xml.Place
    anchor: Array = field(default_factory=lambda: np.zeros(3))
    axis: Array = field(default_factory=lambda: np.array([0., 0., 1.]))
    axis_b: Array = field(default_factory=lambda: np.array([1., 0., 0.]))  # of universal
    low: float = -math.inf
    high: float = math.inf
    stiffness: float = 0
    damping: float = 0
    rest: float = 0  # where its spring is at rest
    zero: float = 0  # the coordinate that the file gives to where it is loaded
    motor: dict[str, Any] = field(default_factory=dict)  # its motor, in words of World.join
    named: bool = True  # by the file


@dataclass(eq=False)
class Link:
    """A link and those that it carries; `frame` is where it is in its parent, at the zero of its joint."""

    name: str
    element: _xml.Place
    frame: Frame
    joint: Joint
    shapes: list[Geometry] = field(default_factory=list)
    inertial: Inertial | None = None
    children: list[Link] = field(default_factory=list)
    is_world: bool = False
    mu: float | None = None


@dataclass(eq=False)
class Machine:
    """What a reader makes of a file."""

    name: str
    roots: list[Link]
    apart: list[tuple[str, str]] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)
    joints: dict[str, Joint] = field(default_factory=dict)  # those that the file names


class Model(Declared):
    """What a file became: numbers of bodies and joints by their names, -1 for what is part of the world; links that are rigid
    together have one. `ignored` says what of the file was left out, with its line."""

    name: str
    bodies: dict[str, int]
    joints: dict[str, int]
    boundaries: dict[str, int]
    actuators: dict[str, Actuator]
    ignored: list[str]

    def __init__(self, name: str, ignored: list[str]) -> None:
        self.name = name
        self.bodies, self.joints, self.boundaries = Named("link", []), Named("joint", []), Named("boundary", [])
        self.actuators, self.ignored = Named("actuator", []), ignored

    def __repr__(self) -> str:
        return f"<Model {self.name}: {len(set(self.bodies.values()) - {-1})} bodies, {len(self.joints)} joints>"


# --- mass ---------------------------------------------------------------------------------------------------------


def _volume(shape: Geometry) -> tuple[float, Array, Array]:
    """Volume, center and inertia at density 1 of a geometry, in its own frame."""
    s = shape.sizes
    if shape.kind == "mesh" and shape.mesh is not None:
        solid = shape.mesh.solid
        return solid.volume, solid.center, solid.inertia
    if shape.kind == "box":
        x, y, z = s["size"]
        v = x * y * z
        return v, np.zeros(3), v / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    if shape.kind == "ellipsoid":
        x, y, z = s["size"]
        v = math.pi / 6 * x * y * z
        return v, np.zeros(3), v / 20 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    r = s["radius"]
    if shape.kind == "sphere":
        v = 4 / 3 * math.pi * r**3
        return v, np.zeros(3), 0.4 * v * r * r * np.eye(3)
    h = s.get("height", s.get("length", 0))
    tube, ball = math.pi * r * r * h, 4 / 3 * math.pi * r**3 if shape.kind == "capsule" else 0
    across = tube * (r * r / 4 + h * h / 12) + ball * (0.4 * r * r + h * h / 4 + 0.375 * h * r)
    return tube + ball, np.zeros(3), np.diag([across, across, tube * r * r / 2 + ball * 0.4 * r * r])


def moved(part: Inertial, frame: Frame) -> Inertial:
    """The same in the frame that `frame` is in."""
    return Inertial(part.mass, frame.point(part.center), frame.turn @ part.inertia @ frame.turn.T)


def total(parts: list[Inertial]) -> Inertial | None:
    """The sum of several, by the theorem of parallel axes; None where they weigh nothing."""
    mass = sum(part.mass for part in parts)
    if not mass > 0:
        return None
    center = sum((part.mass * part.center for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.center - center
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertial(mass, center, inertia)


def weighed(link: Link) -> list[Inertial]:
    """What a link weighs: what the file says, or its shapes by their densities or masses. Where the file has a mass and no
    moments that a solid could have, they are those of the shapes, of that mass; without shapes it is that mass in a point."""
    told = link.inertial
    if told is None:
        return _by_shapes(link)
    if told.mass > 0 and not np.linalg.eigvalsh(told.inertia).min() > 0:
        shapes = total(_by_shapes(link))
        if shapes is None:
            return [told]
        return [Inertial(told.mass, told.center, shapes.inertia * (told.mass / shapes.mass))]
    return [told] if told.mass > 0 else []


def _by_shapes(link: Link) -> list[Inertial]:
    """The masses of the shapes of a link."""
    found = []
    for shape in link.shapes:
        if shape.kind == "plane":
            continue
        try:
            volume, center, inertia = _volume(shape)
        except SandglassError as error:
            raise link.element.wrong(f"{link.name}: its mesh has no mass: {error}") from None
        density = shape.density if shape.mass is None else shape.mass / volume
        found.append(moved(Inertial(density * volume, center, density * inertia), shape.frame))
    return found


# --- the world ----------------------------------------------------------------------------------------------------


class _Builder:
    """Adds the links of a machine to a world."""

    def __init__(self, world: World, machine: Machine, material: int | None, fixed: bool, decompose: bool, prefix: str) -> None:
        self.world, self.machine, self.material, self.fixed, self.decompose = world, machine, material, fixed, decompose
        self.prefix = prefix
        self.model = Model(machine.name, machine.ignored)
        self.materials: dict[float, int] = {}
        self.held: list[int] = []  # bodies that stand for meshes of the world

    def material_of(self, link: Link) -> int:
        """The material that the caller gave, or one of the machine with the friction of the link."""
        if self.material is not None:
            return self.material
        mu = 0.5 if link.mu is None else link.mu
        if mu not in self.materials:
            name = f"{self.machine.name}, mu {mu:g}"[:60]
            same = self.world._materials_by_name().get(name)  # of another machine of this file
            self.materials[mu] = self.world.material(name, density=1000, mu=mu) if same is None else same
        return self.materials[mu]

    def shapes_of(self, link: Link, geometry: Geometry) -> list[tuple[int, float]]:
        """The convex shapes of a geometry, with their scales."""
        if geometry.kind == "sphere":
            return [(self.world.sphere_shape(), geometry.sizes["radius"])]
        if geometry.kind == "ellipsoid":
            return [(self.world.hull_shape(0.5 * np.array(geometry.sizes["size"]) * _ball()), 1.)]
        if geometry.kind == "mesh" and geometry.mesh is not None:
            if self.decompose:
                return [(shape, 1.) for shape in hulls(self.world, geometry.mesh, 0.05, 64)]
            shape, beyond = self.world._hull_within(geometry.mesh.vertices, 64)
            if beyond > 0:
                self.ignore(link.element, f"{link.name}: the hull of a mesh has 64 corners in place of all, and leaves a point "
                                          f"{1000 * beyond:.2g} mm outside")
            return [(shape, 1.)]
        return [(self.world.shape(geometry.kind, **geometry.sizes), 1.)]

    def pieces(self, links: list[tuple[Link, Frame]]) -> list[tuple[Any, ...]]:
        """The pieces of links that are one body, in its frame."""
        found: list[tuple[Any, ...]] = []
        for link, frame in links:
            for geometry in (shape for shape in link.shapes if shape.collides):
                place = frame.of(geometry.frame)
                try:
                    shapes = self.shapes_of(link, geometry)
                except SandglassError as error:
                    raise link.element.wrong(f"{link.name}: {error}") from None
                found += [(shape, place.at, place.quaternion, scale) for shape, scale in shapes]
        return found

    def rigid(self, link: Link, frame: Frame) -> list[tuple[Link, Frame]]:
        """A link and all that fixed joints hold to it, each with its frame in that of the first."""
        found = [(link, frame)]
        for child in link.children:
            if child.joint.kind == "fixed":
                found += self.rigid(child, frame.of(child.frame))
        return found

    def add(self, link: Link, at: Frame, parent: int) -> None:
        """Adds a link whose frame in the world is `at`, and all that it carries; a parent of -1 is the world."""
        group = self.rigid(link, _frames.IDENTITY)
        if link.is_world or (link in self.machine.roots and self.is_ground(group)):
            body = -1
            self.ground(group, at)
        else:
            body = self.body(group, at)
        for part, _ in group:
            self.model.bodies[part.name] = body
        if body >= 0:
            self.join(link, at, parent, body)
        for part, frame in group:
            for child in part.children:
                if child.joint.kind != "fixed":
                    self.add(child, at.of(frame).of(child.frame), body)

    @staticmethod
    def is_ground(group: list[tuple[Link, Frame]]) -> bool:
        """Whether links that nothing carries do not move: they have a plane, or weigh nothing."""
        plane = any(shape.kind == "plane" for link, _ in group for shape in link.shapes)
        return plane or not any(weighed(link) for link, _ in group)

    def body(self, group: list[tuple[Link, Frame]], at: Frame) -> int:
        """One body of links that are rigid together."""
        link = group[0][0]
        inertial = total([moved(part, frame) for one, frame in group for part in weighed(one)])
        if inertial is None:
            raise link.element.wrong(f"{link.name} moves and weighs nothing: it lacks an inertial and a shape")
        if not np.linalg.eigvalsh(inertial.inertia).min() > 0:
            raise link.element.wrong(f"{link.name} has mass {inertial.mass:g}, no moments of inertia above 0, and no shape")
        pieces = self.pieces(group)
        if not pieces:
            radius = 0.1 * math.sqrt(max(float(inertial.inertia.trace()) / inertial.mass, 1e-6))
            pieces = [(self.world.sphere_shape(), inertial.center, (1, 0, 0, 0), radius)]
            self.ignore(link.element, f"{link.name} has no shape: it collides as a ball of {radius:.3g} m about its center")
        material = self.material_of(link)
        density = 1000.  # of any kind: with the volume that belongs to it, mass and inertia are those of the file
        solid = Solid(inertial.mass / density, inertial.center, inertial.inertia / density)
        try:
            shape = self.world.compound_shape(pieces, solid=solid)
            return self.world.add(shape, at.at.tolist(), rotation=at.quaternion, material=material, mass=inertial.mass)
        except SandglassError as error:
            raise link.element.wrong(f"{link.name}: {error}") from None

    def ground(self, group: list[tuple[Link, Frame]], at: Frame) -> None:
        """Boundaries of what does not move."""
        for link, frame in group:
            for k, geometry in enumerate(shape for shape in link.shapes if shape.collides):
                name = link.name if k == 0 else f"{link.name} {k}"
                place = at.of(frame).of(geometry.frame)
                try:
                    self.model.boundaries[name] = self.boundary(link, geometry, place, f"{self.prefix}{name}"[:60])
                except SandglassError as error:
                    if geometry.kind not in ("mesh", "ellipsoid"):
                        raise link.element.wrong(f"{name}: {error}") from None
                    self.hold(link, geometry, place)
                    self.ignore(link.element, f"{name} is a body that the world holds, as its shape is no boundary: {error}")

    def hold(self, link: Link, geometry: Geometry, place: Frame) -> None:
        """A mesh that does not move as a body that is fixed to the world."""
        pieces = [(shape, (0, 0, 0), (1, 0, 0, 0), scale) for shape, scale in self.shapes_of(link, geometry)]
        shape = self.world.compound_shape(pieces)
        body = self.world.add(shape, place.at.tolist(), rotation=place.quaternion, material=self.material_of(link))
        self.world.join("fixed", -1, body, place.at.tolist())
        self.held.append(body)

    def boundary(self, link: Link, geometry: Geometry, place: Frame, name: str) -> int:
        """The boundary of one shape."""
        world, s, material = self.world, geometry.sizes, self.material_of(link)
        where: dict[str, Any] = {"position": place.at.tolist(), "rotation": place.quaternion, "material": material, "name": name}
        if geometry.kind == "plane":
            return world.plane(place.at.tolist(), place.turn[:, 2].tolist(), material=material, name=name)
        if geometry.kind == "box":
            return world.box_walls([0.5 * v for v in s["size"]], inside=False, **where)
        if geometry.kind == "sphere":
            return world.sphere_wall(s["radius"], inside=False, position=place.at.tolist(), material=material, name=name)
        if geometry.kind == "mesh" and geometry.mesh is not None:
            return world.mesh(geometry.mesh, **where)
        if geometry.kind == "ellipsoid":
            raise SandglassError("an ellipsoid")
        return world.revolution(_profile(geometry), inside=False, **where)

    def join(self, link: Link, at: Frame, parent: int, body: int) -> None:
        """The joint of a link with its parent."""
        joint = link.joint
        if joint.kind == "free" or (parent < 0 and joint.kind == "fixed"):
            if self.fixed and parent < 0:
                self.model.joints[joint.name] = self.world.join("fixed", -1, body, at.at.tolist())
            return
        words: dict[str, Any] = {"name": self.prefix + joint.name} if joint.named else {}
        most = _native.JointDef.name.size - 1
        if len(words.get("name", "").encode()) > most:
            raise joint.element.wrong(f"has a name of more than {most} bytes: {words['name']}")
        if joint.kind == "universal":
            words.update(axis=at.direction(joint.axis), axis_b=at.direction(joint.axis_b))
        if joint.kind in ("hinge", "slider"):
            words.update(joint.motor, axis=at.direction(joint.axis), low=joint.low, high=joint.high,
                         stiffness=joint.stiffness, damping=joint.damping, rest=joint.rest)
        try:
            number = self.world.join(joint.kind, parent, body, at.point(joint.anchor).tolist(), **words)
        except SandglassError as error:
            raise joint.element.wrong(f"{joint.name}: {error}") from None
        self.model.joints[joint.name] = number

    def ignore(self, element: _xml.Place, what: str) -> None:
        self.model.ignored.append(f"{element.where} {what}")


def _ball() -> Array:
    """60 points of the unit sphere, even as the seeds of a sunflower."""
    k = np.arange(60) + 0.5
    height, angle = 1 - 2 * k / 60, math.pi * (1 + math.sqrt(5)) * k
    flat = np.sqrt(1 - height**2)
    return np.stack([flat * np.cos(angle), flat * np.sin(angle), height], axis=1)


def _profile(geometry: Geometry) -> list[tuple[float, float]]:
    """A cylinder or a capsule as a profile about z."""
    r = geometry.sizes["radius"]
    half = 0.5 * geometry.sizes.get("height", geometry.sizes.get("length", 0))
    if geometry.kind == "cylinder":
        return [(0, -half), (r, -half), (r, half), (0, half)]
    angles = np.linspace(-math.pi / 2, 0, 9)
    low = [(r * math.cos(a) if k else 0, -half + r * math.sin(a)) for k, a in enumerate(angles)]
    return low + [(x, -z) for x, z in reversed(low)]


def _refuse_taken(world: World, machine: Machine, prefix: str) -> None:
    """Refuses a machine whose joints have names of the world."""
    for name, joint in machine.joints.items():
        if _native.find_joint(byref(world._struct), (prefix + name).encode()) >= 0:
            raise joint.element.wrong(f"{prefix}{name}: the world has a joint of this name; give the machine another prefix")


def load(world: World, path: Any, at: Any, rotation: Any, material: int | None, fixed: bool, self_collide: bool,
         decompose: bool, prefix: str) -> Model:
    """Adds the machine of a file: World.load."""
    from . import _mjcf, _urdf, _usd

    name = os.fspath(path)
    place = Frame(_frames.of_quaternion([float(v) for v in rotation]), np.array([float(v) for v in at]))
    if name.lower().endswith(_usd.ENDINGS):
        machine = _usd.read(name)
    else:
        root = _xml.read(path)
        readers = {"robot": _urdf.read, "mujoco": _mjcf.read}
        if root.tag not in readers:
            raise root.wrong("is the root of no machine: expected <robot> of URDF or <mujoco> of MJCF")
        machine = readers[root.tag](root, os.path.dirname(os.path.abspath(name)))
    _refuse_taken(world, machine, prefix)
    actuators = wire(machine.actuators, machine.joints, machine.ignored)
    builder = _Builder(world, machine, material, fixed, decompose, prefix)
    for link in machine.roots:
        builder.add(link, place.of(link.frame), -1)
    model = builder.model
    for actuator in actuators:
        actuator.number = model.joints[machine.joints[actuator.joint].name]
        model.actuators[actuator.name] = actuator
    own = sorted({*model.bodies.values(), *builder.held} - {-1})
    pairs = {(a, b) for a in own for b in own if a < b}
    if self_collide:
        pairs = {(model.bodies[a], model.bodies[b]) for a, b in machine.apart if a in model.bodies and b in model.bodies}
    for a, b in sorted(pairs):
        if a >= 0 and b >= 0 and a != b:
            world.keep_apart(a, b)
    for sentence in model.ignored:
        _log.info("%s", sentence)
    return model
