# SPDX-License-Identifier: MIT
"""Probes, against sums by numpy."""

import numpy as np
import pytest
import sandglass
from sandglass import Simulation, World


def test_probes_of_a_scene():
    sim = Simulation.load("hourglass", bodies=200, probes=["all center", "heat energy rate=10"])
    assert set(sim.probes) >= {"neck", "all", "heat"}
    neck, center = sim.probes["neck"], sim.probes["all"]
    sim.run(1.5)
    assert center["mass_kg"] == pytest.approx(sim.masses.sum())
    middle = sim.masses @ sim.positions / sim.masses.sum()
    assert [center[axis] for axis in ("x_m", "y_m", "z_m")] == pytest.approx(middle, abs=1e-12)
    assert neck["bodies"] > 20 and sim.probes["heat"].sampled and sim.probes["heat"]["kinetic_j"] == pytest.approx(sim.kinetic_energy)
    assert not sim.step().probes["heat"].sampled  # ten times a second
    with pytest.raises(KeyError, match="rate_kg_s"):
        neck["speed"]


def test_a_flow_counts_what_passes():
    world = World()
    world.material("sand", density=1000)
    world.add_spheres([(k, 0, 0.05 + 0.3 * k) for k in range(6)], 0.1)
    world.probe("flow", "gate", point=(0, 0, 0), normal=(0, 0, -1))
    sim = world.simulate(threads=1)
    gate = sim.probes["gate"]
    for _ in range(40):
        sim.step()
        below = sim.positions[:, 2] < 0
        assert gate["bodies"] == below.sum() and gate["mass_kg"] == pytest.approx(sim.masses[below].sum())
    assert below.sum() == 3 == (0.05 + 0.3 * np.arange(6) < 0.5 * 9.81 * 0.4 * 0.41).sum()


def test_the_ground_feels_the_weight():
    world = World()
    world.material("stone", mu=0.4)
    ground = world.plane()
    world.add_spheres([(0.3 * k, 0, 0.1) for k in range(4)], 0.1)
    world.probe("force", "ground", boundary=ground)
    world.probe("density", "layers", line=((0, 0, 0), (0, 0, 0.4)), width=4, bins=2)
    world.probe("density", "box", lower=(-1, -1, 0), upper=(2, 1, 0.4), cells=(3, 1, 1))
    sim = world.simulate(iterations=200, tolerance=1e-9, precision="double").step(20)
    assert sim.probes["ground"]["force_z_n"] == pytest.approx(-sim.masses.sum() * 9.81, rel=1e-6)
    layers = sim.probes["layers"]
    assert layers.values.shape == (2, 2) and layers.centers[:, 2] == pytest.approx([0.1, 0.3])
    assert layers["density_kg_m3"] == pytest.approx([sim.masses.sum() / (4 * 4 * 0.2), 0], rel=1e-3)
    assert sim.probes["box"].values.shape == (3, 2)


def test_wrong_probes_are_refused():
    with pytest.raises(sandglass.SandglassError, match="there is no such probe; did you mean flow"):
        World().probe("flaw", "x")
    with pytest.raises(sandglass.SandglassError):
        World().probe("path", "x", body=3)
    with pytest.raises(sandglass.SandglassError, match="wrong"):
        Simulation.load("hourglass", bodies=50, probes=["wrong flaw"])
