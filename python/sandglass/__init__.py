# SPDX-License-Identifier: MIT
"""Sandglass: hard-contact granular dynamics from Python.

    import sandglass
    sim = sandglass.Simulation.load("hourglass", bodies=3000)
    sim.run(2)
    sim.positions            # (3000, 3), looks at the state itself
    sim.draw(camera="front") # a picture, which a notebook displays

Everything is done by the C library; this package has no copy of its logic. docs/python.md is the guide.
"""

from ._arrays import DeviceArray
from .actuator import Actuator
from ._native import SandglassError, version
from .batch import Batch
from .extension import Extension
from .joint import Joint
from .mesh import Mesh, Solid
from .model import Model
from .motion import Boundary
from .picture import Image, Views
from .probe import Probe
from .problem import Metrics, Problem, Solution
from .asking import NOTHING, Hits
from .export import Export
from .figures import Bodies, Counters, GpuArrays, Knob, Outlet, Profile
from .fmu import write_fmu
from .simulation import Simulation, backends, scenes
from .solvers import Parameter, Solver, friction_models, solvers
from .state import State
from .world import World

load = Simulation.load
__version__ = version().decode()
__all__ = ["Actuator", "Batch", "Bodies", "Boundary", "Counters", "DeviceArray", "Export", "Extension", "GpuArrays", "Hits", "Image", "Joint", "Knob", "Mesh", "Metrics", "Model", "NOTHING", "Outlet",
           "Parameter", "Probe", "Problem", "Profile", "SandglassError", "Simulation", "Solid", "Solution", "Solver", "State", "Views", "World", "backends", "friction_models", "load", "scenes", "solvers", "write_fmu"]
