# SPDX-License-Identifier: MIT
"""A ball falls into a bed: depth against density, diameter and drop, and the crater against the energy (Uehara et al. 2003)."""

import math

from nature_lab import exponent_shown, mean_error, power_fit, shown

D, G = 0.1, 9.81  # of a grain
BALL, WIDE, DEEP = 8, 44, 26  # ball, vessel and bed in grains, at scale 1
GRAINS = 2500  # kg/m^3
DROPS = (0.2, 0.7, 2.5, 8, 25)  # height fallen before the impact, in diameters of the ball
SMALL = 0.6  # of all lengths: a second size, which shows what it does, and has balls of other densities
SMALL_CASES = ((2500, 0.2), (2500, 2.5), (2500, 25), (1250, 2.5), (7800, 2.5))
SECONDS, ENTERS = 0.85, 0.05
CELL = 1.5  # grains
SUNK = 0.3  # of a grain of solid, half a grain of ground: where the crater begins


def chapter(lab):
    size = lab.factor(0.05) ** (1 / 3)
    bed = Bed(size)
    lab.say("## impact: the depth a ball falls to, and its crater\n")
    lab.say(
        f"A ball {bed.ball / D:.1f} grains in diameter falls into {bed.count:,} grains (0.09 to 0.11 m, mu 0.5, Coulomb's law, h = 0.0025 s, 50 iterations), {bed.wide / D:.0f} grains ({bed.wide / bed.ball:.1f} balls) wide and about "
        f"{bed.deep / D:.0f} ({bed.deep / bed.ball:.1f}) deep. H is the whole drop, from where the ball starts to fall to where it stops. The crater ends where the ground, as a mean over rings {CELL} grains "
        f"wide and without the ball, has sunk by half a grain; energies are m g H. The last rows are of balls and beds {SMALL:g} times as large.\n"
    )
    cases = [(size, GRAINS, drop) for drop in DROPS] + [(SMALL * size, *case) for case in SMALL_CASES]
    groups = lab.sweep(cases, lab.seeds(1), lambda case, seed: asked(lab, *case, seed))
    found = [[Impact(run, *case) for run in group] for case, group in zip(cases, groups)]
    show(lab, cases, found)
    everything = [one for group in found for one in group]
    usual = [one for one in everything if one.size == size]
    draw(lab, everything)
    judge(lab, usual, [one for one in everything if one.size != size])


class Bed:
    """Sizes of ball and bed, m, and the number of grains."""

    def __init__(self, size):
        self.ball, self.wide, self.deep = (x * D * size for x in (BALL, WIDE, DEEP))
        self.count = round(0.58 * math.pi / 4 * self.wide**2 * self.deep / (math.pi / 6 * D**3))
        self.start = 1.15 * self.deep + 2 * D + self.ball / 2  # of the ball's center, clear of any bed


def asked(lab, size, density, drop, seed):
    bed = Bed(size)
    text = lab.scene(
        "impact",
        seconds=SECONDS,
        density=density,
        radius=round(bed.wide / 2, 4),
        ball=round(bed.ball / 2, 4),
        start=round(bed.start, 4),
        speed=round(math.sqrt(2 * G * drop * bed.ball), 5),
        count=bed.count,
        inner=round(bed.wide / 2 - 0.058, 4),
        wide=round(0.35 * bed.wide, 3),
        low=round(0.2 * bed.deep, 3),
        high=round(0.8 * bed.deep, 3),
        top=round(1.5 * bed.deep, 3),
        cells=2 * round(bed.wide / (2 * CELL * D)),
    )
    return text, "--seed", seed


class Impact:
    """Drop, depth of the ball's lowest point below the surface and crater, in balls, of a run; speed at the end and energy, SI units."""

    def __init__(self, run, size, density, drop):
        bed, last = Bed(size), run.probe("ball")[-1]
        surface = level(run, 0.35 * bed.wide)
        self.size, self.density, self.fallen = size, density, drop
        self.drop = (bed.start - last["z_m"]) / bed.ball + drop
        self.depth = (surface - last["z_m"]) / bed.ball + 0.5
        self.speed = abs(last["velocity_z_m_s"])
        self.energy = density * math.pi / 6 * bed.ball**4 * G * self.drop
        self.crater = crater(run.probe("height"), bed.ball, last) / bed.ball
        self.scaled = (density / GRAINS) ** 1.5 * self.drop  # density^(3/2) D^2 H, in densities of grains and balls


def level(run, within):
    """Height of the surface before the ball comes: the solid height in the middle over the solid fraction of the bulk."""
    bulk = [row for row in run.probe("bulk") if row["time_s"] <= ENTERS][-1]
    rows = [row for row in run.probe("height") if row["time_s"] == bulk["time_s"] and math.hypot(row["x_m"], row["y_m"]) < within]
    return mean_error([row["solid_fraction"] * 2 * row["z_m"] for row in rows])[0] / bulk["solid_fraction"]


def columns(rows, ball, last):
    """Solid height over each cell without that of the ball, as a mean over rings."""
    rings, wide = {}, abs(rows[1]["x_m"] - rows[0]["x_m"]) or abs(rows[1]["y_m"] - rows[0]["y_m"])
    for row in rows:
        solid = row["solid_fraction"] * 2 * row["z_m"] - (ball_over(row, wide, ball / 2, last) if last else 0)
        rings.setdefault(int(math.hypot(row["x_m"], row["y_m"]) / wide), []).append(solid)
    return wide, [mean_error(rings[k])[0] for k in sorted(rings)]


def ball_over(row, wide, radius, last):
    """Mean thickness of the ball over a cell, from 5 x 5 points."""
    parts = [(k - 2) / 5 * wide for k in range(5)]
    apart = [math.hypot(row["x_m"] + a - last["x_m"], row["y_m"] + b - last["y_m"]) for a in parts for b in parts]
    return mean_error([2 * math.sqrt(max(0, radius**2 - r**2)) for r in apart])[0]


def crater(rows, ball, last):
    """Diameter of the middle part in which the ground has sunk by SUNK; where it has not, none."""
    times = sorted({row["time_s"] for row in rows})
    before = max(time for time in times if time <= ENTERS)
    wide, old = columns([row for row in rows if row["time_s"] == before], ball, None)
    _, new = columns([row for row in rows if row["time_s"] == times[-1]], ball, last)
    change = [b - a + SUNK * D for a, b in zip(old, new)]
    for k in range(1, len(change)):
        if change[k - 1] < 0 <= change[k]:
            return 2 * wide * (k - 0.5 + change[k - 1] / (change[k - 1] - change[k]))
    return math.nan


def show(lab, cases, found):
    lab.table(
        ["ball / grain", "density of the ball, kg/m^3", "fallen before, in balls", "H / ball", "depth / ball", "crater / ball", "speed at the end, m/s"],
        [
            [
                f"{BALL * size:.1f}",
                density,
                f"{drop:g}",
                shown([one.drop for one in group], 2),
                shown([one.depth for one in group], 3),
                shown([one.crater for one in group], 2),
                f"{max(one.speed for one in group):.1e}",
            ]
            for (size, density, drop), group in zip(cases, found)
        ],
    )


def draw(lab, everything):
    series = {}
    for one in everything:
        series.setdefault(f"ball of {BALL * one.size:.1f} grains, {one.density} kg/m^3", []).append(one)
    curves = lambda x, y: [(name, "", sorted((x(one), y(one)) for one in group if y(one) > 0)) for name, group in series.items()]
    law = lambda points, power: [(x, points[-1][1] * (x / points[-1][0]) ** power) for x in (points[0][0], points[-1][0])]
    depths = curves(lambda one: one.scaled, lambda one: one.depth)
    craters = curves(lambda one: one.energy / one.size**4, lambda one: one.crater)
    lab.sheet(
        "impact",
        "impact: depth and crater; lines are the laws through the last point",
        [
            ("density^1.5 D^2 H, in grains and balls;;log", "depth over ball;;log", [*depths, ("law", "", law(depths[0][2], 1 / 3))]),
            ("energy, of balls of one size;J;log", "crater over ball;;log", [*craters, ("law", "", law(craters[0][2], 1 / 4) if craters[0][2] else [])]),
        ],
    )


def judge(lab, usual, small):
    points = [one.drop for one in usual], [one.depth for one in usual]
    good = abs(power_fit(*points)[1] - 1 / 3) < 0.03
    less = [one for one in small if one.density == GRAINS]
    smaller = exponent_shown([one.drop for one in less], [one.depth for one in less])
    below = [(one.drop, one.depth - 1 / (BALL * one.size)) for one in usual]
    lower = exponent_shown(*zip(*[(drop, depth) for drop, depth in below if depth > 0]))
    lab.verdict(
        "exponent of the depth against H",
        "1/3; gate 0.03",
        "Uehara et al. 2003",
        exponent_shown(*points),
        good,
        "" if good else f"Where ball and bed are {SMALL:g} times as large it is {smaller}, so that size is not the reason. Much depends on where the surface is: one grain lower, {lower}.",
    )
    alike = [one for one in small if one.fallen == SMALL_CASES[-1][1]]
    lab.verdict(
        f"exponent of the depth against density, balls of {BALL * less[0].size:.1f} grains that fall {alike[0].fallen:g} diameters",
        "1/2",
        "Uehara et al. 2003",
        exponent_shown([one.density for one in alike], [one.depth / one.drop ** (1 / 3) for one in alike]),
        None,
        "Of depths over H^(1/3).",
    )
    factor = mean_error([one.depth / one.scaled ** (1 / 3) for one in usual])[0]
    lab.verdict(
        "factor of the depth, exponent 1/3",
        "0.14 / mu",
        "from memory, Uehara et al. 2003",
        f"{factor:.3f}, as for mu = {0.14 / factor:.2f}",
        None,
        "In the law mu is the tangent of the angle of repose, and densities are relative to that of the grains' material.",
    )
    seen = [one for one in usual if one.crater > 0]
    if len(seen) > 3:
        exponent = exponent_shown([one.energy for one in seen], [one.crater for one in seen])
        lab.verdict("exponent of the crater against the energy", "1/4", "Uehara et al. 2003", exponent, None)
