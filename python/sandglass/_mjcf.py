# SPDX-License-Identifier: MIT
"""Reading MJCF: bodies with geoms, inertials and joints, meshes, defaults, actuators, and excluded pairs."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from . import _frames
from ._frames import IDENTITY, Frame
from ._native import SandglassError
from ._xml import Element
from ._xml import read as parse
from .actuator import EVERYTHING, Actuator
from .mesh import ENDINGS, Mesh
from .model import Geometry, Inertial, Joint, Link, Machine

_SILENT = {"visual", "statistic", "size", "custom", "compiler", "default", "asset", "worldbody", "contact", "actuator",
           "site", "camera", "light", "texture", "material", "extension"}
_WITHIN_BODY = {"body", "geom", "joint", "freejoint", "inertial"}
_UNREAD = {"joint": ("armature", "frictionloss"), "geom": ("fluidshape", "adhesion", "gap", "margin"),
           "position": ("timeconst", "dampratio", "inheritrange")}
_MOST_FILES = 64


class _Reader:
    def __init__(self, root: Element, folder: str) -> None:
        self.root, self.folder, self.ignored = root, folder, list[str]()
        self.defaults: dict[str, dict[str, dict[str, str]]] = {}
        self.meshes: dict[str, tuple[Element, Mesh]] = {}
        self.names: set[str] = set()
        self.joints: dict[str, Joint] = {}  # by name
        self.masks: list[tuple[Geometry, int, int]] = []  # of each geom, whom it touches
        compilers = list(root.all("compiler"))
        self.compiler = compilers[0] if compilers else Element("compiler", {}, root.file, root.line)
        for compiler in compilers:
            self.compiler.attributes = {**self.compiler.attributes, **compiler.attributes}
        if self.compiler.attributes.get("coordinate", "local") != "local":
            raise self.compiler.wrong("has global coordinates, which are not supported")
        self.degrees = math.pi / 180 if self.compiler.attributes.get("angle", "degree") == "degree" else 1

    def note(self, element: Element, what: str = "is not read") -> None:
        self.ignored.append(f"{element.where} {what}")

    # --- defaults and assets ---

    def read_defaults(self, element: Element, name: str, inherited: dict[str, dict[str, str]]) -> None:
        """The classes of defaults, each with what it inherits."""
        own = {tag: dict(values) for tag, values in self.defaults.get(name, inherited).items()}
        for child in element.children:
            if child.tag != "default":
                own[child.tag] = {**own.get(child.tag, {}), **child.attributes}
        self.defaults[name] = own
        for child in element.all("default"):
            self.read_defaults(child, child.text("class"), own)

    def whole(self, element: Element, inherited: str) -> Element:
        """An element with the defaults of its class."""
        name = element.attributes.get("class", inherited)
        if name not in self.defaults:
            raise element.wrong(f"names the class {name}, which is not defined")
        made = Element(element.tag, {**self.defaults[name].get(element.tag, {}), **element.attributes}, element.file, element.line)
        made.children = element.children
        for word in _UNREAD.get(made.tag, ()):
            if word in made.attributes and any(value != 0 for value in made.some(word)):
                self.note(made, f"{word} is not read")
        return made

    def read_assets(self, asset: Element) -> None:
        for child in asset.children:
            if child.tag != "mesh":
                if child.tag not in _SILENT:
                    self.note(child)
                continue
            element = self.whole(child, "main")
            file = element.attributes.get("file", "")
            name = element.attributes.get("name", os.path.splitext(os.path.basename(file))[0])
            self.meshes[name] = element, self.mesh(element, file)

    def mesh(self, element: Element, file: str) -> Mesh:
        if not file:
            raise element.wrong("lacks the attribute file; meshes by their vertices are not supported")
        words = self.compiler.attributes
        folder = words.get("meshdir", words.get("assetdir", ""))
        path = os.path.join(self.folder, folder, file)
        if not path.lower().endswith(ENDINGS):
            raise element.wrong(f"names {file}; meshes are read from {', '.join(ENDINGS)} files")
        try:
            return Mesh.read(path).scaled(element.numbers("scale", 3, (1, 1, 1)))
        except (SandglassError, ValueError) as error:
            raise element.wrong(str(error)) from None

    # --- places ---

    def turn(self, element: Element) -> Any:
        """The rotation of an element, in whichever way it is given."""
        words = element.attributes
        if "quat" in words:
            return _frames.of_quaternion(element.numbers("quat", 4))
        if "axisangle" in words:
            x, y, z, angle = element.numbers("axisangle", 4)
            return _frames.about((x, y, z), angle * self.degrees)
        if "euler" in words:
            return self.euler(element)
        if "xyaxes" in words:
            axes = np.array(element.numbers("xyaxes", 6)).reshape(2, 3)
            x = axes[0] / np.linalg.norm(axes[0])
            y = axes[1] - x * (x @ axes[1])
            if not (np.isfinite(x).all() and np.linalg.norm(y) > 1e-9):
                raise ValueError("axes that are parallel")
            y = y / np.linalg.norm(y)
            return np.stack([x, y, np.cross(x, y)], axis=1)
        return _frames.along_z(element.numbers("zaxis", 3)) if "zaxis" in words else np.eye(3)

    def euler(self, element: Element) -> Any:
        sequence, made = self.compiler.attributes.get("eulerseq", "xyz"), np.eye(3)
        if len(sequence) != 3 or any(letter not in "xyzXYZ" for letter in sequence):
            raise self.compiler.wrong(f"has eulerseq {sequence}; expected three of x, y, z, X, Y, Z")
        for letter, angle in zip(sequence, element.numbers("euler", 3)):
            step = _frames.about(np.eye(3)["xyz".index(letter.lower())], angle * self.degrees)
            made = made @ step if letter.islower() else step @ made
        return made

    def place(self, element: Element) -> Frame:
        try:
            return Frame(self.turn(element), np.array(element.numbers("pos", 3, (0, 0, 0))))
        except (ValueError, FloatingPointError) as error:
            raise element.wrong(f"has {error}") from None

    # --- geoms ---

    def geom(self, element: Element) -> Geometry:
        words, kind = element.attributes, element.attributes.get("type", "mesh" if "mesh" in element.attributes else "sphere")
        if kind not in ("plane", "sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh"):
            raise element.wrong(f"of type {kind} is not supported: plane, sphere, capsule, cylinder, box, ellipsoid and mesh are")
        made = Geometry(kind, self.place(element), density=element.number("density", 1000))
        made.mass = element.number("mass") if "mass" in words else None
        self.masks.append((made, int(element.number("contype", 1)), int(element.number("conaffinity", 1))))
        if kind == "mesh":
            name = element.text("mesh")
            if name not in self.meshes:
                raise element.wrong(f"names the mesh {name}, which is not defined")
            made.mesh = self.meshes[name][1]
        elif kind != "plane":
            self.sizes(element, made)
        return made

    def sizes(self, element: Element, made: Geometry) -> None:
        """Fills the sizes: MJCF has half lengths."""
        size, half = element.some("size"), 0.
        needs = {"sphere": 1, "box": 3, "ellipsoid": 3}.get(made.kind, 1 if "fromto" in element.attributes else 2)
        if "fromto" in element.attributes and made.kind not in ("capsule", "cylinder"):
            raise element.wrong(f"of type {made.kind} with fromto is not supported: capsules and cylinders are")
        if len(size) < needs:
            raise element.wrong(f"of type {made.kind} needs {needs} sizes")
        if "fromto" in element.attributes:
            ends = np.array(element.numbers("fromto", 6)).reshape(2, 3)
            half = 0.5 * float(np.linalg.norm(ends[1] - ends[0]))
            if not half > 0:
                raise element.wrong("has fromto of length 0")
            made.frame = Frame(_frames.along_z(ends[1] - ends[0]), ends.mean(axis=0))
        elif made.kind in ("capsule", "cylinder"):
            half = size[1]
        if made.kind == "ellipsoid":
            self.note(element, "of type ellipsoid collides as a hull of 60 corners")
        if made.kind in ("box", "ellipsoid"):
            made.sizes = {"size": [2 * value for value in size[:3]]}
        else:
            made.sizes = {"radius": size[0]}
        if made.kind in ("capsule", "cylinder"):
            made.sizes["length" if made.kind == "capsule" else "height"] = 2 * half
        if any(not value > 0 for value in [*made.sizes.get("size", []), made.sizes.get("radius", 1)]):
            raise element.wrong("has a size that is not above 0")

    # --- joints ---

    def joint(self, elements: list[Element], link: Link) -> Joint:
        """The one joint that the joints of a body are."""
        if not elements:
            return Joint("fixed", link.name, link.element)
        kinds = [element.attributes.get("type", "hinge") if element.tag == "joint" else "free" for element in elements]
        for element, kind in zip(elements, kinds):
            if kind not in ("hinge", "slide", "ball", "free"):
                raise element.wrong(f"of type {kind} is not supported: hinge, slide, ball and free are")
        for element in elements:
            if element.attributes.get("name") in self.joints:
                raise element.wrong(f"there is a joint {element.attributes['name']} already")
        first = elements[0]
        name = first.attributes.get("name", link.name)
        made = self.together(elements, kinds, link, name) if len(elements) > 1 else self.single(first, kinds[0], name)
        made.named = "name" in first.attributes
        if made.named:
            self.joints[made.name] = made
        return made

    def together(self, elements: list[Element], kinds: list[str], link: Link, name: str) -> Joint:
        """The joint that several hinges of a body are."""
        first = elements[0]
        axes = [self.axis(element) for element in elements]
        anchors = [np.array(element.numbers("pos", 3, (0, 0, 0))) for element in elements]
        together = set(kinds) == {"hinge"} and all(np.linalg.norm(at - anchors[0]) < 1e-9 for at in anchors)
        if not together or len(elements) > 3 or (len(elements) == 2 and abs(axes[0] @ axes[1]) > 1e-6):
            raise first.wrong(f"is one of {len(elements)} joints of {link.name}; together only two hinges at a right angle, "
                              "or three, in one point are supported")
        self.note(first, f"and the others of {link.name} are one joint, without limits and springs")
        made = Joint("universal" if len(elements) == 2 else "ball", name, first, anchors[0], axes[0])
        made.axis_b = axes[1]
        return made

    def axis(self, element: Element) -> Any:
        axis = np.array(element.numbers("axis", 3, (0, 0, 1)))
        if not np.linalg.norm(axis) > 1e-9:
            raise element.wrong("has an axis of length 0")
        return axis / np.linalg.norm(axis)

    @staticmethod
    def range(element: Element, limited: str, words: str) -> tuple[float, float]:
        """A range that holds where it is given, unless the element says otherwise."""
        told = element.attributes.get(limited, "auto")
        if told == "false" or (told == "auto" and words not in element.attributes):
            return EVERYTHING
        low, high = element.numbers(words, 2)
        if low > high:
            raise element.wrong(f"has {words} {element.text(words)[:40]!r}; the first is above the second")
        return low, high

    def single(self, element: Element, kind: str, name: str) -> Joint:
        made = Joint({"slide": "slider"}.get(kind, kind), name, element)
        if kind == "free":
            return made
        made.anchor = np.array(element.numbers("pos", 3, (0, 0, 0)))
        if kind == "ball":
            return made
        made.axis = self.axis(element)
        unit = self.degrees if kind == "hinge" else 1
        made.zero = unit * element.number("ref", 0)
        made.rest = unit * element.number("springref", 0) - made.zero
        made.low, made.high = (unit * value - made.zero for value in self.range(element, "limited", "range"))
        forces = self.range(element, "actuatorfrclimited", "actuatorfrcrange")
        if forces != EVERYTHING:
            made.motor["strength"] = max(map(abs, forces))
        if made.high - made.low >= 2 * math.pi and kind == "hinge":
            made.low, made.high = -math.inf, math.inf
        made.stiffness, made.damping = element.number("stiffness", 0), element.number("damping", 0)
        return made

    # --- bodies ---

    def body(self, element: Element, inherited: str, number: list[int]) -> Link:
        number[0] += 1
        name = element.attributes.get("name", f"body {number[0]}")
        if name in self.names:
            raise element.wrong(f"there is a body {name} already")
        self.names.add(name)
        made = Link(name, element, self.place(element), Joint("fixed", name, element))
        self.fill(made, element, element.attributes.get("childclass", inherited), number)
        return made

    def fill(self, link: Link, element: Element, inherited: str, number: list[int]) -> None:
        joints = []
        for child in element.children:
            if child.tag == "body":
                link.children.append(self.body(child, inherited, number))
            elif child.tag == "geom":
                whole = self.whole(child, inherited)
                link.shapes.append(self.geom(whole))
                link.mu = whole.some("friction")[0] if link.mu is None and "friction" in whole.attributes else link.mu
            elif child.tag in ("joint", "freejoint"):
                joints.append(self.whole(child, inherited) if child.tag == "joint" else child)
            elif child.tag == "inertial":
                link.inertial = self.inertial(child)
            elif child.tag not in _SILENT:
                raise child.wrong(f"is not supported: within a body are {', '.join(sorted(_WITHIN_BODY))}")
        link.mu = 1 if link.mu is None else link.mu
        if not link.is_world:
            link.joint = self.joint(joints, link)
            if any(shape.kind == "plane" for shape in link.shapes):
                raise element.wrong(f"{link.name}: a plane stands in the world, and in no body")
        if self.compiler.attributes.get("inertiafromgeom") == "true":
            link.inertial = None

    def inertial(self, element: Element) -> Inertial:
        mass, frame = element.number("mass"), self.place(element)
        if "fullinertia" in element.attributes:
            a, b, c, d, e, f = element.numbers("fullinertia", 6)
            tensor = np.array([(a, d, e), (d, b, f), (e, f, c)])
        else:
            tensor = np.diag(element.numbers("diaginertia", 3))
        moments = np.linalg.eigvalsh(tensor)
        if mass < 0 or moments.min() < 0:
            raise element.wrong(f"has mass {mass:g} and moments {moments}; they must not be below 0")
        return Inertial(mass, frame.at, frame.turn @ tensor @ frame.turn.T)

    # --- the rest ---

    def mask(self) -> None:
        """A geom that touches nothing in the file touches nothing outside of it: it is there to be seen, or to weigh."""
        types = 0
        for _, kind, _ in self.masks:
            types |= kind
        for geometry, kind, affinity in self.masks:
            geometry.collides = kind != 0 or affinity & types != 0

    def pairs(self) -> list[tuple[str, str]]:
        found = []
        for contact in self.root.all("contact"):
            for child in contact.children:
                if child.tag != "exclude":
                    self.note(child)
                    continue
                pair = child.text("body1"), child.text("body2")
                for name in pair:
                    if name not in self.names and name != "world":
                        raise child.wrong(f"names the body {name}, which is not defined")
                found.append(pair)
        return found

    def actuators(self) -> list[Actuator]:
        found = []
        for group in self.root.all("actuator"):
            for child in group.children:
                element = self.whole(child, "main")
                if child.tag not in ("motor", "position", "velocity", "general"):
                    name = element.attributes.get("name", "without a name")
                    self.note(child, f"{name} is not read: motor, position, velocity and general are")
                    continue
                actuator = self.actuator(element)
                if actuator is not None:
                    found.append(actuator)
        return found

    def actuator(self, element: Element) -> Actuator | None:
        """What drives a joint; None, with a note, where it is something else."""
        words = element.attributes
        joint = words.get("joint", words.get("jointinparent", ""))
        name = words.get("name", joint)
        if not joint:
            self.note(element, f"{name} is not read: it acts on no joint")
            return None
        gear = element.some("gear")[0] if "gear" in words else 1.
        if gear == 0:
            raise element.wrong(f"{name} has gear 0")
        law = self.law(element, name)
        if law is None:
            return None
        kind, ratio, rate = law
        forces = self.range(element, "forcelimited", "forcerange")
        ratio = ratio * gear if kind == "motor" else ratio / gear
        return Actuator(name, kind, joint, element.where, ratio, gear,
                        self.range(element, "ctrllimited", "ctrlrange"), forces, rate)

    def law(self, element: Element, name: str) -> tuple[str, float, float | None] | None:
        """The kind of an actuator, what a control of 1 asks of it before the gear, and the rate of a position, 1/s."""
        if element.tag == "motor":
            return "motor", 1, None
        if element.tag == "position":
            return self.servo(element, name, element.number("kp", 1), element.number("kp", 1), element.number("kv", 0))
        if element.tag == "velocity":
            return self.servo(element, name, element.number("kv", 1), 0, element.number("kv", 1))
        words = element.attributes
        gains = element.some("gainprm") if "gainprm" in words else [1.]
        bias = ((element.some("biasprm") if "biasprm" in words else []) + [0., 0., 0.])[:3]
        if words.get("biastype", "none") == "none":
            bias = [0., 0., 0.]
        whole = words.get("gaintype", "fixed") == "fixed" and words.get("biastype", "none") in ("none", "affine")
        if not whole or words.get("dyntype", "none") != "none" or bias[0] != 0:
            self.note(element, f"{name} is not read: a gain that is fixed, a bias without a constant and no dynamics are")
            return None
        return ("motor", gains[0], None) if not any(bias) else self.servo(element, name, gains[0], -bias[1], -bias[2])

    def servo(self, element: Element, name: str, gain: float, kp: float, kv: float) -> tuple[str, float, float | None]:
        """One that keeps a position (kp above 0) or a velocity."""
        if kp < 0 or kv < 0 or not kp + kv > 0:
            raise element.wrong(f"{name} has gains {kp:g} and {kv:g}; expected one above 0, and none below")
        if kp > 0:
            return "position", gain / kp, kp / kv if kv > 0 else None
        return "velocity", gain / kv, None


def _include(element: Element, folder: str, files: list[str]) -> None:
    """Puts the elements of included files in place of what names them; paths are from the folder of the first file."""
    children = []
    for child in element.children:
        if child.tag != "include":
            _include(child, folder, files)
            children.append(child)
            continue
        path = os.path.join(folder, child.text("file"))
        if path in files or len(files) > _MOST_FILES:
            raise child.wrong(f"names {child.text('file')}, which is included already" if path in files else "is one of too many")
        files.append(path)
        try:
            inner = parse(path)
        except SandglassError as error:
            raise child.wrong(f"names a file that cannot be read: {error}") from None
        _include(inner, folder, files)
        children += inner.children
    element.children = children


def read(root: Element, folder: str) -> Machine:
    """The machine of an MJCF file."""
    _include(root, folder, [root.file])
    reader = _Reader(root, folder)
    reader.defaults["main"] = {}
    for element in root.all("default"):
        reader.read_defaults(element, "main", {})
    for element in root.all("asset"):
        reader.read_assets(element)
    world = Link("world", root.needed("worldbody"), IDENTITY, Joint("fixed", "world", root), is_world=True)
    number = [0]
    for element in root.all("worldbody"):
        reader.fill(world, element, "main", number)
    reader.mask()
    for element in root.children:
        if element.tag not in _SILENT:
            reader.note(element)
    apart, actuators = reader.pairs(), reader.actuators()
    return Machine(root.attributes.get("model", "machine"), [world], apart, reader.ignored, actuators, reader.joints)
