"""Steady flow down a rough incline: speed against thickness (Silbert et al. 2003), and mu(I) beside that of glass beads (Jop et al. 2006)."""

import math

from nature_lab import mean_error, power_fit, shown

D, G, ANGLE = 0.1, 9.81, 26  # degrees
LAYERS = (5, 7, 10, 14)
SECONDS, FROM = 5, 3.5
ROLLING = 0.0025  # m, on 0.05 m: the second kind of grains
MU_S, MU_2, I_0 = 0.38, 0.64, 0.279  # of glass beads


def chapter(lab):
    lab.say("## incline: flow down a slope\n")
    lab.say(
        f"{grains(LAYERS[0]):,} to {grains(LAYERS[-1]):,} spheres (0.09 to 0.11 m, mu 0.5, Coulomb's law) on a slope of {ANGLE} degrees, 10 by 8 diameters that repeat; h = 0.005 s, "
        f"50 iterations. The ground holds what touches it. Speeds are means from {FROM} to {SECONDS} s, *drift* is their change within that time: where it is not small the "
        "flow is not steady yet. Thickness is twice the height of the center.\n"
    )
    groups = lab.sweep(LAYERS, lab.seeds(1), lambda layers, seed: asked(lab, layers, 0, seed))
    lab.table(
        ["layers", "grains", "thickness / d", "mean speed / sqrt(g d)", "drift, %", "I in the middle"],
        [
            [
                n,
                f"{grains(n):,}",
                shown([thickness(run) / D for run in group], 2),
                shown([speed(run) / math.sqrt(G * D) for run in group], 2),
                f"{drift(group):+.0f}",
                shown([inertial(run) for run in group]),
            ]
            for n, group in zip(LAYERS, groups)
        ],
    )
    points = [
        (mean_error([thickness(run) for run in group])[0] / D, mean_error([speed(run) for run in group])[0] / math.sqrt(G * D))
        for group in groups
    ]
    lab.sheet(
        "incline",
        "incline: speed against thickness",
        [
            (
                "thickness;d;log",
                "mean speed over sqrt(g d);;log",
                [
                    ("ours", "", points),
                    ("thickness^1.5 through the first", "", [(h, points[0][1] * (h / points[0][0]) ** 1.5) for h, _ in points]),
                ],
            )
        ],
    )
    judge(lab, groups)
    budget(lab, groups[0][0])


def budget(lab, few):
    """The thinnest flow with four times the iterations: what the budget leaves unsolved."""
    many = lab.runs([(*asked(lab, LAYERS[0], 0, 1), "--iterations", 200)])[0]
    lab.say(
        f"The budget: with 50 iterations {few.figures['solved_percent']:.0f} % of the last step of the thinnest flow are solved and it moves at "
        f"{speed(few) / math.sqrt(G * D):.2f} sqrt(g d), with 200 iterations {many.figures['solved_percent']:.0f} % and {speed(many) / math.sqrt(G * D):.2f}.\n"
    )


def grains(layers):
    return round(layers * 80 * 0.58 * 6 / math.pi)


def asked(lab, layers, rolling, seed):
    slope = math.radians(ANGLE)
    text = lab.scene(
        "chute",
        seconds=SECONDS,
        along=G * math.sin(slope),
        across=G * math.cos(slope),
        rolling=rolling,
        count=grains(layers),
        push=0.5,
        top=round(1.4 * layers * D, 3),
        bins=2 * layers,
    )
    return text, "--seed", seed


def late(run, probe, since=FROM, until=SECONDS + 1):
    return [row for row in run.probe(probe) if since < row["time_s"] <= until]


def thickness(run):
    return 2 * mean_error([row["z_m"] for row in late(run, "center")])[0]


def speed(run, since=FROM, until=SECONDS + 1):
    """Mean over the grains: speeds of the levels weighted by their solid fraction."""
    rows = [
        (v["velocity_x_m_s"], f["solid_fraction"])
        for v, f in zip(late(run, "profile", since, until), late(run, "fraction", since, until))
        if f["solid_fraction"] > 0
    ]
    return sum(v * f for v, f in rows) / sum(f for _, f in rows)


def drift(group):
    half = (FROM + SECONDS) / 2
    return 100 * mean_error([speed(run, half) / speed(run, FROM, half) - 1 for run in group])[0]


def inertial(run):
    """I = shear rate times d / sqrt(P / density), from the middle half of the height."""
    high = thickness(run)
    levels = {}
    for row in late(run, "profile"):
        if 0.25 * high < row["z_m"] < 0.75 * high:
            levels.setdefault(row["z_m"], []).append(row["velocity_x_m_s"])
    heights = sorted(levels)
    rate = (mean_error(levels[heights[-1]])[0] - mean_error(levels[heights[0]])[0]) / (heights[-1] - heights[0])
    depth = high - (heights[0] + heights[-1]) / 2
    return rate * D / math.sqrt(0.57 * G * math.cos(math.radians(ANGLE)) * depth)


def judge(lab, groups):
    exponents = [power_fit([thickness(run) for run in one], [speed(run) for run in one])[1] for one in zip(*groups)]
    lab.verdict(
        "exponent of the speed against the thickness",
        "1.5; gate 0.03",
        "Silbert et al. 2003",
        shown(exponents),
        abs(mean_error(exponents)[0] - 1.5) < 0.03,
    )
    mu = math.tan(math.radians(ANGLE))
    beads = I_0 * (mu - MU_S) / (MU_2 - mu)
    lab.verdict(
        f"I at mu = tan {ANGLE} = {mu:.3f}, thickest flow",
        f"{beads:.2f} (glass beads: 0.38, 0.64, 0.279)",
        "Jop et al. 2006",
        shown([inertial(run) for run in groups[-1]]),
        None,
    )
    rolling = lab.runs([asked(lab, LAYERS[1], ROLLING, 1)])
    lab.verdict(
        f"I at the same mu with rolling friction of 0.05 radii, {LAYERS[1]} layers",
        "smaller than without",
        "ours",
        shown([inertial(run) for run in rolling]),
        None,
        f"Without it {shown([inertial(run) for run in groups[1]])}.",
    )
