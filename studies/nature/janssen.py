# SPDX-License-Identifier: MIT
"""What the bottom of a silo carries: the law of Janssen 1895, M_bottom = M_sat (1 - exp(-M / M_sat))."""

import math

from nature_lab import mean_error, shown

D, G, FROM = 0.2, 9.81, 1.0
HEIGHTS = (0.5, 1, 2, 3, 4, 6)  # fill, in diameters of the silo
SINKING = 0.01  # m/s
MU_WALL = 0.5


def chapter(lab):
    wide = 8 * lab.factor(0.4) ** (1 / 3)  # of the silo, in diameters of grains
    lab.say("## janssen: the load on the bottom of a silo\n")
    lab.say(
        f"A cylinder {wide:.3g} grains wide, mu 0.3 between grains and {MU_WALL} at the wall, Coulomb's law, h = 0.005 s, 100 iterations. The bottom sinks by {1000 * SINKING:g} mm/s "
        f"({SINKING / D:g} d/s), so that the friction of the wall is mobilized; forces are means from {FROM} to 2.5 s.\n"
    )
    groups = lab.sweep(HEIGHTS, lab.seeds(), lambda height, seed: asked(lab, wide, height, seed))
    masses = [weight(count(wide, height)) for height in HEIGHTS]
    loads = [[load(run) for run in group] for group in groups]
    saturated = [fit(masses, one) for one in zip(*loads)]
    show(lab, wide, groups, masses, loads, mean_error(saturated)[0])
    judge(lab, wide, masses, loads, saturated)


def count(wide, height):
    return round(0.58 * math.pi / 4 * wide**3 * height * 6 / math.pi)


def weight(grains):
    """Mass of so many grains in kg."""
    return grains * 2500 * math.pi / 6 * D**3


def asked(lab, wide, height, seed):
    radius = wide * D / 2
    text = lab.scene(
        "janssen",
        radius=radius,
        inner=radius - 0.51 * D,
        count=count(wide, height),
        half=0.5 * radius,
        top=max(0.8, height * wide * D * 0.8),
        sinking=SINKING,
        mu_wall=MU_WALL,
    )
    return text, "--seed", seed


def load(run):
    """Mass that the bottom carries, kg."""
    return -mean_error([row["force_z_n"] for row in run.probe("floor") if row["time_s"] > FROM])[0] / G


def law(mass, saturated):
    return saturated * (1 - math.exp(-mass / saturated))


def fit(masses, loads):
    """M_sat of least squares, by golden section."""
    low, high = 0.02 * masses[-1], 10 * masses[-1]
    error = lambda s: sum((law(m, s) - b) ** 2 for m, b in zip(masses, loads))
    for _ in range(80):
        a, b = high - 0.618034 * (high - low), low + 0.618034 * (high - low)
        low, high = (low, b) if error(a) < error(b) else (a, high)
    return (low + high) / 2


def on_wall(run):
    """Mass that the wall carries, kg."""
    return -mean_error([row["force_z_n"] for row in run.probe("wall") if row["time_s"] > FROM])[0] / G


def show(lab, wide, groups, masses, loads, saturated):
    lab.table(
        ["fill / silo diameter", "grains", "filled, kg", "on the bottom, kg", "on the wall, kg", "law, kg"],
        [
            [
                f"{h:g}",
                f"{count(wide, h):,}",
                f"{m:.0f}",
                shown(b, 0),
                shown([on_wall(run) for run in group], 0),
                f"{law(m, saturated):.0f}",
            ]
            for h, m, b, group in zip(HEIGHTS, masses, loads, groups)
        ],
    )
    line = [(m, law(m, saturated)) for m in [masses[-1] * k / 40 for k in range(41)]]
    lab.sheet(
        "janssen",
        "janssen: the load on the bottom",
        [
            (
                "filled;kg;linear",
                "on the bottom;kg;linear",
                [
                    ("ours", "", [(m, mean_error(b)[0]) for m, b in zip(masses, loads)]),
                    ("law, fitted", "", line),
                    ("weight", "", [(0, 0), (saturated * 1.2, saturated * 1.2)]),
                ],
            )
        ],
    )


def judge(lab, wide, masses, loads, saturated):
    means, fitted = [mean_error(b)[0] for b in loads], mean_error(saturated)[0]
    rms = math.sqrt(sum((law(m, fitted) - b) ** 2 for m, b in zip(masses, means)) / len(means)) / fitted
    lab.verdict("Janssen's law, rms of the loads from it over M_sat", "the law; gate 0.05", "Janssen 1895", f"{rms:.3f}", rms < 0.05)
    bulk = weight(count(wide, 1)) / (math.pi / 4 * (wide * D) ** 3)
    lengths = [s / (bulk * math.pi / 4 * (wide * D) ** 3) for s in saturated]  # of the decay, in diameters of the silo
    lab.verdict(
        "fill at which the bottom has 90 % of its most",
        "saturates near 1.2 silo diameters",
        "Mankoc et al. 2007",
        f"{shown([2.303 * x for x in lengths], 2)} silo diameters",
        None,
    )
    lab.verdict(
        "K = radial over vertical stress, at the wall",
        "0.4 to 0.6",
        "from memory",
        shown([1 / (4 * MU_WALL * x) for x in lengths], 2),
        None,
        "From the fit, with the friction of the wall fully mobilized; where it is not, K is larger than this.",
    )
    last, expected = (100 * (b / a - 1) for a, b in (means[-2:], [law(m, fitted) for m in masses[-2:]]))
    lab.verdict("load on the bottom at 6 silo diameters against 4", f"{expected:+.1f} %", "the fitted law", f"{last:+.1f} %", None)
