# SPDX-License-Identifier: MIT
"""Reading URDF: links with inertials and collision shapes, and the joints between them."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ._frames import IDENTITY, Frame, rolled
from ._native import SandglassError
from ._words import hint
from ._xml import Element
from .actuator import Actuator
from .mesh import ENDINGS, Mesh
from .model import Geometry, Inertial, Joint, Link, Machine

_INTERFACES = {"EffortJointInterface": "motor", "PositionJointInterface": "position", "VelocityJointInterface": "velocity"}
_KNOWN = {
    "robot": {"link", "joint", "material", "transmission"},
    "link": {"inertial", "collision", "visual"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics"},
    "collision": {"origin", "geometry"},
    "transmission": {"type", "joint", "actuator"},
}


class _Reader:
    def __init__(self, root: Element, folder: str) -> None:
        self.root, self.folder, self.ignored = root, folder, list[str]()
        self.meshes: dict[str, Mesh] = {}
        self.joints: dict[str, Joint] = {}

    def note(self, element: Element) -> None:
        """Notes the elements within this one that are not read."""
        for child in element.children:
            if child.tag not in _KNOWN[element.tag]:
                self.ignored.append(f"{child.where} is not read")

    def file(self, element: Element) -> str:
        """The path of a mesh: package:// is looked for in the folder of the file and above."""
        name = element.text("filename")
        for scheme in ("package://", "model://", "file://"):
            name = name[len(scheme):] if name.startswith(scheme) else name
        folder = self.folder
        for _ in range(6):
            for word in (name, name.split("/", 1)[-1]):
                path = os.path.join(folder, word)
                if os.path.isfile(path):
                    return path
            folder = os.path.dirname(folder)
        raise element.wrong(f"names {element.text('filename')}, which is not beside the file")

    def mesh(self, element: Element) -> Mesh:
        path = self.file(element)
        if not path.lower().endswith(ENDINGS):
            raise element.wrong(f"names {os.path.basename(path)}; meshes are read from {', '.join(ENDINGS)} files")
        if path not in self.meshes:
            try:
                self.meshes[path] = Mesh.read(path)
            except SandglassError as error:
                raise element.wrong(str(error)) from None
        scale = element.some("scale") if "scale" in element.attributes else [1.]
        if len(scale) not in (1, 3) or 0 in scale:
            raise element.wrong("has a scale that is not three numbers other than 0")
        return self.meshes[path].scaled(scale if len(scale) == 3 else scale[0])

    def geometry(self, element: Element) -> Geometry:
        self.note(element)
        within = element.needed("geometry")
        if len(within.children) != 1:
            raise within.wrong("has not one shape")
        shape, frame = within.children[0], _origin(element)
        if shape.tag == "mesh":
            return Geometry("mesh", frame, mesh=self.mesh(shape))
        if shape.tag == "box":
            return Geometry("box", frame, {"size": shape.numbers("size", 3)})
        if shape.tag == "sphere":
            return Geometry("sphere", frame, {"radius": shape.number("radius")})
        if shape.tag in ("cylinder", "capsule"):
            length = "height" if shape.tag == "cylinder" else "length"
            return Geometry(shape.tag, frame, {"radius": shape.number("radius"), length: shape.number("length")})
        if shape.tag == "plane":
            return Geometry("plane", frame)
        raise shape.wrong("is not supported: a shape is a box, cylinder, sphere, capsule, plane or mesh")

    def link(self, element: Element) -> Link:
        self.note(element)
        joint = Joint("free", element.text("name"), element)
        made = Link(element.text("name"), element, IDENTITY, joint)
        made.shapes = [self.geometry(shape) for shape in element.all("collision")]
        inertial = element.one("inertial")
        made.inertial = None if inertial is None else _inertial(inertial)
        made.is_world = made.name == "world" and not made.shapes and inertial is None
        return made

    def joint(self, element: Element) -> Joint:
        self.note(element)
        kinds = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slider", "fixed": "fixed", "floating": "free",
                 "spherical": "ball"}
        kind = element.text("type")
        if kind not in kinds:
            raise element.wrong(f"of type {kind} is not supported: revolute, continuous, prismatic, fixed, floating and "
                                "spherical are")
        made = Joint(kinds[kind], element.text("name"), element)
        axis, limit, dynamics = element.one("axis"), element.one("limit"), element.one("dynamics")
        made.axis = np.array([1., 0., 0.] if axis is None else axis.numbers("xyz", 3, (1, 0, 0)))
        if made.kind in ("hinge", "slider") and not np.linalg.norm(made.axis) > 1e-9:
            raise (axis or element).wrong("has length 0")
        if limit is not None and kind in ("revolute", "prismatic"):
            made.low, made.high = _limits(limit)
        if limit is not None and made.kind in ("hinge", "slider"):
            self.strength(limit, made)
        if made.kind == "hinge" and made.high - made.low >= 2 * math.pi and limit is not None and kind == "revolute":
            self.ignored.append(f"{limit.where} of a turn or more is none")
            made.low, made.high = -math.inf, math.inf
        if dynamics is not None:
            made.damping = dynamics.number("damping", 0)
            if dynamics.number("friction", 0) != 0:
                self.ignored.append(f"{dynamics.where} friction of joints is not read")
        return made

    def strength(self, limit: Element, made: Joint) -> None:
        """The most that the motor of a joint gives, and how fast it goes; 0 is what files say that know neither."""
        for word, name in (("effort", "strength"), ("velocity", "motor_fastest")):
            value = limit.number(word, 0)
            if value < 0:
                raise limit.wrong(f"has {word} {value:g}, which must not be below 0")
            if value > 0:
                made.motor[name] = value
            elif word in limit.attributes:
                self.ignored.append(f"{limit.where} {made.name}: {word} of 0 is none")

    def transmission(self, element: Element) -> list[Actuator]:
        """The actuators of a transmission: commands and efforts of its interfaces are those of the joint."""
        self.note(element)
        kind, name = element.one("type"), element.attributes.get("name", "")
        told = element.attributes.get("type", "") if kind is None else kind.content
        if told.split("/")[-1] != "SimpleTransmission":
            self.ignored.append(f"{element.where} {name} of type {told} is not read")
            return []
        joint = element.needed("joint")
        if joint.text("name") not in self.joints:
            raise joint.wrong(f"{name}: there is no joint {joint.text('name')}{hint(joint.text('name'), self.joints)}")
        interfaces = [part.content.split("/")[-1] for part in joint.all("hardwareInterface")]
        for part in element.all("actuator"):
            interfaces += [inner.content.split("/")[-1] for inner in part.all("hardwareInterface")]
            reduction = part.one("mechanicalReduction")
            if reduction is not None and reduction.content not in ("1", "1.0"):
                self.ignored.append(f"{reduction.where} is not read: limits are those of the joint")
        known = [_INTERFACES[word] for word in interfaces if word in _INTERFACES]
        if not known:
            self.ignored.append(f"{element.where} {name} is not read: it has no interface of "
                                "effort, position or velocity")
            return []
        return [Actuator(name or joint.text("name"), known[0], joint.text("name"), element.where)]

    def tree(self) -> list[Link]:
        links = {}
        for element in self.root.all("link"):
            link = self.link(element)
            if link.name in links:
                raise element.wrong(f"there is a link {link.name} already")
            links[link.name] = link
        if not links:
            raise self.root.wrong("has no link")
        held = set()
        for element in self.root.all("joint"):
            joint = self.joint(element)
            if joint.name in self.joints:
                raise element.wrong(f"there is a joint {joint.name} already")
            self.joints[joint.name] = joint
            ends = [element.needed(end).text("link") for end in ("parent", "child")]
            for end in ends:
                if end not in links:
                    raise element.wrong(f"{joint.name}: there is no link {end}")
            parent, child = links[ends[0]], links[ends[1]]
            if child.name in held:
                raise element.wrong(f"{joint.name}: {child.name} has a parent already; loops are not supported")
            held.add(child.name)
            child.joint, child.frame = joint, _origin(element)
            parent.children.append(child)
        roots = [link for link in links.values() if link.name not in held]
        if len(roots) != 1:
            raise self.root.wrong(f"has {len(roots)} links without a parent; expected one")
        return roots


def _limits(limit: Element) -> tuple[float, float]:
    low, high = limit.number("lower", 0), limit.number("upper", 0)
    if low > high:
        return -math.inf, math.inf  # as its writers mean it
    return low, high


def _origin(element: Element) -> Frame:
    origin = element.one("origin")
    if origin is None:
        return IDENTITY
    return Frame(rolled(*origin.numbers("rpy", 3, (0, 0, 0))), np.array(origin.numbers("xyz", 3, (0, 0, 0))))


def _inertial(element: Element) -> Inertial:
    mass, frame, tensor = element.needed("mass").number("value"), _origin(element), element.one("inertia")
    values: dict[str, Any] = {name: 0 if tensor is None else tensor.number(name, 0)
                              for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}
    v = values
    matrix = np.array([(v["ixx"], v["ixy"], v["ixz"]), (v["ixy"], v["iyy"], v["iyz"]), (v["ixz"], v["iyz"], v["izz"])])
    if mass < 0:
        raise element.wrong(f"has mass {mass:g}, which must not be below 0")
    return Inertial(mass, frame.at, frame.turn @ matrix @ frame.turn.T)


def read(root: Element, folder: str) -> Machine:
    """The machine of a URDF file."""
    reader = _Reader(root, folder)
    reader.note(root)
    roots = reader.tree()
    actuators = [actuator for element in root.all("transmission") for actuator in reader.transmission(element)]
    return Machine(root.attributes.get("name", "robot"), roots, [], reader.ignored, actuators, reader.joints)
