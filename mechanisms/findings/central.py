"""Findings about mechanisms of the central model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mechanisms.findings import choosing, noises, recursion, searching, selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from audit.findings import Finding

__all__ = ["FINDINGS"]

FINDINGS: dict[str, Callable[[], Finding]] = {
    **noises.FINDINGS,
    **selection.FINDINGS,
    **choosing.FINDINGS,
    **searching.FINDINGS,
    **recursion.FINDINGS,
}
