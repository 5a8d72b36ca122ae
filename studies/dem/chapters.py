# SPDX-License-Identifier: MIT
"""The chapters of the report: each runs one case in every code and puts the results over each other."""

import numpy

from cases import Drum, Impacts, Penetration, Silo
from frames import crossing, quadrants, retained
from materials import M1, M2, NAMES, PAIRS


def impacts(lab):
    lab.say("## impacts: what each code makes of a pair of materials\n")
    case = Impacts()
    runs = [lab.run(code, case.experiment()) for code in [*lab.ours(1e-4), *lab.peers()]]
    lab.say(
        f"Grains that spin at {case.SPIN:g} rad/s meet another grain or the floor at {case.SPEED:g} m/s, head-on, without gravity. Restitution is the speed "
        "after the impact over that before; friction the tangential impulse over the normal one, of an impact that slides all through.\n"
    )
    rows = []
    for k, pair in enumerate(case.PAIRS):
        found = [case.measured(run.frames[-1])[k] for run in runs]
        rows.append([f"{NAMES[pair[0]]}, {NAMES[pair[1]]}", "{:g} / {:g}".format(*PAIRS[pair]), *(f"{e:.3f} / {mu:.3f}" for e, mu in found)])
    lab.table(["pair", "restitution / friction", *(run.name for run in runs)], rows)


def penetration(lab):
    case = Penetration(lab.count(5000))
    lab.say(f"## penetration: a steel ball meets {case.count:,} grains at {case.SPEED:g} m/s\n")
    runs = lab.compared(case, steps=(1e-4, 5e-5, 2.5e-5))
    curves = {run.name: [run.ball()] for run in runs}
    moments = (0.005, 0.01, 0.03, 0.1)
    lab.table(
        ["code", *(f"depth after {1000 * t:g} ms, mm" for t in moments)],
        [[name, *(f"{1000 * (curve[0][1] - at(curve, t)):.2f}" for t in moments)] for name, (curve,) in curves.items()],
    )
    lab.deviations(curves, "height of the ball, mm", 1000, 2)
    shown = [(name, "", [(1000 * t, 1000 * z) for t, z in heights[0]]) for name, heights in curves.items()]
    first = [(name, "", [point for point in points if point[0] < 30.01]) for name, _, points in shown]
    plots = [("time;ms;linear", "height;mm;linear", shown), ("time;ms;linear", "height, first 30 ms;mm;linear", first)]
    lab.sheet("penetration", "penetration: height of the ball", plots)


def at(curve, time):
    """The value of a curve at one of its moments; nan where it has ended before."""
    return next((value for t, value in curve if abs(t - time) < 1e-7), float("nan"))


def silo(lab):
    material = NAMES.index(lab.options.material)
    case = Silo(lab.count(1500), material=material)
    lab.say(f"## silo: {case.count:,} grains of {NAMES[material]} leave through an opening of {2000 * case.opening:g} mm\n")
    runs = lab.compared(case, steps=(1e-3, 5e-4, 2.5e-4))
    for run in runs:
        check_flow(run, case)
    curves = {run.name: [retained(run.frames, case.low)] for run in runs}
    parts = (0.9, 0.75, 0.5, 0.25)
    lab.table(
        ["code", *(f"{100 * part:g} % left at, s" for part in parts), "left after 0.15 s"],
        [
            [name, *(f"{crossing(curve, part * case.count):.3f}" for part in parts), f"{at(curve, 0.15):g}"]
            for name, (curve,) in curves.items()
        ],
    )
    lab.deviations(curves, "grains left, % of all", 100 / case.count, 2)
    shown = [(name, "", curve) for name, (curve,) in curves.items()]
    finest = dict(shown[2][2])
    beside = [(name, "", [(t, left - finest[t]) for t, left in curve if t in finest]) for name, _, curve in shown]
    plots = [("time;s;linear", "left;;linear", shown), ("time;s;linear", "more left than with our smallest step;;linear", beside)]
    lab.sheet("silo", "silo: grains left", plots)


def check_flow(run, case):
    """Of ours: the probe of the opening and the frames must count the same."""
    counted = dict((round(t, 6), case.count - left) for t, left in retained(run.frames, case.low))
    for row in run.probe("opening"):
        if counted[round(row["time_s"], 6)] != row["bodies"]:
            raise SystemExit(f"{run.name}: {row['bodies']:g} grains passed the probe by {row['time_s']:g} s, {counted[round(row['time_s'], 6)]} the level")


def drum(lab):
    case = Drum(lab.count(1000))
    lab.say(f"## drum: {case.count:,} grains of two materials in a drum that turns with {case.RATE:g} rad/s\n")
    runs = lab.compared(case, steps=(1e-3, 5e-4, 2.5e-4))
    materials = numpy.array(runs[0].experiment.spheres)[:, 4].astype(int)
    found = {run.name: quadrants(run.frames, materials) for run in runs}
    places = [(m, zone) for zone in ("-x +z", "+x -z") for m in (M1, M2)]
    lab.table(
        ["code", *(f"{NAMES[m]}, {zone}, 0.15 and 0.3 s" for m, zone in places)],
        [[name, *(f"{at(curves[place], 0.15)}, {at(curves[place], 0.3)}" for place in places)] for name, curves in found.items()],
    )
    lab.deviations({name: [curves[place] for place in places] for name, curves in found.items()}, "counts in the quadrants", 1, 1)
    plots = [
        ("time;s;linear", f"{NAMES[m]} in {zone};;linear", [(name, "", curves[m, zone]) for name, curves in found.items()]) for m, zone in places
    ]
    lab.sheet("drum", "drum: grains of each material in two quadrants", plots)


CHAPTERS = {"impacts": impacts, "penetration": penetration, "silo": silo, "drum": drum}
