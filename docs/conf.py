"""Sphinx configuration: Markdown pages that also read on a code host, and a reference from the docstrings."""

from importlib.metadata import version

project = "dp-audit"
author = copyright = "the dp-audit developers"  # noqa: A001 — Sphinx's name
release = version("dp-audit")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_click",
]
html_theme = "furo"
html_title = f"dp-audit {release}"
exclude_patterns = ["_build"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
suppress_warnings = []
nitpicky = False

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
