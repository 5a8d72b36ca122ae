# SPDX-License-Identifier: MIT
"""The machine that results were measured on."""
import os
import re
import subprocess


def processor():
    """The processor's name, stored with every result."""
    listed = subprocess.run(["lscpu"], stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r"^Model name:\s*(.+)$", listed, re.M)
    return found.group(1).strip() if found else os.uname().machine
