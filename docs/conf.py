"""Settings of Sphinx, which makes the pages of the documentation (`make docs`)."""

import importlib
from importlib.metadata import version as version_of
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

project = "dp-audit"
author = "the dp-audit developers"
release = version_of("dp-audit")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_click",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"dp-audit {release}"
html_show_copyright = False
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_custom_sections = [("Guarantee", "notes_style")]

#: The modules whose exported names are public (`audit/ARCHITECTURE.md`).
PUBLIC = [
    "audit",
    *(f"audit.{name}" for name in ("adapters", "distributions", "edges", "problems", "strategies")),
    *("mechanisms", "learners"),
]


def bars(_app: Sphinx, _what: str, _name: str, _of: Any, _options: Any, lines: list[str]) -> None:
    """Keep the bars of |x|, which reStructuredText would read as a substitution."""
    lines[:] = [line if ">>>" in line else line.replace("|", r"\|") for line in lines]


def every_public_name_is_there(app: Sphinx, failed: Exception | None) -> None:
    """Warn of each public name that no page documents.

    In `make docs` a warning is an error.
    """
    if failed is not None or app.builder.name != "html":
        return
    documented = {name.rpartition(".")[2] for name, *_ in app.env.domains["py"].get_objects()}
    for module in PUBLIC:
        for name in importlib.import_module(module).__all__:
            if name not in documented:
                logging.getLogger(__name__).warning("%s.%s is not in the reference", module, name)


def setup(app: Sphinx) -> None:
    """Register the two functions."""
    app.connect("autodoc-process-docstring", bars)
    app.connect("build-finished", every_public_name_is_there)
