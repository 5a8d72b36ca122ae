# SPDX-License-Identifier: MIT
"""Collapse of columns on a rough ground: run-out against aspect ratio (Lube et al. 2004, Lajeunesse et al. 2004)."""

import math

from nature_lab import exponent_shown, mean_error, power_fit, shown

D = 0.2  # of a grain, m
RADII = (6, 12)  # of the columns, in diameters: small ones show what size does
LARGE, LARGE_RATIOS = 18, (0.5, 1)
RATIOS = (0.5, 0.75, 1.1, 1.7, 2.5, 4, 6, 8)
CROSSOVER, TALL = 1.7, 4  # of Lube et al.; ratios that are well above it
CELL = 1.5  # diameters
THIN = 0.25  # of a diameter of solid: where the deposit ends, less than half a layer of grains


def chapter(lab):
    size = lab.factor(0.1) ** (1 / 3)
    small, usual, large = (round(max(4, x * size) * D, 3) for x in (*RADII, LARGE))
    lab.say("## column: collapse of columns\n")
    lab.say(
        f"Quarters of columns of radius {usual / D:.1f} diameters ({grains(usual, RATIOS[0]):,} to {grains(usual, RATIOS[-1]):,} grains of 0.18 to 0.22 m) between two frictionless planes of symmetry, "
        "which save three quarters of the grains; the frictionless tube around them is drawn up at 40 m/s. mu 0.5, Coulomb's law, rolling friction 0.05 radii between grains and 0.2 on the "
        "ground, which stands for its roughness; h = 0.005 s, 50 iterations. The deposit ends where the mean over a ring holds less than "
        f"{THIN} d of solid. Experiments have columns of a hundred grains and more; small columns run out less.\n"
    )
    cases = [(radius, a) for radius in (small, usual) for a in RATIOS] + [(large, a) for a in LARGE_RATIOS]
    seeds = lambda case: lab.seeds(2 if case[0] == small or case[0] == usual and case[1] < 3 else 1)
    groups = dict(zip(cases, lab.sweep(cases, seeds, lambda case, seed: asked(lab, *case, seed))))
    outs = {case: [run_out(run, case[0]) for run in group] for case, group in groups.items()}
    show(lab, (small, usual, large), outs)
    for radius in (small, usual):
        judge(lab, radius, [outs[radius, a] for a in RATIOS], radius == usual)
    crossover(lab, usual, [outs[usual, a] for a in RATIOS])


def lube(a):
    return 1.24 * a if a < CROSSOVER else 1.6 * math.sqrt(a)


def grains(radius, a):
    """Of a quarter of a column."""
    return round(0.58 * math.pi / 4 * radius**3 * a / (math.pi / 6 * D**3))


def asked(lab, radius, a, seed):
    cells = math.ceil(radius * (1.8 + 1.5 * lube(a)) / (CELL * D))
    text = lab.scene(
        "column",
        seconds=round(1.0 + 2.6 * math.sqrt(a * radius / 9.81) + 1.5 * math.sqrt(radius / 9.81), 2),
        radius=radius,
        count=grains(radius, a),
        reach=round(cells * CELL * D, 3),
        tall=round(max(2, 1.5 * a * radius), 3),
        cells=cells,
    )
    return text, "--seed", seed


def run_out(run, radius):
    """(radius of the deposit - radius of the column) over that, from means over rings one cell wide."""
    rows = run.probe("height")
    last = [row for row in rows if row["time_s"] == rows[-1]["time_s"]]
    wide = CELL * D
    rings = {}
    for row in last:
        rings.setdefault(int(math.hypot(row["x_m"], row["y_m"]) / wide), []).append(row["solid_fraction"] * 2 * row["z_m"])
    heights = [mean_error(rings[k])[0] for k in sorted(rings)]
    edge = next(k for k, height in enumerate(heights) if height < THIN * D)
    part = (heights[edge - 1] - THIN * D) / (heights[edge - 1] - heights[edge]) if edge else 0
    return (wide * (edge - 0.5 + part)) / radius - 1


def show(lab, radii, outs):
    lab.table(
        ["height / radius", *(f"run-out / radius, radius {radius / D:.1f} d" for radius in radii), "Lube et al."],
        [[a, *(shown(outs[r, a], 2) if (r, a) in outs else "" for r in radii), f"{lube(a):.2f}"] for a in sorted({*RATIOS, *LARGE_RATIOS})],
    )
    curves = [(f"radius {r / D:.1f} d", "", [(a, mean_error(out)[0]) for (radius, a), out in outs.items() if radius == r]) for r in radii]
    law = [(a, lube(a)) for a in (0.5, 1, CROSSOVER - 0.001, CROSSOVER + 0.001, 3, 5, 8)]
    parts = [(name, "", [(a, out / lube(a)) for a, out in points]) for name, _, points in curves]
    lab.sheet(
        "column",
        "column: run-out against aspect ratio",
        [
            ("height over radius;;log", "run-out over radius;;log", [*curves, ("Lube et al. 2004", "", law)]),
            ("height over radius;;linear", "run-out over that of Lube et al.;;linear", [*parts, ("Lube et al. 2004", "", [(0.5, 1), (8, 1)])]),
        ],
    )


def judge(lab, radius, outs, gated):
    """Exponents of both branches; the gate is that of the columns of the usual size."""
    for name, expected, factor, branch in (
        (f"up to {CROSSOVER}", 1.0, "1.24", [k for k, a in enumerate(RATIOS) if a <= CROSSOVER]),
        (f"from {CROSSOVER}", 0.5, "1.6", [k for k, a in enumerate(RATIOS) if a >= CROSSOVER]),
    ):
        points = [(RATIOS[k], out) for k in branch for out in outs[k]]
        factor_found, exponent = power_fit(*zip(*points))
        good = abs(exponent - expected) < 0.2
        lab.verdict(
            f"run-out exponent, radius {radius / D:.1f} d, aspect ratio {name}",
            f"{expected:g}{'; gate 0.2' if gated else ''}",
            "from memory, Lube et al. 2004; rods 1.2 and 0.6 +- 0.1, read",
            exponent_shown(*zip(*points), 2),
            good if gated else None,
            "" if good or not gated else "The columns are few grains wide; the table shows what size does.",
        )
        lab.verdict(f"run-out factor, radius {radius / D:.1f} d, aspect ratio {name}", factor, "from memory, Lube et al. 2004", f"{factor_found:.2f}", None)


def crossover(lab, radius, outs):
    """Where the law of flat columns meets that of the tallest."""
    flat, tall = ([(a, out) for a, group in zip(RATIOS, outs) if keep(a) for out in group] for keep in (lambda a: a <= CROSSOVER, lambda a: a >= TALL))
    (low, slope), (high, less) = power_fit(*zip(*flat)), power_fit(*zip(*tall))
    lab.verdict(
        f"crossover, radius {radius / D:.1f} d: where the laws up to {CROSSOVER} and from {TALL} meet",
        "1.7 (Lube), 3 (Lajeunesse)",
        "from memory, Lube et al. 2004, Lajeunesse et al. 2004",
        f"{(high / low) ** (1 / (slope - less)):.1f}",
        None,
        f"The exponent from {TALL} on is {exponent_shown(*zip(*tall), 2)}.",
    )
