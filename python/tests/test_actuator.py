# SPDX-License-Identifier: MIT
"""Motors of machines from files: their strength, what a control asks of them, by mechanics by hand; and what is not read."""

import math
import os

import pytest
import sandglass
from sandglass import World

# A beam of 2 kg, whose center is 0.5 m from a hinge about y at z = 3: it takes 9.81 N m to hold it level, and its moment about
# the hinge is 0.2 + 2 * 0.25 = 0.7 kg m^2. A hinge about y turns x towards -z.
HELD = 2 * 9.81 * 0.5
MJCF = """<mujoco model="beam"><compiler angle="radian"/>
  <default><motor ctrlrange="-2 2"/><default class="weak"><position forcerange="-3 3"/></default></default>
  <worldbody><body name="beam" pos="0 0 3">
    <joint name="elbow" axis="0 1 0"/>
    <inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.2 0.2"/>
    <geom type="box" pos="0.5 0 0" size="0.5 0.02 0.02"/></body>
  </worldbody>
  <actuator>
    {}
  </actuator>
</mujoco>"""
URDF = """<robot name="beam"><link name="base"/>
  <link name="beam"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.5 0 0"/><geometry><box size="1 0.04 0.04"/></geometry></collision></link>
  <joint name="elbow" type="{}"><parent link="base"/><child link="beam"/><origin xyz="0 0 3"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="{}" velocity="{}"/></joint>{}
</robot>"""


@pytest.fixture
def load(tmp_path):
    """Loads a machine by its text into a world, and returns the simulation and the model."""

    def add(text, gravity=9.81, **words):
        (tmp_path / "machine.xml").write_text(text)
        world = World(step=0.002, gravity=(0, 0, -gravity))
        model = world.load(tmp_path / "machine.xml", **words)
        return world.simulate(iterations=100, precision="double"), model

    return add


def test_a_position_is_held_with_the_torque_of_its_load(load):
    sim, model = load(MJCF.format('<position name="servo" joint="elbow" kp="200" kv="20" forcerange="-50 50"/>'))
    elbow = sim.joints["elbow"]
    assert elbow.drive["motor"] == "position" and elbow.drive["rate"] == 10 and elbow.drive["strength"] == 50
    sim.run(0.5)  # a control of 0 holds it as it was loaded
    assert elbow.position == pytest.approx(0, abs=1e-9) and elbow.motor_torque == pytest.approx(-HELD, rel=1e-6)
    elbow.set_motor(position=-0.5)
    sim.run(3)
    assert elbow.position == pytest.approx(-0.5, abs=1e-6)
    assert elbow.motor_torque == pytest.approx(-HELD * math.cos(0.5), rel=1e-6)
    model.actuators["servo"].apply(sim, -0.25)
    assert sim.run(3) and elbow.position == pytest.approx(-0.25, abs=1e-6)


@pytest.mark.parametrize("strength, holds", [(0.95 * HELD, False), (1.05 * HELD, True)])
def test_the_strength_of_a_file_is_the_limit(load, strength, holds):
    texts = (MJCF.format(f'<position joint="elbow" forcerange="{-strength} {strength}"/>'),
             MJCF.format(f'<position joint="elbow" gear="5" forcerange="{-strength / 5} 1"/>'),
             MJCF.format('<general joint="elbow" gainprm="90" biastype="affine" biasprm="0 -90 -9"/>').replace(
                 'name="elbow"', f'name="elbow" actuatorfrcrange="{-strength} {strength}"'),
             MJCF.format(f'<motor joint="elbow" gear="{strength / 2}"/>'), URDF.format("revolute", strength, 5, ""))
    for text in texts:
        sim, _ = load(text)
        elbow = sim.joints["elbow"]
        assert elbow.drive["strength"] == pytest.approx(strength)
        elbow.set_motor(position=0)
        sim.run(1)
        assert abs(elbow.motor_torque) == pytest.approx(min(strength, HELD), rel=1e-5)
        assert abs(elbow.position) < 1e-6 if holds else elbow.position > 0.1


def test_a_motor_gives_its_torque(load):
    sim, model = load(MJCF.format('<motor name="m" joint="elbow" gear="0.5"/>'), gravity=0)
    elbow, motor = sim.joints["elbow"], model.actuators["m"]
    assert sim.run(0.1) and elbow.speed == 0 and (motor.strength, motor.gear) == (1, 0.5)
    for control, speed in ((0.7, 0.5), (-0.7, 0), (9, 1 / 0.7), (-9, 0)):  # 0.35 N m and, at its limit, 1 N m
        motor.apply(sim, control)
        sim.run(1)
        assert elbow.speed == pytest.approx(speed, rel=1e-5, abs=1e-5)
        assert elbow.motor_torque == pytest.approx(0.5 * max(-2, min(2, control)))
    motor.apply(sim, 0)
    assert sim.run(0.5) and elbow.speed == pytest.approx(0, abs=1e-5) and elbow.motor_torque == 0


def test_a_velocity_is_kept(load):
    text = '<velocity name="v" joint="elbow" kv="40" gear="2" ctrlrange="-1 1" forcerange="-8 8"/>'
    sim, model = load(MJCF.format(text))
    elbow = sim.joints["elbow"]
    assert sim.run(0.5) and elbow.position == pytest.approx(0, abs=1e-9) and elbow.drive["strength"] == 16
    model.actuators["v"].apply(sim, 3)  # its limit is 1, and the gear halves it
    assert sim.run(0.5) and elbow.speed == pytest.approx(0.5, rel=1e-6)


def test_general_actuators_are_one_of_the_three(load):
    words = 'name="g" joint="elbow"'
    for text, kind, ratio in ((f'<general {words} gainprm="3"/>', "motor", 3),
                              (f'<general {words} gainprm="50" biastype="affine" biasprm="0 -200 -20"/>', "position", 0.25),
                              (f'<general {words} gainprm="8" biastype="affine" biasprm="0 0 -4"/>', "velocity", 2)):
        _, model = load(MJCF.format(text))
        assert (model.actuators["g"].kind, model.actuators["g"].ratio) == (kind, ratio) and not model.ignored


def test_limits_of_urdf_are_those_of_its_motors(load):
    wired = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
      <joint name="elbow"><hardwareInterface>hardware_interface/PositionJointInterface</hardwareInterface></joint>
      <actuator name="a"><mechanicalReduction>1</mechanicalReduction></actuator></transmission>"""
    for kind in ("revolute", "continuous"):
        sim, model = load(URDF.format(kind, 40, 0.2, wired))
        elbow = sim.joints["elbow"]
        assert elbow.drive["motor"] == "position" and model.actuators["t"].kind == "position" and not model.ignored
        elbow.set_motor(position=-1)
        sim.run(2)
        assert elbow.position == pytest.approx(-0.4, abs=1e-3)  # 0.2 rad/s is as fast as it goes
    sim, model = load(URDF.format("revolute", 0, 0, ""))
    assert sim.joints["elbow"].drive["strength"] == math.inf and sim.joints["elbow"].drive["motor"] is None
    assert [line.split("<")[1] for line in model.ignored] == ["limit> elbow: effort of 0 is none", "limit> elbow: velocity of 0 is none"]


def test_an_arm_that_is_put_somewhere_is_told_where_to_go():
    world = World()
    arm = world.load(os.path.join(os.path.dirname(__file__), "..", "..", "examples", "python", "arm.urdf"), at=(0, 0, 1), fixed=True)
    sim = world.simulate(iterations=200)
    assert sim.positions[arm.bodies["hand"], 2] == pytest.approx(1 + 0.36 + 0.42 + 0.4 + 0.05)
    for name, joint in sim.joints.items():
        if joint.kind == "hinge":
            joint.set_motor(position=0.3 if name == "stick" else 0, rate=10)
    sim.run(2)
    assert sim.joints["stick"].position == pytest.approx(0.3, abs=2e-3) and sim.joints["stick"].speed == pytest.approx(0, abs=1e-2)
    weight = 4 * 0.18 + 1 * 0.45  # kg m, of what it carries about it
    assert sim.joints["stick"].motor_torque == pytest.approx(-9.81 * weight * math.sin(0.3), rel=0.05)


def test_coordinates_of_a_file_begin_where_it_says(load):
    """The joint is loaded at 0.4 of the file: limits, spring and controls are of the file, its coordinate is from there on."""
    servo = MJCF.format('<position name="s" joint="elbow" forcerange="-50 50"/>').replace('axis="0 1 0"', 'axis="0 1 0" ref="0.4" range="-1 1"')
    sim, model = load(servo)
    elbow = sim.joints["elbow"]
    assert (elbow.drive["low"], elbow.drive["high"], elbow.drive["target"]) == pytest.approx((-1.4, 0.6, -0.4))
    model.actuators["s"].apply(sim, 0.9)
    assert sim.run(3) and elbow.position == pytest.approx(0.5, abs=1e-6)
    sprung = MJCF.format("").replace('axis="0 1 0"', 'axis="0 1 0" ref="0.4" springref="0.7" stiffness="20" damping="30"')
    sim, _ = load(sprung, gravity=0)
    assert sim.run(10) and sim.joints["elbow"].position == pytest.approx(0.3, abs=1e-3)


def test_machines_of_one_file_have_prefixes(tmp_path):
    (tmp_path / "arm.xml").write_text(MJCF.format('<motor name="m" joint="elbow"/>'))
    world = World(step=0.002)
    models = [world.load(tmp_path / "arm.xml", at=(0, k, 0), prefix=f"{side}/") for k, side in enumerate(("left", "right"))]
    with pytest.raises(sandglass.SandglassError, match="arm.xml:4: <joint> left/elbow: the world has a joint of this name; give"):
        world.load(tmp_path / "arm.xml", prefix="left/")
    sim = world.simulate()
    assert list(sim.joints) == ["left/elbow", "right/elbow"] and [m.joints["elbow"] for m in models] == [0, 1]
    models[1].actuators["m"].apply(sim, -2)
    sim.run(0.1)
    assert math.isnan(sim.joints["left/elbow"].motor_torque) and sim.joints["right/elbow"].motor_torque == pytest.approx(-2)


@pytest.mark.parametrize("text, words", [
    ('<motor name="m" site="s"/>', ":9: <motor> m is not read: it acts on no joint"),
    ('<motor name="m" tendon="s"/>', ":9: <motor> m is not read: it acts on no joint"),
    ('<motor name="m" joint="knee"/>', ":9: <motor> m acts on no hinge or slider of the world: knee"),
    ('<muscle name="m" joint="elbow"/>', ":9: <muscle> m is not read: motor, position, velocity and general are"),
    ('<general name="m" joint="elbow" biastype="muscle"/>', ":9: <general> m is not read: a gain that is fixed"),
    ('<general name="m" joint="elbow" dyntype="filter"/>', ":9: <general> m is not read: a gain that is fixed"),
    ('<position name="m" joint="elbow" timeconst="1"/>', ":9: <position> timeconst is not read"),
    ('<position joint="elbow"/>\n<velocity name="v" joint="elbow"/>', ":10: <velocity> v is not read: elbow drives elbow already"),
])
def test_what_is_not_read_is_said(load, text, words):
    _, model = load(MJCF.format(text))
    assert len(model.ignored) == 1 and words in model.ignored[0]


@pytest.mark.parametrize("text, words", [
    (MJCF.format('<motor name="m" joint="elbow" gear="0"/>'), ":9: <motor> m has gear 0"),
    (MJCF.format('<position name="p" joint="elbow" kp="-1"/>'), ":9: <position> p has gains -1 and 0"),
    (MJCF.format('<motor joint="elbow" forcerange="3 1"/>'), ":9: <motor> has forcerange '3 1'; the first is above the second"),
    (MJCF.format("").replace('name="elbow"', f'name="{"a" * 64}"'), ":4: <joint> has a name of more than 63 bytes"),
    (URDF.format("revolute", -1, 1, ""), ":6: <limit> has effort -1"),
    (URDF.format("revolute", 1, 1, '\n<transmission name="t" type="SimpleTransmission"><joint name="elbov"/></transmission>'),
     ":7: <joint> t: there is no joint elbov; did you mean elbow?"),
])
def test_mistakes_are_named_with_their_line(load, text, words):
    with pytest.raises(sandglass.SandglassError) as found:
        load(text)
    assert words in str(found.value), found.value
