# SPDX-License-Identifier: MIT
"""FMUs of scenes: what is in them, the bits of their runs, and FMPy's judgment where it is installed."""

import ctypes
import os
import platform
import zipfile
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from xml.etree import ElementTree

import numpy as np
import pytest
import sandglass

LOG = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
ARM = """
name: arm
about: A plate on a motor in a box.
size: {bodies: 30}
step: 0.005
materials: [{name: pebble, density: 2600, mu: 0.4}]
boundaries:
  - {shape: sphere, radius: 1, position: [0, 0, 1]}
bodies:
  - {name: plate, shape: box, size: [0.6, 0.04, 0.4], position: [0, 0, 0.9]}
joints:
  - {name: swing, kind: hinge, b: plate, anchor: [0, 0, 0.9], axis: [0, 0, 1], motor: {speed: 1, strength: 40}}
fills:
  - {material: pebble, radii: [0.03, 0.05], lattice: {spacing: 0.11, from: 0.2}, region: {inside: true}}
probes:
  - {name: all, kind: center}
knobs:
  - {name: grip, about: friction of the pebbles, kind: mu, of: pebble, least: 0, most: 1}
"""


class Fmu:
    """An importer of the barest kind: it calls the functions as the standard declares them."""

    def __init__(self, path, folder, token=None):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        self.description = ElementTree.parse(folder / "modelDescription.xml").getroot()
        self.variables = {v.get("name"): v for v in self.description.find("ModelVariables")}
        self.library = ctypes.CDLL(str(folder / "binaries" / f"{platform.machine()}-linux" / "sandglass.so"))
        self.said = []
        self._log = LOG(lambda environment, status, category, message: self.said.append(message.decode()))
        create = self.library.fmi3InstantiateCoSimulation
        create.restype = c_void_p
        create.argtypes = [c_char_p, c_char_p, c_char_p, c_bool, c_bool, c_bool, c_bool, c_void_p, c_size_t, c_void_p, LOG, c_void_p]
        token = token or self.description.get("instantiationToken")
        self.instance = create(b"one", token.encode(), f"{folder}/resources/".encode(), False, True, False, False, None, 0, None,
                               self._log, None)
        self.time = 0.0

    def call(self, name, *arguments):
        return getattr(self.library, "fmi3" + name)(c_void_p(self.instance), *arguments)

    def begin(self):
        assert self.call("EnterInitializationMode", c_bool(False), c_double(0), c_double(0), c_bool(False), c_double(0)) == 0
        assert self.call("ExitInitializationMode") == 0
        return self

    def reference(self, name):
        return c_uint32(int(self.variables[name].get("valueReference")))

    def size(self, name):
        dimension = self.variables[name].find("Dimension")
        return 1 if dimension is None else int(dimension.get("start"))

    def get(self, name):
        values = (c_double * self.size(name))()
        assert self.call("GetFloat64", byref(self.reference(name)), c_size_t(1), values, c_size_t(len(values))) == 0, self.said
        return values[0] if len(values) == 1 else list(values)

    def set(self, name, *numbers):
        values = (c_double * len(numbers))(*numbers)
        return self.call("SetFloat64", byref(self.reference(name)), c_size_t(1), values, c_size_t(len(values)))

    def step(self, length):
        flags, reached = [c_bool() for _ in range(3)], c_double()
        status = self.call("DoStep", c_double(self.time), c_double(length), c_bool(False), *map(byref, flags), byref(reached))
        self.time = reached.value
        return status

    @property
    def hash(self):
        value = c_uint64()
        assert self.call("GetUInt64", byref(self.reference("hash")), c_size_t(1), byref(value), c_size_t(1)) == 0, self.said
        return f"{value.value:016x}"

    def free(self):
        self.call("FreeInstance")


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(ARM)
    return path


@pytest.fixture
def fmu(scene, tmp_path):
    sandglass.write_fmu(scene, tmp_path / "arm.fmu", coupled=[0], iterations=20, probes=["kinetic energy"])
    found = Fmu(tmp_path / "arm.fmu", tmp_path / "unpacked")
    assert found.instance, found.said
    yield found
    found.free()


def twin(scene):
    return sandglass.load(scene, iterations=20, probes=["kinetic energy"])


def test_inputs_act_as_those_of_the_package_and_the_bits_are_the_same(fmu, scene):
    sim = twin(scene)
    fmu.begin()
    for k in range(20):
        speed, push = 3.0 - 0.3 * k, (0.0, 2.0 * k, 1.0)
        assert fmu.set("joints.swing.target", speed) == 0 and fmu.set("bodies[0].force", *push) == 0
        assert fmu.step(0.01) == 0, fmu.said
        for _ in range(2):
            sim.joints["swing"].set_motor(speed=speed)
            sim.apply_force(0, push)
            sim.step()
        assert fmu.hash == sim.hash
    joint = sim.joints["swing"]
    assert [fmu.get(f"joints.swing.{name}") for name in ("position", "speed", "motor")] == [joint.position, joint.speed, joint.motor_torque]
    assert fmu.get("joints.swing.motor") != 0
    assert fmu.get("bodies[0].position") == list(sim.positions[0]) and fmu.get("bodies[0].rotation") == list(sim.rotations[0])
    assert fmu.get("bodies[0].velocity") == list(sim.velocities[0]) and fmu.get("bodies[0].spin") == list(sim.spins[0])
    assert fmu.get("probes.all.x_m") == sim.probes["all"]["x_m"]
    assert fmu.get("probes.kinetic.kinetic_j") == sim.probes["kinetic"]["kinetic_j"]
    assert fmu.get("kinetic_energy") == sim.kinetic_energy and fmu.get("contacts") == sim.counters.contacts
    assert fmu.get("time") == sim.time


def test_states_come_back_with_their_inputs(fmu):
    fmu.begin()
    fmu.set("bodies[0].torque", 0, 0, 5)
    fmu.step(0.05)
    state, size = c_void_p(), c_size_t()
    assert fmu.call("GetFMUState", byref(state)) == 0
    assert fmu.call("SerializedFMUStateSize", state, byref(size)) == 0
    data = (ctypes.c_uint8 * size.value)()
    assert fmu.call("SerializeFMUState", state, data, size) == 0
    fmu.step(0.05)
    wanted = fmu.hash
    fmu.set("bodies[0].torque", 0, 0, -5)
    fmu.step(0.05)
    again = c_void_p()
    assert fmu.call("DeserializeFMUState", data, size, byref(again)) == 0
    assert fmu.call("SetFMUState", again) == 0
    fmu.time = 0.05
    assert fmu.step(0.05) == 0 and fmu.hash == wanted
    assert fmu.call("DeserializeFMUState", data, c_size_t(size.value - 1), byref(again)) != 0
    for kept in (state, again):
        fmu.call("FreeFMUState", byref(kept))


def test_knobs_are_parameters_and_a_reset_forgets_everything(fmu, scene):
    first = fmu.hash
    assert fmu.get("knobs.grip") == 0.4 and fmu.set("knobs.grip", 0.9) == 0
    fmu.begin()
    assert fmu.set("knobs.grip", 0.1) != 0 and "fixed" in fmu.said[-2] + fmu.said[-1]
    fmu.step(0.5)
    assert fmu.hash == sandglass.load(scene, iterations=20, probes=["kinetic energy"], knobs={"grip": 0.9}).run(0.5).hash
    assert fmu.call("Reset") == 0
    assert fmu.hash == first and fmu.get("knobs.grip") == 0.4


def test_what_does_not_fit_is_refused_with_a_sentence(fmu, tmp_path):
    fmu.begin()
    assert fmu.step(0.0071) != 0 and "whole number of steps of 0.005 s" in fmu.said[-1]
    value = c_double()
    assert fmu.call("GetFloat64", byref(c_uint32(4000000000)), c_size_t(1), byref(value), c_size_t(1)) != 0
    assert fmu.set("joints.swing.position", 1) != 0
    assert fmu.set("bodies[0].force", 1.0, 2.0) != 0  # three numbers
    assert fmu.call("SetTime", c_double(1)) != 0
    stranger = Fmu(tmp_path / "arm.fmu", tmp_path / "again", token="another")
    assert not stranger.instance and "token" in stranger.said[-1]


def test_the_writer_refuses_what_an_fmu_cannot_have(scene, tmp_path):
    for wrong, sentence in ((dict(coupled=[4000]), "no body 4000"), (dict(knobs={"grip": 1}), "parameters"), (dict(text="a"), "text")):
        with pytest.raises((sandglass.SandglassError, TypeError), match=sentence):
            sandglass.write_fmu(scene, tmp_path / "no.fmu", **wrong)


def test_files_that_a_scene_names_travel_along(tmp_path):
    (tmp_path / "shape.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    (tmp_path / "base.yaml").write_text("name: base\nmaterials: [{name: m, density: 1000}]\nshapes: [{name: chip, hull: {file: shape.obj}}]\n"
                                        "bodies:\n  - {shape: chip, position: [0, 0, 1]}\n")
    (tmp_path / "child.yaml").write_text("name: child\nlike: base\nseconds: 2\n")
    (tmp_path / "other.yaml").write_text("name: other\n")
    sandglass.write_fmu(tmp_path / "child.yaml", tmp_path / "child.fmu")
    fmu = Fmu(tmp_path / "child.fmu", tmp_path / "unpacked")
    assert sorted(os.listdir(tmp_path / "unpacked" / "resources")) == ["base.yaml", "child.yaml", "settings", "shape.obj"]
    fmu.begin().step(0.1)
    assert fmu.hash == sandglass.load(tmp_path / "child.yaml").run(0.1).hash
    fmu.free()


def test_fmpy_validates_it_and_its_run_of_ten_seconds_has_the_bits_of_the_program(bench, tmp_path):
    fmpy = pytest.importorskip("fmpy", reason="without FMPy (pip install fmpy) its judgment is not asked for")
    validation = pytest.importorskip("fmpy.validation")
    path = str(tmp_path / "drum.fmu")
    sandglass.write_fmu("drum", path, bodies=200, coupled=[3])
    assert validation.validate_fmu(path) == []
    steps = round(10 / sandglass.load("drum", bodies=200).step_length)
    result = fmpy.simulate_fmu(path, stop_time=10, output=["hash", "kinetic_energy", "bodies[3].position"], validate=True)
    assert result["time"][-1] == pytest.approx(10)
    figures = bench("drum", steps, "--bodies", 200)
    assert f"{int(result['hash'][-1]):016x}" == figures["hash"]
    assert np.ptp(result["bodies[3].position"][:, 2]) > 0.1  # it is carried around
