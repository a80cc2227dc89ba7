"""Mechanisms of the source texts as subjects: claim, sampler, exact law, and flawed twins to refute.

Names are resolved on first use, so that importing the package costs nothing.

Examples
--------
>>> from mechanisms import LaplaceMean
>>> print(LaplaceMean(epsilon=0.5).claim)
PureDP(epsilon=0.5)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mechanisms.budget import Budget
    from mechanisms.choosing import ChoosingMechanism
    from mechanisms.composition import RandomChoice, Sequential
    from mechanisms.concave import ConcavePromise
    from mechanisms.entries import catalogue
    from mechanisms.exponential import ExponentialMechanism
    from mechanisms.gaps import StableSelectionGaps, TightStableSelectionGaps
    from mechanisms.geometric import GeometricMechanism, TruncatedGeometricMechanism
    from mechanisms.histogram import LaplaceHistogram
    from mechanisms.kary_response import KaryRandomizedResponse
    from mechanisms.laplace import LaplaceMechanism
    from mechanisms.mean import LaplaceMean
    from mechanisms.parallel import Parallel
    from mechanisms.processing import PostProcessed, Undeclared
    from mechanisms.randomized_response import RandomizedResponse
    from mechanisms.score_vectors import ChoosingScores
    from mechanisms.stability import StableSelection, TightStableSelection

__all__ = [
    "Budget",
    "ChoosingMechanism",
    "ChoosingScores",
    "ConcavePromise",
    "ExponentialMechanism",
    "GeometricMechanism",
    "KaryRandomizedResponse",
    "LaplaceHistogram",
    "LaplaceMean",
    "LaplaceMechanism",
    "Parallel",
    "PostProcessed",
    "RandomChoice",
    "RandomizedResponse",
    "Sequential",
    "StableSelection",
    "StableSelectionGaps",
    "TightStableSelection",
    "TightStableSelectionGaps",
    "TruncatedGeometricMechanism",
    "Undeclared",
    "catalogue",
]

_HOMES = {
    "Budget": "mechanisms.budget",
    "ChoosingMechanism": "mechanisms.choosing",
    "ChoosingScores": "mechanisms.score_vectors",
    "ConcavePromise": "mechanisms.concave",
    "ExponentialMechanism": "mechanisms.exponential",
    "GeometricMechanism": "mechanisms.geometric",
    "KaryRandomizedResponse": "mechanisms.kary_response",
    "LaplaceHistogram": "mechanisms.histogram",
    "LaplaceMean": "mechanisms.mean",
    "LaplaceMechanism": "mechanisms.laplace",
    "Parallel": "mechanisms.parallel",
    "PostProcessed": "mechanisms.processing",
    "RandomChoice": "mechanisms.composition",
    "RandomizedResponse": "mechanisms.randomized_response",
    "Sequential": "mechanisms.composition",
    "StableSelection": "mechanisms.stability",
    "StableSelectionGaps": "mechanisms.gaps",
    "TightStableSelection": "mechanisms.stability",
    "TightStableSelectionGaps": "mechanisms.gaps",
    "TruncatedGeometricMechanism": "mechanisms.geometric",
    "Undeclared": "mechanisms.processing",
    "catalogue": "mechanisms.entries",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
