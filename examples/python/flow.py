# SPDX-License-Identifier: MIT
"""How fast does an hourglass run? Reads the probe at its neck over time, and fits the rate.

python flow.py [--bodies N] [--seconds S] [--plot FILE]
"""

import argparse

import numpy as np
import sandglass


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bodies", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--plot", help="a picture of the curve; needs matplotlib")
    args = parser.parse_args()

    # The scene has a probe at its neck. It counts in every step, and takes ten samples a second.
    sim = sandglass.Simulation.load("hourglass", bodies=args.bodies)
    neck, masses = sim.probes["neck"], sim.masses
    times, passed = [], []
    while sim.time < args.seconds:
        sim.step()
        if neck.sampled:
            times.append(sim.time)
            passed.append(neck["mass_kg"])

    # The rate where the flow is steady: from a tenth of the sand to half of it.
    times, passed = np.array(times), np.array(passed)
    share = passed / masses.sum()
    steady = (share > 0.1) & (share < 0.5)
    print(f"{sim.body_count} grains, {share[-1]:.0%} below the neck after {sim.time:.1f} s")
    if steady.sum() > 2:
        rate, _ = np.polyfit(times[steady], passed[steady], 1)
        print(f"steady flow of {rate:.4g} kg/s, {rate / masses.mean():.0f} grains a second")

    if args.plot:
        import matplotlib.pyplot as plt

        plt.plot(times, passed)
        plt.xlabel("time (s)")
        plt.ylabel("sand below the neck (kg)")
        plt.savefig(args.plot, dpi=120)
        print(f"drawn to {args.plot}")


if __name__ == "__main__":
    main()
