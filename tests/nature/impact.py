"""A ball falls into a bed: depth against drop (Uehara et al. 2003)."""

import math

from nature_lab import mean_error, power_fit, shown

D, G = 0.1, 9.81  # of a grain
BALL, WIDE, DEEP = 6, 20, 14  # ball, vessel and bed in grains, at scale 1
DENSITY = 2500
DROPS = (0.3, 1, 3, 10)  # height fallen before the impact, in diameters of the ball
SECONDS = 1.0


def chapter(lab):
    factor = (lab.scale * (0.4 if lab.quick else 1)) ** (1 / 3)
    ball, wide, deep = BALL * D * factor, WIDE * D * factor, DEEP * D * factor
    grains = round(0.58 * math.pi / 4 * wide**2 * deep / (math.pi / 6 * D**3))
    lab.say("## impact: the depth a ball falls to\n")
    lab.say(
        f"A ball {ball / D:.1f} grains in diameter, of the density of the grains, falls into {grains:,} grains (0.09 to 0.11 m, mu 0.3, Coulomb's law, h = 0.0025 s, 50 iterations), "
        f"{wide / D:.0f} wide and about {deep / D:.0f} deep. H is the whole drop, from the height at which the ball would be at rest to where it stops. The accepted law is for "
        "balls of many grains in wide beds; here the ball has few.\n"
    )
    groups = lab.sweep(DROPS, lab.seeds(2), lambda drop, seed: asked(lab, ball, wide, deep, grains, drop, seed))
    found = [[depth(run, ball) for run in group] for group in groups]
    lab.table(
        ["fallen before, in ball diameters", "whole drop / ball", "depth / ball", "at rest at the end, m/s"],
        [
            [
                f"{drop:g}",
                shown([h / ball for h, _, _ in one], 2),
                shown([d / ball for _, d, _ in one], 3),
                f"{max(v for _, _, v in one):.1e}",
            ]
            for drop, one in zip(DROPS, found)
        ],
    )
    means = [(mean_error([h for h, _, _ in one])[0] / ball, mean_error([d for _, d, _ in one])[0] / ball) for one in found]
    lab.sheet(
        "impact",
        "impact: depth against drop",
        [
            (
                "whole drop over ball;;log",
                "depth over ball;;log",
                [
                    ("ours", "", means),
                    ("H^(1/3) through the last", "", [(h, means[-1][1] * (h / means[-1][0]) ** (1 / 3)) for h, _ in means]),
                ],
            )
        ],
    )
    exponents = [power_fit([h for h, _, _ in one], [d for _, d, _ in one])[1] for one in zip(*found)]
    lab.verdict(
        "exponent of the depth against the drop",
        "1/3; gate 0.03",
        "Uehara et al. 2003",
        shown(exponents),
        abs(mean_error(exponents)[0] - 1 / 3) < 0.03,
    )


def asked(lab, ball, wide, deep, grains, drop, seed):
    start = deep + 0.3 + ball / 2
    text = lab.scene(
        "impact",
        seconds=SECONDS,
        density=DENSITY,
        radius=wide / 2,
        ball=ball / 2,
        start=round(start, 4),
        speed=round(math.sqrt(2 * G * drop * ball), 5),
        count=grains,
        inner=round(wide / 2 - 0.058, 4),
        wide=round(0.4 * wide, 3),
    )
    return text, "--seed", seed


def depth(run, ball):
    """Whole drop, depth of the ball's lowest point below the surface it met, and its speed at the end."""
    path, bed = run.probe("ball"), run.probe("bed")
    first = next(row for row in path if row["time_s"] > 0.05 and row["z_m"] == row["z_m"])
    last = path[-1]
    surface = [row["height_m"] for row in bed if row["time_s"] <= 0.05][-1]
    drop = first["z_m"] + first["velocity_z_m_s"] ** 2 / (2 * G) - last["z_m"]
    return drop, surface - (last["z_m"] - ball / 2), abs(last["velocity_z_m_s"])
