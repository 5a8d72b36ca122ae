"""Collapse of columns on a rough ground: run-out against aspect ratio (Lube et al. 2004)."""

import math

from nature_lab import mean_error, power_fit, shown

D, RADIUS = 0.2, 5  # of a grain in m; of the column, in diameters, at scale 1
RATIOS = (0.5, 1, 1.5, 2.5, 4, 6)
CELL = 1.5  # diameters
THIN = 0.25  # of a diameter of solid: where the deposit ends, less than half a layer of grains


def chapter(lab):
    radius = round(RADIUS * D * (lab.scale * (0.5 if lab.quick else 1)) ** (1 / 3), 3)
    lab.say("## column: collapse of columns\n")
    lab.say(
        f"Columns of radius {radius / D:.1f} diameters ({grains(radius, RATIOS[0]):,} to {grains(radius, RATIOS[-1]):,} grains of 0.18 to 0.22 m); the frictionless tube around them "
        "is drawn up at 40 m/s. mu 0.5, Coulomb's law, rolling friction 0.05 radii between grains and 0.2 on the ground, which stands for its roughness; h = 0.005 s, "
        f"50 iterations. The deposit ends where the mean over a ring holds less than {THIN} d of solid. Experiments have columns of a hundred grains and more; "
        "small columns run out less, and single grains roll on.\n"
    )
    groups = lab.sweep(RATIOS, lab.seeds(2), lambda a, seed: asked(lab, radius, a, seed))
    outs = [[run_out(run, radius) for run in group] for group in groups]
    lab.table(
        ["height / radius", "grains", "run-out / radius", "Lube et al."],
        [[a, f"{grains(radius, a):,}", shown(r, 2), f"{lube(a):.2f}"] for a, r in zip(RATIOS, outs)],
    )
    means = [mean_error(r)[0] for r in outs]
    lab.sheet(
        "column",
        "column: run-out against aspect ratio",
        [
            (
                "height over radius;;log",
                "run-out over radius;;log",
                [("ours", "", list(zip(RATIOS, means))), ("Lube et al. 2004", "", [(a, lube(a)) for a in (0.5, 1, 1.69, 1.71, 2.5, 4, 6)])],
            )
        ],
    )
    judge(lab, outs)
    larger(lab, radius, {a: mean_error(one)[0] for a, one in zip(RATIOS, outs)})


def larger(lab, radius, small):
    """The reason for what is missed: columns of the same shape and of more grains."""
    wide, ratios = round(1.8 * radius, 3), RATIOS[:2]
    outs = [run_out(run, wide) for run in lab.runs([asked(lab, wide, a, 1) for a in ratios])]
    lab.say(f"Size matters. The same columns with 1.8 times the radius, {wide / D:.0f} diameters, one seed:\n")
    lab.table(
        ["height / radius", "grains", "run-out / radius", "of the smaller column", "Lube et al."],
        [[a, f"{grains(wide, a):,}", f"{out:.2f}", f"{small[a]:.2f}", f"{lube(a):.2f}"] for a, out in zip(ratios, outs)],
    )


def lube(a):
    return 1.24 * a if a < 1.7 else 1.6 * math.sqrt(a)


def grains(radius, a):
    return round(0.58 * math.pi * radius**3 * a / (math.pi / 6 * D**3))


def asked(lab, radius, a, seed):
    reach = round(radius * (2.5 + 2 * lube(a)), 3)
    text = lab.scene(
        "column",
        seconds=round(1.5 + 0.8 * math.sqrt(a * radius), 2),
        radius=radius,
        lift=40,
        count=grains(radius, a),
        inner=round(radius - 0.115, 4),
        reach=reach,
        tall=round(max(2, 1.5 * a * radius), 3),
        cells=2 * round(reach / (CELL * D)),
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


def judge(lab, outs):
    """Exponents of both branches, once for each seed."""
    low, high = [k for k, a in enumerate(RATIOS) if a < 1.7], [k for k, a in enumerate(RATIOS) if a > 1.7]
    for name, branch, expected in (("below 1.7", low, 1.0), ("above 1.7", high, 0.5)):
        fits = [power_fit([RATIOS[k] for k in branch], [one[k] for k in branch]) for one in zip(*outs)]
        exponents, factors = [f[1] for f in fits], [f[0] for f in fits]
        good = abs(mean_error(exponents)[0] - expected) < 0.2
        lab.verdict(
            f"run-out exponent, aspect ratio {name}",
            f"{expected:g}; gate 0.2",
            "from memory, Lube et al. 2004; rods 1.2 and 0.6 +- 0.1, read",
            shown(exponents, 2),
            good,
            "" if good else "The columns are few grains wide; the table of larger ones below shows what size does.",
        )
        lab.verdict(
            f"run-out factor, aspect ratio {name}",
            "1.24" if expected == 1 else "1.6",
            "from memory, Lube et al. 2004",
            shown(factors, 2),
            None,
        )
