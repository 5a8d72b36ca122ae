# SPDX-License-Identifier: MIT
"""Forces as the library takes them: arrays of the host, or addresses of those on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._arrays import Array, vectors


def numbers_of(bodies: Any, count: int) -> Array:
    """The numbers of bodies that a number, a list or a mask over all names."""
    given = np.atleast_1d(np.asarray(bodies))
    if given.dtype == bool:
        if given.shape != (count,):
            raise ValueError(f"bodies: expected a mask of {count}, got shape {given.shape}")
        given = np.flatnonzero(given)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise ValueError(f"bodies: expected numbers of bodies, got {str(bodies)[:40]}")
    if given.size and not -2**31 <= int(given.min()) <= int(given.max()) < 2**31:
        raise ValueError("bodies: expected numbers of 32 bits")
    return np.ascontiguousarray(given, np.int32)


def on_device(values: Any) -> bool:
    return hasattr(values, "__cuda_array_interface__")


def host_forces(bodies: Any, count: int, forces: Any, torques: Any, at: Any) -> tuple[Any, list[Any]]:
    """The struct, and the arrays that it points to."""
    chosen = None if bodies is None else numbers_of(bodies, count)
    entries = count if chosen is None else len(chosen)
    row = _native.Forces(count=entries)
    kept: list[Any] = [chosen]
    row.body = None if chosen is None else chosen.ctypes.data
    for field, name, values in (("force", "forces", forces), ("torque", "torques", torques), ("at", "at", at)):
        if values is not None:
            kept.append(vectors(values, entries, name))
            setattr(row, field, kept[-1].ctypes.data)
    return row, kept


def device_address(values: Any, count: int, what: str) -> int | None:
    """The address of an array (count, 3) of doubles on the GPU."""
    if values is None:
        return None
    if not on_device(values):
        raise ValueError(f"{what}: forces and torques are both on the GPU or both not")
    about = values.__cuda_array_interface__
    plain = about.get("strides") in (None, (24, 8))
    if tuple(about["shape"]) != (count, 3) or np.dtype(about["typestr"]) != np.float64 or not plain:
        raise ValueError(f"{what}: expected a contiguous array ({count}, 3) of float64 on the GPU, got {about['shape']} of "
                         f"{about['typestr']}")
    address: int = about["data"][0]
    return address
