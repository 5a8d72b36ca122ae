"""Shared by the experiments: runs that are kept, probes as numbers, means over seeds, verdicts, and the report."""

import concurrent.futures
import csv
import hashlib
import json
import math
import os
import shutil
import statistics
import string
import subprocess
import sys

from lab import Lab

HERE = os.path.dirname(os.path.abspath(__file__))


class Run:
    """What one run of a scene left behind: figures of the program, cost, and a table of each probe."""

    def __init__(self, folder):
        self.folder = folder
        with open(f"{folder}/result.json") as f:
            self.figures = json.load(f)
        self.steps, self.cpu, self.bodies = (self.figures[key] for key in ("steps", "cpu_s", "bodies_total"))

    def probe(self, name):
        """One dictionary of numbers per line of the file of a probe."""
        with open(f"{self.folder}/probes/{name}.csv") as f:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(f)]

    def column(self, name, key):
        return [row[key] for row in self.probe(name)]


class NatureLab(Lab):
    def __init__(self, build, folder, options):
        super().__init__(build, folder)
        self.options, self.verdicts, self.costs, self.failures = options, [], [], 0
        self.quick, self.scale, self.backend = options.quick, options.scale, options.backend
        self.environment = {**os.environ, "XDG_CACHE_HOME": os.path.abspath(self.path("settled"))}
        with open(f"{build}/sandglass", "rb") as f:
            self.program = hashlib.sha256(f.read()).hexdigest()

    def seeds(self, count=3):
        return range(1, 2 if self.quick else count + 1)

    def grains(self, count):
        """The number of grains of an experiment that has `count` at scale 1."""
        return max(100, round(count * self.scale * (0.25 if self.quick else 1)))

    # --- runs ------------------------------------------------------------------------------------------------

    def scene(self, template, **values):
        """The text of a scene of tests/nature/scenes with its $names filled in."""
        with open(f"{HERE}/scenes/{template}.yaml") as f:
            return string.Template(f.read()).substitute(values)

    def shipped(self, name):
        """The text of a scene that comes with the program."""
        with open(f"{HERE}/../../scenes/{name}.yaml") as f:
            return f.read()

    def run(self, scene, *options):
        """Runs the text of a scene, or takes the run that is kept under a name made of all it depends on."""
        words = [*map(str, options), "--threads", "1", "--backend", self.backend]
        key = hashlib.sha256("\0".join([self.program, scene, *words]).encode()).hexdigest()[:20]
        folder = self.path(f"runs/{key}")
        if not os.path.exists(f"{folder}/result.json"):
            self.compute(scene, words, folder)
        return Run(folder)

    def compute(self, scene, words, folder):
        """The file of the result is there last and at once: a run that was stopped is made again."""
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with open(f"{folder}/scene.yaml", "w") as f:
            f.write(scene)
        command = [f"{self.build}/sandglass", "run", f"{folder}/scene.yaml", "--headless", "--json", "--probes", f"{folder}/probes", *words]
        figures = self.measured(command, folder)
        with open(f"{folder}/result.part", "w") as f:
            json.dump(figures, f)
        os.replace(f"{folder}/result.part", f"{folder}/result.json")

    def measured(self, command, folder):
        with open(f"{folder}/stdout", "w+") as out, open(f"{folder}/stderr", "w+") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, env=self.environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0), err.seek(0)
            if process.returncode:
                raise SystemExit(f"{' '.join(command)}: {(err.read().strip().splitlines() or ['killed'])[-1]}")
            figures = json.loads(out.read())
        if figures["interrupted"]:
            raise SystemExit(f"{folder} was stopped at {figures['time']} s; run the report again to go on")
        figures["cpu_s"] = usage.ru_utime + usage.ru_stime
        figures["bodies_total"] = figures["bodies"] + figures["left"] + figures["lost"]
        return figures

    def runs(self, asked):
        """Runs of (scene, option, ...) in this order, as many at a time as --jobs says; their cost is added to the chapter's."""
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            done = list(pool.map(lambda words: self.run(*words), asked))
        self.costs += done
        return done

    def sweep(self, cases, seeds, ask):
        """Runs of every case with every seed, as `ask(case, seed)` words them: a list for each case."""
        runs = self.runs([ask(case, seed) for case in cases for seed in seeds])
        return [runs[k * len(seeds) : (k + 1) * len(seeds)] for k in range(len(cases))]

    # --- the report ------------------------------------------------------------------------------------------

    def verdict(self, quantity, accepted, reference, ours, passed, why=""):
        """One line of the summary; passed is None where there is no gate."""
        word = "-" if passed is None else "pass" if passed else "**fail**"
        self.failures += passed is False
        self.verdicts.append([self.chapter_name, quantity, accepted, reference, ours, word])
        self.say(
            f"**{quantity}**: {ours}; accepted {accepted} ({reference}). {'No gate.' if passed is None else word.strip('*').capitalize() + '.'}"
            f"{' ' + why if why else ''}\n"
        )

    def chapter(self, name, module):
        self.chapter_name, self.costs = name, []
        module.chapter(self)
        bodies = sorted({run.bodies for run in self.costs})
        size = f"{bodies[0]:,} to {bodies[-1]:,}" if len(bodies) > 1 else f"{bodies[0]:,}"
        self.say(
            f"Cost of {name}: {len(self.costs)} runs of {size} bodies, {sum(run.steps for run in self.costs):,} steps, "
            f"{sum(run.cpu for run in self.costs):.1f} s of processor time.\n"
        )

    def sheet(self, name, title, plots):
        """As the sheets of the papers; a build without a window has no plots."""
        if os.path.exists(f"{self.build}/papers_sheet"):
            super().sheet(name, title, plots)

    def write(self, head):
        table = ["| experiment | quantity | accepted | reference | ours | gate |", "|" + "---|" * 6]
        table += ["| " + " | ".join(row) + " |" for row in self.verdicts]
        with open(self.path("report.md"), "w") as f:
            f.write("\n".join([*head, "", *table, "", *self.lines]) + "\n")


# --- numbers ---------------------------------------------------------------------------------------------------


def mean_error(values):
    """Mean and standard error of the mean; of one value the error is not known."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return statistics.fmean(values), error


def shown(values, digits=3):
    mean, error = mean_error(values)
    return f"{mean:.{digits}f} +- {error:.{digits}f}" if not math.isnan(error) else f"{mean:.{digits}f} (one seed)"


def line_fit(x, y):
    """Intercept and slope of the line of least squares."""
    mx, my = statistics.fmean(x), statistics.fmean(y)
    slope = sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
    return my - slope * mx, slope


def power_fit(x, y):
    """Factor and exponent of y = factor x^exponent, by least squares of the logarithms."""
    intercept, slope = line_fit([math.log(a) for a in x], [math.log(b) for b in y])
    return math.exp(intercept), slope
