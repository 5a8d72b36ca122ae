# SPDX-License-Identifier: MIT
"""Arrays that look at memory of the library, on the host or on a GPU, and keep its owner alive."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class _Memory:
    """Memory of `owner`, for numpy, which keeps this object as the base of the array."""

    def __init__(self, address: int, shape: tuple[int, ...], typestr: str, owner: object, writable: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, not writable), "shape": shape, "typestr": typestr, "version": 3}


def view(address: int | None, dtype: Any, shape: tuple[int, ...], owner: object,
         writable: bool = False) -> Array:
    """An array of this type and shape at an address of the owner; nothing is copied."""
    kind = np.dtype(dtype)
    if not address or 0 in shape:
        return np.zeros(shape, kind)
    plain = kind.names is None
    array = np.asarray(_Memory(address, shape, kind.str if plain else f"|V{kind.itemsize}", owner, writable))
    return array if plain else array.view(kind)


class DeviceArray:
    """An array in the memory of a GPU, to be read: `cupy.asarray`, `torch.as_tensor` and Numba's kernels take it as it is."""

    def __init__(self, address: int | None, dtype: Any, shape: tuple[int, ...], owner: object) -> None:
        self.shape, self.dtype, self._owner = shape, np.dtype(dtype), owner
        data = (address or 0) if 0 not in shape else 0
        # No stream to wait for: the step has ended. Not marked as read-only, since PyTorch refuses what is.
        self.__cuda_array_interface__ = {"data": (data, False), "shape": shape, "typestr": self.dtype.str, "version": 3}

    def __repr__(self) -> str:
        return f"<DeviceArray of {self.dtype}, {self.shape}>"


def _doubles(values: Any, what: str) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, all rows of one length, got {str(values)[:40]}") from None


def rows(values: Any, what: str) -> np.ndarray[Any, Any]:
    """The values as a contiguous array of vectors, however many."""
    array = _doubles(values, what)
    if array.size == 0:
        return np.zeros((0, 3))
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{what}: expected shape (n, 3), got {array.shape}")
    return np.ascontiguousarray(array)


def vectors(values: Any, count: int, what: str, width: int = 3) -> np.ndarray[Any, Any]:
    """The values as a contiguous (count, width) array of doubles; one row stands for all."""
    array = _doubles(values, what)
    try:
        return np.ascontiguousarray(np.broadcast_to(array, (count, width)))
    except ValueError:
        raise ValueError(f"{what}: expected shape ({count}, {width}), got {array.shape}") from None


def numbers(values: Any, count: int, what: str) -> np.ndarray[Any, Any]:
    """The values as a contiguous array of `count` doubles; one number stands for all."""
    array = _doubles(values, what)
    try:
        return np.ascontiguousarray(np.broadcast_to(array, (count,)))
    except ValueError:
        raise ValueError(f"{what}: expected one number or {count}, got shape {array.shape}") from None
