# SPDX-License-Identifier: MIT
"""Flow through round openings in the flat bottom of a silo: the law of Beverloo et al. 1961."""

import math

from nature_lab import line_fit, mean_error, power_fit, shown

D = 0.2  # m, diameter of a grain
G = 9.81
OPENINGS = (6, 8, 11, 15, 20)  # in diameters, at scale 1
K = 1.4
FILL, MORE = 1.3, 2  # height of the grains, in silo diameters
COMPARED = (1, 2)  # openings with both


def chapter(lab):
    ratios = [round(6 + (x - 6) * (0.2 if lab.quick else lab.scale ** (1 / 3)), 2) for x in OPENINGS]
    lab.say("## beverloo: flow through an opening\n")
    lab.say(
        "Spheres of one size, mu 0.3, associated cone, h = 0.01 s (0.07 sqrt(d/g)), 50 iterations. The silo is 2.5 openings D wide and filled 1.3 silo "
        f"diameters high ({count(ratios[0]):,} to {count(ratios[-1]):,} grains), openings are {ratios[0]:g} to {ratios[-1]:g} diameters, the flow "
        f"that from {window(ratios[0])[0]:g} to {window(ratios[0])[1]:g} s at the narrowest and {window(ratios[-1])[0]:g} to {window(ratios[-1])[1]:g} s at the widest.\n"
    )
    cases = [(ratio, FILL) for ratio in ratios] + [(ratios[k], MORE) for k in COMPARED]
    seeds = lambda case: lab.seeds(2 if case[0] > 12 else 3)
    groups = dict(zip(cases, lab.sweep(cases, seeds, lambda case, seed: asked(lab, *case, seed))))
    flows = {case: [flow(run, case[0]) for run in group] for case, group in groups.items()}
    bulk = mean_error([density(run, ratio) for (ratio, _), group in groups.items() for run in group])[0]
    usual = [flows[ratio, FILL] for ratio in ratios]
    show(lab, ratios, usual, bulk)
    fits(lab, ratios, usual, bulk)
    for k in COMPARED:
        filling(lab, ratios[k], flows[ratios[k], FILL], flows[ratios[k], MORE])


def count(ratio, fill=FILL):
    """Grains of a silo 2.5 openings wide and `fill` silo diameters high, at a solid fraction of 0.58."""
    wide = 2.5 * ratio
    return round(0.58 * math.pi / 4 * wide**3 * fill * 6 / math.pi)


def window(ratio):
    """When the flow is measured, s: once it is steady, which takes the longer the wider the opening is."""
    fall = math.sqrt(ratio * D / G)
    return round(2 * fall, 2), round(max(2.5, 4.7 * fall), 2)


def asked(lab, ratio, fill, seed):
    radius = 1.25 * ratio * D
    text = lab.scene(
        "silo",
        seconds=window(ratio)[1],
        opening_radius=ratio * D / 2,
        radius=radius,
        count=count(ratio, fill),
        half=0.6 * radius,
        low=0.6 * radius,
        high=1.2 * radius,
    )
    return text, "--seed", seed


def flow(run, ratio):
    rows = [row for row in run.probe("flow") if window(ratio)[0] - 1e-9 <= row["time_s"]]
    return (rows[-1]["mass_kg"] - rows[0]["mass_kg"]) / (rows[-1]["time_s"] - rows[0]["time_s"])


def density(run, ratio):
    return mean_error([row["density_kg_m3"] for row in run.probe("bulk") if row["time_s"] > window(ratio)[0]])[0]


def show(lab, ratios, flows, bulk):
    law = [0.58 * bulk * math.sqrt(G) * ((x - K) * D) ** 2.5 for x in ratios]
    lab.table(
        ["opening / d", "grains", "flow, kg/s", "law with C = 0.58, k = 1.4", "ours / law"],
        [[f"{x:g}", f"{count(x):,}", shown(w, 0), f"{p:.0f}", f"{mean_error(w)[0] / p:.3f}"] for x, w, p in zip(ratios, flows, law)],
    )
    means = [mean_error(w)[0] for w in flows]
    lab.sheet(
        "beverloo",
        "beverloo: flow through an opening",
        [
            (
                "opening less 1.4 d;d;log",
                "flow;kg/s;log",
                [
                    ("ours", "", list(zip([x - K for x in ratios], means))),
                    ("C = 0.58, k = 1.4", "", list(zip([x - K for x in ratios], law))),
                ],
            ),
            (
                "opening;d;linear",
                "flow^(2/5), in kg/s;;linear",
                [
                    ("ours", "", [(x, w**0.4) for x, w in zip(ratios, means)]),
                    ("C = 0.58, k = 1.4", "", [(x, w**0.4) for x, w in zip(ratios, law)]),
                ],
            ),
        ],
    )


def fits(lab, ratios, flows, bulk):
    """The exponent with k = 1.4, and C and k with the exponent 5/2, once for each seed."""
    exponents, factors, offsets = [], [], []
    for one in zip(*flows):
        exponents.append(power_fit([x - K for x in ratios], one)[1])
        intercept, slope = line_fit([x * D for x in ratios], [w**0.4 for w in one])
        factors.append(slope**2.5 / (bulk * math.sqrt(G)))
        offsets.append(-intercept / slope / D)
    exponent = mean_error(exponents)[0]
    lab.verdict(
        "exponent of the flow, k = 1.4",
        "2.5; gate 2.4 to 2.6",
        "Beverloo et al. 1961; Mankoc et al. 2007",
        shown(exponents),
        2.4 <= exponent <= 2.6,
    )
    lab.verdict(
        "C, exponent 5/2",
        "0.55 to 0.65",
        "from memory; Beverloo et al. 1961",
        shown(factors),
        None,
        f"With the bulk density measured in the silo while it flows, {bulk:.0f} kg/m^3.",
    )
    lab.verdict("k, exponent 5/2", "1.4 to 1.5", "from memory; Beverloo et al. 1961", shown(offsets, 2), None)


def filling(lab, ratio, low, high):
    """The same opening with more above it."""
    change = 100 * (mean_error(high)[0] / mean_error(low)[0] - 1)
    error = 100 * math.hypot(mean_error(high)[1], mean_error(low)[1]) / mean_error(low)[0]
    lab.verdict(
        f"flow with a fill of {MORE} silo diameters against {FILL}, opening {ratio:g} d",
        "no change above 1.2; gate 5 %",
        "Mankoc et al. 2007",
        f"{change:+.1f} % (one seed)" if math.isnan(error) else f"{change:+.1f} +- {error:.1f} %",
        abs(change) < 5,
        "" if abs(change) < 5 else "Through a narrow opening the flow is unsteady; more seeds tell whether that is all.",
    )
