# SPDX-License-Identifier: MIT
"""A sensor that turns on a moving body: what it sees among balls on the ground, and what the body hits.

python lidar.py
"""

import numpy as np
import sandglass


def make_world():
    world = sandglass.World()
    stone = world.material("stone", density=2500, mu=0.3)
    world.plane((0, 0, 0), (0, 0, 1), name="ground")
    around = 2 * np.pi * np.arange(8) / 8
    places = np.stack([2 * np.cos(around), 2 * np.sin(around), np.full(8, 0.3)], axis=1)
    world.add_spheres(places, np.full(8, 0.3), material=stone)
    robot = world.add_box((0.4, 0.3, 0.2), (0, 0, 0.1), material=stone, velocity=(5, 0, 0))
    return world.simulate(iterations=200), robot


def scan(sim, robot, rays=360):
    """Distances around the robot at its height, seen from its middle through the robot itself."""
    angles = 2 * np.pi * np.arange(rays) / rays
    directions = np.stack([np.cos(angles), np.sin(angles), np.zeros(rays)], axis=1)
    return sim.raycast(sim.positions[robot], directions, reach=10, passes=robot)


def main():
    sim, robot = make_world()
    sim.keep_events()
    for _ in range(4):
        distances, bodies = scan(sim, robot)
        seen = np.unique(bodies[bodies >= 0])
        print(f"t = {sim.time:.2f} s: sees balls {seen.tolist()}, the nearest {distances.min():.2f} m away")
        sim.run(0.2)
    for event in sim.contact_events():
        if robot in (event["a"], event["b"]) and event["b"] >= 0:
            other = event["a"] + event["b"] - robot
            print(f"it hit ball {other} at t = {event['hardest']:.2f} s with {event['impulse']:.1f} N s")
    print(f"the ground carries {-sim.boundary_force('ground')[2]:.0f} N")


if __name__ == "__main__":
    main()
