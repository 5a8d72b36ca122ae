# SPDX-License-Identifier: MIT
"""The three cases of the benchmark and a check of the laws of contact: geometry, sizes and starts.

The published coordinates and walls are not at hand. These have the published materials, speeds, radii of the silo's spheres and
samples, in vessels of our own, filled by our program.
"""

import math

import numpy

from experiment import Experiment, box_walls, quad, turned
from materials import M1, M2, STEEL, rayleigh_time

RADIUS = 0.002  # m, of all grains
SWELL = 1.002  # grains are this much larger while they settle, so that none overlap at the start
SOLID = 0.58  # expected solid fraction, to size vessels by


def soft_step(material=M1):
    """9 % of the Rayleigh time: 1.5e-6 s of M1 and 2e-6 s of M2 with 2 mm, 8e-7 s with 1 mm, as the published runs have."""
    return 0.09 * rayleigh_time(RADIUS, material)


def grain_volume():
    return 4 / 3 * math.pi * RADIUS**3


def lattice(lowest, columns=""):
    """Where grains begin to settle, as a fill of a scene has it."""
    return f"{{spacing: {2.1 * RADIUS!r}, jitter: {0.02 * RADIUS!r}, from: {lowest + 1.2 * RADIUS!r}, {columns}dense: true}}"


def spheres(points, material):
    return [[x, y, z, RADIUS, material] for x, y, z in points]


# --- silo --------------------------------------------------------------------------------------------------------


class Silo:
    """A cylinder over a funnel of 45 degrees; z = 0 is where they meet. The opening stays while the silo grows."""

    SECONDS, SAMPLE = 1.0, 0.01

    def __init__(self, count, opening=0.024, material=M1):
        self.count, self.material = count, material
        self.opening = opening / 2
        self.radius = 0.5 * (count * grain_volume() / SOLID / (math.pi / 4 * 1.6)) ** (1 / 3)  # filled to about 1.6 diameters
        if self.opening > 0.8 * self.radius:
            raise SystemExit(f"a silo of {count} grains is {2000 * self.radius:.1f} mm wide, too narrow for an opening of {1000 * opening:g} mm")
        self.low = -(self.radius - self.opening)
        self.high = 8 * self.radius
        self.name = f"silo-{('M1', 'M2')[material]}"

    def boundaries(self):
        profile = f"[[{self.opening!r}, {self.low!r}], [{self.radius!r}, 0], [{self.radius!r}, {self.high!r}]]"
        return f"  - {{name: walls, material: steel, shape: revolution, profile: {profile}}}"

    def filling(self):
        """The lattice that our program lets settle, and what closes the vessel meanwhile."""
        return lattice(self.low), f"  - {{material: steel, shape: plane, position: [0, 0, {self.low!r}]}}"

    def outside(self, x, y, z):
        """Beyond the cylinder or the funnel; nothing is below the opening."""
        beyond = numpy.hypot(x, y) - self.radius
        return numpy.where(z < self.low, -math.inf, numpy.maximum(beyond, (beyond - z) / math.sqrt(2)))

    def experiment(self, points, seconds):
        walls = turned([(self.opening, self.low), (self.radius, 0.0), (self.radius, self.high)], 64)
        return Experiment(
            self.name, spheres(points, self.material), walls, seconds, self.SAMPLE, soft_step(self.material),
            floor=self.low - 0.03, outside=self.outside, boundaries=self.boundaries(),
            probes=f"  - {{name: opening, kind: flow, point: [0, 0, {self.low!r}], normal: [0, 0, -1], rate: {1 / self.SAMPLE!r}}}",
        )  # fmt: skip


# --- drum --------------------------------------------------------------------------------------------------------


class Drum:
    """A drum about y, a little less than half full, M1 on one side and M2 on the other; walls and ends turn with 2 rad/s."""

    SECONDS, SAMPLE, RATE = 1.0, 0.01, 2.0
    name = "drum"

    def __init__(self, count):
        self.count = count
        self.radius = (count * grain_volume() / SOLID / (0.42 * math.pi * 0.75)) ** (1 / 3)
        self.half = 0.375 * self.radius  # of its length

    def boundaries(self):
        length = f"height: {2 * self.half!r}, position: [0, {-self.half!r}, 0], rotation: {{axis: [1, 0, 0], angle: -90}}"
        motion = f"motion: {{axis: [0, 1, 0], center: [0, 0, 0], rate: {self.RATE!r}}}"
        return f"  - {{name: walls, material: steel, shape: cylinder, radius: {self.radius!r}, {length}, {motion}}}"

    def filling(self):
        return lattice(-self.radius), ""

    def outside(self, x, y, z):
        return numpy.maximum(numpy.hypot(x, z) - self.radius, abs(y) - self.half)

    def walls(self):
        """The ends are squares around the circle: turning, they stay in their planes."""
        barrel = turned([(self.radius, -self.half), (self.radius, self.half)], 128, lambda r, y, a: [r * math.cos(a), y, r * math.sin(a)])
        far = 1.5 * self.radius
        ends = [quad([-far, y, -far], [far, y, -far], [far, y, far], [-far, y, far]) for y in (-self.half, self.half)]
        return barrel + ends[0] + ends[1]

    def experiment(self, points, seconds):
        mixed = [[x, y, z, RADIUS, M1 if x < 0 else M2] for x, y, z in points]
        return Experiment(
            self.name, mixed, self.walls(), seconds, self.SAMPLE, soft_step(M1),
            rotation=self.RATE, outside=self.outside, boundaries=self.boundaries(),
        )  # fmt: skip


# --- penetration -------------------------------------------------------------------------------------------------


class Penetration:
    """A steel ball of three grain diameters meets a bed of M1 in a steel box at 5 m/s. z = 0 is the floor."""

    SECONDS, SAMPLE, SPEED, BALL = 0.1, 0.0005, 5.0, 3 * RADIUS
    name = "penetration"

    def __init__(self, count):
        self.count = count
        self.half = 0.5 * (count * grain_volume() / SOLID / 1.4) ** (1 / 3)  # filled to about 1.4 widths
        self.high = 8 * self.half

    def boundaries(self):
        sides = ((1, 0), (-1, 0), (0, 1), (0, -1))
        planes = [f"normal: [{x}, {y}, 0], position: [{-x * self.half!r}, {-y * self.half!r}, 0]" for x, y in sides]
        planes.append("normal: [0, 0, 1]")
        return "\n".join(f"  - {{material: steel, shape: plane, {plane}}}" for plane in planes)

    def filling(self):
        return lattice(0.0, f"columns: {int(2 * self.half / (2.1 * RADIUS))}, "), ""

    def outside(self, x, y, z):
        return numpy.maximum(numpy.maximum(abs(x), abs(y)) - self.half, -z)

    def experiment(self, points, seconds):
        """The ball starts a tenth of a grain above the highest that it could meet."""
        bed = spheres(points, M1)
        reach = [(z, math.hypot(x, y)) for x, y, z in points if math.hypot(x, y) < self.BALL + RADIUS]
        top = max(z + math.sqrt((self.BALL + 1.1 * RADIUS) ** 2 - across**2) for z, across in reach)
        ball = [0.0, 0.0, top, self.BALL, STEEL]
        return Experiment(
            self.name, [*bed, ball], box_walls(self.half, 0.0, self.high), seconds, self.SAMPLE, 5e-7,
            velocities=[[0.0, 0.0, 0.0]] * len(bed) + [[0.0, 0.0, -self.SPEED]],
            tracked=len(bed), outside=self.outside, boundaries=self.boundaries(),
            probes=f"  - {{name: ball, kind: path, body: b{len(bed)}, rate: {1 / self.SAMPLE!r}}}",
        )  # fmt: skip


# --- laws of contact ---------------------------------------------------------------------------------------------


class Impacts:
    """Head-on impacts of spinning grains without gravity, one of each pair: what a code makes of restitution and friction."""

    SECONDS, SAMPLE, SPEED, SPIN = 0.004, 0.004, 1.0, 2000.0  # fast enough to slide all through the impact
    PAIRS = ((M1, M1), (M1, M2), (M2, M2), (M1, STEEL), (M2, STEEL))
    HALF, GAP, name = 0.06, 1e-3, "impacts"

    def boundaries(self):
        return "  - {name: walls, material: steel, shape: plane}"

    def outside(self, x, y, z):
        return -z

    def experiment(self):
        """A grain that spins about y meets another one below it, at rest, or the floor."""
        balls, velocities, spins = [], [], []
        for k, (upper, lower) in enumerate(self.PAIRS):
            y, on_floor = 0.02 * (k - 2), lower == STEEL
            balls.append([0.0, y, RADIUS + self.GAP if on_floor else 0.05 + 2 * RADIUS + self.GAP, RADIUS, upper])
            velocities.append([0.0, 0.0, -self.SPEED])
            spins.append([0.0, self.SPIN, 0.0])
            if not on_floor:
                balls.append([0.0, y, 0.05, RADIUS, lower])
                velocities.append([0.0, 0.0, 0.0])
                spins.append([0.0, 0.0, 0.0])
        walls = quad(*([x * self.HALF, y * self.HALF, 0.0] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))))
        return Experiment(
            self.name, balls, walls, self.SECONDS, self.SAMPLE, 2.5e-7,
            gravity=0.0, velocities=velocities, spins=spins, outside=self.outside, boundaries=self.boundaries(),
        )  # fmt: skip

    def measured(self, frame):
        """Restitution and friction of every pair, from the velocities after the impacts."""
        found, k = [], 0
        for _, lower in self.PAIRS:
            upper_velocity, lower_velocity = frame.velocities[k], [0, 0, 0] if lower == STEEL else frame.velocities[k + 1]
            restitution = (upper_velocity[2] - lower_velocity[2]) / self.SPEED
            found.append((restitution, abs(upper_velocity[0]) / (upper_velocity[2] + self.SPEED)))
            k += 1 if lower == STEEL else 2
        return found
