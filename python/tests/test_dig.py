# SPDX-License-Identifier: MIT
"""The arms of examples/python/dig.py dig by position targets: stones are lifted, whose weight is felt, and a copy has the same bits."""

import importlib.util
import math
import os

import numpy as np
import pytest
import sandglass

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "python")


@pytest.fixture
def dig():
    spec = importlib.util.spec_from_file_location("dig", os.path.join(EXAMPLES, "dig.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_arm_follows_its_path(dig):
    """An arm of a public file with seven joints, in a wide box where nothing is in its way, puts the lip where the path says."""
    pytest.importorskip("pybullet_data", reason="pybullet_data is not installed")
    dig.BOX = (0.68, 0, 0.33, 20)
    digger = dig.Digger(dig.arm_file("iiwa"), 2, iterations=200, threads=1)
    for time in (3.8, 6.3, 10):
        while digger.sim.time < time - 1e-9:
            digger.step()
        slew, distance, height, _ = dig.path_at(time)
        assert digger.lip() == pytest.approx([distance * math.cos(slew), distance * math.sin(slew), height], abs=0.005)


def test_an_arm_digs(dig, tmp_path):
    path = os.path.join(EXAMPLES, "arm.urdf")
    dig.CHECK = (5.0, 5.2)
    digger = dig.Digger(path, 600, iterations=30, threads=1)
    rows, held, found = dig.run(digger, dig.PATH[-1][0], None, None, 1, tmp_path / "dig.state")
    felt, weight = held.mean(axis=0)
    assert weight > 25 and felt == pytest.approx(weight, rel=0.15)  # N: forces scatter by half of it from step to step
    assert np.abs(rows[:, 4:]).max() <= 300 * (1 + 1e-5)            # N m, the effort of the files
    slew, distance, height, _ = dig.path_at(digger.sim.time)
    wanted = distance * math.cos(slew), distance * math.sin(slew), height
    assert digger.lip() == pytest.approx(wanted, abs=0.04)  # m; 30 iterations let the arm hang by half of it
    assert digger.emptied() > 40 and len(digger.inside()) < 10
    copy = dig.Digger(path, 600, iterations=30, threads=1)
    copy.sim.restore(sandglass.State.read(tmp_path / "dig.state"))
    assert dig.run(copy, dig.CHECK[1], None, None, 1, None)[2] == found != b""
