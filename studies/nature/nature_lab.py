# SPDX-License-Identifier: MIT
"""Shared by the experiments: runs that are kept, probes as numbers, means over seeds, verdicts, and the report."""

import concurrent.futures
import csv
import hashlib
import json
import math
import os
import re
import shutil
import statistics
import string
import subprocess
import sys
import time

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


class RunFailed(Exception):
    """A run that has no result; its sentence says why."""


class Planned(Exception):
    """Ends a chapter that has said which runs it needs."""


class NatureLab(Lab):
    def __init__(self, build, folder, options):
        super().__init__(build, folder)
        self.options, self.verdicts, self.costs, self.failures = options, [], [], 0
        self.quick, self.scale, self.backend = options.quick, options.scale, options.backend
        self.plan, self.faults = None, {}  # runs that are being collected; sentences of those that failed, by folder
        self.environment = {**os.environ, "XDG_CACHE_HOME": os.path.abspath(self.path("settled"))}
        with open(f"{build}/sandglass", "rb") as f:
            self.program = hashlib.sha256(f.read()).hexdigest()

    def seeds(self, count=3):
        return range(1, 2 if self.quick else count + 1)

    def factor(self, quick):
        """What the number of grains is multiplied by; `quick` where the report is a quick one."""
        return self.scale * (quick if self.quick else 1)

    # --- runs ------------------------------------------------------------------------------------------------

    def scene(self, template, **values):
        """The text of a scene of studies/nature/scenes with its $names filled in."""
        with open(f"{HERE}/scenes/{template}.yaml") as f:
            return string.Template(f.read()).substitute(values)

    def shipped(self, name):
        """The text of a scene that comes with the program."""
        with open(f"{HERE}/../../scenes/{name}.yaml") as f:
            return f.read()

    def words(self, scene, options):
        """Options of a run; a periodic world is for the CPU alone."""
        return [*map(str, options), "--threads", "1", "--backend", "cpu" if "periodic:" in scene else self.backend]

    def place(self, scene, words):
        """The folder of a run, named by all it depends on but the program, which its result names."""
        return self.path("runs/" + hashlib.sha256("\0".join([scene, *words]).encode()).hexdigest()[:20])

    def is_kept(self, folder):
        if not os.path.exists(f"{folder}/result.json"):
            return False
        with open(f"{folder}/result.json") as f:
            return self.options.any_program or json.load(f)["program"] == self.program

    def run(self, scene, *options):
        """Runs the text of a scene, or takes the run that is kept."""
        words = self.words(scene, options)
        folder = self.place(scene, words)
        if self.is_kept(folder):
            return Run(folder)
        if folder in self.faults or self.options.kept:
            raise RunFailed(self.faults.get(folder, "not kept"))
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
                raise RunFailed(f"{' '.join(command)}: {(err.read().strip().splitlines() or ['killed'])[-1]}")
            figures = json.loads(out.read())
        if figures["interrupted"]:
            raise RunFailed(f"{folder} was stopped at {figures['time']} s; run the report again to go on")
        figures["program"] = self.program
        figures["cpu_s"] = usage.ru_utime + usage.ru_stime
        figures["bodies_total"] = figures["bodies"] + figures["left"] + figures["lost"]
        return figures

    def prepare(self, chapters):
        """Takes the runs of all chapters, the longest first, as many at a time as --jobs says. What fails is remembered."""
        self.plan = []
        for name, module in chapters:
            try:
                self.chapter_name = name
                module.chapter(self)
            except Planned:
                pass
        places = {self.place(asked[0], self.words(asked[0], asked[1:])): (name, asked) for name, asked in self.plan}
        plan, self.plan = sorted(places.values(), key=lambda one: -work(*one[1])), None
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            try:
                for done in concurrent.futures.as_completed([pool.submit(self.attempt, *one) for one in plan]):
                    print(done.result(), file=sys.stderr, flush=True)
            except KeyboardInterrupt:  # the report is then one of what is kept
                pool.shutdown(cancel_futures=True)
                self.options.kept = True

    def attempt(self, chapter, asked):
        begin = time.monotonic()
        try:
            run = self.run(*asked)
        except RunFailed as fault:
            self.faults[self.place(asked[0], self.words(asked[0], asked[1:]))] = str(fault)
            return f"{chapter}: failed: {fault}"
        return f"{chapter}: {run.bodies} bodies, {run.steps} steps, {time.monotonic() - begin:.0f} s"

    def runs(self, asked):
        """Runs of (scene, option, ...), in this order."""
        done = self.found(asked)
        for fault in (run for run in done if isinstance(run, RunFailed)):
            raise fault
        return done

    def found(self, asked):
        """The same with the fault of each that failed in its place. A chapter asks once, for all runs that take long."""
        if self.plan is not None:
            self.plan += [(self.chapter_name, one) for one in asked]
            raise Planned
        done = [self.taken(one) for one in asked]
        self.costs += [run for run in done if isinstance(run, Run)]
        return done

    def taken(self, asked):
        try:
            return self.run(*asked)
        except RunFailed as fault:
            return fault

    def sweep(self, cases, seeds, ask):
        """Runs of every case with every seed, as `ask(case, seed)` words them: a list for each case. `seeds` may be a function."""
        wanted = [(case, seed) for case in cases for seed in (seeds(case) if callable(seeds) else seeds)]
        done = self.found([ask(*one) for one in wanted])
        missing = [f"{one[0]} with seed {one[1]}: {run}" for one, run in zip(wanted, done) if isinstance(run, RunFailed)]
        if missing:
            self.say(f"Missing: {len(missing)} of {len(wanted)} runs. {'; '.join(missing)}.\n")
        groups = [[run for one, run in zip(wanted, done) if one[0] == case and isinstance(run, Run)] for case in cases]
        for case, group in zip(cases, groups):
            if not group:
                raise RunFailed(f"no run of {case} has a result")
        return groups

    def say(self, text=""):
        """Nothing is said while runs are being collected."""
        if self.plan is None:
            super().say(text)

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
        """Evaluates the runs of an experiment; without them, or where no law can be fitted, it has no verdict, and the report goes on."""
        self.chapter_name, self.costs = name, []
        try:
            module.chapter(self)
        except (RunFailed, ArithmeticError, ValueError, StopIteration) as fault:
            self.failures += 1
            self.verdicts.append([name, "all", "", "", f"{type(fault).__name__}: {fault}", "**no verdict**"])
            self.say(f"**No verdict**: {type(fault).__name__}: {fault}.\n")
        if self.costs:
            self.say_cost(name)

    def say_cost(self, name):
        bodies = sorted({run.bodies for run in self.costs})
        size = f"{bodies[0]:,} to {bodies[-1]:,}" if len(bodies) > 1 else f"{bodies[0]:,}"
        self.say(
            f"Cost of {name}: {len(self.costs)} runs of {size} bodies, {sum(run.steps for run in self.costs):,} steps, "
            f"{sum(run.cpu for run in self.costs):.1f} s of processor time, {max(run.cpu for run in self.costs):.1f} s for the longest.\n"
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


def work(scene, *options):
    """About how long a run takes, in grains times steps times iterations: the longest are started first."""
    value = lambda key, text, default: float((re.findall(rf"{key}:? ([0-9.]+)", text) or [default])[-1])
    words = scene + " " + " ".join(map(str, options))
    grains = sum(map(float, re.findall(r"count: ([0-9]+)", scene))) or value("bodies", words, 1)
    cost = grains * value("seconds", words, 1) / value("step", words, 0.01) * value("iterations", words, 50)
    return cost * (4 if value("rolling", words, 0) > 0 else 1)


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


def exponent_shown(x, y, digits=3):
    """Exponent of a power law with the standard error that the scatter about it gives."""
    factor, exponent = power_fit(x, y)
    if len(x) < 3:
        return f"{exponent:.{digits}f}"
    off = [math.log(b / factor) - exponent * math.log(a) for a, b in zip(x, y)]
    middle = statistics.fmean(math.log(a) for a in x)
    error = math.sqrt(sum(e * e for e in off) / (len(x) - 2) / sum((math.log(a) - middle) ** 2 for a in x))
    return f"{exponent:.{digits}f} +- {error:.{digits}f}"
