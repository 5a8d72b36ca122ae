# SPDX-License-Identifier: MIT
"""The arm of examples/python/dig.py digs by position targets: it lifts stones whose weight it feels, and a copy has the same bits."""

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


@pytest.mark.parametrize("arm", ["arm.urdf", "public"])
def test_an_arm_digs(dig, arm, tmp_path):
    if arm == "public":
        data = pytest.importorskip("pybullet_data", reason="pybullet_data is not installed")
        path = os.path.join(data.getDataPath(), "kuka_iiwa", "model.urdf")
    else:
        path = os.path.join(EXAMPLES, arm)
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
