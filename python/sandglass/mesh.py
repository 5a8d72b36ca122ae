# SPDX-License-Identifier: MIT
"""Meshes: triangles from files or arrays, the solid that they enclose, and convex pieces of it, by CoACD where it takes more than one."""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
from ctypes import byref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _native
from ._arrays import Array, rows, view
from ._owned import Declared

if TYPE_CHECKING:
    from .world import World

ENDINGS = (".obj", ".stl", ".ply", ".gltf", ".glb")
_log = logging.getLogger("sandglass")
_CONVEX = 1e-3  # a mesh that lacks at most this part of the volume of its hull is taken for convex


class Solid(NamedTuple):
    """What a solid weighs: volume (m^3), center of mass (m), and the inertia tensor about it at density 1 (m^5), as rows."""

    volume: float
    center: Array
    inertia: Array

    def _struct(self) -> Any:
        tensor = np.asarray(self.inertia, float)
        if tensor.shape != (3, 3):
            raise ValueError(f"inertia: expected shape (3, 3), got {tensor.shape}")
        return _native.Solid(_native.real(self.volume, "volume"), _native.vec3(self.center, "center"),
                             _native.vec3(tensor.diagonal()), _native.vec3((tensor[0, 1], tensor[0, 2], tensor[1, 2])))


class Mesh(Declared):
    """Triangles: `vertices` (n, 3), in m, and `faces` (m, 3), three of them each, counter-clockwise seen from outside."""

    vertices: Array
    faces: Array

    def __init__(self, vertices: Any, faces: Any) -> None:
        self.vertices = rows(vertices, "vertices")
        whole = np.asarray(faces)
        if whole.size == 0 or whole.ndim != 2 or whole.shape[1] != 3 or not np.issubdtype(whole.dtype, np.integer):
            raise ValueError(f"faces: expected whole numbers of shape (m, 3), got {whole.dtype} {whole.shape}")
        if whole.min() < 0 or whole.max() >= len(self.vertices):
            raise ValueError(f"faces: expected vertices from 0 to {len(self.vertices) - 1}, got {whole.min()} to {whole.max()}")
        self.faces = np.ascontiguousarray(whole, np.int32)
        self._path: str | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Mesh:
        """Reads an OBJ, STL, PLY, glTF or GLB file."""
        data = _native.MeshData()
        _native.mesh_data_read(byref(data), os.fsencode(path))
        try:
            vertices = view(data.vertices, float, (data.vertex_count, 3), data).copy()
            faces = view(data.faces, np.int32, (data.face_count, 3), data).copy()
        finally:
            _native.mesh_data_free(byref(data))
        mesh = cls(vertices, faces)
        mesh._path = os.path.abspath(os.fspath(path))
        return mesh

    def __repr__(self) -> str:
        return f"<Mesh of {len(self.vertices)} vertices and {len(self.faces)} triangles>"

    def scaled(self, scale: Any) -> Mesh:
        """The mesh with lengths multiplied by one number, or by three along the axes; mirrored, it is turned back outside out."""
        factors = np.broadcast_to(np.asarray(scale, float), 3)
        made = Mesh(self.vertices * factors, self.faces[:, ::-1] if factors.prod() < 0 else self.faces)
        made._path = self._path
        return made

    def _data(self) -> Any:
        return _native.MeshData(len(self.vertices), len(self.faces), self.vertices.ctypes.data, self.faces.ctypes.data, None)

    def _as_boundary(self, boundary: Any) -> None:
        _native.boundary_mesh(boundary, self.vertices.ctypes.data, len(self.vertices), self.faces.ctypes.data, len(self.faces))

    @property
    def solid(self) -> Solid:
        """The solid that it encloses. A mesh that is open, or inside out, is refused."""
        found = _native.Solid()
        _native.solid_of_mesh(byref(found), byref(self._data()))
        m, p = found.moments, found.products
        tensor = np.array([(m.x, p.x, p.y), (p.x, m.y, p.z), (p.y, p.z, m.z)])
        return Solid(found.volume, np.array([found.center.x, found.center.y, found.center.z]), tensor)

    def pieces(self, *, threshold: float = 0.05) -> list[Array]:
        """The points of convex pieces: of the mesh itself where it is convex, else of a decomposition by CoACD.

        `threshold` is how concave a piece may be, from 0.01 (many pieces) to 1. What CoACD finds is kept beside the file of the
        mesh, in FILE.pieces.npz, as long as neither changes.
        """
        if _is_convex(self):
            return [self.vertices]
        key = hashlib.sha256(self.vertices.tobytes() + self.faces.tobytes() + repr(float(threshold)).encode()).hexdigest()
        kept = None if self._path is None else self._path + ".pieces.npz"
        found = _kept_pieces(kept, key)
        if found is None:
            found = _decompose(self, threshold)
            _keep_pieces(kept, key, found)
        return found


def _is_convex(mesh: Mesh) -> bool:
    """Whether a mesh encloses all of its hull; one that is open has no volume to compare."""
    shape = _native.Shape()
    points = mesh.vertices
    try:
        volume = mesh.solid.volume
    except _native.SandglassError:
        return False
    _native.shape_hull_within(byref(shape), points.ctypes.data, len(points), 64, None)
    whole = shape.volume
    _native.shape_free(byref(shape))
    return bool(volume >= (1 - _CONVEX) * whole)


def _kept_pieces(path: str | None, key: str) -> list[Array] | None:
    """The pieces of a file that was kept for this mesh; None where there is none."""
    if path is None or not os.path.exists(path):
        return None
    try:
        with np.load(path, allow_pickle=False) as kept:
            if str(kept["key"]) != key:
                return None
            return [rows(kept[f"piece_{k}"], "points") for k in range(int(kept["count"]))]
    except (OSError, ValueError, KeyError, EOFError) as error:
        _log.warning("%s is damaged and is made anew: %s", path, error)
        return None


def _keep_pieces(path: str | None, key: str, pieces: list[Array]) -> None:
    if path is None:
        return
    try:
        entries: dict[str, Any] = {f"piece_{k}": points for k, points in enumerate(pieces)}
        np.savez(path, key=key, count=len(pieces), **entries)
    except OSError as error:
        _log.warning("the convex pieces cannot be kept in %s: %s", path, error)


def _decompose(mesh: Mesh, threshold: float) -> list[Array]:
    try:
        coacd: Any = importlib.import_module("coacd")
    except ImportError:
        raise _native.SandglassError("this mesh is not convex, and to cut it into convex pieces takes CoACD: pip install coacd") from None
    if not 0.01 <= threshold <= 1:
        raise ValueError(f"threshold {threshold}: expected 0.01 to 1")
    coacd.set_log_level("error")
    parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), threshold=threshold, seed=0)
    return [rows(points, "points") for points, _ in parts]


def given(mesh: Any, vertices: Any = None, faces: Any = None) -> Mesh:
    """A mesh by a path, by itself, or by its arrays."""
    if (mesh is None) == (vertices is None) or (vertices is None) != (faces is None):
        raise ValueError("a mesh is a path, a Mesh, or vertices and faces")
    if mesh is None:
        return Mesh(vertices, faces)
    return mesh if isinstance(mesh, Mesh) else Mesh.read(mesh)


def hulls(world: World, mesh: Mesh, threshold: float, at_most: int) -> list[int]:
    """Shapes of a world: the hulls of the pieces of a mesh, in its frame. Pieces as thin as paper enclose nothing, and are left out."""
    shapes = []
    for points in mesh.pieces(threshold=threshold):
        try:
            shape, beyond = world._hull_within(points, at_most)
        except _native.SandglassError as error:
            _log.warning("a piece of a mesh is left out: %s", error)
            continue
        shapes.append(shape)
        if beyond > 0:
            _log.info("a piece of a mesh has %d corners in place of all, and leaves a point %.2g m outside", at_most, beyond)
    if not shapes:
        raise _native.SandglassError("no piece of the mesh encloses anything")
    return shapes


def shape_of(world: World, mesh: Mesh, threshold: float, at_most: int) -> int:
    """A compound of the pieces of a mesh, with its solid where it is closed."""
    try:
        solid = mesh.solid
    except _native.SandglassError:
        solid = None
    return world.compound_shape([(shape,) for shape in hulls(world, mesh, threshold, at_most)], solid=solid)
