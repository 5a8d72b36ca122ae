# SPDX-License-Identifier: MIT
"""The lab of the benchmark: starts that our program settles, runs of every code that are kept, and what the chapters share."""

import hashlib
import json
import os
import shutil

from cases import RADIUS, SWELL
from codes import Liggghts, Ours, Yade, laws, missing, read_rows, timed
from frames import check, deviations, heights, read_frames
from lab import Lab

SETTLE = """name: {name}
step: 0.001
seconds: 0.1
start: {{settled: true}}
recovery: 0.1
solver: {{name: p-spg-fb, iterations: 200}}
world: {{lower: [-1, -1, -1], upper: [1, 1, 2]}}
{laws}
boundaries:
{boundaries}
fills:
  - {{radius: {radius!r}, count: {count}, lattice: {lattice}, region: {{inside: true}}}}
"""
YADE_PART = {"Silo": 0.15, "Drum": 0.3, "Penetration": 0.3}  # of the simulated time, unless --whole asks for all of it


class Run:
    """One run of a code: its frames, and its cost (processor and wall time, steps)."""

    def __init__(self, code, experiment, folder):
        self.code, self.name, self.folder, self.experiment = code, code.name, folder, experiment
        with open(f"{folder}/result.json") as f:
            self.cost = json.load(f)
        self.frames = read_frames(f"{folder}/frames.csv")
        check(experiment, self.frames, self.name)
        self.start = code.start(folder)
        check_start(experiment, self.start, self.name)

    def probe(self, name):
        """Rows of a probe; the soft codes have none."""
        path = f"{self.folder}/probes/{name}.csv"
        return read_rows(path) if os.path.exists(path) else []

    def ball(self):
        """(time, height) of the last sphere; ours has a probe on it, which samples every frame but the first."""
        last = len(self.experiment.spheres) - 1
        measured = [(row["time_s"], row["z_m"]) for row in self.probe("ball")]
        return [(0.0, self.experiment.spheres[last][2]), *measured] if measured else heights(self.frames, last)


def check_start(experiment, start, who):
    """Mass and height of the center at the start, as the code itself has them: radii and densities have arrived."""
    for key, value in experiment.start().items():
        if key in start and abs(start[key] - value) > 1e-9 * abs(value):
            raise SystemExit(f"{who}: {experiment.name} begins with {key} {start[key]!r} instead of {value!r}")


class DemLab(Lab):
    def __init__(self, build, folder, options):
        super().__init__(build, folder)
        self.options = options
        self.absent = [] if options.peers == "none" else missing()

    def peers(self):
        """The soft codes that are asked for and installed."""
        wanted = {"none": (), "yade": (Yade,), "liggghts": (Liggghts,), "both": (Yade, Liggghts)}[self.options.peers]
        return [code() for code in wanted if code.program not in self.absent]

    def ours(self, *steps):
        return [Ours(self.build, step, self.options.iterations) for step in steps]

    def seconds(self, case, code):
        """YADE, the slowest, runs the first part of a case unless all of it is asked for."""
        part = YADE_PART[type(case).__name__] if isinstance(code, Yade) and not self.options.whole else 1
        return round(part * case.SECONDS, 9)

    def count(self, usual):
        return max(50, round(usual * self.options.scale))

    # --- starts and runs -----------------------------------------------------------------------------------------

    def settled(self, case, seed=1):
        """Where our program lets the grains of a case come to rest, a little larger than they are."""
        lattice, plug = case.filling()
        walls = "\n".join(filter(None, [case.boundaries(), plug]))
        text = SETTLE.format(name=case.name, laws=laws(), boundaries=walls, radius=RADIUS * SWELL, count=case.count, lattice=lattice)
        folder = self.kept([self.program_bytes(), text, seed], lambda folder: self.settle(text, seed, folder))
        return read_frames(f"{folder}/frames.csv")[-1].positions.tolist()

    def settle(self, text, seed, folder):
        with open(f"{folder}/scene.yaml", "w") as f:
            f.write(text)
        program = os.path.abspath(f"{self.build}/sandglass")
        os.environ["XDG_CACHE_HOME"] = os.path.abspath(self.path("settled"))
        return timed([program, "export", "scene.yaml", "--seed", str(seed), "--threads", "1", "--backend", "cpu", "--out", "frames.csv"], folder)

    def program_bytes(self):
        with open(f"{self.build}/sandglass", "rb") as f:
            return f.read()

    def kept(self, parts, make):
        """A folder under a name made of all that its content depends on; its result is there last and at once."""
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part if isinstance(part, bytes) else repr(part).encode())
        folder = self.path(f"runs/{digest.hexdigest()[:20]}")
        if not os.path.exists(f"{folder}/result.json"):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            result = make(folder)
            with open(f"{folder}/result.part", "w") as f:
                json.dump(result, f)
            os.replace(f"{folder}/result.part", f"{folder}/result.json")
        return folder

    def run(self, code, experiment):
        folder = self.kept([code.name, code.version(), code.inputs(experiment)], lambda folder: code.run(experiment, folder))
        return Run(code, experiment, folder)

    def compared(self, case, steps):
        """A case in every code from one start; ours with each step, and with the first of them from another start."""
        points, other = self.settled(case), self.settled(case, seed=2)
        runs = [self.run(code, case.experiment(points, self.seconds(case, code))) for code in [*self.ours(*steps), *self.peers()]]
        again = self.run(self.ours(steps[0])[0], case.experiment(other, case.SECONDS))
        again.name += ", another start"
        self.say_start(runs)
        spans = {run.experiment.seconds for run in runs}
        self.say_cost(runs, {span: self.run(self.ours(steps[0])[0], case.experiment(points, span)).cost["cpu_s"] for span in spans})
        return [*runs, again]

    # --- what all chapters report --------------------------------------------------------------------------------

    def say_start(self, runs):
        gravity = runs[0].experiment.gravity
        rows = [[run.name, f"{run.start['mass_kg']:.9f}", f"{1000 * run.start['height_m']:.6f}",
                 f"{1000 * gravity * run.start['mass_kg'] * run.start['height_m']:.6f}"] for run in runs]  # fmt: skip
        self.say("At the start, as each code has it:\n")
        self.table(["code", "mass, kg", "height of the center, mm", "potential energy, mJ"], rows)

    def say_cost(self, runs, ours):
        """Processor time on one core; a code that ran a part of the time is compared with ours over the same part."""
        rows = [
            [run.name, f"{run.experiment.seconds:g}", f"{run.cost['steps']:,}", f"{1e6 * run.experiment.seconds / run.cost['steps']:,.2f}",
             f"{run.cost['cpu_s']:.1f}", f"{run.cost['wall_s']:.1f}", f"{run.cost['cpu_s'] / ours[run.experiment.seconds]:.2f}"]
            for run in runs
        ]  # fmt: skip
        self.table(["code", "simulated s", "steps", "step, 1e-6 s", "processor s", "wall s", "over our longest step, same time"], rows)
        overlaps = ", ".join(f"{1e6 * run.cost['overlap_m']:.0f} ({run.name})" for run in runs if "overlap_m" in run.cost)
        self.say(f"Deepest overlap of ours in the run, 1e-6 m: {overlaps}.\n")

    def deviations(self, curves, what, factor, digits):
        """Root mean square differences of all pairs over the time that all have run, and again without those that ended first."""
        ends = {name: round(several[0][-1][0], 6) for name, several in curves.items()}
        until = min(ends.values())
        cut = {name: [[point for point in curve if point[0] < until + 1e-6] for curve in several] for name, several in curves.items()}
        self.say(f"Root mean square difference over the first {until:g} s, {what}:\n")
        rows = [[one, *(f"{factor * deviations(cut[one], cut[other]):.{digits}f}" for other in cut)] for one in cut]
        self.table(["", *cut], rows)
        longer = {name: several for name, several in curves.items() if ends[name] > until}
        if longer:
            self.deviations(longer, what, factor, digits)

    def sheet(self, name, title, plots):
        """A build without a window has no plots."""
        if os.path.exists(f"{self.build}/papers_sheet"):
            super().sheet(name, title, plots)

    def write(self, head):
        with open(self.path("report.md"), "w") as f:
            f.write("\n".join([*head, "", *self.lines]) + "\n")
