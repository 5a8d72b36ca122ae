# SPDX-License-Identifier: MIT
"""The examples of examples/python run."""

import os
import subprocess
import sys


def test_the_examples_run():
    script = os.path.join(os.path.dirname(__file__), "examples")
    result = subprocess.run([script, sys.executable], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
