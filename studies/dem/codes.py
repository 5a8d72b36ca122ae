# SPDX-License-Identifier: MIT
"""The codes: each runs an experiment in a folder and leaves frames of its spheres, what it had at the start, and its cost.

A frame has the columns step, time_s, body, position_x, ... of our export, whichever code wrote it.
"""

import csv
import json
import math
import os
import shutil
import subprocess
import time

from materials import DENSITY, NAMES, PAIRS, POISSON, YOUNG, matrix

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = "position,velocity,spin,mass"
GRAVITY = 9.81
MARGIN = 0.02  # m, around everything


def timed(command, folder):
    """Runs a command on one core in its folder; processor and wall time of it, with all that it starts."""
    with open(f"{folder}/stdout", "w") as out, open(f"{folder}/stderr", "w") as err:
        began = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, env={**os.environ, "OMP_NUM_THREADS": "1"})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}; see {folder}/stderr and {folder}/stdout")
    return {"cpu_s": usage.ru_utime + usage.ru_stime, "wall_s": time.monotonic() - began}


class Code:
    """A program with a `name`, a `version`, the files it reads (`inputs`, by name), and the `command` that runs them."""

    def run(self, experiment, folder):
        """Steps and cost of a run in this folder."""
        for name, text in self.inputs(experiment).items():
            with open(f"{folder}/{name}", "w") as f:
                f.write(text)
        return {**timed(self.command(experiment), folder), **self.finish(experiment, folder)}

    def finish(self, experiment, folder):
        """What is known once it has run."""
        return {"steps": experiment.steps()}


# --- ours --------------------------------------------------------------------------------------------------------


def laws():
    """Materials and pairs as a scene has them."""
    materials = [f"  - {{name: {name}, density: {density}}}" for name, density in zip(NAMES, DENSITY)]
    pairs = [f"  - {{a: {NAMES[a]}, b: {NAMES[b]}, restitution: {e}, mu: {mu}}}" for (a, b), (e, mu) in PAIRS.items()]
    return "\n".join(["materials:", *materials, "pairs:", *pairs])


def scene(experiment, step, iterations):
    """The experiment as a scene, with every sphere where the other codes have it."""
    numbers = lambda values: "[" + ", ".join(repr(float(v)) for v in values) + "]"  # noqa: E731
    bodies = [
        f"  - {{name: b{k}, material: {NAMES[m]}, shape: sphere, radius: {r!r}, position: {numbers(at)}, velocity: {numbers(v)}, spin: {numbers(w)}}}"
        for k, ((*at, r, m), v, w) in enumerate(zip(experiment.spheres, experiment.velocities, experiment.spins))
    ]
    lines = [
        f"name: {experiment.name}", f"step: {step!r}", f"seconds: {experiment.seconds!r}", f"gravity: [0, 0, {-experiment.gravity!r}]",
        f"solver: {{name: p-spg-fb, iterations: {iterations}}}", "friction: coulomb", "recovery: 0.1",
        f"bounce_speed: {2 * GRAVITY * step!r}", "world: {lower: [-1, -1, -1], upper: [1, 1, 2]}", laws(),
        "boundaries:", experiment.boundaries, "bodies:", *bodies,
    ]  # fmt: skip
    if experiment.floor is not None:
        lines += ["outlets:", f"  - {{name: below, point: [0, 0, {experiment.floor!r}], normal: [0, 0, 1]}}"]
    if experiment.probes:
        lines += ["probes:", experiment.probes]
    return "\n".join(lines) + "\n"


class Ours(Code):
    def __init__(self, build, step, iterations):
        self.program, self.step, self.iterations = os.path.abspath(f"{build}/sandglass"), step, iterations
        self.name = f"ours, h = {1000 * step:g} ms"

    def version(self):
        with open(self.program, "rb") as f:
            return f.read()

    def inputs(self, experiment):
        return {"scene.yaml": scene(experiment, self.step, self.iterations)}

    def command(self, experiment):
        every = experiment.seconds if experiment.tracked else experiment.sample
        run = [self.program, "run", "scene.yaml", "--headless", "--json", "--threads", "1", "--backend", "cpu"]
        measured = ["--probes", "probes"] if experiment.probes else []
        return [*run, *measured, "--export", "frames.csv", "--export-columns", COLUMNS, "--export-rate", repr(1 / every)]

    def finish(self, experiment, folder):
        with open(f"{folder}/stdout") as f:
            figures = json.load(f)
        if figures["interrupted"] or figures["lost"]:
            raise SystemExit(f"{folder}: {figures['lost']} bodies lost, interrupted: {figures['interrupted']}")
        return {"steps": figures["steps"], "overlap_m": figures["penetration_peak"], "solved_percent": figures["solved_percent"]}

    def start(self, folder):
        rows = [row for row in read_rows(f"{folder}/frames.csv") if row["time_s"] == 0]
        mass = sum(row["mass"] for row in rows)
        return {"mass_kg": mass, "height_m": sum(row["mass"] * row["position_z"] for row in rows) / mass}


# --- YADE --------------------------------------------------------------------------------------------------------


class Yade(Code):
    name, program = "YADE", "yade"

    def version(self):
        return subprocess.run(["yade", "--version"], capture_output=True).stdout

    def inputs(self, experiment):
        with open(f"{HERE}/yade_run.py") as f:
            return {"run.py": f.read(), "experiment.json": experiment.text()}

    def command(self, experiment):
        return ["yade", "-j1", "-n", "-x", "run.py", "experiment.json", "."]

    def start(self, folder):
        with open(f"{folder}/start.json") as f:
            return json.load(f)


# --- LIGGGHTS ----------------------------------------------------------------------------------------------------


class Liggghts(Code):
    name, program = "LIGGGHTS", "liggghts"
    DUMPED = "id x y z vx vy vz omegax omegay omegaz"

    def version(self):
        return subprocess.run(["liggghts", "-log", "none", "-h"], capture_output=True).stdout.splitlines()[0]

    def inputs(self, experiment):
        return {"input": self.script(experiment), "spheres.data": self.data(experiment), "walls.stl": self.walls(experiment)}

    def command(self, experiment):
        return ["liggghts", "-in", "input"]

    def finish(self, experiment, folder):
        self.write_frames(experiment, folder)
        return super().finish(experiment, folder)

    def start(self, folder):
        with open(f"{folder}/start.txt") as f:
            mass, height = map(float, f.read().split())
        return {"mass_kg": mass, "height_m": height}

    def box(self, experiment):
        """Around all walls and spheres; its bottom is where spheres are done with."""
        points = [corner for triangle in experiment.walls for corner in triangle] + [sphere[:3] for sphere in experiment.spheres]
        low, high = ([far(axis) + margin for axis in zip(*points)] for far, margin in ((min, -MARGIN), (max, MARGIN)))
        return [*low[:2], low[2] if experiment.floor is None else experiment.floor], high

    def data(self, experiment):
        """Atoms with their types, diameters, densities, positions and velocities; the numbers of atoms begin with 1."""
        lines = ["spheres", "", f"{len(experiment.spheres)} atoms", f"{len(NAMES)} atom types", ""]
        lines += [f"{low!r} {high!r} {axis}lo {axis}hi" for axis, low, high in zip("xyz", *self.box(experiment))]
        lines += ["", "Atoms", ""]
        for k, (x, y, z, radius, m) in enumerate(experiment.spheres):
            lines.append(f"{k + 1} {m + 1} {2 * radius!r} {DENSITY[m]!r} {x!r} {y!r} {z!r}")
        lines += ["", "Velocities", ""]
        moving = zip(experiment.velocities, experiment.spins)
        lines += [f"{k + 1} {' '.join(map(repr, (*velocity, *spin)))}" for k, (velocity, spin) in enumerate(moving)]
        return "\n".join(lines) + "\n"

    def walls(self, experiment):
        lines = ["solid walls"]
        for corners in experiment.walls:
            points = [f"vertex {x!r} {y!r} {z!r}" for x, y, z in corners]
            lines += ["facet normal 0 0 0", "outer loop", *points, "endloop", "endfacet"]
        return "\n".join([*lines, "endsolid walls"]) + "\n"

    def script(self, experiment):
        """The input: Hertz and Mindlin with history; tables of pairs; every sphere that leaves the box must have fallen out."""
        per_type = lambda values: " ".join(f"{v!r}" for v in values)  # noqa: E731
        per_pair = lambda which: per_type([v for row in matrix(which) for v in row])  # noqa: E731
        every, steps = round(experiment.sample / experiment.step), experiment.steps()
        smallest = min(sphere[3] for sphere in experiment.spheres)
        turn = "fix turn all move/mesh mesh walls rotate origin 0. 0. 0. axis 0. 1. 0. period "
        turn += f"{2 * math.pi / experiment.rotation!r}\n" if experiment.rotation else ""
        return f"""units si
atom_style granular
atom_modify map array
boundary f f f
newton off
communicate single vel yes
hard_particles yes
read_data spheres.data
neighbor {0.2 * smallest!r} bin
neigh_modify delay 0
fix young all property/global youngsModulus peratomtype {per_type(YOUNG)}
fix poisson all property/global poissonsRatio peratomtype {per_type([POISSON] * len(NAMES))}
fix restitution all property/global coefficientRestitution peratomtypepair {len(NAMES)} {per_pair(0)}
fix friction all property/global coefficientFriction peratomtypepair {len(NAMES)} {per_pair(1)}
pair_style gran model hertz tangential history
pair_coeff * *
timestep {experiment.step!r}
fix gravity all gravity {experiment.gravity!r} vector 0. 0. -1.
fix walls all mesh/surface file walls.stl type {NAMES.index("steel") + 1}
fix wall all wall/gran model hertz tangential history mesh n_meshes 1 meshes walls
{turn if experiment.rotation else ""}fix integrate all nve/sphere
group tracked id > {experiment.tracked}
variable mass equal mass(all)
variable height equal xcm(all,z)
print "${{mass}} ${{height}}" file start.txt
dump samples tracked custom {every} samples.dump {self.DUMPED}
dump ends all custom {steps} ends.dump {self.DUMPED}
dump_modify samples sort id format "%d{' %.17g' * 9}"
dump_modify ends sort id format "%d{' %.17g' * 9}"
thermo_style custom step atoms ke
thermo {every}
thermo_modify lost {"error" if experiment.floor is None else "ignore"} norm no
run {steps}
"""

    def write_frames(self, experiment, folder):
        """Dumps as frames; the first and the last are those of all spheres."""
        samples, ends = dumped(f"{folder}/samples.dump"), dumped(f"{folder}/ends.dump")
        frames = {**samples, **ends}
        with open(f"{folder}/frames.csv", "w") as f:
            f.write("step,time_s,body,position_x,position_y,position_z,velocity_x,velocity_y,velocity_z,spin_x,spin_y,spin_z\n")
            for step in sorted(frames):
                for number, *values in frames[step]:
                    f.write(f"{step},{step * experiment.step!r},{int(number) - 1},{','.join(values)}\n")
        for name in ("samples", "ends"):
            os.remove(f"{folder}/{name}.dump")


def dumped(path):
    """Words of the atoms of each step of a dump."""
    frames, rows = {}, None
    with open(path) as f:
        for line in f:
            if line.startswith("ITEM: TIMESTEP"):
                rows = frames[int(next(f))] = []
            elif line.startswith("ITEM: "):
                atoms = line.startswith("ITEM: ATOMS")
            elif rows is not None and atoms:
                rows.append(line.split())
    return frames


# --- results -----------------------------------------------------------------------------------------------------


def read_rows(path):
    with open(path) as f:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(f)]


def missing():
    """The peers that are not installed."""
    return [code.program for code in (Yade, Liggghts) if not shutil.which(code.program)]
