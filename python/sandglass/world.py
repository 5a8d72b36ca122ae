# SPDX-License-Identifier: MIT
"""Worlds built in Python: materials, boundaries, shapes, bodies, joints. Units are SI."""

from __future__ import annotations

import ctypes
import math
import os
from ctypes import byref
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from . import _native, mesh as _mesh, probe
from ._arrays import numbers, rows, vectors
from ._native import real, vec3
from ._owned import Declared, Owner
from ._words import explained, hint
from .heightmap import heightmap
from .joint import motor
from .motion import follow, path_of, struct_of

if TYPE_CHECKING:
    from .mesh import Mesh, Solid
    from .model import Model
    from .simulation import Simulation

Vector = Sequence[float]


def _quat(values: Vector) -> Any:
    return _native.Quat(*_native.reals(values, 4, "rotation"))


def _fill(row: Any, **values: float) -> None:
    """Sets numbers of a struct."""
    for name, value in values.items():
        setattr(row, name, real(value, name))


def materials_of(struct: Any) -> dict[str, int]:
    """The numbers of the materials of a world, by name."""
    rows = ctypes.cast(struct.materials, ctypes.POINTER(_native.Material))
    return {rows[k].name.decode(): k for k in range(struct.material_count)}


def material_of(struct: Any, material: int | str) -> int:
    """The number of a material, which may be named."""
    if not isinstance(material, str):
        return _native.integer(material, "material")
    names = materials_of(struct)
    if material not in names:
        raise _native.SandglassError(f"{material}: there is no such material{hint(material, names)}")
    return names[material]


def set_laws(struct: Any, material_a: int | str, material_b: int | str, laws: dict[str, float]) -> None:
    """Sets laws of a pair of materials of a world."""
    first, second = material_of(struct, material_a), material_of(struct, material_b)
    for material in (first, second):
        if not 0 <= material < struct.material_count:
            raise IndexError(f"there is no material {material}")
    pairs = ctypes.cast(struct.pairs, ctypes.POINTER(_native.Pair))
    row = _native.Pair.from_buffer_copy(pairs[first * struct.material_count + second])
    _fill(row, **laws)
    _native.set_pair(byref(struct), first, second, byref(row))


@explained
class World(Declared, Owner):
    """A world before its first step. `simulate` hands it over to a simulation; it cannot be used afterwards.

    `gravity` is in m/s^2, `step` in s (0.01); the others are keys of a scene (docs/scenes.md). Functions that add something return
    its number, which other functions take. Where a `material` is not given, it is the first.
    """

    _advice = "build another in the same way"

    def __init__(self, *, gravity: Vector = (0, 0, -9.81), step: float | None = None, recovery: float | None = None,
                 recovery_fraction: float | None = None, sleep_speed: float | None = None, bounce_speed: float | None = None,
                 envelope: float | None = None, joint_passes: int | None = None, looks: int | None = None) -> None:
        self._memory, self._taken = _native.World(), False
        _native.world_init(byref(self._memory))
        self._struct.gravity = vec3(gravity, "gravity")
        numbers = {"step": step, "recovery": recovery, "recovery_fraction": recovery_fraction, "sleep_speed": sleep_speed,
                   "bounce_speed": bounce_speed, "envelope": envelope}
        counts = {"joint_passes": joint_passes, "looks": looks}
        for name, number in numbers.items():
            if number is not None:
                setattr(self._struct, name, real(number, name))
        for name, count in counts.items():
            if count is not None:
                setattr(self._struct, name, _native.integer(count, name))
        self._sphere: int | None = None

    def __del__(self, free: Any = _native.world_free) -> None:
        if "_memory" in vars(self):
            free(byref(self._memory))

    @property
    def _struct(self) -> Any:
        if self._taken:
            raise _native.SandglassError(f"this world was handed to a simulation and cannot be used again: {self._advice}")
        return self._memory

    @property
    def body_count(self) -> int:
        """Bodies so far."""
        return int(self._struct.body_count)

    # --- materials ------------------------------------------------------------------------------------------------

    def material(self, name: str, *, density: float = 2500, mu: float = 0.5, restitution: float = 0, cohesion: float = 0,
                 rolling: float = 0, spinning: float = 0, look: str = "sand", color: Vector = (0, 0, 0)) -> int:
        """Adds a material: density in kg/m^3, cohesion in N, rolling and spinning friction in m.

        `look` is what its bodies look like in pictures, one of the names of docs/scenes.md; `color` is red, green and blue in
        linear light from 0 to 1, black that of the look.
        """
        looks = [_native.look_name(k).decode() for k in range(_native.constants["LOOK_COUNT"])]
        if look not in looks:
            raise ValueError(f"{look}: there is no such look; there are {', '.join(looks)}")
        row = _native.Material(name=name.encode(), look=looks.index(look), color=vec3(color, "color"))
        _fill(row, density=density, mu=mu, restitution=restitution, cohesion=cohesion, rolling=rolling, spinning=spinning)
        index: int = _native.add_material(byref(self._struct), byref(row))
        return index

    def _material(self, material: int | str) -> int:
        return material_of(self._struct, material)

    def _materials_by_name(self) -> dict[str, int]:
        """The numbers of the materials so far."""
        return materials_of(self._struct)

    def pair(self, material_a: int | str, material_b: int | str, mu: float | None = None, *, restitution: float | None = None,
             cohesion: float | None = None, rolling: float | None = None, spinning: float | None = None) -> None:
        """Sets laws of a pair of materials, in place of the geometric means of the two, which the others keep."""
        laws = {"mu": mu, "restitution": restitution, "cohesion": cohesion, "rolling": rolling, "spinning": spinning}
        set_laws(self._struct, material_a, material_b, {law: value for law, value in laws.items() if value is not None})

    # --- boundaries -----------------------------------------------------------------------------------------------

    def _boundary(self, make: Callable[[Any], None], name: str, material: int | str, position: Vector | None,
                  rotation: Vector | None, motion: dict[str, Any] | None) -> int:
        boundary = _native.Boundary()
        make(byref(boundary))
        try:
            boundary.name, boundary.material = name.encode(), self._material(material)
            if position is not None:
                boundary.pose.position = vec3(position, "position")
            if rotation is not None:
                boundary.pose.rotation = _quat(rotation)
            self._move(boundary, motion)
            if motion:
                follow(ctypes.addressof(boundary), path_of(motion))
            index: int = _native.add_boundary(byref(self._struct), byref(boundary))
        except Exception:
            _native.boundary_free(byref(boundary))
            raise
        return index

    @staticmethod
    def _move(boundary: Any, motion: dict[str, Any] | None) -> None:
        """Sets a motion, as `plane` describes it, but its path."""
        if motion:
            boundary.moves = True
            boundary.motion = struct_of(motion, vec3((0, 0, 1)), boundary.pose.position)

    def plane(self, point: Vector = (0, 0, 0), normal: Vector = (0, 0, 1), *, material: int | str = 0, name: str = "plane",
              surface_velocity: Vector | None = None, motion: dict[str, Any] | None = None) -> int:
        """A half space: bodies are where the normal points. With a `surface_velocity` (m/s) it is a conveyor that stays.

        `motion` of any boundary is a dictionary: velocity (m/s); rate (rad/s) about an axis (z) through center (the position of the boundary); start and stop (s);
        an oscillation, amplitude (m, a number is along z) and swing (rad, about the axis) times the sine at this frequency (Hz)
        and phase (rad); surface (m/s), the velocity of a surface that stays; path, rows of time, x, y, z and angle.
        """
        if surface_velocity is not None:
            motion = dict(motion or {}, surface=surface_velocity)
        return self._boundary(lambda b: _native.boundary_plane(b, vec3(point, "point"), vec3(normal, "normal")), name, material,
                              None, None, motion)

    def box_walls(self, half: Vector, *, inside: bool = True, position: Vector = (0, 0, 0), rotation: Vector = (1, 0, 0, 0),
                  material: int | str = 0, name: str = "box", motion: dict[str, Any] | None = None) -> int:
        """Six walls around the bodies, or with `inside=False` a solid block; half extents in m, rotation as w, x, y, z."""
        side = _native.constants["INSIDE" if inside else "OUTSIDE"]
        return self._boundary(lambda b: _native.boundary_box(b, vec3(half, "half"), side), name, material, position, rotation,
                              motion)

    def sphere_wall(self, radius: float, *, inside: bool = True, position: Vector = (0, 0, 0), material: int | str = 0,
                    name: str = "sphere", motion: dict[str, Any] | None = None) -> int:
        """A hollow sphere, or with `inside=False` a solid one."""
        side = _native.constants["INSIDE" if inside else "OUTSIDE"]
        return self._boundary(lambda b: _native.boundary_sphere(b, radius, side), name, material, position, None, motion)

    def revolution(self, profile: Any, *, inside: bool = True, position: Vector = (0, 0, 0), rotation: Vector = (1, 0, 0, 0),
                   material: int | str = 0, name: str = "revolution", motion: dict[str, Any] | None = None) -> int:
        """A surface of revolution about z: corners (radius, height) of its profile, in m. A hopper, a drum, an hourglass."""
        corners = np.ascontiguousarray(profile, float).reshape(-1, 2)
        side = _native.constants["INSIDE" if inside else "OUTSIDE"]
        return self._boundary(lambda b: _native.boundary_revolution(b, corners.ctypes.data, len(corners), side), name,
                              material, position, rotation, motion)

    def mesh(self, path: str | os.PathLike[str] | Mesh | None = None, *, vertices: Any = None, faces: Any = None,
             position: Vector = (0, 0, 0), rotation: Vector = (1, 0, 0, 0), material: int | str = 0, name: str = "mesh",
             motion: dict[str, Any] | None = None) -> int:
        """A mesh from an OBJ, STL, PLY or glTF file, a `Mesh`, or vertices (n, 3) and faces (m, 3), counter-clockwise seen from where
        bodies are."""
        triangles = _mesh.given(path, vertices, faces)
        return self._boundary(triangles._as_boundary, name, material, position, rotation, motion)

    def terrain(self, heights: Any, half: Vector | None = None, *, low: float | None = None, high: float | None = None,
                material: int | str = 0, name: str = "terrain", motion: dict[str, Any] | None = None) -> int:
        """A patch of ground: heights (rows along y, columns along x; m) over [-half, half].

        `heights` may be the path of a grayscale PNG of 8 or 16 bits, whose black is `low` (0) and whose white is `high` (1, m), or of
        a GeoTIFF, which has heights in m and says how far they are apart: `half` may be left out, and with `low` the lowest is
        there. The first row of a picture is at +y, as one sees it.
        """
        if isinstance(heights, (str, os.PathLike)):
            heights, half = heightmap(heights, half, low, high)
        elif high is not None or low is not None:
            raise ValueError("low and high belong to the path of a picture")
        if half is None:
            raise ValueError("half: expected half the lengths of the ground, m")
        grid = np.ascontiguousarray(heights, float)
        if grid.ndim != 2:
            raise ValueError(f"heights: expected a grid, got shape {grid.shape}")
        corner = vec3((half[0], half[1], 0))
        return self._boundary(lambda b: _native.boundary_terrain(b, grid.ctypes.data, grid.shape[1], grid.shape[0], corner),
                              name, material, None, None, motion)

    # --- shapes ---------------------------------------------------------------------------------------------------

    def _shape(self, make: Callable[[Any], None]) -> int:
        shape = _native.Shape()
        make(byref(shape))
        try:
            index: int = _native.add_shape(byref(self._struct), byref(shape))
        except Exception:
            _native.shape_free(byref(shape))
            raise
        return index

    def sphere_shape(self) -> int:
        """The sphere: the scale of a body is its radius. All spheres share it."""
        if self._sphere is None:
            self._sphere = self._shape(_native.shape_sphere)
        return self._sphere

    def shape(self, kind: str, *, radius: float = 0, height: float = 0, length: float = 0, size: Vector = (0, 0, 0)) -> int:
        """A shape by the name and with the sizes that it has in scenes, m: cylinder has radius and height."""
        names = [_native.shape_kind_name(k).decode() for k in range(_native.constants["SHAPE_KINDS"])]
        if kind not in names:
            raise ValueError(f"there is no shape {kind!r}; there are {', '.join(names)}")
        row = _native.ShapeSizes(size=vec3(size, "size"))
        _fill(row, radius=radius, height=height, length=length)
        return self._shape(lambda s: _native.shape_make(s, names.index(kind), byref(row)))

    def box_shape(self, half: Vector) -> int:
        """A box of these half extents, m."""
        return self._shape(lambda s: _native.shape_box(s, vec3(half, "half")))

    def cylinder_shape(self, radius: float, height: float) -> int:
        """A cylinder along z, m."""
        return self._shape(lambda s: _native.shape_cylinder(s, radius, height))

    def capsule_shape(self, radius: float, length: float) -> int:
        """All points within the radius of a segment along z, m."""
        return self._shape(lambda s: _native.shape_capsule(s, radius, length))

    def hull_shape(self, points: Any, *, at_most: int | None = None) -> int:
        """The convex hull of points (n, 3), m, of 64 corners or less; with `at_most`, any points and at most that number of corners,
        those farthest outside first."""
        if at_most is None:
            corners = rows(points, "points")
            return self._shape(lambda s: _native.shape_hull(s, corners.ctypes.data, len(corners)))
        return self._hull_within(points, at_most)[0]

    def _hull_within(self, points: Any, at_most: int) -> tuple[int, float]:
        """A hull of at most this number of corners, and how far outside it leaves one of the points, m."""
        corners, most, beyond = rows(points, "points"), _native.integer(at_most, "at_most"), ctypes.c_double()
        shape = self._shape(lambda s: _native.shape_hull_within(s, corners.ctypes.data, len(corners), most, byref(beyond)))
        return shape, beyond.value

    def compound_shape(self, pieces: Sequence[Any], *, solid: Solid | None = None) -> int:
        """A rigid union of convex pieces, each a tuple of a shape of this world, its position (m), and where they are needed its
        rotation (w, x, y, z) and scale: of a sphere its radius.

        Mass, center and inertia are the sums over the pieces, or those of `solid`, as of `Mesh.solid`.
        """
        row = (_native.Piece * len(pieces))()
        for k, piece in enumerate(pieces):
            self._piece(row[k], k, *piece)
        weighed = None if solid is None else byref(solid._struct())
        return self._shape(lambda s: _native.shape_compound(s, ctypes.addressof(row), len(pieces), weighed))

    def _piece(self, row: Any, number: int, shape: int, position: Vector = (0, 0, 0), rotation: Vector = (1, 0, 0, 0),
               scale: float = 1) -> None:
        if not 0 <= _native.integer(shape, "shape") < self._struct.shape_count:
            raise IndexError(f"piece {number}: there is no shape {shape}")
        row.shape = _native.Shape.from_address(self._struct.shapes + shape * ctypes.sizeof(_native.Shape))
        row.scale, row.pose = real(scale, "scale"), _native.Pose(vec3(position, "position"), _quat(rotation))

    def mesh_shape(self, mesh: str | os.PathLike[str] | Mesh, *, threshold: float = 0.05, at_most: int = 64) -> int:
        """The body of a closed mesh, or of its file: convex pieces by `Mesh.pieces`, of `at_most` corners each, with mass,
        center and inertia of the mesh itself. An open mesh weighs what its pieces do."""
        return _mesh.shape_of(self, _mesh.given(mesh), threshold, at_most)

    def clump_shape(self, centers: Any, radii: Any) -> int:
        """A rigid union of spheres, m."""
        places = rows(centers, "centers")
        spheres = np.zeros(len(places), _native.dtype_of("SandShapeSphere"))
        spheres["center"] = places
        spheres["radius"] = numbers(radii, len(places), "radii")
        return self._shape(lambda s: _native.shape_clump(s, spheres.ctypes.data, len(spheres)))

    # --- bodies ---------------------------------------------------------------------------------------------------

    def add(self, shape: int, position: Vector, *, material: int | str = 0, scale: float = 1, mass: float = 0,
            rotation: Vector = (1, 0, 0, 0), velocity: Vector = (0, 0, 0), spin: Vector = (0, 0, 0), enter: float = 0) -> int:
        """Adds a body: the frame that its shape was described in lies at `position`, rotated by the quaternion w, x, y, z.

        Mass in kg, 0 for that of the material's density; velocity in m/s; spin in rad/s; `enter` in s, when it appears.
        """
        if not 0 <= _native.integer(shape, "shape") < self._struct.shape_count:
            raise IndexError(f"there is no shape {shape}")
        body = _native.default_body()
        body.shape, body.material = _native.integer(shape, "shape"), self._material(material)
        body.scale, body.mass, body.enter = real(scale, "scale"), real(mass, "mass"), real(enter, "enter")
        address = self._struct.shapes + shape * ctypes.sizeof(_native.Shape)
        body.pose = _native.shape_place(address, body.scale, _native.Pose(vec3(position, "position"), _quat(rotation)))
        body.velocity, body.spin = vec3(velocity, "velocity"), vec3(spin, "spin")
        self._reserve(1)
        index: int = _native.add_body(byref(self._struct), byref(body))
        return index

    def add_sphere(self, radius: float, position: Vector, **body: Any) -> int:
        """Adds a sphere; other arguments are those of `add`."""
        return self.add(self.sphere_shape(), position, scale=real(radius, "radius"), **body)

    def add_spheres(self, positions: Any, radii: Any, *, velocities: Any = None, spins: Any = None, masses: Any = None,
                    materials: Any = None, **body: Any) -> range:
        """Adds spheres at positions (n, 3) and returns their numbers. Of the other arrays one row, number or name stands for all.

        `materials` are numbers or names; where they or the rest are not given, what `add` takes holds for all.
        """
        centers = rows(positions, "positions")
        count, first = len(centers), self.body_count
        each: dict[str, Any] = {"velocity": None if velocities is None else vectors(velocities, count, "velocities"),
                                "spin": None if spins is None else vectors(spins, count, "spins"),
                                "mass": None if masses is None else numbers(masses, count, "masses"),
                                "material": self._materials(materials, count)}
        given = {name: values for name, values in each.items() if values is not None}
        sizes = numbers(radii, count, "radii")
        self._reserve(count)
        for k in range(count):
            self.add_sphere(float(sizes[k]), centers[k], **body, **{name: values[k] for name, values in given.items()})
        return range(first, self.body_count)

    def _materials(self, materials: Any, count: int) -> list[int] | None:
        """The number of the material of each of some bodies."""
        if materials is None:
            return None
        names = [materials] * count if isinstance(materials, str) or np.ndim(materials) == 0 else list(materials)
        if len(names) != count:
            raise ValueError(f"materials: expected one or {count}, got {len(names)}")
        found = {name: self._material(name if isinstance(name, str) else int(name)) for name in set(names)}
        return [found[name] for name in names]

    def _reserve(self, bodies: int) -> None:
        """Reserves arrays for more bodies; a world before its first step grows by itself."""

    def add_box(self, half: Vector, position: Vector, **body: Any) -> int:
        """Adds a box with a shape of its own. For many equal ones make one `box_shape`."""
        return self.add(self.box_shape(half), position, **body)

    def add_hull(self, points: Any, position: Vector = (0, 0, 0), **body: Any) -> int:
        """Adds the convex hull of points with a shape of its own. For many equal ones make one `hull_shape`."""
        return self.add(self.hull_shape(points), position, **body)

    def join(self, kind: str, a: int, b: int, anchor: Vector, *, axis: Vector = (0, 0, 1), axis_b: Vector = (1, 0, 0),
             anchor_b: Vector | None = None, low: float = -math.inf, high: float = math.inf, motor_speed: float | None = None,
             motor_position: float | None = None, motor_rate: float | None = None, motor_fastest: float | None = None,
             strength: float = math.inf, stiffness: float = 0, damping: float = 0, rest: float | None = None,
             collide: bool = False, name: str = "") -> int:
        """Joins body b to body a, or to the world with a = -1, where they are now.

        Kinds: ball, hinge, slider, universal, fixed, distance, rod, rope. Limits, motor and spring act on the coordinate of
        hinge, slider and distance. `anchor` is a point of the world; of distance, rod and rope it is the end on a and
        `anchor_b` that on b. A spring rests where the bodies are now, unless `rest` (m, rad) says otherwise. Motors are described by `Joint.set_motor`, which tells them anew: `sim.joints[name]`.
        """
        kinds = [_native.joint_kind_name(k).decode() for k in range(_native.constants["JOINT_KINDS"])]
        if kind not in kinds:
            raise ValueError(f"{kind}: there is no such joint{hint(kind, kinds)}")
        joint = _native.default_joint()
        joint.kind, joint.collide = kinds.index(kind), collide
        joint.a, joint.b = _native.integer(a, "body"), _native.integer(b, "body")
        joint.anchor, joint.anchor_b = vec3(anchor, "anchor"), vec3(anchor if anchor_b is None else anchor_b, "anchor_b")
        joint.axis, joint.axis_b = vec3(axis, "axis"), vec3(axis_b, "axis_b")
        joint.drive.low, joint.drive.high, joint.drive.strength = low, high, strength
        joint.drive.stiffness, joint.drive.damping = stiffness, damping
        if rest is not None:
            joint.drive.rest = real(rest, "rest")
        joint.name = name.encode()
        motor(joint.drive, position=motor_position, speed=motor_speed, rate=motor_rate, fastest=motor_fastest)
        index: int = _native.add_joint(byref(self._struct), byref(joint))
        return index

    def keep_apart(self, a: int, b: int) -> None:
        """Lets two bodies pass through each other, as bodies that a joint holds do."""
        _native.keep_apart(byref(self._struct), _native.integer(a, "body"), _native.integer(b, "body"))

    def load(self, path: str | os.PathLike[str], *, at: Vector = (0, 0, 0), rotation: Vector = (1, 0, 0, 0), material: int | None = None,
             fixed: bool = False, self_collide: bool = False, decompose: bool = False, prefix: str = "") -> Model:
        """Adds the machine of a URDF, MJCF or OpenUSD file: its bodies, joints and ground, with the frame of the file at `at`.

        Joints keep their names, behind `prefix` where several machines have the same, and have motors of the file's strength:
        `sim.joints["elbow"].set_motor(position=0.3)`.
        `fixed` joins the first body to the world. Links of one machine pass through each other unless `self_collide`. A mesh
        that moves collides as its hull, or with `decompose` as its `Mesh.pieces`. The `Model` names bodies and joints, and says
        what of the file was left out; docs/python.md has what is read.
        """
        from . import model
        return model.load(self, path, at, rotation, material, fixed, self_collide, decompose, prefix)

    def outlet(self, *, lower: Vector | None = None, upper: Vector | None = None, point: Vector | None = None,
               normal: Vector | None = None, name: str = "outlet") -> int:
        """Takes bodies out of the world and counts them: in a box from lower to upper, or behind a plane."""
        if lower is not None and upper is not None:
            outlet = _native.outlet_box(vec3(lower, "lower"), vec3(upper, "upper"))
        elif point is not None and normal is not None:
            outlet = _native.outlet_plane(vec3(point, "point"), vec3(normal, "normal"))
        else:
            raise ValueError("an outlet is a box (lower, upper) or a plane (point, normal)")
        outlet.name = name.encode()
        index: int = _native.add_outlet(byref(self._struct), byref(outlet))
        return index

    def probe(self, kind: str, name: str, *, point: Vector | None = None, normal: Vector = (0, 0, 1), radius: float | None = None,
              outlet: int | None = None, boundary: int | None = None, body: int | None = None, lower: Vector | None = None,
              upper: Vector | None = None, cells: Sequence[int] | None = None, line: tuple[Vector, Vector] | None = None,
              width: float = 0, bins: int = 1, rate: float = 0, least_force: float | None = None) -> int:
        """Adds a probe, which `Simulation.probes` then reads.

        Kinds: flow through a plane (point, normal, radius of a disk) or an outlet; force on a boundary or a body; density,
        velocity, stress and coordination in a box (lower, upper, cells along each axis) or along a line (line, width, bins);
        surface; center; energy; path of a body. `rate` is in samples per second, 0 for every step.
        """
        made = probe.make(kind, name, point, normal, radius=radius, outlet=outlet, boundary=boundary, body=body, lower=lower,
                          upper=upper, cells=cells, line=line, width=width, bins=bins, rate=rate, least_force=least_force)
        index: int = _native.add_probe(byref(self._struct), byref(made))
        return index

    def scatter(self, seed: int, share: float = 0.001) -> None:
        """Moves every body that no joint holds along each axis by a random part of up to `share` of its size, as the seeds of a
        `Batch` do."""
        if not (isinstance(seed, (int, np.integer)) and 0 <= seed < 2**64):
            raise _native.SandglassError(f"seed {seed}: expected a number of 64 bits, at least 0")
        _native.world_scatter(byref(self._struct), int(seed), real(share, "share"))

    # --- handing over ---------------------------------------------------------------------------------------------

    def simulate(self, solver: str | None = None, *, threads: int = 0, precision: str = "float", backend: str = "cpu",
                 **settings: Any) -> Simulation:
        """Hands the world over to a simulation; arguments are those of `Simulation.load`. This world cannot be used afterwards."""
        from .simulation import Simulation

        try:
            return Simulation._of_world(self._struct, _native.default_solve(), None, "world",
                                        dict(settings, solver=solver, threads=threads, precision=precision, backend=backend))
        finally:
            self._taken = not self._memory.step
