# SPDX-License-Identifier: MIT
"""How a result depends on what is not physics: time step, iterations, friction model, precision and solver, for one flow."""

from nature_lab import mean_error

BASE = {"step": 0.01, "iterations": 200, "friction": "cone", "precision": "float", "solver": "p-spg-fb", "mu": 0.2}
VARIED = (
    ("step", (0.005, 0.0025)),
    ("iterations", (20, 50, 1000)),
    ("precision", ("double",)),
    ("solver", ("gauss-seidel", "apgd")),
    ("friction", ("coulomb",)),
)
DILATION = [{"mu": mu, "step": step, "friction": model} for mu in (0.2, 0.6) for step in (0.01, 0.0025) for model in ("cone", "coulomb")]
FROM, TO = 0.5, 2.0  # s, in which the flow is measured
NECK = "neck_density density lower=-0.3,-0.3,0.2 upper=0.3,0.3,0.8 rate=20"


def chapter(lab):
    size = max(800, round(1500 * lab.factor(0.25)))  # fewer would run dry
    lab.say("## dependence: step, budget, friction model, precision, solver\n")
    lab.say(
        f"The flow through the neck of the shipped hourglass with {size:,} spheres of 0.2 m (neck 6 diameters wide, mu 0.2), from {FROM} to {TO} s, "
        f"and the solid fraction in a cube of 3 diameters above the neck. {len(lab.seeds())} seeds each. One thing at a time differs from the "
        "base: h = 0.01 s, 200 iterations of p-spg-fb in float, associated cone.\n"
    )
    cases = [{}] + [{key: value} for key, values in VARIED for value in values]
    everything = measure(lab, size, cases + DILATION)
    results, dilation = everything[: len(cases)], everything[len(cases) :]
    table(lab, cases, results)
    lab.say(
        "The associated cone against Coulomb's law. A contact that slides with the cone separates with mu |u_T|, so that flowing sand is "
        "looser; the more so the larger mu and h are:\n"
    )
    table(lab, DILATION, dilation)
    one, sliding = dict(zip(map(str, cases), results)), dict(zip(map(str, DILATION), dilation))
    draw(lab, one, sliding)
    judge(lab, one, sliding)


def words(case, size, seed):
    options = {**BASE, **case}
    return [
        "--bodies",
        size,
        "--seconds",
        TO,
        "--seed",
        seed,
        "--probe",
        NECK,
        "--step",
        options["step"],
        "--iterations",
        options["iterations"],
        "--friction",
        options["friction"],
        "--precision",
        options["precision"],
        "--solver",
        options["solver"],
    ]


def measure(lab, size, cases):
    """For each case the runs of its seeds."""
    text = lab.shipped("hourglass")
    scene = {mu: text.replace("mu: 0.2", f"mu: {mu}") for mu in (0.2, 0.6)}
    return lab.sweep(cases, lab.seeds(), lambda case, seed: (scene[{**BASE, **case}["mu"]], *words(case, size, seed)))


def flow(run):
    rows = [row for row in run.probe("neck") if FROM - 1e-9 <= row["time_s"] <= TO + 1e-9]
    return (rows[-1]["mass_kg"] - rows[0]["mass_kg"]) / (rows[-1]["time_s"] - rows[0]["time_s"])


def fraction(run):
    return mean_error([row["solid_fraction"] for row in run.probe("neck_density") if row["time_s"] > FROM])[0]


def table(lab, cases, results):
    base = mean_error([flow(run) for run in results[0]])[0]
    rows = []
    for case, runs in zip(cases, results):
        mean, error = mean_error([flow(run) for run in runs])
        rows.append(
            [
                ", ".join(f"{key} {value}" for key, value in case.items()) or "base",
                f"{mean:.0f} +- {error:.0f}",
                f"{100 * (mean / base - 1):+.1f}",
                f"{mean_error([fraction(run) for run in runs])[0]:.3f}",
                f"{1000 * max(run.figures['penetration_peak'] for run in runs):.2f}",
                f"{mean_error([run.figures['solved_percent'] for run in runs])[0]:.1f}",
                f"{mean_error([run.cpu for run in runs])[0]:.0f}",
            ]
        )
    lab.table(
        [
            "what differs",
            "flow, kg/s",
            "% of the first",
            "solid fraction",
            "deepest overlap, mm",
            "solved at the end, %",
            "processor s a run",
        ],
        rows,
    )


def draw(lab, one, dilation):
    mean = lambda runs, value: mean_error([value(run) for run in runs])[0]
    steps = [(0.0025, {"step": 0.0025}), (0.005, {"step": 0.005}), (0.01, {})]
    budgets = [(20, {"iterations": 20}), (50, {"iterations": 50}), (200, {}), (1000, {"iterations": 1000})]
    looser = [
        (f"{model}, mu {mu}", "", [(h, mean(dilation[str({"mu": mu, "step": h, "friction": model})], fraction)) for h in (0.0025, 0.01)])
        for mu in (0.2, 0.6)
        for model in ("cone", "coulomb")
    ]
    lab.sheet(
        "dependence",
        "dependence of the flow through the neck",
        [
            (
                "time step;s;linear",
                "flow against the step;kg/s;linear",
                [("base", "", [(h, mean(one[str(case)], flow)) for h, case in steps])],
            ),
            (
                "iterations;;log",
                "flow against the budget;kg/s;linear",
                [("base", "", [(n, mean(one[str(case)], flow)) for n, case in budgets])],
            ),
            ("time step;s;linear", "solid fraction above the neck;;linear", looser),
        ],
    )


def change(results, a, b):
    """From case a to case b in percent of a, with its standard error."""
    (x, dx), (y, dy) = (mean_error([flow(run) for run in results[str(case)]]) for case in (a, b))
    return 100 * (y / x - 1), 100 * (dx**2 + dy**2) ** 0.5 / x


def judge(lab, one, dilation):
    asked = [
        ("h to h/4", one, {}, {"step": 0.0025}),
        ("200 to 1,000 iterations", one, {}, {"iterations": 1000}),
        ("200 to 20 iterations", one, {}, {"iterations": 20}),
        ("float to double", one, {}, {"precision": "double"}),
        ("p-spg-fb to gauss-seidel", one, {}, {"solver": "gauss-seidel"}),
        ("p-spg-fb to apgd", one, {}, {"solver": "apgd"}),
    ]
    asked += [(f"cone to coulomb, mu {a['mu']}, h = {a['step']}", dilation, a, b) for a, b in zip(DILATION[::2], DILATION[1::2])]
    for name, results, a, b in asked:
        percent, error = change(results, a, b)
        lab.verdict(f"flow, {name}", "no change", "ours", f"{percent:+.1f} +- {error:.1f} %", None)
    loose = [
        100 * (mean_error([fraction(run) for run in dilation[str(b)]])[0] / mean_error([fraction(run) for run in dilation[str(a)]])[0] - 1)
        for a, b in zip(DILATION[::2], DILATION[1::2])
    ]
    lab.verdict(
        "solid fraction above the neck, cone to coulomb",
        "denser; the difference falls with h",
        "docs/problem.md",
        ", ".join(f"mu {a['mu']} h = {a['step']}: {percent:+.1f} %" for a, percent in zip(DILATION[::2], loose)),
        None,
    )
