# SPDX-License-Identifier: MIT
"""The package itself: structs as the compiler laid them out, names, types and documentation."""

import ctypes
import inspect
import os

import numpy as np
import pytest
import sandglass
from sandglass import _native


def test_structs_are_read_where_they_are():
    """Defaults of the headers, written by C and read by Python, to the last field of each struct."""
    world = _native.World()
    _native.world_init(ctypes.byref(world))
    assert (world.gravity.z, world.step, world.recovery) == (-9.81, 0.01, 1)
    assert (world.recovery_fraction, world.bounce_speed) == (0.3, 0.2)
    assert world.upper.x - world.lower.x == 20000
    _native.world_free(ctypes.byref(world))
    solve, body, joint = _native.default_solve(), _native.default_body(), _native.default_joint()
    assert (solve.iterations, solve.facets, solve.accuracy) == (50, 8, 0)
    assert (body.scale, body.mass, body.pose.rotation.w, body.enter) == (1, 0, 1, 0)
    assert (joint.a, joint.axis.z, joint.axis_b.x, joint.drive.low, joint.collide) == (-1, 1, 1, -np.inf, False)


def test_an_old_processor_is_told_before_anything_is_called(tmp_path):
    old, new = tmp_path / "nehalem", tmp_path / "haswell"
    old.write_text("processor\t: 0\nflags\t\t: fpu sse2 sse4_2 avx2x\n")
    new.write_text("processor\t: 0\nflags\t\t: fpu sse2 sse4_2 fma avx avx2\n")
    _native._check_processor(True, str(new))
    _native._check_processor(False, str(old))
    _native._check_processor(True, str(tmp_path / "no such file"))
    with pytest.raises(ImportError, match="AVX2 and FMA"):
        _native._check_processor(True, str(old))


def test_numpy_types_are_those_of_ctypes():
    for name, kind in (("SandContact", _native.CONTACT), ("SandProblemBody", _native.BODY), ("SandCurvePoint", _native.CURVE)):
        struct = _native._struct(name)
        assert ctypes.sizeof(struct) == kind.itemsize
        for field in kind.names:
            assert kind.fields[field][1] == getattr(struct, field).offset


def public_members():
    for name in sandglass.__all__:
        item = getattr(sandglass, name)
        yield name, item
        if inspect.isclass(item):
            for key, member in vars(item).items():
                if not key.startswith("_") and (inspect.isfunction(member) or isinstance(member, (property, classmethod))):
                    yield f"{name}.{key}", getattr(member, "__func__", getattr(member, "fget", None) or member)


def test_everything_public_is_documented_and_typed():
    assert os.path.exists(os.path.join(_native.FOLDER, "py.typed"))
    for name, item in public_members():
        assert inspect.getdoc(item), f"{name} has no docstring"
        if inspect.isfunction(item):
            assert "return" in item.__annotations__, f"{name} has no types"


def test_the_version_is_that_of_the_library():
    assert sandglass.__version__ == _native.version().decode() and sandglass.__version__.count(".") == 2
