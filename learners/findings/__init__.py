"""What the source texts say about learners, beside what this package computes: errata, and what holds."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from audit.findings import Finding

__all__ = ["TOPICS", "findings"]

TOPICS = ("classes", "generic", "parity", "by_queries", "masked", "approximate", "sanitizers")
"""The modules that have a mapping `FINDINGS`, in page order; one that is not there is left out."""


def findings() -> dict[str, Callable[[], Finding]]:
    """Return every finding of this package by its name, each a function that computes it anew.

    Examples
    --------
    >>> findings()["E4"]().judgement
    'proof only'
    """
    found: dict[str, Callable[[], Finding]] = {}
    for topic in TOPICS:
        name = f"{__name__}.{topic}"
        if find_spec(name) is not None:
            found |= import_module(name).FINDINGS
    return found
