# SPDX-License-Identifier: MIT
"""An experiment that every code runs from the same start: spheres, walls and motion, as one JSON file that all of them read."""

import json
import math

import numpy

import materials
from materials import DENSITY, NAMES, POISSON, YOUNG


class Experiment:
    """Spheres are [x, y, z, radius, material]; their place in the list is their number in every code and every result."""

    def __init__(self, name, spheres, walls, seconds, sample, step, **more):
        self.name, self.spheres, self.walls = name, spheres, walls
        self.seconds, self.sample = seconds, sample  # s of the run, and between two samples
        self.step = sample / math.ceil(sample / step - 1e-9)  # of the soft codes: at most `step`, and a whole number to a sample
        self.velocities = more.pop("velocities", [[0.0, 0.0, 0.0]] * len(spheres))
        self.spins = more.pop("spins", [[0.0, 0.0, 0.0]] * len(spheres))
        self.gravity = more.pop("gravity", 9.81)
        self.rotation = more.pop("rotation", 0.0)  # rad/s of the walls about y
        self.floor = more.pop("floor", None)  # spheres below this height have left
        self.tracked = more.pop("tracked", 0)  # the first sphere that every sample has; the first and the last sample have all
        self.outside = more.pop("outside")  # how far points (x, y, z) are beyond the walls
        self.boundaries, self.probes = more.pop("boundaries"), more.pop("probes", "")  # as a scene of ours has them
        self.refuse_overlaps()

    def refuse_overlaps(self):
        """Overlaps at the start store energy in a soft code, and none in a hard one."""
        depth, a, b = deepest_overlap(self.spheres)
        if depth > 0:
            raise SystemExit(f"{self.name}: spheres {a} and {b} overlap by {depth:.3g} m at the start")
        x, y, z, radius, _ = numpy.transpose(self.spheres)
        into = self.outside(x, y, z) + radius
        if into.max() > 0:
            raise SystemExit(f"{self.name}: sphere {into.argmax()} reaches {into.max():.3g} m into a wall at the start")

    def masses(self):
        return [4 / 3 * math.pi * radius**3 * DENSITY[material] for *_, radius, material in self.spheres]

    def start(self):
        """Mass, height of the center of mass and potential energy, which every code has to agree with."""
        mass = math.fsum(self.masses())
        moment = math.fsum(m * sphere[2] for m, sphere in zip(self.masses(), self.spheres))
        return {"mass_kg": mass, "height_m": moment / mass, "potential_j": self.gravity * moment}

    def steps(self):
        return round(self.seconds / self.step)

    def text(self):
        """The file that YADE is run from."""
        named = [{"name": n, "density": d, "young": e, "poisson": POISSON} for n, d, e in zip(NAMES, DENSITY, YOUNG)]
        keys = ("name", "spheres", "velocities", "spins", "walls", "seconds", "sample", "step", "gravity", "rotation", "floor", "tracked")
        laws = {"materials": named, "restitution": materials.matrix(0), "friction": materials.matrix(1)}
        return json.dumps({**{key: getattr(self, key) for key in keys}, **laws})


def deepest_overlap(spheres):
    """The largest overlap of two spheres with their numbers, negative where none touch; by a grid of cells as wide as the largest."""
    width = 2 * max(sphere[3] for sphere in spheres)
    cells = {}
    for number, (x, y, z, *_) in enumerate(spheres):
        cells.setdefault((math.floor(x / width), math.floor(y / width), math.floor(z / width)), []).append(number)
    near = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]
    deepest = (-math.inf, -1, -1)
    for (i, j, k), here in cells.items():
        others = [b for di, dj, dk in near for b in cells.get((i + di, j + dj, k + dk), ())]
        for a in here:
            for b in others:
                if a < b:
                    depth = spheres[a][3] + spheres[b][3] - math.dist(spheres[a][:3], spheres[b][:3])
                    deepest = max(deepest, (depth, a, b))
    return deepest


# --- walls as triangles ------------------------------------------------------------------------------------------


def quad(a, b, c, d):
    return [[a, b, c], [a, c, d]]


def turned(profile, sectors, point=lambda radius, height, angle: [radius * math.cos(angle), radius * math.sin(angle), height]):
    """A surface of revolution of triangles around the true one, so that a sphere inside of it is clear of both."""
    outer = 1 / math.cos(math.pi / sectors)
    angles = [2 * math.pi * k / sectors for k in range(sectors + 1)]
    angles[-1] = 0.0  # the same bits as the first: edges meet
    ring = [[point(radius * outer, height, angle) for angle in angles] for radius, height in profile]
    return [t for low, high in zip(ring, ring[1:]) for k in range(sectors) for t in quad(low[k], low[k + 1], high[k + 1], high[k])]


def box_walls(half, depth, height):
    """A square box, open at the top; corners at +-half, the floor at -depth."""
    low = [[x * half, y * half, -depth] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    high = [[x, y, height] for x, y, _ in low]
    sides = [quad(low[k - 1], low[k], high[k], high[k - 1]) for k in range(4)]
    return quad(*low) + [triangle for side in sides for triangle in side]
