"""Statements of the source texts about mechanisms, compared with computed values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.findings import merged
from mechanisms.findings.texts import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from audit.findings import Finding

__all__ = ["TOPICS", "findings"]

TOPICS = ("basics", "tails", "central", "local", "answering", "queries")
"""The modules that have a mapping `FINDINGS`, in page order."""


def findings() -> dict[str, Callable[[], Finding]]:
    """Return the findings of this package, as functions by name.

    Examples
    --------
    >>> findings()["E12"]().judgement
    'hidden condition'
    """
    return merged(__name__, TOPICS, finish=explained)
