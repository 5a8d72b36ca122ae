"""Random packings that settle in a periodic box, without and with friction (Agnolin and Roux 2007)."""

import math

from nature_lab import mean_error, shown

D, G, WIDE = 0.2, 9.81, 10  # width of the box in diameters
SECONDS = 5
CASES = ((0, "frictionless", 0.639, 6.0), (0.3, "coulomb", 0.593, 4.5))
ITERATIONS = {0: 400, 0.3: 150}
SPREAD_FRACTION, SPREAD_COORDINATION = 0.005, 0.1


def chapter(lab):
    wide = WIDE * max(0.5, lab.scale) ** (1 / 3)
    grains = lab.grains(1500)
    lab.say("## packing: random packings\n")
    lab.say(
        f"{grains:,} spheres of one size settle under gravity in a box {wide:.3g} diameters wide that repeats sideways; h = 0.01 s, p-apgd "
        "with 400 iterations (mu 0) and 150. The middle part of the height, from 2 to 10 diameters above the floor, is measured at the end. Agnolin and Roux compress a gas "
        "isotropically instead; with friction a packing depends on how it was made. Under gravity a grain without load of others still carries its "
        "own weight: there are no rattlers to leave out.\n"
    )
    groups = lab.sweep(CASES, lab.seeds(), lambda case, seed: asked(lab, wide, grains, case[0], case[1], seed))
    rows = [judge(lab, mu, fraction, coordination, group) for (mu, _, fraction, coordination), group in zip(CASES, groups)]
    rows.append(otherwise(lab, wide, grains))
    plots = [
        (f"{name};;linear", probe, key)
        for name, probe, key in (("solid fraction", "fraction", "solid_fraction"), ("coordination", "contacts", "coordination"))
    ]
    lab.sheet(
        "packing",
        "packing: against the height, first seed",
        [
            ("height;d;linear", axis, [(f"mu {mu}", "", profile(group[0], probe, key)) for (mu, *_), group in zip(CASES, groups)])
            for axis, probe, key in plots
        ],
    )
    lab.table(["mu", "solid fraction", "coordination", "kinetic energy over m g d, per grain", "deepest overlap / d"], rows)


def asked(lab, wide, grains, mu, model, seed, spacing=0.25):
    width = wide * D
    weight = 2500 * math.pi / 6 * D**3 * G
    text = lab.scene(
        "packing",
        step=0.01,
        seconds=SECONDS,
        iterations=ITERATIONS[mu],
        friction=model,
        half=width / 2,
        mu=mu,
        count=grains,
        columns=int(width / spacing),
        spacing=spacing,
        first=round(0.8 * spacing, 3),
        jitter=round(spacing / 2 - 0.101, 4),
        width=width,
        top=2.0,
        bins=5,
        least=0.001 * weight,
    )
    return text, "--seed", seed


def otherwise(lab, wide, grains):
    """The same grains from a lattice twice as wide: with friction the packing remembers how it was made."""
    run = lab.runs([asked(lab, wide, grains, 0.3, "coulomb", 1, 0.5)])[0]
    return [
        "0.3, from a lattice of 0.5 m in place of 0.25 m",
        f"{middle(run, 'fraction', 'solid_fraction'):.4f}",
        f"{middle(run, 'contacts', 'coordination'):.2f}",
        "",
        "",
    ]


def profile(run, probe, key):
    """Means over the last half second, level by level."""
    levels = {}
    for row in run.probe(probe):
        if row["time_s"] > SECONDS - 0.5:
            levels.setdefault(row["z_m"], []).append(row[key])
    return [(z / D, mean_error(values)[0]) for z, values in sorted(levels.items())]


def middle(run, probe, key):
    """Mean over the cells between 0.4 and 2 m and the last half second."""
    rows = [row for row in run.probe(probe) if row["time_s"] > SECONDS - 0.5 and row["z_m"] > 0.4]
    return mean_error([row[key] for row in rows])[0]


def judge(lab, mu, fraction, coordination, group):
    dense = [middle(run, "fraction", "solid_fraction") for run in group]
    touch = [middle(run, "contacts", "coordination") for run in group]
    why = "Settled under gravity instead of compressed; the last row of the table shows what the making does." if mu else ""
    lab.verdict(
        f"solid fraction, mu {mu}",
        f"{fraction}; gate {SPREAD_FRACTION}",
        "Agnolin and Roux 2007",
        shown(dense, 4),
        abs(mean_error(dense)[0] - fraction) < SPREAD_FRACTION,
        why,
    )
    lab.verdict(
        f"coordination, mu {mu}",
        f"{coordination}; gate {SPREAD_COORDINATION}",
        "Agnolin and Roux 2007",
        shown(touch, 2),
        abs(mean_error(touch)[0] - coordination) < SPREAD_COORDINATION,
        why,
    )
    weight = 2500 * math.pi / 6 * D**3 * G
    energy = max(run.figures["kinetic_energy"] / run.bodies for run in group) / (weight * D)
    return [mu, shown(dense, 4), shown(touch, 2), f"{energy:.1e}", f"{max(run.figures['penetration_max'] for run in group) / D:.1e}"]
