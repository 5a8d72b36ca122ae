# SPDX-License-Identifier: MIT
"""How does friction slow an hourglass down? Runs a grid of parameters over the cores, one process for each run.

python sweep.py [--bodies N] [--seconds S] [--processes N]
"""

import argparse
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
import sandglass

PROFILE = [(0.5, 2.0), (0.5, 0.6)]  # of the glass above its neck: radius and height, m


def run(task):
    """The share of the sand that has left a silo, for one friction coefficient, opening and seed."""
    mu, opening, seed, bodies, seconds = task
    world = sandglass.World()
    world.material("sand", density=2500, mu=mu)
    world.revolution(PROFILE + [(opening, 0)], name="silo")
    world.outlet(point=(0, 0, -0.5), normal=(0, 0, 1))
    random = np.random.default_rng(seed)
    across = np.arange(-0.4, 0.4, 0.09)
    grid = [(x, y) for x in across for y in across if np.hypot(x, y) < 0.42]
    positions = [(*grid[k % len(grid)], 0.7 + 0.09 * (k // len(grid))) for k in range(bodies)]
    world.add_spheres(positions + random.uniform(-0.005, 0.005, (bodies, 3)), random.uniform(0.03, 0.04, bodies))
    sim = world.simulate(threads=1, iterations=50).run(seconds)  # the other cores have runs of their own
    return mu, opening, sim.counters.left_total / bodies


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bodies", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--processes", type=int, default=None)
    args = parser.parse_args()

    frictions, openings = (0.1, 0.3, 0.9), (0.12, 0.2)
    tasks = [(mu, opening, seed, args.bodies, args.seconds)
             for mu, opening, seed in product(frictions, openings, range(args.seeds))]
    # Processes are started anew (spawn): a copy of a process with threads would hang.
    with ProcessPoolExecutor(args.processes, multiprocessing.get_context("spawn")) as pool:
        results = list(pool.map(run, tasks))

    print("share of the sand that left       opening " + " ".join(f"{opening:8.2f} m" for opening in openings))
    for mu in frictions:
        shares = [np.array([share for m, o, share in results if (m, o) == (mu, opening)]) for opening in openings]
        print(f"  mu = {mu:.1f}" + " " * 33 + " ".join(f"{s.mean():6.0%} +-{s.std():3.0%}" for s in shares))


if __name__ == "__main__":
    main()
