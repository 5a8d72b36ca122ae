# SPDX-License-Identifier: MIT
"""Shared by the chapters: running the program and its tools, frozen problems, tables and sheets of plots."""
import csv
import json
import math
import os
import subprocess
import sys

# The spheres of the scene `cylinder` in a vessel of a different radius.
COLUMN = """name: column
about: Spheres in an upright cylinder.
seconds: 6
step: 0.01
size: {{bodies: 1000}}
solver: {{name: p-spg-fb, iterations: 50}}
world: {{lower: [-4, -4, -2], upper: [4, 4, 1000]}}
materials:
  - {{name: ball, density: 1500, mu: 0.2}}
boundaries:
  - {{name: vessel, shape: cylinder, radius: {radius}, height: 1000, caps: bottom}}
fills:
  - radius: 0.1
    mass: 6.28
    lattice: {{spacing: 0.22, jitter: 0.008, columns: {columns}, from: 0.15}}
    region: {{cylinder: {fill}}}
"""


class Lab:
    def __init__(self, build, folder):
        self.build, self.folder, self.lines = build, folder, []
        os.makedirs(folder, exist_ok=True)

    def say(self, text=""):
        self.lines.append(text)
        print(text, flush=True)

    def table(self, head, rows):
        self.say("| " + " | ".join(head) + " |")
        self.say("|" + "---|" * len(head))
        for row in rows:
            self.say("| " + " | ".join(str(c) for c in row) + " |")
        self.say()

    def path(self, name):
        return f"{self.folder}/{name}"

    def call(self, tool, *words, text=None):
        command = [f"{self.build}/{tool}", *map(str, words)]
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stderr.strip().splitlines()[-1]}")
        return done.stdout

    def freeze(self, scene, bodies, at, *more):
        """Freezes the problem of one step; the file name contains everything that it depends on, so it is reused."""
        words = "_".join(str(w).strip("-") for w in (os.path.basename(scene), bodies or "all", at, *more))
        path = self.path(words.replace("/", "") + ".sand")
        if not os.path.exists(path):
            size = ("--bodies", bodies) if bodies else ()
            self.call("sandglass", "freeze", scene, *size, "--at", at, "--out", path, "--precision", "double", *more)
        return path

    def column(self, radius, columns):
        """Writes a scene: spheres of radius 0.1 m in a cylinder of this radius, initially in layers of columns x columns."""
        path = self.path(f"column-{radius}.yaml")
        with open(path, "w") as f:
            f.write(COLUMN.format(radius=radius, columns=columns, fill=radius - 0.12))
        return path

    def race(self, path, solvers, iterations, *more):
        words = ("--iterations", iterations, "--cold", "--threads", 1, "--json", *more)
        return {e["name"]: e for e in json.loads(self.call("sandglass", "race", path, "--solvers", solvers, *words))}

    def iterates(self, path, model, reference, solver, iterations):
        return json.loads(self.call("papers_iterates", path, model, reference, solver, ",".join(map(str, iterations))))

    def run(self, scene, bodies, steps, *more, threads=1):
        """Runs a scene; returns one dictionary per step, with the column names of the program's log."""
        log = self.path("run.csv")
        self.call("sandglass", "bench", scene, "--bodies", bodies, "--warmup", 0, "--steps", steps, "--threads", threads,
                  "--log", log, *more)
        with open(log) as f:
            return [{k: v if k == "status" else float(v) for k, v in row.items()} for row in csv.DictReader(f)]

    def sheet(self, name, title, plots):
        """plots: (x axis, y axis, [(curve, solver or '', points)]); an axis is `name;unit;log` or `name;unit;linear`."""
        text = [f"sheet\t{title}"]
        names = dict.fromkeys((curve, solver) for _, _, curves in plots for curve, solver, _ in curves)  # one legend for all plots
        for x, y, curves in plots:
            text.append(f"plot\t{x}\t{y}")
            here = {curve: points for curve, _, points in curves}
            for curve, solver in names:
                text.append(f"curve\t{curve}\t{solver}")
                text += [f"{a:.17g} {b:.17g}" for a, b in here.get(curve, ())]
        self.call("papers_sheet", self.path(f"{name}.png"), text="\n".join(text) + "\n")
        self.say(f"![{title}]({name}.png)\n")


def contacts_of(path):
    import struct
    with open(path, "rb") as f:
        return struct.unpack("16sdqqqq", f.read(56))[4]


def reached(entry, goal, key="residual"):
    """The first point of the curve at or below the goal, or None."""
    return next((p for p in entry["curve"] if p[key] is not None and p[key] <= goal), None)


def curve(entry, key, least=-math.inf):
    return [(p["iteration"], p[key]) for p in entry["curve"] if p["iteration"] and p[key] > least]


def spread(last, count):
    """About `count` integers from 1 to last, evenly spaced on a log axis."""
    return sorted({max(1, round(last ** (k / (count - 1)))) for k in range(count)})


def exponent(pairs):
    """The exponent p of y ~ x^p, by least squares on the logarithms."""
    x, y = [math.log(a) for a, _ in pairs], [math.log(b) for _, b in pairs]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
