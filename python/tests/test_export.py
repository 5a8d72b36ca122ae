# SPDX-License-Identifier: MIT
"""Exports from Python: what is in the files is what the simulation had, and they say where they came from."""

import csv
import json
import re
import struct

import numpy as np
import pytest
import sandglass
from sandglass import SandglassError, Simulation, World

GSD_TYPES = {1: "u1", 3: "<u4", 4: "<u8", 5: "i1", 7: "<i4", 9: "<f4", 10: "<f8"}


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def gsd_frames(path):
    """The chunks of a GSD file, {name: array} for each frame, read as gsd.readthedocs.io describes them."""
    data = path.read_bytes()
    magic, index, entries, names, slots = struct.unpack_from("<5Q", data)
    assert magic == 0x65DF65DF65DF65DF
    known = data[names:names + 64 * slots].split(b"\0\0")[0].decode().split("\0")
    frames = []
    for k in range(entries):
        frame, rows, location, width, name, kind, _ = struct.unpack_from("<QQqIHBB", data, index + 32 * k)
        if not location:
            break
        while len(frames) <= frame:
            frames.append({})
        count = rows * width
        array = np.frombuffer(data, GSD_TYPES[kind], count, location) if count else np.zeros(0)
        frames[frame][known[name]] = array.reshape(-1, width) if width > 1 else array
    return frames


def check_origin(origin, sim, scene, seed):
    assert origin["program"] == "sandglass" and origin["version"] == sandglass.__version__
    assert origin["commit"] is None or re.fullmatch("[0-9a-f]{12,}", origin["commit"])
    assert origin["scene"] == scene and origin.get("seed") == seed
    assert (origin["bodies"], origin["step"]) == (sim.body_count, sim.step_length)
    assert (origin["solver"], origin["iterations"]) == ("gauss-seidel", 21)
    assert (origin["precision"], origin["backend"], origin["units"]) == ("double", "cpu", "m, kg, s, rad, N")
    assert origin["gravity"] == sim.gravity.tolist()


@pytest.fixture
def sim():
    return Simulation.load("hourglass", bodies=60, seed=5, solver="gauss-seidel", iterations=21, precision="double")


def test_a_csv_has_what_the_simulation_had(sim, tmp_path):
    sim.step(3)  # the first frame is the state of now
    kept = {sim.step_index: (sim.time, sim.positions.copy(), sim.velocities.copy())}
    with sim.export(tmp_path / "run.csv", rate=1000, contacts=True) as run:
        assert repr(run).endswith("run.csv, open>")
        for _ in range(40):
            sim.step()
            kept[sim.step_index] = sim.time, sim.positions.copy(), sim.velocities.copy()
        forces = sim.contact_forces
        normals, last = sim.contacts["normal"].copy(), sim.step_index
    sim.step()  # is not written any more
    rows = table(tmp_path / "run.csv")
    assert sorted({int(row["step"]) for row in rows}) == sorted(kept)
    for step, (time, positions, velocities) in kept.items():
        frame = [row for row in rows if int(row["step"]) == step]
        assert {float(row["time_s"]) for row in frame} == {time}
        for name, want in (("position", positions), ("velocity", velocities)):
            assert np.array_equal([[float(row[f"{name}_{axis}"]) for axis in "xyz"] for row in frame], want)
    contacts = [row for row in table(tmp_path / "run-contacts.csv") if int(row["step"]) == last]
    assert len(contacts) > 10
    assert np.array_equal([[float(row[f"normal_{axis}"]) for axis in "xyz"] for row in contacts], normals)
    total = np.zeros((60, 3))
    for row in contacts:
        force = [float(row[f"contact_force_{axis}"]) for axis in "xyz"]
        total[int(row["a"])] -= force
        if int(row["b"]) >= 0:
            total[int(row["b"])] += force
    assert np.allclose(total, forces, atol=1e-9 * np.abs(forces).max())
    check_origin(json.loads((tmp_path / "run.csv.json").read_text()), sim, "hourglass", 5)


def test_the_rate_is_that_of_simulated_time(sim, tmp_path):
    with sim.export(tmp_path / "run.csv", rate=10, columns=["velocity", "mass"]):
        sim.run(1)
    rows = table(tmp_path / "run.csv")
    assert len({row["step"] for row in rows}) == 11
    assert set(rows[0]) == {"step", "time_s", "body", *(f"{n}_{a}" for n in ("position", "velocity") for a in "xyz"), "mass"}


def test_gsd_has_time_and_origin(sim, tmp_path):
    with sim.export(tmp_path / "run.gsd", rate=50):
        sim.run(0.2)
    frames = gsd_frames(tmp_path / "run.gsd")
    assert len(frames) == 11
    for frame in frames:
        (step,), (time,) = frame["configuration/step"], frame["log/time"]
        assert time == step * sim.step_length
    assert np.allclose(frames[-1]["particles/position"], sim.positions, atol=1e-6)
    check_origin(json.loads(frames[0]["log/provenance"].tobytes()), sim, "hourglass", 5)
    assert all("log/provenance" not in frame for frame in frames[1:])


def test_paraview_files_say_where_they_came_from(sim, tmp_path):
    with sim.export(tmp_path / "run.pvd", contacts=True):
        sim.run(0.1)
    listed = (tmp_path / "run.pvd").read_text()
    comment = re.search(r"<!--(.*?)-->", listed, re.S).group(1)
    check_origin(json.loads(comment), sim, "hourglass", 5)
    for path in re.findall(r'file="([^"]*)"', listed):
        assert (tmp_path / path).stat().st_size > 200
    try:
        run = sim.export(tmp_path / "run.vtkhdf")
    except SandglassError as error:
        pytest.skip(str(error))
    sim.run(0.1)
    run.close()
    data = (tmp_path / "run.vtkhdf").read_bytes()
    begin = data.index(b'{\n  "program"')
    check_origin(json.loads(data[begin:data.index(b'N"\n}', begin) + 4]), sim, "hourglass", 5)


def test_hyphens_do_not_end_a_comment(tmp_path):
    world = World()
    world.material("glass")
    world.add_sphere(0.1, (0, 0, 0))
    sim = world.simulate()
    sim.name = "a--b--->c"
    with sim.export(tmp_path / "run.pvd"):
        sim.step()
    listed = (tmp_path / "run.pvd").read_text()
    origin = json.loads(re.search(r"<!--(.*?)-->", listed, re.S).group(1))
    assert origin["scene"] == "a--b--->c" and "seed" not in origin


def test_what_is_refused(sim, tmp_path):
    for arguments, words in (({"path": "a.xyz"}, "the ending says the format"), ({"path": "a.csv", "rate": 0}, "more than 0"),
                             ({"path": "none/a.csv"}, "No such file"), ({"path": "a.csv", "columns": "velocty"}, "velocity"),
                             ({"path": "a.csv", "columns": ["gap"]}, "a column of contacts")):
        with pytest.raises(SandglassError, match=words) as refused:
            sim.export(tmp_path / arguments.pop("path"), **arguments)
        assert "--export" not in str(refused.value)
    sim.step()  # none of them is still written


def test_a_full_disk_is_said(sim, tmp_path, caplog):
    (tmp_path / "full.csv").symlink_to("/dev/full")
    run = sim.export(tmp_path / "full.csv", rate=1000)
    sim.step(50)  # the run goes on
    with pytest.raises(SandglassError, match="is not complete|No space"):
        run.close()
    run.close()
    assert sim.step().step_index == 51


def test_two_exports_at_once_and_one_that_nobody_closes(sim, tmp_path):
    with sim.export(tmp_path / "a.csv", rate=1000), sim.export(tmp_path / "b.csv", rate=1000):
        sim.step(5)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    before = sim.hash
    twin = sim.clone()
    twin.export(tmp_path / "c.csv", rate=1000)
    twin.step(5)
    assert twin.hash == sim.step(5).hash != before
    del twin
