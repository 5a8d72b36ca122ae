# SPDX-License-Identifier: MIT
"""Endings of the files that are written: a name must say what is in the file."""

from __future__ import annotations

import os


def check(path: str | os.PathLike[str], *endings: str) -> None:
    """Refuses a name with an ending that is none of these; a name without one is taken."""
    ending = os.path.splitext(os.fsdecode(path))[1]
    if ending and ending not in endings:
        raise ValueError(f"{os.fsdecode(path)}: expected a name that ends in {' or '.join(endings)}")
