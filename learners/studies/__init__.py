"""The studies of the sample sizes of learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from audit.studies import Study

__all__ = ["studies"]


def studies() -> list[Study]:
    """Return all studies, in page order.

    Examples
    --------
    >>> [study.name for study in studies()][:3]
    ['parity', 'parity-epsilon', 'generic']
    """
    from learners.studies.generic import generic, generic_epsilon
    from learners.studies.parity import parity, parity_epsilon
    from learners.studies.queries import conjunctions, masked
    from learners.studies.thresholds import (
        intervals,
        intervals_delta,
        intervals_epsilon,
        points,
        points_delta,
    )

    return [
        *(parity(), parity_epsilon(), generic(), generic_epsilon()),
        *(points(), points_delta(), intervals(), intervals_epsilon(), intervals_delta()),
        *(conjunctions(), masked()),
    ]
