# SPDX-License-Identifier: MIT
"""Acting on a running simulation: an arm stirs gravel on a table that shakes, while a wind blows.

The arm has two joints, whose motors are given angles, and say what torque that takes. The table vibrates until it has to
stand still. Wind is a force on every stone, given anew for each step. In the end a ball falls in, and the stones beside the
table are taken out.

python robot.py [--stones N] [--seconds S]
"""

import argparse
import math

import numpy as np
import sandglass


def build(stones):
    world = sandglass.World(step=0.005)
    world.material("gravel", density=2600, mu=0.6)
    world.material("steel", density=7800, mu=0.3)
    world.box_walls((0.6, 0.6, 0.1), inside=False, position=(0, 0, -0.1), material="steel", name="table",
                    motion=dict(amplitude=0.002, frequency=15))
    world.plane((0, 0, -1), material="gravel", name="ground")
    side = math.ceil(stones ** (1 / 3))
    places = [(0.09 * (k % side - side / 2), 0.09 * (k // side % side - side / 2), 0.05 + 0.09 * (k // side**2))
              for k in range(stones)]
    world.add_spheres(places, np.random.default_rng(1).uniform(0.025, 0.04, stones), materials="gravel")
    upper = world.add_box((0.02, 0.02, 0.3), (-0.8, 0, 0.6), material="steel")
    lower = world.add_box((0.3, 0.015, 0.015), (-0.5, 0, 0.3), material="steel")
    world.join("hinge", -1, upper, (-0.8, 0, 0.9), axis=(0, 1, 0), name="shoulder", motor_position=0, strength=400)
    world.join("hinge", upper, lower, (-0.8, 0, 0.3), axis=(0, 0, 1), name="elbow", motor_position=0, motor_rate=5, strength=60)
    return world.simulate(iterations=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stones", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=4)
    options = parser.parse_args()
    sim = build(options.stones)
    shoulder, elbow, table = sim.joints["shoulder"], sim.joints["elbow"], sim.boundaries["table"]
    gravel = np.arange(options.stones)
    steps, largest = round(options.seconds / sim.step_length), 0.0
    for k in range(steps):
        if k == steps // 2:
            table.motion = None
            with sim.extend() as world:
                world.add_sphere(0.08, (0.2, 0, 1), material="steel", velocity=(0, 0, -3))
        elbow.set_motor(position=0.8 * math.sin(2 * sim.time))
        shoulder.set_motor(position=-0.25 * math.sin(sim.time) ** 2)
        wind = 0.02 * (1 + math.sin(5 * sim.time))  # N
        sim.apply_force(gravel, (0, wind, 0))
        sim.step()
        largest = max(largest, abs(elbow.motor_torque))
    fallen = (sim.positions[gravel, 2] < -0.5) & (sim.gone[gravel] == 0)
    sim.remove(gravel[fallen])
    print(f"after {sim.time:.1f} s the elbow is at {math.degrees(elbow.position):.0f} degrees, its motor gave up to {largest:.1f} N m;"
          f" {fallen.sum()} of {options.stones} stones fell off the table and were taken out")


if __name__ == "__main__":
    main()
