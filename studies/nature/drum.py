# SPDX-License-Identifier: MIT
"""The surface of a turning drum at equal Froude number in two gravities (Sunday et al. 2020)."""

import math

from nature_lab import mean_error, shown

FROUDE = (0.01, 0.05)
EARTH, MOON, FINE = (9.81, 9.81), (1.62, 1.62), (1.62, 9.81)  # gravity, and that for which the step is chosen
STEP = 0.06  # in sqrt(d / g)
D, TURNS, FROM = 0.1, 0.6, 0.25  # turns of a run, and from when on it is measured


def chapter(lab):
    radius = round(1.0 * lab.factor(0.6) ** 0.5, 3)
    grains = round(0.5 * 0.58 * math.pi * radius**2 * 0.6 / (math.pi / 6 * D**3) * 0.92)
    lab.say("## drum: equal Froude numbers\n")
    lab.say(
        f"{grains:,} spheres (diameter 0.09 to 0.11 m, mu 0.5, Coulomb's law) in a half-full drum of {2 * radius / D:.0f} by 6 diameters between frictionless panes. "
        f"The angle is the mean from {FROM} to {TURNS} turns. For hard grains gravity only sets the scale of time; the step is 0.06 sqrt(d/g) in both, "
        "and at the higher number the smaller step of the Earth was taken on the Moon as well.\n"
    )
    cases = [(froude, *where) for froude in FROUDE for where in (EARTH, MOON)] + [(FROUDE[-1], *FINE)]
    groups = lab.sweep(cases, lab.seeds(), lambda case, seed: asked(lab, radius, grains, *case, seed))
    angles = {case: [angle(run) for run in group] for case, group in zip(cases, groups)}
    lab.table(
        ["Froude number", "gravity", "step, s", "angle, degrees"],
        [[f, g, f"{STEP * math.sqrt(D / s):.4f}", shown(values, 2)] for (f, g, s), values in angles.items()],
    )
    lab.sheet(
        "drum",
        "drum: the angle over time, first seed",
        [("turns;;linear", "angle;degrees;linear", [curve(case, group[0]) for case, group in zip(cases, groups)])],
    )
    for froude in FROUDE:
        apart = mean_error(angles[froude, *MOON])[0] - mean_error(angles[froude, *EARTH])[0]
        lab.verdict(
            f"angle on the Moon less that on the Earth, Froude number {froude}",
            "0; gate 1 degree",
            "Sunday et al. 2020",
            f"{apart:+.2f} degrees",
            abs(apart) < 1,
        )


def curve(case, run):
    rows = run.probe("slope")
    return (
        f"Froude number {case[0]}, g = {case[1]}, step {STEP * math.sqrt(D / case[2]):.4f} s",
        "",
        [(TURNS * row["time_s"] / rows[-1]["time_s"], row["angle_deg"]) for row in rows],
    )


def asked(lab, radius, grains, froude, g, step_g, seed):
    rate = math.sqrt(froude * g / radius)
    seconds = TURNS * 2 * math.pi / rate
    text = lab.scene(
        "tumbler",
        step=STEP * math.sqrt(D / step_g),
        seconds=seconds,
        gravity=g,
        recovery=math.sqrt(g / 9.81),
        radius=radius,
        rate=rate,
        count=grains,
        half=round(0.6 * radius, 3),
        sampling=100 / seconds,
    )
    return text, "--seed", seed


def angle(run):
    rows = run.probe("slope")
    return mean_error([row["angle_deg"] for row in rows if row["time_s"] > FROM / TURNS * rows[-1]["time_s"]])[0]
