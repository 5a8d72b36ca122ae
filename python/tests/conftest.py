# SPDX-License-Identifier: MIT
"""What the tests share: the program beside the library, for runs that must agree."""

import json
import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def program():
    """Runs the program with arguments; skips where it was not built."""
    path = os.environ.get("SANDGLASS_PROGRAM", "")
    if not os.path.exists(path):
        pytest.skip("the program was not built")

    def run(*arguments):
        return subprocess.run([path, *map(str, arguments)], check=True, capture_output=True).stdout

    return run


@pytest.fixture(scope="session")
def bench(program):
    """The figures of `sandglass bench` on the CPU after some steps."""

    def run(scene, steps, *arguments):
        return json.loads(program("bench", scene, "--backend", "cpu", "--warmup", 0, "--steps", steps, "--json", *arguments))

    return run
