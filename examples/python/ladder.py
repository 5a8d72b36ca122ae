# SPDX-License-Identifier: MIT
"""A contact problem of one's own: at which angle does a ladder slip? The answer is known, tan(angle) = (1 - mu^2) / (2 mu).

A ladder leans against a wall, with friction at both ends. It is one body with two contacts, given as arrays. A solve says what
gravity does to it within a step: it either holds, and its velocity is zero, or it slides.

python ladder.py [--solver NAME]
"""

import argparse
import math

import sandglass

MASS, LENGTH, STEP = 10.0, 4.0, 0.01


def ladder(angle, mu):
    """The problem of one step of a ladder at this angle to the ground, in the plane of x and z; the wall is at x = 0."""
    half_x, half_z = 0.5 * LENGTH * math.cos(angle), 0.5 * LENGTH * math.sin(angle)
    inertia = MASS * LENGTH**2 / 12
    return sandglass.Problem(
        masses=[MASS, math.inf],  # the ladder, and ground and wall as one body that does not yield
        inertias=[inertia, inertia],
        velocities=[(0, 0, -9.81 * STEP), (0, 0, 0)],  # after the forces of the step, before contact
        pairs=[(0, 1), (0, 1)],
        normals=[(0, 0, -1), (-1, 0, 0)],  # from the ladder to the ground, and to the wall
        arms_a=[(half_x, 0, -half_z), (-half_x, 0, half_z)],  # from its center of mass to its foot and its top
        arms_b=[(half_x, 0, -half_z), (-half_x, 0, half_z)],
        mu=mu,
        step=STEP,
    )


def holds(angle, mu, solver):
    solution = ladder(angle, mu).solve(solver, iterations=20000, tolerance=1e-9)
    return abs(solution.velocities[0]).max() < 1e-5


def critical_angle(mu, solver):
    """By bisection: the ladder slips at low, and holds at high."""
    low, high = 0.0, 0.5 * math.pi
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle, mu, solver) else (middle, high)
    return 0.5 * (low + high)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--solver", default="p-spg-fb")
    args = parser.parse_args()
    worst = 0.0
    for mu in (0.2, 0.4, 0.6, 0.8):
        found, known = critical_angle(mu, args.solver), math.atan((1 - mu**2) / (2 * mu))
        worst = max(worst, abs(found - known))
        print(f"mu = {mu:.1f}: it slips below {math.degrees(found):5.2f} degrees; known: {math.degrees(known):5.2f}")
    assert worst < math.radians(0.5), "the angles differ by more than half a degree"


if __name__ == "__main__":
    main()
