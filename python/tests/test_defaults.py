# SPDX-License-Identifier: MIT
"""What is not given means the same in C, in scenes and in Python, and units are those of docs/units.md: the same world is made
three ways, each with as little as it takes, and read back."""

import ctypes
import math
import pathlib
import re
from ctypes import byref

import pytest
import sandglass
from sandglass import World, _native

SCENE = """
name: least
materials: [{name: stone}]
boundaries:
  - {name: wall, shape: box, side: outside, size: [2, 4, 6], position: [51, 52, 53], rotation: {axis: [0, 0, 1], angle: 90}, motion: {rate: 1}}
  - {name: lid, shape: plane, position: [0, 0, -9], motion: {swing: 90, frequency: 1, phase: 180}}
  - {name: drum, shape: cylinder, side: outside, radius: 1, height: 2, position: [-20, 0, 0], motion: {path: [[0, 0, 0, 0, 0], [1, 0, 0, 1, 90]]}}
bodies:
  - {name: a, shape: sphere, radius: 0.5, position: [0, 0, 1]}
  - {name: b, shape: box, size: [0.2, 0.4, 0.6], position: [0, 0, 3]}
  - {name: c, shape: cylinder, radius: 0.1, height: 0.4, position: [0, 0, 4]}
  - {name: d, shape: capsule, radius: 0.1, length: 0.4, position: [0, 0, 5]}
joints:
  - {name: arm, kind: hinge, axis: [0, 0, 1], a: a, b: b, limits: [-90, 90], motor: {position: 45}}
  - {name: wheel, kind: hinge, axis: [0, 0, 1], a: b, b: c, motor: {speed: 1}}
  - {name: band, kind: distance, a: c, b: d, spring: {stiffness: 10}}
probes:
  - {name: speed, kind: velocity, from: [0, 0, 0], to: [0, 0, 5], width: 1, bins: 5}
  - {name: touching, kind: coordination, lower: [0, 0, 0], upper: [1, 1, 1]}
"""


def scene():
    return sandglass.load("least", text=SCENE, threads=1)


def built():
    quarter = math.pi / 2
    world = World()
    world.material("stone")
    world.box_walls((1, 2, 3), inside=False, position=(51, 52, 53), rotation=(math.cos(quarter / 2), 0, 0, math.sin(quarter / 2)), motion={"rate": 1}, name="wall")
    world.plane((0, 0, -9), motion={"swing": quarter, "frequency": 1, "phase": math.pi}, name="lid")
    world.revolution([(0, 0), (1, 0), (1, 2), (0, 2)], inside=False, position=(-20, 0, 0), motion={"path": [(0, 0, 0, 0, 0), (1, 0, 0, 1, quarter)]}, name="drum")
    a = world.add_sphere(0.5, (0, 0, 1))
    b = world.add_box((0.1, 0.2, 0.3), (0, 0, 3))
    c = world.add(world.cylinder_shape(0.1, 0.4), (0, 0, 4))
    d = world.add(world.capsule_shape(0.1, 0.4), (0, 0, 5))
    world.join("hinge", a, b, (0, 0, 3), low=-quarter, high=quarter, motor_position=quarter / 2, name="arm")
    world.join("hinge", b, c, (0, 0, 4), motor_speed=1, name="wheel")
    world.join("distance", c, d, (0, 0, 4), anchor_b=(0, 0, 5), stiffness=10, name="band")
    world.probe("velocity", "speed", line=((0, 0, 0), (0, 0, 5)), width=1, bins=5)
    world.probe("coordination", "touching", lower=(0, 0, 0), upper=(1, 1, 1))
    return world.simulate(threads=1)


def plain(value):
    """The numbers of a struct, without pointers and names."""
    if isinstance(value, ctypes.Structure):
        return {name: plain(getattr(value, name)) for name, kind in value._fields_
                if not name.startswith("_unnamed") and kind is not ctypes.c_void_p and name not in ("name", "look")}
    if isinstance(value, ctypes.Array):
        return [plain(item) for item in value]
    return value


def rows(sim, name, kind):
    world = sim._world
    start = getattr(world, name)
    return [plain(kind.from_address(start + k * ctypes.sizeof(kind))) for k in range(getattr(world, {"joints": "joint_count", "materials": "material_count", "boundaries": "boundary_count", "shapes": "shape_count", "probes": "probe_count"}[name]))]


def differences(a, b, where=""):
    if isinstance(a, dict):
        return [line for key in a for line in differences(a[key], b[key], f"{where}.{key}")]
    if isinstance(a, list):
        return [line for k, pair in enumerate(zip(a, b)) for line in differences(*pair, f"{where}[{k}]")]
    same = a == b or (isinstance(a, float) and a == pytest.approx(b, rel=1e-12, abs=1e-12)) or (a != a and b != b)
    return [] if same else [f"{where}: {a} in scenes, {b} in Python"]


@pytest.mark.parametrize("name, kind", [("materials", "Material"), ("boundaries", "Boundary"), ("joints", "Joint"), ("probes", "Probe"), ("shapes", "Shape")])
def test_what_is_not_given_is_the_same_in_scenes_and_in_python(name, kind):
    of_scene, of_python = rows(scene(), name, getattr(_native, kind)), rows(built(), name, getattr(_native, kind))
    assert len(of_scene) == len(of_python) > 0
    assert differences(of_scene, of_python, name) == []


def test_settings_and_solvers_begin_alike():
    world = _native.World()
    _native.world_init(byref(world))
    one, other = scene(), built()
    names = [name for name in ("gravity", "step", "recovery", "recovery_fraction", "sleep_speed", "bounce_speed", "envelope", "joint_passes", "looks")]
    for sim in (one, other):
        assert {name: plain(getattr(sim._world, name)) for name in names} == {name: plain(getattr(world, name)) for name in names}
        assert plain(sim._definition.solve) == plain(_native.default_solve())
        assert sim._definition.precision == _native.default_simulation().precision == _native.constants["FLOAT"]
    _native.world_free(byref(world))


def test_materials_and_joints_of_c_begin_as_those():
    material = rows(scene(), "materials", _native.Material)[0]
    assert differences(material, plain(_native.default_material()), "material") == []
    wheel, usual = rows(built(), "joints", _native.Joint)[1]["drive"], plain(_native.default_joint().drive)
    usual.update(motor=_native.constants["MOTOR_SPEED"], target=1.0, rest=0.0)
    assert wheel == usual
    band = rows(built(), "joints", _native.Joint)[2]["drive"]
    assert band["rest"] == pytest.approx(1)  # where the bodies are, and not at length 0


def test_files_have_degrees_and_full_lengths_and_programs_radians_and_half_extents():
    sim = scene()
    wall, lid, drum = rows(sim, "boundaries", _native.Boundary)
    assert wall["motion"]["center"] == {"x": 51, "y": 52, "z": 53}
    assert lid["motion"]["swing"] == pytest.approx(math.pi / 2) and lid["motion"]["phase"] == pytest.approx(math.pi)
    assert sim.joints["arm"].drive["high"] == pytest.approx(math.pi / 2) and sim.joints["arm"].drive["target"] == pytest.approx(math.pi / 4)
    assert sim.masses[1] == pytest.approx(2500 * 0.2 * 0.4 * 0.6)


def test_the_page_of_units_has_the_defaults():
    """docs/units.md against C."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "units.md").read_text()
    found = dict(re.findall(r"(?m)^\| `([a-z_.]+)` \|[^|]*\| ([-\d.e]+|unlimited) \|", page))
    material, joint, solve, world = _native.default_material(), _native.default_joint().drive, _native.default_solve(), _native.World()
    _native.world_init(byref(world))
    wanted = {"density": material.density, "mu": material.mu, "restitution": material.restitution, "cohesion": material.cohesion,
              "rolling": material.rolling, "spinning": material.spinning, "motor.rate": joint.rate, "motor.strength": joint.strength,
              "motor.fastest": joint.speed, "iterations": solve.iterations, "tolerance": solve.tolerance, "accuracy": solve.accuracy,
              "facets": solve.facets, "islands": solve.islands}
    wanted.update({name: getattr(world, name) for name in ("step", "recovery", "recovery_fraction", "sleep_speed", "bounce_speed", "envelope", "joint_passes", "looks")})
    assert {name: math.inf if text == "unlimited" else float(text) for name, text in found.items()} == wanted


def test_both_worlds_move_alike():
    one, other = scene(), built()
    for sim in (one, other):  # the block is turned by a right angle: its half extent along x is 2
        assert sim.raycast([(60, 52, 53)], [(-1, 0, 0)]).distances[0] == pytest.approx(60 - 51 - 2)
        sim.run(0.3)
    assert one.positions == pytest.approx(other.positions, abs=1e-9)
    for name in ("wall", "lid", "drum"):
        for what in ("position", "rotation"):
            assert getattr(one.boundaries[name], what) == pytest.approx(getattr(other.boundaries[name], what), abs=1e-9)
    turned = 2 * math.degrees(math.acos(one.boundaries["drum"].rotation[0]))
    assert turned == pytest.approx(27)  # of 90 degrees in a second
