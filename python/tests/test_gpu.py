# SPDX-License-Identifier: MIT
"""The backend cuda: the same bits as the program's, and arrays on the GPU. Skipped where there is no GPU."""

import ctypes
import json

import numpy as np
import pytest

import sandglass


@pytest.fixture(scope="module")
def sim():
    try:
        return sandglass.Simulation.load("hourglass", bodies=2000, backend="cuda").step(60)
    except sandglass.SandglassError as error:
        pytest.skip(str(error))


class Driver:
    """Copies from the GPU by its driver, without a package for that."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        assert self.cuda.cuInit(0) == 0
        assert self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert self.cuda.cuCtxSetCurrent(context) == 0

    def read(self, array):
        found = array.__cuda_array_interface__
        host = np.empty(found["shape"], found["typestr"])
        address = ctypes.c_uint64(found["data"][0])
        assert self.cuda.cuMemcpyDtoH_v2(host.ctypes.data_as(ctypes.c_void_p), address, ctypes.c_size_t(host.nbytes)) == 0
        return host


def test_the_host_has_no_gpu_arrays():
    with pytest.raises(sandglass.SandglassError, match="on the host"):
        sandglass.Simulation.load("hourglass", bodies=100).gpu


def test_bits_are_those_of_the_program(sim, program):
    figures = json.loads(program("bench", "hourglass", "--bodies", 2000, "--backend", "cuda", "--warmup", 0, "--steps", 60, "--json"))
    again = sandglass.Simulation.load("hourglass", bodies=2000, backend="cuda").step(60)
    assert again.hash == figures["hash"] and not again.on_host


def test_arrays_are_there_before_the_first_step(sim):
    start = sandglass.Simulation.load("hourglass", bodies=300, backend="cuda")
    assert np.array_equal(Driver().read(start.gpu.positions), start.positions) and start.gpu.impulses.shape == (0, 3)


def test_arrays_are_the_state(sim):
    driver = Driver()
    for name in ("positions", "rotations", "velocities", "spins"):
        assert np.array_equal(driver.read(getattr(sim.gpu, name)), getattr(sim, name))
    assert len(sim.impulses) > 1000 and sim.gpu.impulses.shape == sim.impulses.shape
    assert np.array_equal(driver.read(sim.gpu.impulses), sim.impulses.astype(np.float32))


def test_arrays_follow_steps_and_edits(sim):
    driver, positions = Driver(), sim.gpu.positions
    before = driver.read(positions)
    sim.step()
    assert not np.array_equal(driver.read(positions), before) and np.array_equal(driver.read(positions), sim.positions)
    with sim.edit() as bodies:
        bodies.velocities[7] = (1, 2, 3)
    assert tuple(driver.read(sim.gpu.velocities)[7]) == (1, 2, 3)
    assert sim.gpu.impulses.shape == (0, 3)  # a changed world has no contacts yet
    sim.step()


def test_nothing_is_downloaded(sim):
    sim.step()
    for _ in range(3):
        sim.gpu
        sim.step()
        assert sim.profile.downloaded == 0


@pytest.mark.parametrize("package", ["cupy", "torch"])
def test_other_packages_take_them(sim, package):
    module = pytest.importorskip(package)
    array = sim.gpu.positions
    taken = module.asarray(array) if package == "cupy" else module.as_tensor(array, device="cuda")
    address = taken.data.ptr if package == "cupy" else taken.data_ptr()
    assert address == array.__cuda_array_interface__["data"][0]  # no copy
    assert float(taken[:, 2].max()) == sim.positions[:, 2].max()


def test_forces_on_the_gpu_are_those_of_the_host(sim):
    by_host, by_device, still = (sandglass.Simulation.load("hourglass", bodies=2000, backend="cuda") for _ in range(3))
    for _ in range(10):
        by_host.apply_force(None, sim.velocities, torques=sim.spins)
        by_device.apply_force(None, sim.gpu.velocities, torques=sim.gpu.spins)
        by_host.step(), by_device.step(), still.step()
    assert by_host.hash == by_device.hash != still.hash
    by_device.apply_force(None, sim.gpu.velocities)
    with pytest.raises(sandglass.SandglassError, match="on the device already"):
        by_device.apply_force(0, (1, 0, 0))


def test_a_running_world_on_the_gpu_is_told_and_grows(sim):
    again = sandglass.Simulation.load("hourglass", bodies=300, backend="cuda").step(5)
    with again.extend() as world:
        ball = world.add_sphere(0.1, (0, 0, 9), velocity=(0, 0, 1))
    again.remove(0)
    again.apply_force(ball, (0, 0, 1), at=(0.05, 0, 9))
    again.step()
    assert again.body_count == 301 and again.gone[0] == 1 and again.spins[ball, 1] < 0
    name = next(iter(again.boundaries))
    again.boundaries[name].motion = dict(velocity=(0, 0, 0.1))
    before = again.boundaries[name].position
    again.step(10)
    assert again.boundaries[name].position[2] - before[2] == pytest.approx(again.step_length)
