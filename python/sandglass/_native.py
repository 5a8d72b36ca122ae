# SPDX-License-Identifier: MIT
"""The C library: where it is, what its structs look like, and its functions as Python calls them.

Nothing here knows an offset. The library has a table of its structs that the compiler filled (python/layout.c); the ctypes
structs and the numpy types of this module are made from it.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from typing import Any

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))


class SandglassError(RuntimeError):
    """Something the library refused or could not do, in one sentence."""


def _path(name: str) -> str:
    """A library beside the package, or, from the sources, in the build folder that SANDGLASS_LIBRARY names."""
    return os.path.join(os.environ.get("SANDGLASS_LIBRARY") or FOLDER, name)


def _load(name: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(_path(name))
    except OSError as error:
        raise ImportError(f"{error}; from the sources, build the target sandglass_python and set SANDGLASS_LIBRARY "
                          "to the build folder") from None


# --- layouts ------------------------------------------------------------------------------------------------------


class _LayoutRow(ctypes.Structure):
    _fields_ = [("structure", c_char_p), ("field", c_char_p), ("offset", c_size_t), ("size", c_size_t),
                ("count", c_size_t), ("type", c_char_p)]


_LETTERS: dict[str, Any] = {"d": c_double, "i": c_int, "I": ctypes.c_uint, "?": c_bool, "Q": c_uint64,
                            "q": ctypes.c_int64, "B": ctypes.c_uint8, "H": ctypes.c_uint16, "P": c_void_p}


def _read_layouts(library: ctypes.CDLL) -> dict[str, tuple[int, list[_LayoutRow]]]:
    """The table of the library: of each struct its size and its fields."""
    rows = ctypes.cast(ctypes.addressof(ctypes.c_char.in_dll(library, "sand_layout")), POINTER(_LayoutRow))
    layouts: dict[str, tuple[int, list[_LayoutRow]]] = {}
    index = 0
    while rows[index].structure:
        row, name = rows[index], rows[index].structure.decode()
        if row.field is None:
            layouts[name] = (row.size, [])
        else:
            layouts[name][1].append(row)
        index += 1
    return layouts


def _field_type(row: _LayoutRow) -> Any:
    kind = row.type.decode()
    if kind == "s":
        return ctypes.c_char * row.count
    single = _LETTERS.get(kind) or _struct(kind)
    return single if row.count == 1 else single * row.count


def _struct(name: str) -> Any:
    """The ctypes struct of a C struct; bytes between its fields that the table does not name are left alone."""
    if name in _structs:
        return _structs[name]
    size, rows = _layouts[name]
    fields: list[tuple[str, Any]] = []
    at = 0
    for row in sorted(rows, key=lambda row: row.offset):
        if row.offset > at:
            fields.append((f"_unnamed_{at}", ctypes.c_char * (row.offset - at)))
        fields.append((row.field.decode(), _field_type(row)))
        at = row.offset + row.size
    if size > at:
        fields.append((f"_unnamed_{at}", ctypes.c_char * (size - at)))
    made = type(name, (ctypes.Structure,), {"_fields_": fields})
    for row in rows:
        descriptor = getattr(made, row.field.decode())
        if (descriptor.offset, descriptor.size) != (row.offset, row.size):
            raise ImportError(f"ctypes lays {name}.{row.field.decode()} out in another way than the compiler")
    if ctypes.sizeof(made) != size:
        raise ImportError(f"ctypes gives {name} another size than the compiler")
    _structs[name] = made
    return made


def dtype_of(name: str) -> np.dtype[Any]:
    """The numpy type of a C struct: vectors are arrays of three, texts and pointers are left out."""
    size, rows = _layouts[name]
    names: list[str] = []
    formats: list[Any] = []
    offsets: list[int] = []
    for row in rows:
        kind = row.type.decode()
        if kind in ("P", "s"):
            continue
        names.append(row.field.decode())
        offsets.append(row.offset)
        if kind in ("SandVec3", "SandQuat"):
            formats.append(("f8", (row.size // 8,)))
        elif kind in _LETTERS:
            single = np.dtype(_LETTERS[kind])
            formats.append(single if row.count == 1 else (single, (row.count,)))
        else:
            formats.append(dtype_of(kind))
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


class _Constant(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_int)]


def _read_constants(library: ctypes.CDLL) -> dict[str, int]:
    """The constants of the headers, without their prefix SAND_."""
    rows = ctypes.cast(ctypes.addressof(ctypes.c_char.in_dll(library, "sand_constants")), POINTER(_Constant))
    constants: dict[str, int] = {}
    while rows[len(constants)].name:
        row = rows[len(constants)]
        constants[row.name.decode().removeprefix("SAND_")] = row.value
    return constants


def _check_processor(needs_avx2: bool, about: str = "/proc/cpuinfo") -> None:
    """A library for newer processors would end an older one's process by an illegal instruction, without a sentence."""
    if not needs_avx2:
        return
    try:
        with open(about, encoding="ascii", errors="replace") as file:
            lines = [line.split() for line in file if line.startswith("flags")]
    except OSError:
        return
    if lines and not {"avx2", "fma"} <= set(lines[0]):
        raise ImportError("this package is compiled for processors with AVX2 and FMA (x86-64-v3), and this one lacks them; "
                          "build it here from the sources: pip install ./python -C cmake.define.SAND_WHEEL=OFF")


library = _load("libsandglass.so")
constants = _read_constants(library)
_check_processor(constants["PYTHON_AVX2"] != 0)
_layouts = _read_layouts(library)
_structs: dict[str, Any] = {}

Vec3, Quat, Pose, Error = (_struct(name) for name in ("SandVec3", "SandQuat", "SandPose", "SandError"))
SolveDef, SimulationDef = _struct("SandSolveDef"), _struct("SandSimulationDef")
Problem, Solution, Solver = _struct("SandProblem"), _struct("SandSolution"), _struct("SandSolver")
FrictionRow, BoundsRow = _struct("SandFrictionRow"), _struct("SandBoundsRow")
World, BodyDef, JointDef = _struct("SandWorld"), _struct("SandBodyDef"), _struct("SandJointDef")
Shape, Boundary, Outlet = _struct("SandShape"), _struct("SandBoundary"), _struct("SandOutlet")
ShapeSizes = _struct("SandShapeSizes")
Piece, Solid, MeshData = _struct("SandPiece"), _struct("SandSolid"), _struct("SandMeshData")
Joint, Material, Pair = _struct("SandJoint"), _struct("SandMaterial"), _struct("SandPair")
JointState, Forces, Motion = _struct("SandJointState"), _struct("SandForces"), _struct("SandMotion")
Probe = _struct("SandProbe")
Scene, SceneOptions, SceneEntry = _struct("SandScene"), _struct("SandSceneOptions"), _struct("SandSceneEntry")
Counters, Profile, Energy = _struct("SandCounters"), _struct("SandProfile"), _struct("SandEnergy")
DeviceArrays = _struct("SandDeviceArrays")
DeviceInfo, StateInfo, MatrixDef = _struct("SandDeviceInfo"), _struct("SandStateInfo"), _struct("SandMatrixDef")
ExportDef = _struct("SandExportDef")
BatchDef, BatchBodies, BatchJoints = _struct("SandBatchDef"), _struct("SandBatchBodies"), _struct("SandBatchJoints")
PictureDef, Studio = _struct("SandPictureDef"), _struct("SandStudio")

BODY, CONTACT, CURVE = dtype_of("SandProblemBody"), dtype_of("SandContact"), dtype_of("SandCurvePoint")
JOINT_ROW, MOTION_POINT = dtype_of("SandJointRow"), dtype_of("SandMotionPoint")
RAY, HIT, CONTACT_EVENT = dtype_of("SandRay"), dtype_of("SandHit"), dtype_of("SandContactEvent")

# --- functions ----------------------------------------------------------------------------------------------------


def _refuse(error: Any) -> None:
    raise SandglassError(error.text.decode(errors="replace"))


class Function:
    """A function of the library. `fails` is the result that stands for a failure, with a sentence in its last argument."""

    def __init__(self, source: ctypes.CDLL, name: str, result: Any, *arguments: Any, fails: Any = ...) -> None:
        self._name = name.removeprefix("sand_")
        self._call = getattr(source, name)
        self._call.restype = result
        self._fails = fails
        self._call.argtypes = [*arguments, POINTER(Error)] if fails is not ... else list(arguments)

    def _pass(self, *arguments: Any) -> Any:
        try:
            return self._call(*arguments)
        except ctypes.ArgumentError as error:
            raise TypeError(f"{self._name} takes numbers and texts of the kinds that its description names: {error}") from None

    def __call__(self, *arguments: Any) -> Any:
        if self._fails is ...:
            return self._pass(*arguments)
        error = Error()
        result = self._pass(*arguments, byref(error))
        if result == self._fails:
            _refuse(error)
        return result


def _plain(name: str, result: Any, *arguments: Any) -> Function:
    return Function(library, name, result, *arguments)


def _checked(name: str, *arguments: Any) -> Function:
    return Function(library, name, c_bool, *arguments, fails=False)


def _index(name: str, *arguments: Any) -> Function:
    return Function(library, name, c_int, *arguments, fails=-1)


def _pointer(name: str, *arguments: Any) -> Function:
    return Function(library, name, c_void_p, *arguments, fails=None)


version = _plain("sand_version", c_char_p)
enable = _plain("sand_python_enable", None)
free = _plain("sand_free", None, c_void_p)
status_text = _plain("sand_status_text", c_char_p, c_int)

# Solvers.
solver_count = _plain("sand_solver_count", c_int)
solver_find = _plain("sand_solver_find", c_int, c_char_p)
solver_refuse = _checked("sand_solver_refuse", c_char_p, c_char_p)
friction_find = _plain("sand_friction_find", c_int, c_char_p)
friction_refuse = _checked("sand_friction_refuse", c_char_p, c_char_p)
default_solve = _plain("sand_default_solve", SolveDef)
solve_choose = _plain("sand_solve_choose", None, POINTER(SolveDef), c_int)
solve_check = _checked("sand_solve_check", POINTER(SolveDef))
solve_set = _checked("sand_solve_set", POINTER(SolveDef), c_char_p, c_char_p)

# Problems.
problem_free = _plain("sand_problem_free", None, POINTER(Problem))
problem_copy = _checked("sand_problem_copy", POINTER(Problem), c_void_p)
problem_check = _checked("sand_problem_check", POINTER(Problem), c_char_p)
problem_save = _checked("sand_problem_save", POINTER(Problem), c_char_p)
problem_open = _checked("sand_problem_open", POINTER(Problem), c_char_p)
problem_of_matrix = _checked("sand_python_matrix", POINTER(Problem), POINTER(MatrixDef))
solution_free = _plain("sand_solution_free", None, POINTER(Solution))
cpu_create = _pointer("sand_cpu_create", c_int, c_int)
cpu_free = _plain("sand_cpu_free", None, c_void_p)
cpu_solve = _checked("sand_cpu_solve", c_void_p, POINTER(Problem), POINTER(SolveDef), POINTER(Solution))

# Worlds.
world_init = _plain("sand_world_init", None, POINTER(World))
default_material = _plain("sand_default_material", Material)
world_copy = _checked("sand_world_copy", POINTER(World), POINTER(World))
world_free = _plain("sand_world_free", None, POINTER(World))
world_hash = _plain("sand_world_hash", c_uint64, c_void_p)
add_material = _index("sand_world_add_material", POINTER(World), POINTER(Material))
set_pair = _plain("sand_world_set_pair", None, POINTER(World), c_int, c_int, POINTER(Pair))
add_shape = _index("sand_world_add_shape", POINTER(World), POINTER(Shape))
add_boundary = _index("sand_world_add_boundary", POINTER(World), POINTER(Boundary))
add_body = _index("sand_world_add_body", POINTER(World), POINTER(BodyDef))
add_joint = _index("sand_world_add_joint", POINTER(World), POINTER(JointDef))
keep_apart = _checked("sand_world_keep_apart", POINTER(World), c_int, c_int)
add_outlet = _index("sand_world_add_outlet", POINTER(World), POINTER(Outlet))
default_body = _plain("sand_default_body", BodyDef)
default_joint = _plain("sand_default_joint", JointDef)
find_joint = _plain("sand_world_find_joint", c_int, POINTER(World), c_char_p)
look_name = _plain("sand_look_name", c_char_p, c_int)
joint_kind_name = _plain("sand_joint_kind_name", c_char_p, c_int)
add_probe = _index("sand_world_add_probe", POINTER(World), POINTER(Probe))
probe_flow = _plain("sand_probe_flow", Probe, Vec3, Vec3)
probe_of = _plain("sand_probe_of", Probe, c_int)
probe_box = _plain("sand_probe_box", None, POINTER(Probe), Vec3, Vec3)
probe_line = _plain("sand_probe_line", None, POINTER(Probe), Vec3, Vec3, c_double, c_int)
probe_kind_name = _plain("sand_probe_kind_name", c_char_p, c_int)
probe_cells = _plain("sand_probe_cells", c_int, POINTER(Probe))
probe_columns = _plain("sand_probe_columns", c_int, POINTER(Probe))
probe_column = _plain("sand_probe_column", c_char_p, POINTER(Probe), c_int)
probe_cell_center = _plain("sand_probe_cell_center", Vec3, POINTER(Probe), c_int)
probe_sampled = _plain("sand_probe_sampled", c_bool, POINTER(World), c_int)
probe_values = _plain("sand_probe_values", c_void_p, POINTER(World), c_int)
outlet_box = _plain("sand_outlet_box", Outlet, Vec3, Vec3)
outlet_plane = _plain("sand_outlet_plane", Outlet, Vec3, Vec3)
shape_sphere = _checked("sand_shape_sphere", POINTER(Shape))
shape_kind_name = _plain("sand_shape_kind_name", c_char_p, c_int)
shape_make = _checked("sand_shape_make", POINTER(Shape), c_int, POINTER(ShapeSizes))
shape_clump = _checked("sand_shape_clump", POINTER(Shape), c_void_p, c_int)
shape_box = _checked("sand_shape_box", POINTER(Shape), Vec3)
shape_cylinder = _checked("sand_shape_cylinder", POINTER(Shape), c_double, c_double)
shape_capsule = _checked("sand_shape_capsule", POINTER(Shape), c_double, c_double)
shape_hull = _checked("sand_shape_hull", POINTER(Shape), c_void_p, c_int)
shape_hull_within = _checked("sand_shape_hull_within", POINTER(Shape), c_void_p, c_int, c_int, POINTER(c_double))
shape_compound = _checked("sand_shape_compound", POINTER(Shape), c_void_p, c_int, POINTER(Solid))
solid_of_mesh = _checked("sand_solid_of_mesh", POINTER(Solid), POINTER(MeshData))
mesh_data_read = _checked("sand_mesh_data_read", POINTER(MeshData), c_char_p)
mesh_data_free = _plain("sand_mesh_data_free", None, POINTER(MeshData))
shape_place = _plain("sand_shape_place", Pose, c_void_p, c_double, Pose)
shape_free = _plain("sand_shape_free", None, POINTER(Shape))
boundary_plane = _checked("sand_boundary_plane", POINTER(Boundary), Vec3, Vec3)
boundary_box = _checked("sand_boundary_box", POINTER(Boundary), Vec3, c_int)
boundary_sphere = _checked("sand_boundary_sphere", POINTER(Boundary), c_double, c_int)
boundary_revolution = _checked("sand_boundary_revolution", POINTER(Boundary), c_void_p, c_int, c_int)
boundary_mesh = _checked("sand_boundary_mesh", POINTER(Boundary), c_void_p, c_int, c_void_p, c_int)
boundary_mesh_file = _checked("sand_boundary_mesh_file", POINTER(Boundary), c_char_p)
boundary_terrain = _checked("sand_boundary_terrain", POINTER(Boundary), c_void_p, c_int, c_int, Vec3)
boundary_path = _checked("sand_boundary_path", c_void_p, c_void_p, c_int)
boundary_pose = _plain("sand_boundary_pose", Pose, c_void_p, c_double)
boundary_center = _plain("sand_boundary_center", Vec3, c_void_p, c_double)
set_motion = _plain("sand_world_set_motion", None, c_void_p, c_int, POINTER(Motion))
remove_body = _checked("sand_world_remove_body", c_void_p, c_int)
reserve = _checked("sand_python_reserve", c_void_p, c_int, POINTER(c_void_p), POINTER(c_int))
boundary_free = _plain("sand_boundary_free", None, POINTER(Boundary))

# Scenes.
scenes_use = _checked("sand_scenes_use", c_char_p)
scenes_folder = _plain("sand_scenes_folder", c_char_p)
scenes_list = _checked("sand_scenes_list", POINTER(POINTER(SceneEntry)), POINTER(c_int))
scene_open = _checked("sand_scene_open", POINTER(Scene), c_char_p, POINTER(SceneOptions))
scene_open_text = _checked("sand_scene_open_text", POINTER(Scene), c_char_p, c_size_t, c_char_p, POINTER(SceneOptions))
scene_knob = _plain("sand_scene_knob", c_int, POINTER(Scene), c_char_p)
scene_set_knob = _checked("sand_scene_set_knob", POINTER(Scene), c_int, c_double)
scene_build = _checked("sand_python_build", POINTER(Scene), c_int)
scene_free = _plain("sand_scene_free", None, POINTER(Scene))

# Simulations.
MessageCallback = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
backend = _checked("sand_python_backend", c_char_p, POINTER(SolveDef), c_int, POINTER(c_void_p))
backend_count = _plain("sand_backend_count", c_int)
backend_name = _plain("sand_backend_name", c_char_p, c_int)
backend_find = _pointer("sand_backend_find", c_char_p)
backend_describe = _checked("sand_backend_describe", c_void_p, POINTER(DeviceInfo))
on_host = _plain("sand_python_on_host", c_bool, c_void_p)
default_simulation = _plain("sand_default_simulation", SimulationDef)
simulation_create = _pointer("sand_simulation_create", POINTER(World), POINTER(SimulationDef))
simulation_free = _plain("sand_simulation_free", None, c_void_p)
on_message = _plain("sand_simulation_on_message", None, c_void_p, MessageCallback, c_void_p)
simulation_step = _checked("sand_simulation_step", c_void_p)
simulation_build = _checked("sand_simulation_build", c_void_p)
simulation_fetch = _checked("sand_simulation_fetch", c_void_p)
fetch_contacts = _checked("sand_simulation_fetch_contacts", c_void_p)
device_arrays = _checked("sand_simulation_device_arrays", c_void_p, POINTER(DeviceArrays))
release_contacts = _plain("sand_simulation_release_contacts", None, c_void_p, POINTER(Problem), POINTER(Solution))
simulation_world = _plain("sand_simulation_world", POINTER(World), c_void_p)
simulation_problem = _plain("sand_simulation_problem", POINTER(Problem), c_void_p)
simulation_solution = _plain("sand_simulation_solution", POINTER(Solution), c_void_p)
solved_contacts = _plain("sand_simulation_solved_contacts", c_int, c_void_p)
joint_rows = _plain("sand_simulation_joint_rows", c_int, c_void_p, c_void_p, c_int)
simulation_order = _plain("sand_simulation_order", c_void_p, c_void_p)
simulation_residuals = _pointer("sand_simulation_residuals", c_void_p)
simulation_counters = _plain("sand_simulation_counters", POINTER(Counters), c_void_p)
simulation_profile = _plain("sand_simulation_profile", POINTER(Profile), c_void_p)
simulation_energy = _plain("sand_simulation_energy", Energy, c_void_p)
simulation_change = _plain("sand_simulation_change", POINTER(World), c_void_p)
change_bodies = Function(library, "sand_simulation_change_bodies", c_void_p, c_void_p, fails=None)
apply_force = _checked("sand_simulation_apply_force", c_void_p, POINTER(Forces))
apply_device_force = _checked("sand_simulation_apply_device_force", c_void_p, c_void_p, c_void_p)
read_joint = _checked("sand_simulation_read_joint", c_void_p, c_int, POINTER(JointState))
simulation_motor = _plain("sand_simulation_motor", c_double, c_void_p, c_int)
set_solve = _checked("sand_simulation_set_solve", c_void_p, POINTER(SolveDef))
want_curve = _plain("sand_simulation_want_curve", None, c_void_p, c_bool)
simulation_save = _checked("sand_simulation_save", c_void_p, POINTER(c_void_p), POINTER(c_size_t))
simulation_restore = _checked("sand_simulation_restore", c_void_p, c_char_p, c_size_t)
state_info = _checked("sand_python_state", c_char_p, c_size_t, c_char_p, POINTER(StateInfo))
raycast = _checked("sand_simulation_raycast", c_void_p, c_void_p, c_int, c_void_p)
closest = _checked("sand_simulation_closest", c_void_p, c_void_p, c_int, c_double, c_void_p)
overlap = _index("sand_simulation_overlap", c_void_p, POINTER(Shape), c_double, Pose, c_void_p, c_int)
contact_forces = _checked("sand_simulation_contact_forces", c_void_p, c_void_p, c_void_p)
boundary_forces = _checked("sand_simulation_boundary_forces", c_void_p, c_void_p, c_void_p)
keep_events = _checked("sand_simulation_keep_events", c_void_p, c_bool)
contact_events = _plain("sand_simulation_contact_events", c_int, c_void_p, c_void_p, c_int)
BatchMessageCallback = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)
default_batch = _plain("sand_default_batch", BatchDef)
world_scatter = _plain("sand_world_scatter", None, POINTER(World), c_uint64, c_double)
batch_create = _pointer("sand_batch_create", POINTER(World), POINTER(BatchDef))
batch_of_worlds = _pointer("sand_batch_of_worlds", POINTER(World), POINTER(BatchDef))
batch_free = _plain("sand_batch_free", None, c_void_p)
batch_simulation = _plain("sand_batch_simulation", c_void_p, c_void_p, c_int)
batch_on_message = _plain("sand_batch_on_message", None, c_void_p, BatchMessageCallback, c_void_p)
batch_step = _checked("sand_batch_step", c_void_p, c_void_p, c_int)
batch_reset = _checked("sand_batch_reset", c_void_p, c_void_p, c_void_p)
batch_restore = _checked("sand_batch_restore", c_void_p, c_void_p, c_char_p, c_size_t)
batch_keep_start = _checked("sand_batch_keep_start", c_void_p, c_void_p)
batch_body_count = _plain("sand_batch_body_count", c_int, c_void_p)
batch_joint_count = _plain("sand_batch_joint_count", c_int, c_void_p)
batch_read_bodies = _checked("sand_batch_read_bodies", c_void_p, c_void_p, c_int, POINTER(BatchBodies))
batch_read_joints = _checked("sand_batch_read_joints", c_void_p, c_void_p, c_int, POINTER(BatchJoints))
batch_read_probe = _checked("sand_batch_read_probe", c_void_p, c_int, c_void_p)
batch_set_targets = _checked("sand_batch_set_targets", c_void_p, c_void_p, c_void_p, c_int, c_void_p)
batch_apply_force = _checked("sand_batch_apply_force", c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_void_p)
default_export = _plain("sand_default_export", ExportDef, c_char_p)
export_open = _pointer("sand_export_open", c_void_p, POINTER(ExportDef))
export_step = _checked("sand_export_step", c_void_p)
export_close = _checked("sand_export_close", c_void_p)
device_name = _plain("sand_simulation_device_name", c_char_p, c_void_p)


class Pictures:
    """The renderer, in a library of its own: it needs EGL, and nothing else does. Loaded with the first picture."""

    def __init__(self) -> None:
        try:
            source = ctypes.CDLL(_path("libsandglass_picture.so"))
        except OSError as error:
            raise SandglassError(f"no pictures: {error}; on Debian they need libegl1, libegl-mesa0 and "
                                 "libgl1-mesa-dri") from None
        self.default = Function(source, "sand_default_picture", PictureDef)
        self.create = Function(source, "sand_picture_create", c_void_p, c_void_p, Vec3, Vec3, c_void_p, fails=None)
        self.draw = Function(source, "sand_picture_draw", c_bool, c_void_p, c_void_p, POINTER(PictureDef), c_void_p,
                             fails=False)
        self.measure = Function(source, "sand_picture_measure", c_bool, c_void_p, c_void_p, POINTER(PictureDef), c_void_p,
                                c_void_p, c_void_p, fails=False)
        self.free = Function(source, "sand_picture_free", None, c_void_p)
        self.path = Function(source, "sand_picture_path", c_bool, c_void_p, c_void_p, c_int, c_double, c_void_p,
                             fails=False)


enable()
if os.path.isdir(os.path.join(FOLDER, "scenes")):
    scenes_use(os.path.join(FOLDER, "scenes").encode())


def integer(value: Any, what: str) -> int:
    """A whole number as an int of C; one that does not fit would lose its upper bits without a word."""
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        raise SandglassError(f"{what} {str(value)[:40]}: expected a whole number of 32 bits") from None
    if whole != value or not -2**31 <= whole < 2**31:
        raise SandglassError(f"{what} {str(value)[:40]}: expected a whole number of 32 bits")
    return whole


def real(value: Any, what: str) -> float:
    """A number as a double of C."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what}: expected a number, got {str(value)[:40]}") from None


def reals(values: Any, count: int, what: str) -> list[float]:
    """A list of `count` numbers."""
    try:
        found = [float(value) for value in values]
    except (TypeError, ValueError):
        found = []
    if len(found) != count:
        raise ValueError(f"{what}: expected {count} numbers, got {str(values)[:40]}")
    return found


def vec3(values: Any, what: str = "a vector") -> Any:
    """Three numbers as a vector of the library."""
    return Vec3(*reals(values, 3, what))


def text(pointer: int | None) -> str:
    """The text that a pointer of the library leads to."""
    return ctypes.string_at(pointer).decode() if pointer else ""


def precision(name: str) -> int:
    """The number of a precision, float or double."""
    if name not in ("float", "double"):
        raise SandglassError(f"precision {name}: expected float or double")
    return constants[name.upper()]


def address(raw: bytes) -> int | None:
    """The address of a text, which the caller keeps alive."""
    return ctypes.cast(ctypes.c_char_p(raw), c_void_p).value
