# SPDX-License-Identifier: MIT
"""Sphinx: the documents as they are, the Python package a page an object, and the notebook executed. docs/site/build calls it."""

import os
import re

import sandglass
from docutils import nodes

project, author, copyright = "Sandglass", "Sandglass contributors", "Sandglass contributors"
version = release = sandglass.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinxcontrib.mermaid"]
html_theme, html_title = "furo", f"Sandglass {release}"
exclude_patterns = ["templates"]
templates_path = ["templates"]

myst_heading_anchors = 6
myst_fence_as_directive = ["mermaid"]
myst_enable_extensions = ["html_image"]
nb_execution_mode, nb_execution_raise_on_error, nb_execution_timeout = "force", True, 600

autosummary_generate = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
default_role = "code"
nitpicky = False
# The documents are written for the repository: some begin below a heading of the first level or skip one.
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type"]

ROOT = os.environ["SANDGLASS_ROOT"]


def _plain(app, what, name, item, options, lines):
    """Docstrings are plain text: nothing in them but `code` is markup."""
    for k, line in enumerate(lines):
        parts = re.split(r"(`[^`]*`)", line)
        lines[k] = "".join(part if part.startswith("`") else re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", part) for part in parts)


def _check_files(app, document):
    """Links to files of the repository that are no pages: they must be there."""
    for node in document.findall(nodes.reference):
        target = node.get("refuri", "")
        if target and not re.match(r"[a-z]+:|#", target) and not os.path.exists(os.path.join(app.srcdir, os.path.dirname(app.env.docname), target)):
            raise ValueError(f"{app.env.docname}: {target} is not there")


def setup(app):
    app.connect("autodoc-process-docstring", _plain)
    app.connect("doctree-read", _check_files)
