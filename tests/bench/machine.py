"""The machine that figures were measured on."""
import os
import re
import subprocess


def processor():
    """The processor's name, so that a stored figure can be understood later."""
    listed = subprocess.run(["lscpu"], stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r"^Model name:\s*(.+)$", listed, re.M)
    return found.group(1).strip() if found else os.uname().machine
