# SPDX-License-Identifier: MIT
"""How often does a silo jam? Many small silos at once, of several openings, each with grains of its own.

python jams.py [--silos N] [--grains N] [--seconds S] [--threads N]
"""

import argparse

import numpy as np
import sandglass

OPENINGS = (2, 2.5, 3, 4)  # diameters of a grain
DIAMETER = 0.02  # m


def silo(seed, opening, grains):
    """A silo with a flat cone; the opening is in diameters of a grain."""
    random = np.random.default_rng(seed)
    world = sandglass.World(step=0.004)
    world.material("glass", density=2500, mu=0.5)
    radius, neck = 3 * DIAMETER, opening * DIAMETER / 2
    world.revolution([(radius, 40 * DIAMETER), (radius, radius - neck), (neck, 0)], name="silo")
    world.outlet(point=(0, 0, -2 * DIAMETER), normal=(0, 0, 1))
    pitch = 1.1 * DIAMETER
    cells = [(x, y) for x in np.arange(-2, 3) * pitch for y in np.arange(-2, 3) * pitch if np.hypot(x, y) < radius - 0.55 * DIAMETER]
    places = [(*cells[k % len(cells)], radius + pitch * (k // len(cells))) for k in range(grains)]
    away = 0.03 * DIAMETER * random.uniform(-1, 1, (grains, 3))
    world.add_spheres(places + away, DIAMETER / 2 * random.uniform(0.9, 1, grains))
    return world


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--silos", type=int, default=16, help="of each opening")
    parser.add_argument("--grains", type=int, default=120)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()

    openings = np.repeat(OPENINGS, args.silos)
    batch = sandglass.Batch(lambda seed: silo(seed, openings[seed], args.grains), seeds=range(len(openings)), iterations=30,
                            threads=args.threads)
    flowing, left = np.ones(len(batch), bool), np.zeros(len(batch), int)
    for _ in range(round(args.seconds / 0.5)):
        batch.step(steps=125, mask=flowing)  # half a second of the silos in which grains still move
        now = batch.counter("left_total")
        flowing, left = (now > left) & (now < args.grains), now
    print(f"{len(batch)} silos of {args.grains} grains")
    for opening in OPENINGS:
        of = openings == opening
        jammed = of & (left < args.grains) & ~flowing
        before = f", after {left[jammed].mean():.0f} grains" if jammed.any() else ""
        print(f"opening of {opening:3} diameters: {jammed.sum():3} of {of.sum()} jammed{before}")


if __name__ == "__main__":
    main()
