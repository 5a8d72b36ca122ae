# SPDX-License-Identifier: MIT
"""The files of the repository, for the checks in this folder."""
import os
import subprocess


def files():
    """Paths of what git knows and of what it does not ignore; without git, of everything but build folders. From the root."""
    try:
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True, check=False).stdout
    except FileNotFoundError:
        listed = ""
    paths = {path for path in listed.split("\n") if path and os.path.exists(path)}
    if paths:
        return paths
    return {os.path.relpath(os.path.join(folder, name)) for folder, _, names in os.walk(".") for name in names
            if not folder.startswith("./build")}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()
