"""Findings about learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.findings import merged
from mechanisms.findings.texts import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from audit.findings import Finding

__all__ = ["TOPICS", "findings"]

TOPICS = (
    "classes",
    "generic",
    "doubling",
    "parity",
    "by_queries",
    "equivalence",
    "masked",
    "weak",
    "approximate",
    "sanitizers",
    "packing",
    "remarks",
)
"""The modules that have a mapping `FINDINGS`, in page order."""


def findings() -> dict[str, Callable[[], Finding]]:
    """Return the functions of all findings about learners, by name.

    Examples
    --------
    >>> findings()["E4"]().judgement
    'proof only'
    """
    return merged(__name__, TOPICS, finish=explained)
