# SPDX-License-Identifier: MIT
"""What a run left: frames of its spheres, checked, and the figures that the benchmark compares."""

import numpy

COLUMNS = ("step", "time_s", "body", *(f"{what}_{axis}" for what in ("position", "velocity", "spin") for axis in "xyz"))


class Frame:
    """The spheres of one moment, by their numbers."""

    def __init__(self, time, rows):
        self.time, self.bodies = time, rows[:, 2].astype(int)
        self.positions, self.velocities, self.spins = rows[:, 3:6], rows[:, 6:9], rows[:, 9:12]


def read_frames(path):
    with open(path) as f:
        names = f.readline().strip().split(",")
        rows = numpy.loadtxt(f, delimiter=",", ndmin=2, usecols=[names.index(name) for name in COLUMNS])
    cuts = numpy.flatnonzero(numpy.diff(rows[:, 0])) + 1
    return [Frame(part[0, 1], part) for part in numpy.split(rows, cuts)]


def check(experiment, frames, who):
    """Ends the report where a run began elsewhere, ended early, lost a sphere or let one through a wall."""
    spheres = numpy.array(experiment.spheres)
    first, last = frames[0], frames[-1]
    if len(first.bodies) != len(spheres) or abs(first.positions - spheres[:, :3]).max() > 1e-9:
        raise SystemExit(f"{who}: {experiment.name} does not begin where it should")
    if abs(first.velocities - experiment.velocities).max() > 1e-6 or abs(first.spins - experiment.spins).max() > 1e-3:
        raise SystemExit(f"{who}: {experiment.name} does not begin with the velocities that it should")
    if abs(last.time - experiment.seconds) > 1e-6 * experiment.seconds:
        raise SystemExit(f"{who}: {experiment.name} ends at {last.time} s instead of {experiment.seconds} s")
    for frame in frames:
        check_walls(experiment, frame, spheres[frame.bodies, 3], who)
    check_present(experiment, frames, who)


def check_walls(experiment, frame, radii, who):
    """Not finite, or with its center within half a radius of a wall or beyond it."""
    depth = experiment.outside(*frame.positions.T) + radii
    wrong = ~(depth < 0.5 * radii)
    if wrong.any():
        k = wrong.argmax()
        raise SystemExit(f"{who}: sphere {frame.bodies[k]} of {experiment.name} is in a wall at {frame.time:g} s: {frame.positions[k]}")


def check_present(experiment, frames, who):
    """A sphere may be missing only after it was seen below the lowest wall."""
    whole = [frame for frame in frames if experiment.tracked == 0 or frame in (frames[0], frames[-1])]
    lowest = min(corner[2] for triangle in experiment.walls for corner in triangle)
    for before, after in zip(whole, whole[1:]):
        gone = ~numpy.isin(before.bodies, after.bodies)
        lost = gone & ~(before.positions[:, 2] < lowest)
        if lost.any():
            k = lost.argmax()
            raise SystemExit(f"{who}: sphere {before.bodies[k]} of {experiment.name} is lost after {before.time:g} s, from {before.positions[k]}")


# --- figures -----------------------------------------------------------------------------------------------------


def retained(frames, level):
    """(time, number of spheres above the level) of every frame."""
    return [(round(frame.time, 9), int((frame.positions[:, 2] > level).sum())) for frame in frames]


def quadrants(frames, materials):
    """Of each material in turn (time, number) in the quadrant x < 0, z > 0 and in x > 0, z < 0."""
    curves = {}
    for frame in frames:
        x, z = frame.positions[:, 0], frame.positions[:, 2]
        for zone, inside in (("-x +z", (x < 0) & (z > 0)), ("+x -z", (x > 0) & (z < 0))):
            for material in sorted(set(materials)):
                count = int((inside & (materials[frame.bodies] == material)).sum())
                curves.setdefault((material, zone), []).append((frame.time, count))
    return curves


def heights(frames, body):
    """(time, height of a sphere), of every frame."""
    return [(frame.time, float(frame.positions[frame.bodies == body][0, 2])) for frame in frames]


def deviations(curves, others):
    """Root mean square difference of curves (time, value) from others, at the moments that both have."""
    shared = []
    for curve, other in zip(curves, others):
        values = {round(time, 7): value for time, value in other}
        shared += [value - values[round(time, 7)] for time, value in curve if round(time, 7) in values]
    return float(numpy.sqrt(numpy.mean(numpy.square(shared))))


def crossing(curve, level):
    """The moment at which a falling curve passes a level, linear between samples; nan where it does not."""
    for (t0, v0), (t1, v1) in zip(curve, curve[1:]):
        if v1 <= level < v0:
            return t0 + (v0 - level) / (v0 - v1) * (t1 - t0)
    return float("nan")
