# SPDX-License-Identifier: MIT
"""Machines from OpenUSD files: the same as from URDF, in any unit and with any upward axis; shapes, drives, and what is refused."""

import math

import numpy as np
import pytest
import sandglass
from sandglass import World
from sandglass._arrays import view

pytest.importorskip("pxr.UsdPhysics", reason="usd-core is not installed")

# A rod of 2 kg that hangs by a hinge about y from the world at z = 3, with its center 1 m below; and the same of another tool: in
# centimeters, grams, y upwards, with the rod as the first end of the joint. There x is x, z is y, and y is -z.
URDF = """<robot name="pendulum"><link name="world"/>
  <link name="rod"><inertial><origin xyz="0 0 -1"/><mass value="2"/>
      <inertia ixx="0.3" iyy="0.25" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -1"/><geometry><box size="0.1 0.2 2"/></geometry></collision></link>
  <joint name="pivot" type="continuous"><parent link="world"/><child link="rod"/><origin xyz="0 0 3"/><axis xyz="0 1 0"/></joint>
</robot>"""
METERS = """#usda 1.0
( metersPerUnit = 1
  upAxis = "Z" )
def Xform "rod" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
  double3 xformOp:translate = (0, 0, 3)
  uniform token[] xformOpOrder = ["xformOp:translate"]
  float physics:mass = 2
  point3f physics:centerOfMass = (0, 0, -1)
  float3 physics:diagonalInertia = (0.3, 0.25, 0.1)
  def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {
    double3 xformOp:translate = (0, 0, -1)
    double3 xformOp:scale = (0.05, 0.1, 1)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
  }
}
def PhysicsRevoluteJoint "pivot" {
  uniform token physics:axis = "Y"
  rel physics:body1 = </rod>
  point3f physics:localPos0 = (0, 0, 3)
}
"""
CENTIMETERS = """#usda 1.0
( metersPerUnit = 0.01
  kilogramsPerUnit = 0.001
  upAxis = "Y" )
def Xform "rod" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
  double3 xformOp:translate = (0, 300, 0)
  double3 xformOp:rotateXYZ = (-90, 0, 0)
  double3 xformOp:scale = (10, 10, 10)
  uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]
  float physics:mass = 2000
  point3f physics:centerOfMass = (0, 0, -10)
  float3 physics:diagonalInertia = (3e6, 2.5e6, 1e6)
  def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {
    double3 xformOp:translate = (0, 0, -10)
    double3 xformOp:scale = (0.5, 1, 10)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
  }
}
def PhysicsRevoluteJoint "pivot" {
  uniform token physics:axis = "Y"
  rel physics:body0 = </rod>
  point3f physics:localPos1 = (0, 300, 0)
  quatf physics:localRot1 = (0.70710678, -0.70710678, 0, 0)
}
"""


@pytest.fixture
def load(tmp_path):
    def add(text, name="machine.usda", world=None, **words):
        (tmp_path / name).write_text(text)
        world = World(step=0.002) if world is None else world
        return world, world.load(tmp_path / name, **words)

    return add


def inertia(world):
    return view(world._struct.inertia, float, (world.body_count, 3), world).copy()


@pytest.mark.parametrize("text", [METERS, CENTIMETERS], ids=["m", "cm"])
def test_a_machine_is_that_of_its_urdf(load, text):
    made = []
    for words in ((URDF, "machine.xml"), (text,)):
        world, model = load(*words, world=World(step=0.002, gravity=(4, 0, -9.81)), at=(1, 2, 0), rotation=(0.6, 0, 0, 0.8))
        assert model.bodies["rod"] == 0 and model.joints["pivot"] == 0 and not model.ignored
        moments = inertia(world)
        sim = world.simulate(iterations=200, precision="double")
        begin = sim.positions.copy()
        way = -1 if "body0 = </rod>" in words[0] else 1  # the file's angle is that of the second end
        sim.joints["pivot"].set_motor(speed=way, strength=3)
        sim.run(0.4)
        made.append((sorted(moments[0]), sim.masses.copy(), begin, sim.positions.copy(), way * sim.joints["pivot"].position))
    for a, b in zip(*made):
        assert a == pytest.approx(b, rel=1e-5, abs=1e-5)
    assert abs(made[0][4]) > 0.05


def test_a_rod_collides_where_its_shape_is(load):
    for text in (METERS, CENTIMETERS):
        world, _ = load(text, world=World(gravity=(0, 0, 0)))
        world.add_sphere(0.05, (0.099, 0, 1.1), mass=1)   # 1 mm into its side
        world.add_sphere(0.05, (0, 0.149, 2.9), mass=1)
        world.add_sphere(0.05, (0, 0, 0.951), mass=1)     # and its end, at z = 1
        world.add_sphere(0.05, (0.2, 0, 2), mass=1)
        assert world.simulate().step().counters.contacts == 3


SHAPES = """#usda 1.0
( metersPerUnit = 1
  upAxis = "Z" )
def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
  def %s "s" ( prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"] ) {
    float physics:density = 500
    %s
  }
}"""
CORNERS = "point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (0,0,1), (1,0,1), (1,1,1), (0,1,1)]"
QUADS = "int[] faceVertexCounts = [4,4,4,4,4,4]\nint[] faceVertexIndices = [%s]"
SCALE = 'double3 xformOp:scale = (%s)\nuniform token[] xformOpOrder = ["xformOp:scale"]'


@pytest.mark.parametrize("kind, words, volume", [
    ("Cube", "double size = 0.5", 0.125), ("Cube", SCALE % "1, 2, 3", 48), ("Sphere", "double radius = 2", 32 / 3 * math.pi),
    ("Sphere", "", 4 / 3 * math.pi), ("Cylinder", 'double radius = 2\ndouble height = 3\ntoken axis = "X"', 12 * math.pi),
    ("Cylinder", SCALE % "2, 2, 5", 4 * math.pi * 10), ("Capsule", "", math.pi * 0.25 + math.pi / 6),
    ("Capsule", 'double radius = 1\ndouble height = 3\ntoken axis = "Y"', 3 * math.pi + 4 / 3 * math.pi),
    ("Mesh", f"{CORNERS}\n{QUADS % '0,3,2,1, 4,5,6,7, 0,1,5,4, 1,2,6,5, 2,3,7,6, 3,0,4,7'}\n{SCALE % '1, 2, 3'}", 6),
    ("Mesh", f"uniform token orientation = \"leftHanded\"\n{CORNERS}\n{QUADS % '1,2,3,0, 7,6,5,4, 4,5,1,0, 5,6,2,1, 6,7,3,2, 7,4,0,3'}", 1),
])
def test_shapes_weigh_what_they_should(load, kind, words, volume):
    world, model = load(SHAPES % (kind, words))
    assert world.simulate().masses == pytest.approx([500 * volume]) and not model.ignored


def test_axes_of_capsules(load):
    for axis, k in (("X", 0), ("Y", 1), ("Z", 2)):
        world, _ = load(SHAPES % ("Capsule", f'double radius = 0.1\ndouble height = 2\ntoken axis = "{axis}"'), world=World(gravity=(0, 0, 0)))
        place = np.zeros(3)
        place[k] = 1.19
        world.add_sphere(0.1, place, mass=1)
        place[k] = 1.21
        world.add_sphere(0.1, -place, mass=1)
        assert world.simulate().step().counters.contacts == 1


DRIVE = """#usda 1.0
( metersPerUnit = 0.1
  upAxis = "Z" )
def Cube "beam" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsCollisionAPI"] ) {
  double3 xformOp:translate = (5, 0, 30)
  double3 xformOp:scale = (5, 0.2, 0.2)
  uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
  float physics:mass = 2
  point3f physics:centerOfMass = (0, 0, 0)
  float3 physics:diagonalInertia = (10, 20, 20)
}
def PhysicsRevoluteJoint "elbow" ( prepend apiSchemas = ["PhysicsDriveAPI:angular"] ) {
  uniform token physics:axis = "Y"
  rel physics:body1 = </beam>
  point3f physics:localPos0 = (0, 0, 30)
  quatf physics:localRot0 = (0.98480775, 0, -0.17364818, 0)
  point3f physics:localPos1 = (-1, 0, 0)
  float physics:lowerLimit = -25
  float physics:upperLimit = 60
  float drive:angular:physics:stiffness = 30
  float drive:angular:physics:damping = 5
  float drive:angular:physics:maxForce = %g
  float drive:angular:physics:targetPosition = 20
}
"""


@pytest.mark.parametrize("most, holds", [(950, False), (1050, True)])
def test_drives_are_motors(load, most, holds):
    """It takes 9.81 N m to hold the beam, 981 in units of decimeters; it is loaded at 20 degrees of its joint."""
    world, model = load(DRIVE % most)
    sim = world.simulate(iterations=100, precision="double")
    elbow, servo = sim.joints["elbow"], model.actuators["elbow"]
    assert elbow.drive["strength"] == pytest.approx(most / 100) and elbow.drive["rate"] == pytest.approx(6)
    assert [math.degrees(elbow.drive[side]) for side in ("low", "high")] == pytest.approx([-45, 40], abs=1e-4)
    sim.run(1)
    assert (abs(elbow.position) < 1e-6) == holds and abs(elbow.motor_torque) == pytest.approx(min(most / 100, 9.81), rel=1e-4)
    if holds:
        servo.apply(sim, 50)  # degrees of the file
        assert sim.run(3) and math.degrees(elbow.position) == pytest.approx(30, abs=1e-3)
    else:
        elbow.motor_off()
        assert sim.run(3) and math.degrees(elbow.position) == pytest.approx(40, abs=0.1)  # its limit


def test_ground_of_a_file_and_chains(load):
    text = """#usda 1.0
    ( metersPerUnit = 1
      upAxis = "Z" )
    def Plane "floor" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {
      uniform token axis = "Z"
    }
    def Cube "step" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {}
    def Sphere "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) {
      double3 xformOp:translate = (0.5, 0, 2.5)
      uniform token[] xformOpOrder = ["xformOp:translate"]
      double radius = 0.5
    }
    def Sphere "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) {
      double3 xformOp:translate = (5, 0, 2)
      uniform token[] xformOpOrder = ["xformOp:translate"]
      double radius = 0.5
    }
    def Sphere "c" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) {
      double3 xformOp:translate = (5, 0, 4)
      uniform token[] xformOpOrder = ["xformOp:translate"]
      double radius = 0.25
    }
    def PhysicsFixedJoint "weld" {
      rel physics:body0 = </c>
      rel physics:body1 = </b>
      point3f physics:localPos1 = (0, 0, 2)
    }
    def PhysicsDistanceJoint "rope" {
      rel physics:body0 = </a>
    }"""
    world, model = load(text)
    assert len(model.boundaries) == 2 and model.bodies == {"world": -1, "a": 0, "b": 1, "c": 1}
    assert [line.split("<")[1] for line in model.ignored] == [
        "/rope> of type PhysicsDistanceJoint is not read: revolute, prismatic, spherical and fixed joints are"]
    sim = world.simulate(iterations=100).run(2)
    assert sim.positions[0] == pytest.approx([0.5, 0, 1.5], abs=1e-3)
    masses = [1000 * 4 / 3 * math.pi * r**3 for r in (0.5, 0.25)]
    assert sim.masses[1] == pytest.approx(sum(masses))
    assert sim.positions[1, 2] == pytest.approx(0.5 + 2 * masses[1] / sum(masses), abs=1e-3)


@pytest.mark.parametrize("text, words", [
    ("nothing", "machine.usda: cannot be read"), ("#usda 1.0\n", "it has no bodies and no colliders"),
    (METERS.replace("</rod>", "</rot>"), "</pivot> names /rot, which is not in the file"),
    (METERS.replace("rel physics:body1 = </rod>", ""), "</pivot> joins a body to itself"),
    (METERS.replace("(0.05, 0.1, 1)", "(0.05, 0, 1)"), "</rod/box> has a scale of 0"),
    (METERS + METERS[METERS.index("def PhysicsRevoluteJoint"):].replace("pivot", "other"), "</other> closes a loop"),
    (SHAPES % ("Sphere", SCALE % "1, 1, 2"), "</a/s> is a sphere with unequal scales"),
    (SHAPES % ("Mesh", CORNERS), "</a/s> is a mesh without faces"),
    (SHAPES % ("Mesh", f"{CORNERS}\nint[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 99]"), "</a/s> faces: expected vertices"),
    (SHAPES % ("Cone", ""), "</a> a moves and weighs nothing"),
])
def test_mistakes_are_named_with_their_prim(load, text, words):
    with pytest.raises(sandglass.SandglassError) as found:
        load(text)
    assert words in str(found.value), found.value
