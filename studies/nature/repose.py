# SPDX-License-Identifier: MIT
"""The angle of repose against friction: what stays on a table when its side walls draw back (after Zhou et al. 2001)."""

from nature_lab import mean_error, shown

D = 0.2
FRICTIONS = (0.1, 0.2, 0.3, 0.5, 0.8)
ROLLING = (0, 0.01)  # m; radii are 0.1 m


def chapter(lab):
    size = lab.factor(0.5) ** 0.5
    half = round(2.1 * size, 2)  # of the table, m
    depth, height = 0.6, 7 * size
    grains = round(0.55 * (2 * half / D) * (2 * depth / D) * height * 6 / 3.1416)
    lab.say("## repose: the angle of what is left on a table\n")
    lab.say(
        f"{grains:,} spheres (radius 0.09 to 0.11 m) on a table {2 * half / D:.0f} diameters long, {2 * depth / D:.0f} deep between frictionless panes, filled "
        f"{height:.0f} diameters high; the side walls draw back at 2 m/s, what falls off leaves. Coulomb's law, h = 0.005 s, 50 iterations. The angle is the "
        "mean of both slopes over the last second. Rolling friction in meters, over radii of 0.1.\n"
    )
    cases = [(mu, rolling) for rolling in ROLLING for mu in FRICTIONS]
    groups = lab.sweep(cases, lab.seeds(2), lambda case, seed: asked(lab, half, depth, grains, *case, seed))
    angles = {case: [angle(run) for run in group] for case, group in zip(cases, groups)}
    lab.table(
        ["mu", *(f"degrees, rolling friction {r:g} m" for r in ROLLING)],
        [[mu, *(shown(angles[mu, r], 1) for r in ROLLING)] for mu in FRICTIONS],
    )
    curves = [(f"rolling friction {r:g} m", "", [(mu, mean_error(angles[mu, r])[0]) for mu in FRICTIONS]) for r in ROLLING]
    lab.sheet("repose", "repose: angle against friction", [("mu;;linear", "angle;degrees;linear", curves)])
    judge(lab, {case: mean_error(values)[0] for case, values in angles.items()})


def asked(lab, half, depth, grains, mu, rolling, seed):
    text = lab.scene(
        "repose",
        mu=mu,
        rolling=rolling,
        width=2 * half,
        half=half,
        depth=depth,
        count=grains,
        inner=round(0.25 * half, 3),
        outer=round(0.9 * half, 3),
        cells=8,
        columns=int(2 * half / 0.225),
        fill_x=round(2 * half - 0.22, 3),
        fill_y=round(2 * depth - 0.22, 3),
    )
    return text, "--seed", seed


def angle(run):
    """Mean of both slopes; one that has no grains left is flat."""
    rows = [row["angle_deg"] for side in ("left_slope", "right_slope") for row in run.probe(side) if row["time_s"] > 3]
    rows = [value for value in rows if value == value]
    return mean_error(rows)[0] if rows else 0.0


def judge(lab, mean):
    for rolling in ROLLING:
        values = [mean[mu, rolling] for mu in FRICTIONS]
        rises = all(b > a for a, b in zip(values, values[1:]))
        lab.verdict(
            f"angle of repose against mu, rolling friction {rolling:g} m",
            "rises",
            "Zhou et al. 2001",
            f"{values[0]:.1f} to {values[-1]:.1f} degrees",
            rises,
        )
    more = all(mean[mu, ROLLING[1]] > mean[mu, ROLLING[0]] for mu in FRICTIONS[1:])
    lab.verdict(
        "angle of repose with rolling friction, mu 0.2 and above",
        "larger than without",
        "Zhou et al. 2001",
        "larger" if more else "not always larger",
        more,
    )
