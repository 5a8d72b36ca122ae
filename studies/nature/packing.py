# SPDX-License-Identifier: MIT
"""Random packings in a periodic box that is squeezed from all sides, without and with friction (Agnolin and Roux 2007)."""

import math

from nature_lab import RunFailed, mean_error, shown

D = 0.2
ALONG, SMALL = 16, 9  # grains along each side of the lattice at the start; the small ones show what size does
SPACING = 0.4
CASES = ((0, 300000, 12, 0.639, 6.0), (0.3, 10000, 5.5, 0.593, 4.5))  # mu, pressure in Pa, seconds, accepted
OTHER = (0.3, 100000, 5.5)  # the same grains, pressed harder
GATE_FRACTION, GATE_COORDINATION = 0.005, 0.1
LATE, FIRST = 0.5, 10  # part of the time at the end, and samples from the jam on, in which they are


def chapter(lab):
    along = round(ALONG * lab.factor(0.06) ** (1 / 3))
    small = max(6, round(SMALL * along / ALONG))
    lab.say("## packing: random packings\n")
    lab.say(
        f"{along**3:,} spheres of one size, from a loose random start (solid fraction 0.065), in a box that repeats along x, y and z and is squeezed from all sides at 0.5 1/s, until they carry a "
        f"pressure; then it breathes about the place where they jam. No gravity, no restitution, Coulomb's law, h = 0.002 s, 100 iterations. The solid fraction is that of the whole box at the end. "
        f"Coordination is that of a cube in its middle, over samples of the last half of the time that carry the pressure, and *at first* over the first {FIRST} such "
        "samples once they jam; rattlers, which carry no force, are left out as Agnolin and Roux do. They compress a gas of 4,000 spheres under a constant stress.\n"
    )
    cases = [(mu, pressure, seconds, size) for size in dict.fromkeys((along, small)) for mu, pressure, seconds, *_ in CASES] + [(*OTHER, small)]
    seeds = lambda case: lab.seeds(3 if case[3] == along else 2)
    groups = dict(zip(cases, lab.sweep(cases, seeds, lambda case, seed: asked(lab, *case, seed))))
    lab.table(
        ["mu", "grains", "pressure, Pa", "solid fraction", "coordination at first", "coordination", "rattlers, %", "kinetic energy over p d^3, per grain", "deepest overlap / d"],
        [row(case, group) for case, group in groups.items()],
    )
    draw(lab, groups, along)
    for mu, pressure, seconds, fraction, touching in CASES:
        judge(lab, mu, fraction, touching, groups[mu, pressure, seconds, along])


def asked(lab, mu, pressure, seconds, along, seed):
    half = along * SPACING / 2
    text = lab.scene(
        "packing",
        seconds=seconds,
        friction="coulomb" if mu else "frictionless",
        half=round(half, 4),
        pressure=pressure,
        mu=mu,
        count=along**3,
        columns=along,
        first=round(half - SPACING / 2, 4),
        width=round(2 * half - 0.01, 4),
        cell=round(0.4 * half, 4),
        least=0.0005 * pressure * D**2,
    )
    return text, "--seed", seed


# --- what is measured ------------------------------------------------------------------------------------------


def solid(run):
    return run.bodies * math.pi / 6 * D**3 / run.figures["volume"]


def loaded(run):
    """Samples of the contacts in which the packing carries the pressure that is asked for."""
    least, samples = 3 * pressure_of(run), zip(run.probe("contacts"), run.probe("stress"))
    return [c for c, s in samples if s["stress_xx_pa"] + s["stress_yy_pa"] + s["stress_zz_pa"] > least]


def backbone(rows):
    """Contacts of a grain that is no rattler, and the share of rattlers, as means over samples."""
    if not rows:
        raise RunFailed("a packing does not carry its load")
    return mean_error([row["coordination"] / (1 - row["rattlers"]) for row in rows])[0], mean_error([row["rattlers"] for row in rows])[0]


def at_first(run):
    """From when the solid fraction has come to within 1 % of what it becomes."""
    rows = run.probe("fraction")
    jammed = next(row["time_s"] for row in rows if row["solid_fraction"] > 0.99 * rows[-1]["solid_fraction"])
    return backbone([row for row in loaded(run) if row["time_s"] >= jammed][:FIRST])


def at_last(run):
    end = run.probe("contacts")[-1]["time_s"]
    return backbone([row for row in loaded(run) if row["time_s"] > (1 - LATE) * end])


def pressure_of(run):
    """The pressure that the scene of a run asks for."""
    with open(f"{run.folder}/scene.yaml") as f:
        return float(f.read().split("pressure: ")[1].split("}")[0])


def row(case, group):
    mu, pressure, _, along = case
    found = [at_last(run) for run in group]
    energy = mean_error([run.figures["kinetic_energy"] / run.bodies for run in group])[0] / (pressure * D**3)
    return [
        mu,
        f"{along**3:,}",
        pressure,
        shown([solid(run) for run in group], 4),
        shown([at_first(run)[0] for run in group], 2),
        shown([z for z, _ in found], 2),
        f"{100 * mean_error([x for _, x in found])[0]:.1f}",
        f"{energy:.1e}",
        f"{max(run.figures['penetration_max'] for run in group) / D:.1e}",
    ]


def draw(lab, groups, along):
    first = [(f"mu {mu}", groups[mu, pressure, seconds, along][0]) for mu, pressure, seconds, *_ in CASES]
    fractions = [(name, "", [(r["time_s"], r["solid_fraction"]) for r in run.probe("fraction") if r["time_s"] > 1]) for name, run in first]
    contacts = [(name, "", [(r["time_s"], r["coordination"] / (1 - r["rattlers"])) for r in loaded(run)]) for name, run in first]
    lab.sheet(
        "packing",
        "packing: in the middle of the box, first seed",
        [("time;s;linear", "solid fraction;;linear", fractions), ("time;s;linear", "coordination without rattlers, under load;;linear", contacts)],
    )


def judge(lab, mu, fraction, touching, group):
    dense, touch = [solid(run) for run in group], [at_last(run)[0] for run in group]
    first = shown([at_first(run)[0] for run in group], 2)
    remembers = "With friction a packing remembers how it was made: pressed harder, the same grains end denser and with more contacts (the last row of the table)."
    gathers = f"It is {first} when the grains have just jammed, and rises while the box breathes about that place, as grains that meet again carry a force. {remembers}"
    for name, accepted, gate, ours, digits, why in (
        (f"solid fraction, mu {mu}", fraction, GATE_FRACTION, dense, 4, remembers),
        (f"coordination, mu {mu}", touching, GATE_COORDINATION, touch, 2, gathers),
    ):
        away = abs(mean_error(ours)[0] - accepted)
        lab.verdict(name, f"{accepted}; gate {gate}", "Agnolin and Roux 2007", shown(ours, digits), away < gate, why if mu and away >= gate else "")
