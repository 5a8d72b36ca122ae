# SPDX-License-Identifier: MIT
"""A scene as an FMU: a co-simulation of FMI 3.0, which other simulation tools load and step (docs/python.md)."""

from __future__ import annotations

import glob
import os
import platform
import re
import uuid
import zipfile
from typing import Any, Iterator, NamedTuple, Sequence
from xml.sax.saxutils import quoteattr

from . import _native
from .simulation import Simulation

_PARTS, _INDICES = 16, 1 << 22  # of a value reference: python/fmu.c
_RUN, _KNOB, _JOINT, _BODY, _PROBE = range(5)
_UNITS = {"m": 'm="1"', "rad": 'rad="1"', "m/s": 'm="1" s="-1"', "rad/s": 'rad="1" s="-1"', "N": 'kg="1" m="1" s="-2"',
          "N.m": 'kg="1" m="2" s="-2"', "J": 'kg="1" m="2" s="-2"', "s": 's="1"'}
_SOLVE = ("friction", "bounds", "facets", "presolve", "renewal", "iterations", "budget_ms", "tolerance", "relative", "accuracy",
          "islands")


class _Variable(NamedTuple):
    name: str
    reference: int
    causality: str
    about: str
    unit: str = ""
    size: int = 1                     # numbers; above 1 it is an array
    start: tuple[float, ...] = ()
    kind: str = "Float64"
    limits: tuple[float, float] | None = None

    def text(self) -> str:
        variability = {"parameter": "fixed", "input": "discrete", "output": "discrete", "independent": "continuous"}
        words = [f'name={quoteattr(self.name)}', f'valueReference="{self.reference}"', f'causality="{self.causality}"',
                 f'variability="{variability[self.causality]}"', f'description={quoteattr(self.about)}']
        if self.unit:
            words.append(f'unit="{self.unit}"')
        if self.limits:
            words.append(f'min="{self.limits[0]!r}" max="{self.limits[1]!r}"')
        if self.start:
            words.append(f'start="{" ".join(map(repr, self.start))}"')
        inside = f'><Dimension start="{self.size}"/></{self.kind}>' if self.size > 1 else "/>"
        return f"<{self.kind} {' '.join(words)}{inside}"


def _reference(kind: int, index: int, part: int) -> int:
    return (kind * _INDICES + index) * _PARTS + part


def _joint_variables(sim: Simulation) -> Iterator[_Variable]:
    for joint in sim.joints.values():
        if joint.kind in ("ball", "universal", "fixed"):
            continue
        name, drive = f"joints.{joint.name or joint.number}", joint.drive
        length, force = ("rad", "N.m") if joint.kind == "hinge" else ("m", "N")
        if drive["motor"]:
            goal = length if drive["motor"] == "position" else f"{length}/s"
            yield _Variable(f"{name}.target", _reference(_JOINT, joint.number, 0), "input", f"the {drive['motor']} that the motor goes to", goal, start=(drive["target"],))
            if drive["strength"] < float("inf"):
                yield _Variable(f"{name}.strength", _reference(_JOINT, joint.number, 1), "input", "the most that the motor gives", force, start=(drive["strength"],))
            yield _Variable(f"{name}.motor", _reference(_JOINT, joint.number, 4), "output", "what the motor gave in the last step", force)
        yield _Variable(f"{name}.position", _reference(_JOINT, joint.number, 2), "output", "coordinate of the joint", length)
        yield _Variable(f"{name}.speed", _reference(_JOINT, joint.number, 3), "output", "how fast it changes", f"{length}/s")


def _body_variables(bodies: Sequence[int]) -> Iterator[_Variable]:
    for body in bodies:
        zero = (0.0, 0.0, 0.0)
        yield _Variable(f"bodies[{body}].force", _reference(_BODY, body, 0), "input", "at the center of mass, world frame", "N", 3, zero)
        yield _Variable(f"bodies[{body}].torque", _reference(_BODY, body, 1), "input", "world frame", "N.m", 3, zero)
        yield _Variable(f"bodies[{body}].position", _reference(_BODY, body, 2), "output", "of the center of mass", "m", 3)
        yield _Variable(f"bodies[{body}].rotation", _reference(_BODY, body, 3), "output", "quaternion w, x, y, z, body frame to world frame", "", 4)
        yield _Variable(f"bodies[{body}].velocity", _reference(_BODY, body, 4), "output", "of the center of mass", "m/s", 3)
        yield _Variable(f"bodies[{body}].spin", _reference(_BODY, body, 5), "output", "world frame", "rad/s", 3)


def _variables(sim: Simulation, bodies: Sequence[int]) -> Iterator[_Variable]:
    yield _Variable("time", _reference(_RUN, 0, 0), "independent", "simulated time", "s")
    for index, knob in enumerate(sim.knobs.values()):
        yield _Variable(f"knobs.{knob.name}", _reference(_KNOB, index, 0), "parameter", f"{knob.about} {knob.unit}".strip(),
                        start=(knob.value,), limits=(knob.least, knob.most))
    yield from _joint_variables(sim)
    yield from _body_variables(bodies)
    for index, probe in enumerate(sim.probes.values()):
        for column, name in enumerate(probe.columns):
            yield _Variable(f"probes.{probe.name}.{name}", _reference(_PROBE, index, column), "output",
                            f"{probe.kind}, of the last sample", "", len(probe.values))
    yield _Variable("kinetic_energy", _reference(_RUN, 0, 1), "output", "of all bodies", "J")
    yield _Variable("residual", _reference(_RUN, 0, 2), "output", "of the last step", "m/s")
    yield _Variable("contacts", _reference(_RUN, 0, 3), "output", "of the last step")
    yield _Variable("hash", _reference(_RUN, 0, 4), "output", "of the bits of time, poses and velocities", kind="UInt64")


def _description(sim: Simulation, variables: list[_Variable], token: str) -> str:
    units = "\n".join(f'    <Unit name="{name}"><BaseUnit {base}/></Unit>' for name, base in _UNITS.items())
    outputs = [v for v in variables if v.causality == "output"]
    structure = [f'    <Output valueReference="{v.reference}"/>' for v in outputs] + [
        f'    <InitialUnknown valueReference="{v.reference}"/>' for v in outputs]
    lines = "\n".join("    " + v.text() for v in variables)
    about, step = quoteattr(sim.about), repr(sim.step_length)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName={quoteattr(sim.name)} instantiationToken="{token}" description={about} generationTool="Sandglass {_native.version().decode()}" variableNamingConvention="flat">
  <CoSimulation modelIdentifier="sandglass" canHandleVariableCommunicationStepSize="false" fixedInternalStepSize="{step}" canGetAndSetFMUState="true" canSerializeFMUState="true"/>
  <UnitDefinitions>
{units}
  </UnitDefinitions>
  <LogCategories>
    <Category name="errors" description="what was refused, in a sentence"/>
    <Category name="warnings" description="a lost body, an infeasible step"/>
  </LogCategories>
  <DefaultExperiment startTime="0" stopTime="{sim.seconds!r}" stepSize="{step}"/>
  <ModelVariables>
{lines}
  </ModelVariables>
  <ModelStructure>
{chr(10).join(structure)}
  </ModelStructure>
</fmiModelDescription>
"""


def _settings(sim: Simulation, file: str, options: dict[str, Any]) -> list[str]:
    """Lines for python/fmu.c: a name and a value. Knobs are parameters of the FMU, whose starts are those of the scene."""
    lines = [f"scene {file}"]
    lines += [f"{name} {options[name]}" for name in ("bodies", "seed", "step", "threads", "backend") if options.get(name) is not None]
    lines += [f"probe {text}" for text in options.get("probes", ())]
    if options.get("start"):
        lines.append(f"start {_native.constants['START_' + options['start'].upper()]}")
    lines.append(f"precision {sim._definition.precision}")
    method, solve = sim.solver, sim._solve
    fixed = {"solver", "friction", "iterations", "budget_ms", "tolerance", "accuracy", "islands"}
    lines.append(f"solver {method['solver']}")
    lines += [f"{name} {value!r}" if isinstance(value, float) else f"{name} {value}" for name, value in method.items() if name not in fixed]
    lines += [f"{name} {float(getattr(solve, name))!r}" for name in _SOLVE]
    return lines


def _scene_files(path: str) -> list[str]:
    """The scene's file and those of its folder that it names: meshes, and the scene that it is like."""
    folder, found, todo = os.path.dirname(path), [os.path.basename(path)], [path]
    beside = [os.path.relpath(name, folder) for name in glob.glob(os.path.join(glob.escape(folder), "**"), recursive=True) if os.path.isfile(name)]
    while todo:
        with open(todo.pop(), encoding="utf-8") as file:
            text = file.read()
        for name in beside:
            like = re.search(rf"(?m)^like:\s*['\"]?{re.escape(name[:-5])}['\"]?\s*(#|$)", text) if name.endswith(".yaml") else None
            if name not in found and (like or re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w.-])", text)):
                found.append(name)
                if name.endswith(".yaml"):
                    todo.append(os.path.join(folder, name))
    return found


def _binaries() -> Iterator[tuple[str, str]]:
    """Files of the FMU's folder `binaries`, with where they are: the library that it calls, and what that needs."""
    folder = f"{platform.machine()}-linux"
    entry = _native._path("libsandglass_fmu.so")
    yield f"{folder}/sandglass.so", entry
    with open(entry, "rb") as file:
        name = re.search(rb"\0(libsandglass\.so[.0-9]*)\0", file.read())
    if not name:
        raise _native.SandglassError(f"{entry} does not ask for libsandglass.so")
    yield f"{folder}/{name[1].decode()}", _native._path("libsandglass.so")
    for path in sorted(glob.glob(os.path.join(glob.escape(os.path.dirname(_native.FOLDER)), "sandglass_sim.libs", "*"))):
        yield f"sandglass_sim.libs/{os.path.basename(path)}", path  # a wheel carries these


def write_fmu(scene: str | os.PathLike[str], path: str | os.PathLike[str], *, coupled: Sequence[int] = (), **options: Any) -> None:
    """Writes a scene as an FMU of FMI 3.0 for co-simulation: `write_fmu("rover", "rover.fmu", coupled=[0])`.

    Inputs are target and strength of every motor, and force and torque on the bodies of `coupled`; outputs are joints, these
    bodies, and what probes read. Knobs are parameters. `options` are those of `Simulation.load` but `text` and `state`. The FMU
    has the libraries of this machine inside, and steps with the bits of `Simulation.load(scene, **options)`.
    """
    for name in ("text", "state", "knobs"):
        if options.get(name) is not None:
            raise TypeError(f"write_fmu: {name} is no part of an FMU" + ("; knobs are its parameters" if name == "knobs" else ""))
    file = os.fsdecode(scene)
    if "/" not in file and not file.endswith(".yaml"):
        file = os.path.join(_native.scenes_folder().decode(), file + ".yaml")
    file = os.path.abspath(file)
    sim = Simulation.load(file, **options)
    bodies = [_native.integer(body, "coupled") for body in coupled]
    for body in bodies:
        if not 0 <= body < min(len(sim.masses), _INDICES):
            raise _native.SandglassError(f"coupled: there is no body {body}; the scene has {len(sim.masses)}")
    variables = list(_variables(sim, bodies))
    settings = _settings(sim, os.path.basename(file), options)
    token = str(uuid.uuid5(uuid.NAMESPACE_URL, _description(sim, variables, "") + "\n".join(settings)))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", _description(sim, variables, token))
        archive.writestr("resources/settings", "\n".join([*settings, f"token {token}", ""]))
        for name in _scene_files(file):
            archive.write(os.path.join(os.path.dirname(file), name), f"resources/{name}")
        for name, source in _binaries():
            archive.write(source, f"binaries/{name}")
