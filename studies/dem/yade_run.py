# SPDX-License-Identifier: MIT
"""Runs an experiment in YADE: `yade -j1 -n -x yade_run.py EXPERIMENT.json FOLDER` writes FOLDER/frames.csv and FOLDER/start.json."""

import json
import math
import sys

from yade import utils

with open(sys.argv[1]) as f:
    asked = json.load(f)
folder = sys.argv[2]
count = len(asked["spheres"])


def pairs(values):
    """All pairs of materials with their values, as YADE takes them."""
    return MatchMaker(matches=[(a, b, values[a][b]) for a in range(len(values)) for b in range(a, len(values))])


def place():
    """Materials, walls and spheres; the number of a sphere is its place in the list."""
    for one in asked["materials"]:
        O.materials.append(FrictMat(young=one["young"], poisson=one["poisson"], density=one["density"], label=one["name"]))
    for (x, y, z, radius, material), velocity, spin in zip(asked["spheres"], asked["velocities"], asked["spins"]):
        number = O.bodies.append(utils.sphere((x, y, z), radius, material=asked["materials"][material]["name"]))
        O.bodies[number].state.vel, O.bodies[number].state.angVel = velocity, spin
    return O.bodies.append([utils.facet(corners, material="steel") for corners in asked["walls"]])


def engines(walls):
    """The engines of the scripts that come with YADE for this benchmark: Hertz and Mindlin, restitution by viscous damping."""
    angles = [[math.atan(mu) for mu in row] for row in asked["friction"]]
    physics = Ip2_FrictMat_FrictMat_MindlinPhys(frictAngle=pairs(angles), en=pairs(asked["restitution"]))
    smallest = min(sphere[3] for sphere in asked["spheres"])
    loop = InteractionLoop(
        [Ig2_Sphere_Sphere_ScGeom(), Ig2_Facet_Sphere_ScGeom(hertzian=True)],
        [physics],
        [Law2_ScGeom_MindlinPhys_Mindlin()],
    )
    turn = RotationEngine(
        dead=not asked["rotation"], rotateAroundZero=True, zeroPoint=(0, 0, 0), rotationAxis=(0, 1, 0), angularVelocity=asked["rotation"], ids=walls
    )
    collider = InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Facet_Aabb()], verletDist=0.1 * smallest)
    return [ForceResetter(), collider, loop, NewtonIntegrator(damping=0, gravity=(0, 0, -asked["gravity"])), turn]


def write_frame(out, first):
    """A line for each sphere from `first` on that is still there."""
    for number in range(first, count):
        body = O.bodies[number]
        if body is not None:
            state = body.state
            out.write(",".join(map(repr, (O.iter, O.time, number, *state.pos, *state.vel, *state.angVel))) + "\n")


def write_start():
    """What YADE itself has at the start, to compare with the other codes."""
    states = [O.bodies[number].state for number in range(count)]
    mass = sum(state.mass for state in states)
    moment = sum(state.mass * state.pos[2] for state in states)
    with open(f"{folder}/start.json", "w") as f:
        json.dump({"mass_kg": mass, "height_m": moment / mass}, f)


def take_out():
    """Spheres that have fallen out; this is where the experiment says that they are done with."""
    if asked["floor"] is None:
        return
    for number in range(count):
        body = O.bodies[number]
        if body is not None and body.state.pos[2] < asked["floor"]:
            O.bodies.erase(number)


O.engines = engines(place())
O.dt, O.dynDt = asked["step"], False
every = round(asked["sample"] / asked["step"])
samples = round(asked["seconds"] / asked["sample"])
write_start()
with open(f"{folder}/frames.csv", "w") as out:
    out.write("step,time_s,body,position_x,position_y,position_z,velocity_x,velocity_y,velocity_z,spin_x,spin_y,spin_z\n")
    write_frame(out, 0)
    for sample in range(1, samples + 1):
        O.run(every, True)
        write_frame(out, 0 if sample == samples else asked["tracked"])
        out.flush()
        take_out()
