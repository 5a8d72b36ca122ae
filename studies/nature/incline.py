# SPDX-License-Identifier: MIT
"""Steady flow down a rough incline: speed against thickness (Silbert et al. 2003), and mu(I) beside that of glass beads (Jop et al. 2006)."""

import math
import random

from nature_lab import line_fit, mean_error, power_fit, shown

D, G = 0.1, 9.81
WIDE = 8  # diameters, along and across
STEEP = 24  # degrees, at which the thickness varies
LAYERS = (8, 11, 16, 22)
ANGLES = (21, 22, 24, 26, 28)
MIDDLE = 11  # layers, at which the angle varies
ROLLING = 0.0025  # m, on radii of 0.05 m
MU_S, MU_2, I_0 = 0.38, 0.64, 0.279  # of glass beads
GATE = 0.03
MANY = 200  # iterations, in place of 50
REST = 0.005  # inertial number of a flow that has stopped


def chapter(lab):
    seconds = 4 if lab.quick else 32
    layers, angles = (LAYERS[:2], ANGLES[1:4]) if lab.quick else (LAYERS, ANGLES)
    thin = layers[0]
    lab.say("## incline: flow down a slope\n")
    lab.say(
        f"{grains(layers[0]):,} to {grains(layers[-1]):,} spheres (0.09 to 0.11 m, mu 0.5, Coulomb's law) on a slope of {WIDE} by {WIDE} diameters that repeats; the ground "
        f"is a layer of such spheres that stand still. h = 0.005 s (0.05 sqrt(d/g)), 50 iterations, {seconds} s ({seconds / math.sqrt(D / G):.0f} sqrt(d/g)). The flow starts with the profile that glass beads would have; "
        "means are over the last third of the time, and *drift* is the change of the speed from the first half of it to the second: where it is not small the flow is not steady. "
        "Thickness is twice the height of the center.\n"
    )
    cases = [(STEEP, n, 0, 50) for n in layers] + [(angle, middle(lab), 0, 50) for angle in angles if angle != STEEP or middle(lab) not in layers]
    cases += [(angle, thin, ROLLING, 50) for angle in angles] + [(STEEP, n, 0, MANY) for n in layers[:2]]
    groups = dict(zip(cases, lab.sweep(cases, lab.seeds(1), lambda case, seed: asked(lab, seconds, *case, seed))))
    show(lab, cases, groups)
    thick(lab, [groups[STEEP, n, 0, 50] for n in layers])
    curves = [
        rheology(lab, "without rolling friction", [groups[a, middle(lab), 0, 50] for a in angles], angles, True),
        rheology(lab, "with rolling friction of 0.05 radii", [groups[a, thin, ROLLING, 50] for a in angles], angles, False),
    ]
    draw(lab, [groups[STEEP, n, 0, 50] for n in layers], curves)
    budget(lab, [[groups[STEEP, n, 0, iterations][0] for n in layers[:2]] for iterations in (50, MANY)])


def middle(lab):
    return LAYERS[0] if lab.quick else MIDDLE


def grains(layers):
    """Layers of grains, each as dense as a flow is."""
    return round(layers * WIDE**2 * 0.58 * 6 / math.pi)


# --- the scene -------------------------------------------------------------------------------------------------


def asked(lab, seconds, angle, layers, rolling, iterations, seed):
    slope = math.radians(angle)
    text = lab.scene(
        "chute",
        seconds=seconds,
        along=G * math.sin(slope),
        across=G * math.cos(slope),
        rolling=rolling,
        half_x=WIDE * D / 2,
        half_y=WIDE * D / 2,
        ground=ground(),
        layers=fills(layers, angle),
        width=WIDE * D,
        top=round(1.5 * layers * D, 3),
        bins=round(1.5 * layers),
    )
    return text, "--seed", seed, "--iterations", iterations


def ground():
    """Spheres of a grain's size at a height that varies by half of it, on a lattice; with images of those near a border."""
    places = random.Random(1)
    spheres = [((i + 0.5) * D - WIDE * D / 2, (k + 0.5) * D - WIDE * D / 2, -0.25 * D * places.random()) for i in range(WIDE) for k in range(WIDE)]
    images = [(x + a * WIDE * D, y + b * WIDE * D, z) for a in (-1, 0, 1) for b in (-1, 0, 1) for x, y, z in spheres]
    near = [p for p in images if max(abs(p[0]), abs(p[1])) < WIDE * D / 2 + D]
    return "\n".join(f"  - {{shape: sphere, side: outside, radius: {D / 2}, position: [{x:.4f}, {y:.4f}, {z:.4f}]}}" for x, y, z in near)


def fills(layers, angle):
    """Fills of one lattice layer each, with the speeds of the profile of glass beads at this angle."""
    columns, spacing = int(WIDE * D / 0.1142), 0.1142
    count, left, rows = columns**2, grains(layers), []
    high = spacing * grains(layers) / count
    while left > 0:
        z = 0.12 + spacing * len(rows)
        speed = beads_speed(min(z / high, 1), layers * D, angle)
        rows.append(
            f"  - {{radii: [0.045, 0.055], count: {min(count, left)}, lattice: {{spacing: {spacing}, jitter: 0.002, columns: {columns}, from: {z:.4f}}}, "
            f"region: {{box: [{WIDE * D - 0.001:.4f}, {WIDE * D - 0.001:.4f}]}}, velocity: [{speed:.4f}, 0, 0]}}"
        )
        left -= count
    return "\n".join(rows)


def beads_speed(part, thickness, angle):
    """Speed at a part of the thickness, from mu(I) of glass beads: Bagnold's profile."""
    mu, cosine = math.tan(math.radians(angle)), math.cos(math.radians(angle))
    inertial = max(0.0, min(I_0 * (mu - MU_S) / (MU_2 - mu), 0.5))
    return 2 / 3 * inertial / D * math.sqrt(0.58 * G * cosine) * thickness**1.5 * (1 - (1 - part) ** 1.5)


# --- what is measured ------------------------------------------------------------------------------------------


def late(run, probe, since=2 / 3, until=1):
    rows = run.probe(probe)
    end = rows[-1]["time_s"]
    return [row for row in rows if since * end < row["time_s"] <= until * end + 1e-9]


def thickness(run):
    return 2 * mean_error([row["z_m"] for row in late(run, "center")])[0]


def speed(run, since=2 / 3, until=1):
    """Mean over the grains: speeds of the levels weighted by their solid fraction."""
    rows = [
        (v["velocity_x_m_s"], f["solid_fraction"])
        for v, f in zip(late(run, "profile", since, until), late(run, "fraction", since, until))
        if f["solid_fraction"] > 0
    ]
    return sum(v * f for v, f in rows) / sum(f for _, f in rows)


def drift(run):
    return 100 * (speed(run, 5 / 6) / speed(run, 2 / 3, 5 / 6) - 1)


def levels(run, probe, key):
    """Means over time of the levels in the middle half of the height."""
    high, found = thickness(run), {}
    for row in late(run, probe):
        if 0.25 * high < row["z_m"] < 0.75 * high:
            found.setdefault(row["z_m"], []).append(row[key])
    return {z: mean_error(values)[0] for z, values in sorted(found.items())}


def inertial(run, angle):
    """I = shear rate times d / sqrt(P / density) in the middle half of the height, P from the weight above."""
    speeds, dense = levels(run, "profile", "velocity_x_m_s"), mean_error(list(levels(run, "fraction", "solid_fraction").values()))[0]
    rate = line_fit(list(speeds), list(speeds.values()))[1]
    depth = thickness(run) - mean_error(list(speeds))[0]
    return rate * D / math.sqrt(dense * G * math.cos(math.radians(angle)) * depth)


def show(lab, cases, groups):
    lab.table(
        ["angle", "layers", "grains", "rolling friction, m", "iterations", "thickness / d", "mean speed / sqrt(g d)", "drift, %", "I in the middle"],
        [
            [
                f"{angle:g}",
                layers,
                f"{grains(layers):,}",
                f"{rolling:g}",
                iterations,
                shown([thickness(run) / D for run in group], 2),
                shown([speed(run) / math.sqrt(G * D) for run in group], 2),
                f"{mean_error([drift(run) for run in group])[0]:+.1f}" if inertial(group[0], angle) > REST else "at rest",
                shown([inertial(run, angle) for run in group]),
            ]
            for (angle, layers, rolling, iterations), group in groups.items()
        ],
    )


def thick(lab, groups):
    """The exponent of the speed, over all thicknesses and between the thickest."""
    exponents = [power_fit([thickness(run) for run in one], [speed(run) for run in one])[1] for one in zip(*groups)]
    value = mean_error(exponents)[0]
    why = ""
    if len(groups) > 2:
        upper = [power_fit([thickness(run) for run in one], [speed(run) for run in one])[1] for one in zip(*groups[-2:])]
        why = f"Between the two thickest alone it is {shown(upper, 2)}. What the budget leaves unsolved slows a flow: below are the two thinnest with four times as many iterations."
    lab.verdict(f"exponent of the speed against the thickness, {STEEP} degrees", f"1.5; gate {GATE}", "Silbert et al. 2003", shown(exponents), abs(value - 1.5) < GATE, why)


# --- mu(I) -----------------------------------------------------------------------------------------------------


def law(x, mu_s, mu_2, i_0):
    return mu_s + (mu_2 - mu_s) * x / (i_0 + x)


def fit(points):
    """mu_s, mu_2 and I_0 of least squares: for a given I_0 the law is a line in x / (I_0 + x)."""
    best = None
    for k in range(400):
        i_0 = 0.01 * 1.01**k
        intercept, slope = line_fit([x / (i_0 + x) for x, _ in points], [mu for _, mu in points])
        error = sum((law(x, intercept, intercept + slope, i_0) - mu) ** 2 for x, mu in points)
        if best is None or error < best[0]:
            best = (error, intercept, intercept + slope, i_0)
    return best[1:]


def rheology(lab, name, groups, angles, gated):
    """The friction of the flow against its inertial number, one angle each; flows that have stopped are left out."""
    points = [(inertial(group[0], angle), math.tan(math.radians(angle))) for angle, group in zip(angles, groups)]
    moving = [(x, mu) for x, mu in points if x > REST]
    away = [abs(mu - law(x, MU_S, MU_2, I_0)) for x, mu in moving]
    lab.verdict(
        f"mu at the I of {len(moving)} angles, {name}: farthest from that of glass beads",
        f"mu_s 0.38, mu_2 0.64, I_0 0.279; gate {GATE}" if gated else "mu_s 0.38, mu_2 0.64, I_0 0.279",
        "Jop et al. 2006",
        f"{max(away):.3f}" if away else "all flows stopped",
        (bool(away) and max(away) < GATE) if gated else None,
    )
    if len(moving) > 3:
        mu_s, mu_2, i_0 = fit(moving)
        lab.verdict(f"fit of mu(I), {name}", "0.38, 0.64, 0.279", "Jop et al. 2006", f"mu_s {mu_s:.3f}, mu_2 {mu_2:.3f}, I_0 {i_0:.3f}", None)
    return name, moving


def draw(lab, groups, curves):
    points = [(thickness(group[0]) / D, speed(group[0]) / math.sqrt(G * D)) for group in groups]
    most = max([x for _, points in curves for x, _ in points] + [0.1])
    lab.sheet(
        "incline",
        "incline: speed against thickness, and mu(I)",
        [
            (
                "thickness;d;linear",
                "mean speed over sqrt(g d) (thickness / d)^1.5;;linear",
                [(f"{STEEP} degrees", "", [(h, v / h**1.5) for h, v in points]), ("the law", "", [(h, points[-1][1] / points[-1][0] ** 1.5) for h, _ in points])],
            ),
            (
                "I;;linear",
                "mu;;linear",
                [(name, "", sorted(points)) for name, points in curves]
                + [("glass beads", "", [(most * k / 40, law(most * k / 40, MU_S, MU_2, I_0)) for k in range(41)])],
            ),
        ],
    )


def budget(lab, runs):
    """The two thinnest flows with four times the iterations: what the budget leaves unsolved holds a flow back."""
    for iterations, pair in zip((50, MANY), runs):
        lab.verdict(
            f"exponent of the speed between the two thinnest, {iterations} iterations",
            "1.5",
            "Silbert et al. 2003",
            f"{power_fit([thickness(run) for run in pair], [speed(run) for run in pair])[1]:.2f}",
            None,
            f"Speeds are {speed(pair[0]) / math.sqrt(G * D):.2f} and {speed(pair[1]) / math.sqrt(G * D):.2f} sqrt(g d); {pair[1].figures['solved_percent']:.0f} % of the last step is solved.",
        )
