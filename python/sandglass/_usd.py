# SPDX-License-Identifier: MIT
"""Reading OpenUSD with UsdPhysics, by the package usd-core: rigid bodies, colliders, masses, joints and drives.

Bodies are anywhere in the tree of prims, and joints name them; here they become a tree of links that begins at the world. The
world of a file has any unit of length and mass and its own upward axis; links have meters, kilograms, and z upwards.
"""

from __future__ import annotations

import importlib
import math
import os
from typing import Any

import numpy as np

from . import _frames
from ._arrays import Array
from ._frames import IDENTITY, Frame
from ._native import SandglassError
from ._xml import Place
from .actuator import EVERYTHING, Actuator
from .mesh import Mesh
from .model import Geometry, Inertial, Joint, Link, Machine

ENDINGS = (".usd", ".usda", ".usdc", ".usdz")
_KINDS = {"PhysicsRevoluteJoint": "hinge", "PhysicsPrismaticJoint": "slider", "PhysicsSphericalJoint": "ball", "PhysicsFixedJoint": "fixed"}
_SHAPES = ("Cube", "Sphere", "Capsule", "Cylinder", "Mesh", "Plane")
_TURNED = {"X": _frames.about((0, 1, 0), math.pi / 2), "Y": _frames.about((1, 0, 0), -math.pi / 2), "Z": np.eye(3)}  # z to the axis


class _Reader:
    def __init__(self, path: str) -> None:
        try:
            self.usd, self.geom, self.physics, self.shade = (importlib.import_module(f"pxr.{name}")
                                                             for name in ("Usd", "UsdGeom", "UsdPhysics", "UsdShade"))
        except ImportError:
            raise SandglassError(f"{path}: OpenUSD files need the package usd-core: pip install sandglass-sim[usd]") from None
        try:
            self.stage = self.usd.Stage.Open(path)
        except Exception as error:  # of the package, of any kind
            why = str(error).strip().split(" : ")[-1].strip("'\" \n")
            raise SandglassError(f"{path}: cannot be read: {why[:200]}") from None
        self.path, self.ignored = path, list[str]()
        self.meter = float(self.geom.GetStageMetersPerUnit(self.stage))
        self.kilogram = float(self.physics.GetStageKilogramsPerUnit(self.stage))
        upright = str(self.geom.GetStageUpAxis(self.stage)) == "Z"
        self.up: Array = np.eye(3) if upright else _frames.about((1, 0, 0), math.pi / 2)
        self.cache = self.geom.XformCache()
        self.links: dict[str, Link] = {}    # by the path of the prim
        self.frames: dict[str, Frame] = {}  # of the links, in the world
        self.joints: dict[str, Joint] = {}
        self.actuators: list[Actuator] = []
        self.world = Link("world", Place(f"{path}:"), IDENTITY, Joint("fixed", "world", Place(f"{path}:")), is_world=True)

    def place(self, prim: Any) -> Place:
        return Place(f"{self.path}: <{prim.GetPath()}>")

    def note(self, prim: Any, what: str) -> None:
        self.ignored.append(f"{self.place(prim).where} {what}")

    # --- places ---

    def matrix(self, prim: Any) -> tuple[Array, Array]:
        """The linear part and the origin of a prim in the world, m."""
        rows = np.array(self.cache.GetLocalToWorldTransform(prim))  # for rows of points
        return self.meter * self.up @ rows[:3, :3].T, self.meter * self.up @ rows[3, :3]

    def frame(self, prim: Any) -> tuple[Frame, Array]:
        """The frame of a prim in the world, and the length of a unit along its axes, m."""
        linear, at = self.matrix(prim)
        sizes = np.linalg.norm(linear, axis=0)
        if not (np.isfinite(linear).all() and sizes.min() > 0):
            raise self.place(prim).wrong("has a scale of 0")
        turn = linear / sizes
        if np.abs(turn.T @ turn - np.eye(3)).max() > 1e-4:
            raise self.place(prim).wrong("is sheared, which is not supported")
        if np.linalg.det(turn) < 0:
            turn, sizes = turn * (1, 1, -1), sizes * (1, 1, -1)  # mirrored
        return Frame(turn, at), sizes

    # --- bodies ---

    def body_of(self, prim: Any) -> str:
        """The path of the body that a prim is a part of; empty for the world."""
        while prim and str(prim.GetPath()) != "/":
            if str(prim.GetPath()) in self.links:
                return str(prim.GetPath())
            prim = prim.GetParent()
        return ""

    def read_body(self, prim: Any) -> None:
        api = self.physics.RigidBodyAPI(prim)
        if not api.GetRigidBodyEnabledAttr().Get():
            return
        if api.GetKinematicEnabledAttr().Get():
            self.note(prim, "is kinematic: it stands still, a part of the world")
            return
        path, place = str(prim.GetPath()), self.place(prim)
        names = {link.name for link in self.links.values()}
        name = prim.GetName() if prim.GetName() not in names else path
        self.frames[path], _ = self.frame(prim)
        self.links[path] = Link(name, place, IDENTITY, Joint("free", name, place, named=False))

    def read_mass(self, prim: Any) -> None:
        """What a body weighs: what the file says of it; what it does not say is that of its shapes."""
        link, api = self.links[str(prim.GetPath())], self.physics.MassAPI(prim)
        mass = self.kilogram * float(api.GetMassAttr().Get() or 0)
        density = float(api.GetDensityAttr().Get() or 0) * self.kilogram / self.meter**3
        for shape in link.shapes:
            if density > 0 and shape.mass is None:
                shape.density = density
        if not mass > 0:
            return
        center = api.GetCenterOfMassAttr().Get()
        moments = np.array(api.GetDiagonalInertiaAttr().Get() or (0, 0, 0), float)
        linear, _ = self.matrix(prim)
        turn = self.frames[str(prim.GetPath())].turn
        at = np.zeros(3) if center is None else np.array(center, float)
        if not np.isfinite(at).all():
            shapes = [Inertial(1, shape.frame.at, np.eye(3)) for shape in link.shapes]
            at = np.zeros(3) if not shapes else sum((part.center for part in shapes), np.zeros(3)) / len(shapes)
            self.note(prim, "has a mass without a center: it is the mean of those of its shapes")
        else:
            at = turn.T @ linear @ at
        axes = api.GetPrincipalAxesAttr().Get()
        own = np.eye(3) if axes is None or axes.GetLength() == 0 else _frames.of_quaternion((axes.GetReal(), *axes.GetImaginary()))
        link.inertial = Inertial(mass, at, own @ np.diag(moments * self.kilogram * self.meter**2) @ own.T)

    # --- shapes ---

    def read_shape(self, prim: Any) -> None:
        if not self.physics.CollisionAPI(prim).GetCollisionEnabledAttr().Get():
            return
        kind = str(prim.GetTypeName())
        if kind not in _SHAPES:
            self.note(prim, f"of type {kind} does not collide: {', '.join(_SHAPES)} do")
            return
        body = self.body_of(prim)
        link = self.links[body] if body else self.world
        frame, scale = self.frame(prim)
        inner = self.frames[body].inverse.of(frame) if body else frame
        made = self.geometry(prim, kind, inner, scale)
        mass = self.physics.MassAPI(prim)
        if (mass.GetMassAttr().Get() or 0) > 0:
            made.mass = self.kilogram * float(mass.GetMassAttr().Get())
        material, _ = self.shade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        if material:
            laws = self.physics.MaterialAPI(material.GetPrim())
            if link.mu is None and laws.GetStaticFrictionAttr().Get() is not None:
                link.mu = float(laws.GetStaticFrictionAttr().Get())
            if (laws.GetDensityAttr().Get() or 0) > 0:
                made.density = float(laws.GetDensityAttr().Get()) * self.kilogram / self.meter**3
        if (mass.GetDensityAttr().Get() or 0) > 0:
            made.density = float(mass.GetDensityAttr().Get()) * self.kilogram / self.meter**3
        link.shapes.append(made)

    def geometry(self, prim: Any, kind: str, frame: Frame, scale: Array) -> Geometry:
        """A shape in the frame of its link."""
        def value(name: str, otherwise: Any) -> Any:
            found = prim.GetAttribute(name).Get()
            return otherwise if found is None else found

        sizes = np.abs(scale)
        if kind == "Mesh":
            return Geometry("mesh", frame, mesh=self.mesh(prim, scale))
        if kind == "Cube":
            return Geometry("box", frame, {"size": (float(value("size", 2)) * sizes).tolist()})
        axis = str(value("axis", "Z"))
        frame = frame if kind == "Sphere" else frame.of(Frame(_TURNED[axis], np.zeros(3)))
        if kind == "Plane":
            return Geometry("plane", frame)
        along = sizes["XYZ".index(axis)] if kind != "Sphere" else sizes[0]
        across = sizes if kind != "Cylinder" else np.delete(sizes, "XYZ".index(axis))
        if np.ptp(across) > 1e-6 * across.max():
            raise self.place(prim).wrong(f"is a {kind.lower()} with unequal scales, which is not supported")
        radius = float(value("radius", 0.5 if kind == "Capsule" else 1)) * float(across[0])
        if kind == "Sphere":
            return Geometry("sphere", frame, {"radius": radius})
        length = float(value("height", 1 if kind == "Capsule" else 2)) * float(along)
        return Geometry(kind.lower(), frame, {"radius": radius, "length" if kind == "Capsule" else "height": length})

    def mesh(self, prim: Any, scale: Array) -> Mesh:
        """The triangles of a mesh."""
        points = prim.GetAttribute("points").Get()
        counts, corners = prim.GetAttribute("faceVertexCounts").Get(), prim.GetAttribute("faceVertexIndices").Get()
        if points is None or counts is None or corners is None or not len(points) or sum(counts) != len(corners):
            raise self.place(prim).wrong("is a mesh without faces, or with too few corners")
        faces, at = [], 0
        for count in counts:
            faces += [(corners[at], corners[at + k], corners[at + k + 1]) for k in range(1, count - 1)]
            at += count
        order = 1 if str(prim.GetAttribute("orientation").Get()) != "leftHanded" else -1
        try:
            return Mesh(np.array(points, float), np.array(faces)[:, ::order]).scaled(scale)
        except (ValueError, IndexError) as error:
            raise self.place(prim).wrong(str(error)) from None

    # --- joints ---

    def ends(self, prim: Any) -> tuple[list[str], list[Frame]]:
        """The bodies of a joint, empty for the world, and its frames on them, in the world."""
        joint, bodies, frames = self.physics.Joint(prim), [], []
        for relation, at, turn in ((joint.GetBody0Rel(), joint.GetLocalPos0Attr(), joint.GetLocalRot0Attr()),
                                   (joint.GetBody1Rel(), joint.GetLocalPos1Attr(), joint.GetLocalRot1Attr())):
            targets = relation.GetTargets()
            held = self.stage.GetPrimAtPath(targets[0]) if targets else self.stage.GetPseudoRoot()
            if not held:
                raise self.place(prim).wrong(f"names {targets[0]}, which is not in the file")
            bodies.append(self.body_of(held))
            linear, origin = self.matrix(held)
            local, q = np.array(at.Get() or (0, 0, 0), float), turn.Get()
            own = np.eye(3) if q is None else _frames.of_quaternion((q.GetReal(), *q.GetImaginary()))
            frame = self.up if not targets else self.frame(held)[0].turn
            frames.append(Frame(frame @ own, linear @ local + origin))
        return bodies, frames

    def read_joint(self, prim: Any) -> tuple[str, str, Joint] | None:
        """A joint with the paths of its parent and its child; None where it is not read."""
        kind = _KINDS.get(str(prim.GetTypeName()))
        if not self.physics.Joint(prim).GetJointEnabledAttr().Get():
            return None
        if kind is None:
            self.note(prim, f"of type {prim.GetTypeName()} is not read: revolute, prismatic, spherical and fixed joints are")
            return None
        bodies, frames = self.ends(prim)
        if bodies[0] == bodies[1]:
            raise self.place(prim).wrong("joins a body to itself")
        turned = not bodies[1]  # its second end is the world
        name = prim.GetName() if prim.GetName() not in self.joints else str(prim.GetPath())
        made = Joint(kind, name, self.place(prim))
        child = bodies[0] if turned else bodies[1]
        inner = self.frames[child].inverse
        made.anchor = inner.point(frames[1].at)
        if kind != "slider" and np.linalg.norm(frames[1].at - frames[0].at) > 1e-3:
            self.note(prim, "has ends that are apart: it is where the second is")
        if kind in ("hinge", "slider"):
            self.drive(prim, made, frames, turned, inner)
        self.joints[name] = made
        return (bodies[1], bodies[0], made) if turned else (bodies[0], bodies[1], made)

    def drive(self, prim: Any, made: Joint, frames: list[Frame], turned: bool, inner: Frame) -> None:
        """Axis, limits and motor of a hinge or a slider; coordinates of the file are from frame to frame."""
        letter = str(prim.GetAttribute("physics:axis").Get() or "X")
        local = np.eye(3)["XYZ".index(letter)]
        way, side = frames[0].direction(local), frames[0].direction(np.roll(local, 1))
        if made.kind == "hinge":
            moved = frames[1].direction(np.roll(local, 1))
            zero, unit = math.atan2(float(np.cross(side, moved) @ way), float(side @ moved)), math.pi / 180
        else:
            zero, unit = float((frames[1].at - frames[0].at) @ way), self.meter
        made.axis, made.zero = inner.direction(-way if turned else way), zero
        low, high = (prim.GetAttribute(f"physics:{side}Limit").Get() for side in ("lower", "upper"))
        if low is not None and high is not None and low <= high:
            made.low, made.high = unit * low - zero, unit * high - zero
        if made.kind == "hinge" and made.high - made.low >= 2 * math.pi:
            made.low, made.high = -math.inf, math.inf
        which = "angular" if made.kind == "hinge" else "linear"
        if prim.HasAPI(self.physics.DriveAPI, which):
            self.motor(prim, self.physics.DriveAPI(prim, which), made, unit)

    def motor(self, prim: Any, api: Any, made: Joint, unit: float) -> None:
        """The motor of a drive: it goes to a position where it has a stiffness, else it keeps a velocity."""
        stiffness, damping = (float(attribute.Get() or 0) for attribute in (api.GetStiffnessAttr(), api.GetDampingAttr()))
        if not stiffness + damping > 0:
            return
        most = api.GetMaxForceAttr().Get()
        force = self.kilogram * self.meter * (self.meter if made.kind == "hinge" else 1)
        limits = EVERYTHING if most is None or not math.isfinite(most) else (-force * most, force * most)
        if str(api.GetTypeAttr().Get()) == "acceleration" and limits != EVERYTHING:
            self.note(prim, "drives by acceleration: its maxForce is taken for a force")
        kind = "position" if stiffness > 0 else "velocity"
        rate = stiffness / damping if stiffness > 0 and damping > 0 else None
        wanted = (api.GetTargetPositionAttr() if stiffness > 0 else api.GetTargetVelocityAttr()).Get()
        self.actuators.append(Actuator(made.name, kind, made.name, made.element.where, unit, forces=limits, rate=rate,
                                       start=float(wanted or 0)))

    # --- the tree ---

    def hang(self, edges: list[tuple[str, str, Joint]]) -> None:
        """Hangs every body on the world or on another by its joint; those of a component that nothing holds on its first."""
        waiting, held = list(edges), {""}
        while True:
            for a, b, joint in [edge for edge in waiting if edge[0] in held or edge[1] in held]:
                waiting.remove((a, b, joint))
                if a in held and b in held:
                    raise joint.element.wrong("closes a loop of bodies, which is not supported")
                if b in held:
                    a, b, joint.axis = b, a, -joint.axis
                    self.from_child(joint, a, b)
                self.carry(a, b, joint)
                held.add(b)
                break
            else:
                rest = [path for path in self.links if path not in held]
                if not rest:
                    return
                self.carry("", rest[0], self.links[rest[0]].joint)
                held.add(rest[0])

    def from_child(self, joint: Joint, parent: str, child: str) -> None:
        """Anchor and axis of a joint whose first end is the child, in its frame."""
        change = self.frames[child].inverse.of(self.frames[parent])
        joint.anchor, joint.axis = change.point(joint.anchor), change.direction(joint.axis)

    def carry(self, parent: str, child: str, joint: Joint) -> None:
        link = self.links[child]
        link.joint, link.frame = joint, self.frames[parent].inverse.of(self.frames[child]) if parent else self.frames[child]
        (self.links[parent] if parent else self.world).children.append(link)

    def machine(self) -> Machine:
        prims = list(self.usd.PrimRange(self.stage.GetPseudoRoot(), self.usd.TraverseInstanceProxies()))
        for prim in prims:
            if prim.HasAPI(self.physics.RigidBodyAPI):
                self.read_body(prim)
        for prim in prims:
            if prim.HasAPI(self.physics.CollisionAPI):
                self.read_shape(prim)
        for path in self.links:
            self.read_mass(self.stage.GetPrimAtPath(path))
        found = [self.read_joint(prim) for prim in prims if prim.IsA(self.physics.Joint)]
        self.hang([edge for edge in found if edge is not None])
        if not self.links and not self.world.shapes:
            raise SandglassError(f"{self.path}: it has no bodies and no colliders of UsdPhysics")
        name = os.path.splitext(os.path.basename(self.path))[0]
        return Machine(name, [self.world], self.apart(prims), self.ignored, self.actuators, self.joints)

    def apart(self, prims: list[Any]) -> list[tuple[str, str]]:
        """Pairs of bodies that pass through each other, by the names of their links."""
        pairs = []
        for prim in prims:
            if prim.HasAPI(self.physics.FilteredPairsAPI):
                for target in self.physics.FilteredPairsAPI(prim).GetFilteredPairsRel().GetTargets():
                    two = [self.body_of(end) for end in (prim, self.stage.GetPrimAtPath(target))]
                    if all(two):
                        pairs.append((self.links[two[0]].name, self.links[two[1]].name))
        return pairs


def read(path: str) -> Machine:
    """The machine of an OpenUSD file."""
    return _Reader(path).machine()
