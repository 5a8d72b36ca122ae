# SPDX-License-Identifier: MIT
"""Machines from URDF and MJCF files: masses, places and motion by hand, what is refused, and real files where they are installed."""

import base64
import json
import math
import os

import numpy as np
import pytest
import sandglass
from sandglass import World
from sandglass._arrays import view

PENDULUM = """<robot name="pendulum">
  <link name="world"/>
  <link name="rod">
    <inertial><origin xyz="0 0 -1"/><mass value="2"/>
      <inertia ixx="0.3" iyy="0.3" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -1"/><geometry><box size="0.1 0.1 2"/></geometry></collision>
    <visual><geometry><mesh filename="nowhere.dae"/></geometry></visual>
  </link>
  <joint name="pivot" type="continuous">
    <parent link="world"/><child link="rod"/><origin xyz="0 0 3"/><axis xyz="0 1 0"/>
  </joint>
</robot>"""

# The same machine.
PENDULUM_MJCF = """<mujoco model="pendulum">
  <worldbody>
    <body name="rod" pos="0 0 3">
      <joint name="pivot" axis="0 1 0"/>
      <inertial pos="0 0 -1" mass="2" diaginertia="0.3 0.3 0.1"/>
      <geom type="box" pos="0 0 -1" size="0.05 0.05 1"/>
    </body>
  </worldbody>
</mujoco>"""

ARM = """<robot name="arm">
  <link name="base">
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="mast">
    <inertial><mass value="3"/><inertia ixx="1" iyy="2" izz="3" ixy="0.5" ixz="0" iyz="0"/></inertial>
    <collision><geometry><cylinder radius="0.1" length="1"/></geometry></collision>
  </link>
  <link name="tip">
    <inertial><origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/><mass value="1"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.2"/></geometry></collision>
  </link>
  <joint name="lift" type="prismatic">
    <parent link="base"/><child link="mast"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/><limit lower="-0.25" upper="0.5"/>
  </joint>
  <joint name="weld" type="fixed">
    <parent link="mast"/><child link="tip"/><origin xyz="2 0 0" rpy="0 1.5707963267948966 0"/>
  </joint>
</robot>"""


@pytest.fixture
def load(tmp_path):
    """Adds a machine by its text to a world, and returns both."""

    def add(text, name="machine.xml", world=None, **words):
        world = World() if world is None else world
        path = tmp_path / name
        path.write_text(text)
        return world, world.load(path, **words)

    return add


@pytest.mark.parametrize("text", [PENDULUM, PENDULUM_MJCF], ids=["urdf", "mjcf"])
def test_a_pendulum_swings_in_its_time(load, text):
    world, model = load(text, at=(1, 0, 0), world=World(step=0.001))
    assert world.body_count == 1 and model.bodies["rod"] == 0 and list(model.joints) == ["pivot"]
    sim = world.simulate(iterations=100, precision="double")
    assert sim.positions[0] == pytest.approx([1, 0, 2]) and sim.masses[0] == pytest.approx(2)
    with sim.edit() as bodies:
        bodies.spins[0, 1] = 0.2  # small swings
        bodies.velocities[0, 0] = -0.2
    crossings, before = [], -1.
    for _ in range(6000):
        sim.step()
        x = sim.positions[0, 0] - 1
        if before > 0 >= x:
            crossings.append(sim.time)
        before = x
    period = 2 * math.pi * math.sqrt((0.3 + 2 * 1**2) / (2 * 9.81 * 1))
    assert np.diff(crossings) == pytest.approx(period, rel=2e-3)
    assert np.linalg.norm(sim.positions[0] - [1, 0, 3]) == pytest.approx(1, abs=1e-6)


def test_what_is_welded_is_one_body(load):
    world, model = load(ARM, at=(0, 0, 5), fixed=True)
    assert world.body_count == 2 and model.bodies["mast"] == model.bodies["tip"] == 1
    moments = _inertia(world, 1)
    sim = world.simulate()
    # The center of the tip is 0.5 along its z, which is x of the mast: 3 kg at 0 and 1 kg at 2.5.
    assert sim.masses == pytest.approx([1000, 4])
    assert sim.positions == pytest.approx(np.array([(0, 0, 5), (0.625, 0, 6)]), abs=1e-12)
    # The tip's inertia: about its own axes 0.2, 0.1, 0.3 (turned about z), of which z becomes x.
    tip = np.diag([0.3, 0.1, 0.2]) + 1 * 1.875**2 * np.diag([0, 1, 1])
    mast = np.array([(1, 0.5, 0), (0.5, 2, 0), (0, 0, 3)]) + 3 * 0.625**2 * np.diag([0, 1, 1])
    assert sorted(np.linalg.eigvalsh(tip + mast)) == pytest.approx(sorted(moments))
    sim.run(1)
    assert sim.positions[1, 2] == pytest.approx(6 - 0.25, abs=1e-3)  # it slid down to its limit
    assert sim.positions[0] == pytest.approx([0, 0, 5], abs=1e-4)


def _inertia(world, body):
    """The principal moments of a body."""
    return view(world._struct.inertia, float, (world.body_count, 3), world)[body].copy()


def test_a_machine_that_is_free_falls_and_lands(load):
    world = World()
    world.plane(material=world.material("ground", mu=0.5))
    _, model = load(ARM, at=(0, 0, 1), rotation=(math.cos(0.2), math.sin(0.2), 0, 0), world=world)
    sim = world.simulate(iterations=200).run(3)
    base = sim.positions[model.bodies["base"]]
    assert abs(base[2] - 0.5) < 0.3 and np.abs(sim.velocities).max() < 0.1


def test_ground_of_a_file_is_of_the_world(load):
    urdf = """<robot name="table"><link name="top"><inertial><mass value="0"/></inertial>
      <collision><origin xyz="0 0 1" rpy="0 0 0.3"/><geometry><box size="2 2 0.1"/></geometry></collision>
      <collision><origin xyz="0 0 0.5"/><geometry><cylinder radius="0.1" length="0.9"/></geometry></collision></link></robot>"""
    mjcf = """<mujoco><worldbody><geom type="plane" size="0 0 1" pos="0 0 0.5"/>
      <body pos="0 0 0.9"><geom type="box" size="1 1 0.15" euler="0 0 20"/></body></worldbody></mujoco>"""
    for text in (urdf, mjcf):
        world = World()
        ball = world.material("ball", mu=0.5)
        _, model = load(text, world=world)
        assert set(model.bodies.values()) == {-1} and len(model.boundaries) == 2
        world.add_sphere(0.1, (0.5, 0.4, 1.4), material=ball)
        assert world.simulate().run(1).positions[0] == pytest.approx([0.5, 0.4, 1.15], abs=1e-3)


def test_defaults_frames_and_masses_of_mjcf(load):
    text = """<mujoco model="frames"><compiler angle="degree" eulerseq="xyz"/>
      <default><geom density="500" contype="1"/><joint damping="0"/>
        <default class="heavy"><geom density="2000"/></default></default>
      <worldbody>
        <body name="a" pos="0 0 2" euler="0 90 0"><freejoint/>
          <geom type="capsule" fromto="0 0 0 0 0 2" size="0.1"/>
          <body name="b" pos="0 0 2" childclass="heavy">
            <joint name="elbow" type="hinge" axis="1 0 0" range="-30 45"/>
            <geom type="cylinder" size="0.1 0.5" pos="0 0 0.5"/>
            <geom type="sphere" size="0.3" mass="7" pos="0 0 1" contype="0" conaffinity="0"/>
            <site name="s"/>
          </body>
        </body>
      </worldbody>
      <actuator><motor name="m" joint="elbow" gear="50" ctrlrange="-1 1"/></actuator>
      <sensor><jointpos joint="elbow"/></sensor></mujoco>"""
    world, model = load(text)
    sim = world.simulate()
    tube, ball = math.pi * 0.01 * 2, 4 / 3 * math.pi * 0.001
    cylinder = math.pi * 0.01 * 2000
    assert sim.masses == pytest.approx([500 * (tube + ball), cylinder + 7])
    # z of the first body is x of the world: it lies from x = 0 to 2, and the second from there on.
    assert sim.positions == pytest.approx(np.array([(1, 0, 2), (2 + (0.5 * cylinder + 7) / (cylinder + 7), 0, 2)]), abs=1e-9)
    assert model.actuators["m"].joint == "elbow" and model.actuators["m"].gear == 50
    assert [sentence.split(": ", 1)[1] for sentence in model.ignored] == ["<sensor> is not read"]
    sim.run(3)  # it falls freely, and the elbow stays within its limits
    turn = [sandglass._frames.of_quaternion(q) for q in sim.rotations]
    assert sim.positions[0, 2] < -20 and np.isfinite(turn).all()


def test_a_capsule_lies_between_its_ends(load):
    text = """<mujoco><worldbody><geom type="plane" size="0 0 1"/>
      <body pos="0 0 0.15"><freejoint/><geom type="capsule" fromto="-1 -1 0 1 1 0" size="0.1"/></body></worldbody></mujoco>"""
    world, _ = load(text)
    sim = world.simulate(iterations=200).run(1)
    assert sim.positions[0] == pytest.approx([0, 0, 0.1], abs=1e-3)
    # A ball above one of its ends lands on it, and one above the other diagonal on the ground.
    world, _ = load(text)
    for x in (0.9, -0.9):
        world.add_sphere(0.1, (x, 0.9, 0.5), mass=1e-3)
    heights = world.simulate(iterations=200).run(0.3).positions[1:, 2]
    assert heights[0] > 0.25 and heights[1] == pytest.approx(0.1, abs=1e-2)


def test_limits_of_a_hinge_hold(load):
    text = PENDULUM_MJCF.replace('axis="0 1 0"', 'axis="0 1 0" range="-20 20"')
    world, _ = load(text, world=World(gravity=(9.81, 0, 0)))  # towards x, which is -90 degrees
    sim = world.simulate(iterations=200).run(3)
    x, z = sim.positions[0, 0], 3 - sim.positions[0, 2]
    assert math.degrees(math.atan2(x, z)) == pytest.approx(20, abs=0.1)


def test_two_hinges_are_a_universal_joint(load):
    text = PENDULUM_MJCF.replace('<joint name="pivot" axis="0 1 0"/>', '<joint name="p" axis="0 1 0"/><joint name="q" axis="1 0 0"/>')
    world, model = load(text)
    assert list(model.joints) == ["p"] and "one joint, without limits" in model.ignored[0]
    sim = world.simulate(iterations=200)
    with sim.edit() as bodies:
        bodies.velocities[0] = 0.5, 0.7, 0
        bodies.spins[0] = 0.7, -0.5, 0
    sim.run(1)
    assert np.linalg.norm(sim.positions[0] - [0, 0, 3]) == pytest.approx(1, abs=1e-3) and abs(sim.spins[0, 2]) < 0.3


def test_links_of_a_machine_pass_through_each_other(load):
    text = """<robot name="r"><link name="a"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
      <link name="b"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
      <link name="c"><collision><origin xyz="0 0 0.2"/><geometry><box size="1 1 1"/></geometry></collision></link>
      <joint name="ab" type="fixed"><parent link="a"/><child link="b"/></joint>
      <joint name="bc" type="spherical"><parent link="b"/><child link="c"/></joint></robot>"""
    for collide, contacts in ((False, 0), (True, 0)):  # the only two are joined
        world, _ = load(text, world=World(gravity=(0, 0, 0)), self_collide=collide)
        assert world.simulate().step().counters.contacts == contacts
    chain = text.replace('type="fixed"', 'type="spherical"')  # now a and c are two joints apart
    counts = []
    for collide in (False, True):
        world, _ = load(chain, world=World(gravity=(0, 0, 0)), self_collide=collide)
        counts.append(world.simulate().step().counters.contacts)
    assert counts[0] == 0 and counts[1] > 0


def test_meshes_collide_as_hulls_and_weigh_what_the_file_says(load, tmp_path):
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "cube.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners)
                                                  + "".join("f {} {} {} {}\n".format(*f) for f in faces))
    text = """<robot name="r"><link name="a"><inertial><origin xyz="1 0.5 0.5"/><mass value="4"/></inertial>
      <collision><geometry><mesh filename="package://robot/meshes/cube.obj" scale="2 1 1"/></geometry></collision></link></robot>"""
    world = World()
    world.plane(material=world.material("ground"))
    load(text.replace("robot/meshes", "meshes"), world=world, at=(0, 0, 0.1))
    assert sorted(_inertia(world, 0)) == pytest.approx([4 * 2 / 12, 4 * 5 / 12, 4 * 5 / 12])
    sim = world.simulate()
    assert sim.masses[0] == pytest.approx(4) and sim.positions[0] == pytest.approx([1, 0.5, 0.6])
    assert sim.run(1).positions[0, 2] == pytest.approx(0.5, abs=1e-3)


def test_meshes_of_gltf_are_read(load, tmp_path):
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    data = np.array(points, "<f4").tobytes() + np.array([0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2], "<u2").tobytes()
    head = {"asset": {"version": "2.0"}, "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                          {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}],
            "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
            "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], "scene": 0,
            "buffers": [{"byteLength": 72, "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}]}
    (tmp_path / "part.gltf").write_text(json.dumps(head))
    world, _ = load("""<mujoco><asset><mesh name="m" file="part.gltf"/></asset><worldbody>
      <body><freejoint/><geom mesh="m" density="600"/></body></worldbody></mujoco>""")
    assert world.simulate().masses == pytest.approx([100])  # a sixth of a cubic meter


def test_files_that_are_included_stand_in_their_place(load, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "defaults.xml").write_text(
        '<mujoco><compiler angle="radian"/><default><geom density="500"/></default></mujoco>')
    (tmp_path / "parts" / "tip.xml").write_text('<mujocoinclude><body name="tip" pos="0 0 1"><joint name="j" range="-1 1"/>'
                                                '\n<geom size="0.1" density="{}"/></body></mujocoinclude>'.format("2000"))
    text = """<mujoco><include file="parts/defaults.xml"/><default><geom contype="1"/></default>
      <worldbody><body name="base"><freejoint/><geom type="box" size="0.5 0.5 0.5"/><include file="parts/tip.xml"/></body></worldbody>
      <actuator><motor name="m" joint="j"/></actuator></mujoco>"""
    world, model = load(text)
    sim = world.simulate()
    assert sim.masses == pytest.approx([500, 2000 * 4 / 3 * math.pi * 0.001]) and list(model.actuators) == ["m"]
    assert sim.joints["j"].drive["high"] == 1  # rad, as the first file says
    (tmp_path / "parts" / "tip.xml").write_text('<mujocoinclude>\n<body><geom type="torus"/></body></mujocoinclude>')
    with pytest.raises(sandglass.SandglassError, match="parts/tip.xml:2: <geom> of type torus"):
        load(text)


def test_an_ellipsoid_weighs_what_it_should_and_lies_flat(load):
    text = """<mujoco><worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 0.5"><freejoint/>
      <geom type="ellipsoid" size="0.3 0.2 0.1"/></body></worldbody></mujoco>"""
    world, model = load(text)
    moments = _inertia(world, 0)
    mass = 1000 * 4 / 3 * math.pi * 0.3 * 0.2 * 0.1
    assert sorted(moments) == pytest.approx([mass / 5 * v for v in (0.05, 0.1, 0.13)]) and "hull of 60 corners" in model.ignored[0]
    sim = world.simulate(iterations=200).run(3)
    assert sim.masses[0] == pytest.approx(mass) and sim.positions[0, 2] == pytest.approx(0.1, abs=0.01)


def test_links_that_weigh_in_a_point_or_nothing_are_a_part_of_others(load):
    text = """<robot name="r"><link name="a"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
        <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
      <link name="lamp"><inertial><mass value="1"/></inertial></link><link name="frame"/>
      <joint name="f" type="fixed"><parent link="a"/><child link="lamp"/><origin xyz="2 0 0"/></joint>
      <joint name="g" type="fixed"><parent link="a"/><child link="frame"/></joint></robot>"""
    mjcf = """<mujoco><worldbody><body name="a"><freejoint/><inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/><geom size="0.1"/>
      <body name="lamp" pos="2 0 0"><inertial pos="0 0 0" mass="1" diaginertia="0 0 0"/></body>
      <body name="frame"><inertial pos="0 0 0" mass="0" diaginertia="0 0 0"/></body></body></worldbody></mujoco>"""
    for words in (text, mjcf):
        world, _ = load(words)
        assert sorted(_inertia(world, 0)) == pytest.approx([1, 1 + 3, 1 + 3])  # two points of 3 and 1 kg, 2 m apart: 3 kg m^2
        sim = world.simulate()
        assert sim.masses[0] == pytest.approx(4) and sim.positions[0] == pytest.approx([0.5, 0, 0])


def test_a_hull_of_many_corners_is_made_simpler_and_said(load, tmp_path):
    dice = np.random.default_rng(1)
    points = dice.normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    for count, sentences in ((60, 0), (300, 1)):
        (tmp_path / "ball.obj").write_text("".join("v {} {} {}\n".format(*p) for p in points[:count])
                                           + "".join(f"f {k} {k + 1} {k + 2}\n" for k in range(1, count - 1)))
        _, model = load("""<robot name="r"><link name="a"><inertial><mass value="4"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
          <collision><geometry><mesh filename="ball.obj"/></geometry></collision></link></robot>""")
        assert len(model.ignored) == sentences
    words, beyond = model.ignored[0].split(" leaves a point ")
    assert words.endswith(":1: <link> a: the hull of a mesh has 64 corners in place of all, and")
    assert 1 < float(beyond.split(" mm")[0]) < 200  # of a ball of 1 m, whose 64 best corners leave caps of some 60 mm


# --- what is refused ------------------------------------------------------------------------------------------------

LINK = '<link name="a"><collision><geometry><sphere radius="1"/></geometry></collision></link>'
JOINTS = '<link name="b"><inertial><mass value="1"/></inertial></link>'


@pytest.mark.parametrize("text, words", [
    ("<robot>", "no XML"),
    ("<html/>", ":1: <html> is the root of no machine"),
    ("<robot/>", ":1: <robot> has no link"),
    ('<!DOCTYPE a [<!ENTITY b "c">]><robot/>', "entities are not read"),
    (f"<robot>\n{LINK}\n<link/></robot>", ":3: <link> lacks the attribute name"),
    (f"<robot>\n{LINK}{LINK}</robot>", ":2: <link> there is a link a already"),
    (f'<robot>{LINK}\n<joint name="j" type="planar"><parent link="a"/><child link="a"/></joint></robot>',
     ":2: <joint> of type planar is not supported"),
    (f'<robot>{LINK}\n<joint name="j" type="fixed"><parent link="a"/><child link="c"/></joint></robot>', ":2: <joint> j: there is no link c"),
    ('<robot><link name="a"><collision><geometry>\n<torus/></geometry></collision></link></robot>', ":2: <torus> is not supported"),
    ('<robot><link name="a"><collision><geometry>\n<sphere radius="x"/></geometry></collision></link></robot>',
     ":2: <sphere> has radius 'x'; expected finite numbers"),
    ('<robot><link name="a"><collision><geometry>\n<box size="1 2"/></geometry></collision></link></robot>', ":2: <box> has size '1 2'; expected 3"),
    ('<robot><link name="a"><collision><geometry>\n<mesh filename="no.stl"/></geometry></collision></link></robot>',
     ":2: <mesh> names no.stl, which is not beside the file"),
    (f'<robot>{LINK}{JOINTS}\n<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>',
     "no moments of inertia above 0, and no shape"),
    ("<mujoco><asset>\n<mesh file='a.dae'/></asset><worldbody/></mujoco>", ":2: <mesh> names a.dae; meshes are read from .obj, .stl,"),
    ("<mujoco/>", ":1: <mujoco> lacks the element <worldbody>"),
    ("<mujoco><worldbody>\n<geom type='hfield' size='1 1 1'/></worldbody></mujoco>", ":2: <geom> of type hfield is not supported"),
    ("<mujoco><worldbody>\n<body><joint type='screw'/></body></worldbody></mujoco>", ":2: <joint> of type screw is not supported"),
    ("<mujoco><worldbody>\n<replicate/></worldbody></mujoco>", ":2: <replicate> is not supported"),
    ("<mujoco>\n<include file='a'/><worldbody/></mujoco>", ":2: <include> names a file that cannot be read: "),
    ("<mujoco>\n<include file='machine.xml'/><worldbody/></mujoco>", ":2: <include> names machine.xml, which is included already"),
    ("<mujoco><worldbody><body><freejoint/>\n<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/></body></worldbody></mujoco>",
     ":2: <inertial> has mass -1"),
    ("<mujoco><worldbody>\n<body><freejoint/></body></worldbody></mujoco>", ":2: <body> body 1 moves and weighs nothing"),
    ("<mujoco><worldbody>\n<body quat='0 0 0 0'/></worldbody></mujoco>", ":2: <body> has a quaternion of length 0"),
    ("<mujoco><worldbody>\n<geom class='x' size='1'/></worldbody></mujoco>", ":2: <geom> names the class x, which is not defined"),
    ("<mujoco><worldbody>\n<body><joint type='slide'/><joint type='slide'/><geom size='1'/></body></worldbody></mujoco>",
     ":2: <joint> is one of 2 joints of body 1"),
])
def test_mistakes_are_named_with_their_line(load, text, words):
    with pytest.raises(sandglass.SandglassError) as found:
        load(text)
    assert words in str(found.value), found.value


def test_files_changed_by_chance_are_read_or_refused(load):
    driven = '<actuator><position joint="pivot" kp="1" forcerange="-1 1"/><motor name="m" gear="2" joint="pivot"/></actuator></mujoco>'
    dice, texts = np.random.default_rng(1), [PENDULUM, ARM, PENDULUM_MJCF.replace("</mujoco>", driven)]
    words = ["-1", "0", "1e40", "nan", "''", "link", "<a/>", "world", "9 9 9", "fixed", "hinge", ">", "box"]
    read = refused = 0
    for trial in range(600):
        text = texts[trial % 3]
        for _ in range(int(dice.integers(1, 4))):
            at, gone = int(dice.integers(len(text))), int(dice.integers(0, 6))
            text = text[:at] + words[int(dice.integers(len(words)))] * int(dice.integers(0, 2)) + text[at + gone:]
        try:
            load(text)
            read += 1
        except sandglass.SandglassError as error:
            assert str(error)
            refused += 1
    assert read > 20 and refused > 200


# --- real files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, bodies, joints", [("a1/a1.urdf", 13, 12), ("r2d2.urdf", 9, 8), ("cartpole.urdf", 2, 2),
                                                  ("kuka_iiwa/model.urdf", 7, 7), ("franka_panda/panda.urdf", 10, 9), ("plane.urdf", 0, 0)])
def test_machines_of_pybullet(name, bodies, joints):
    data = pytest.importorskip("pybullet_data", reason="pybullet_data is not installed")
    world = World()
    model = world.load(os.path.join(data.getDataPath(), name), at=(0, 0, 1))
    assert len(set(model.bodies.values()) - {-1}) == bodies and len(model.joints) == joints
    if bodies:
        sim = world.simulate().run(0.2)
        assert np.isfinite(sim.positions).all() and not sim.gone.any()


@pytest.mark.parametrize("name, bodies, joints", [("ant.xml", 9, 8), ("humanoid.xml", 11, 10), ("inverted_pendulum.xml", 2, 2)])
def test_machines_of_gymnasium(name, bodies, joints):
    package = pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    world = World()
    model = world.load(os.path.join(os.path.dirname(package.__file__), "envs", "mujoco", "assets", name))
    assert len(set(model.bodies.values()) - {-1}) == bodies and len(model.joints) == joints
    sim = world.simulate(iterations=200).run(1)
    assert np.isfinite(sim.positions).all() and np.abs(sim.velocities).max() < 20
