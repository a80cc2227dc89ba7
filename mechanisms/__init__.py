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
    from mechanisms.choosing import ChoosingMechanism
    from mechanisms.entries import catalogue
    from mechanisms.exponential import ExponentialMechanism
    from mechanisms.gaps import StableSelectionGaps, TightStableSelectionGaps
    from mechanisms.geometric import GeometricMechanism, TruncatedGeometricMechanism
    from mechanisms.histogram import LaplaceHistogram
    from mechanisms.kary_response import KaryRandomizedResponse
    from mechanisms.laplace import LaplaceMechanism
    from mechanisms.mean import LaplaceMean
    from mechanisms.randomized_response import RandomizedResponse
    from mechanisms.score_vectors import ChoosingScores
    from mechanisms.stability import StableSelection, TightStableSelection

__all__ = [
    "ChoosingMechanism",
    "ChoosingScores",
    "ExponentialMechanism",
    "GeometricMechanism",
    "KaryRandomizedResponse",
    "LaplaceHistogram",
    "LaplaceMean",
    "LaplaceMechanism",
    "RandomizedResponse",
    "StableSelection",
    "StableSelectionGaps",
    "TightStableSelection",
    "TightStableSelectionGaps",
    "TruncatedGeometricMechanism",
    "catalogue",
]

_HOMES = {
    "ChoosingMechanism": "mechanisms.choosing",
    "ChoosingScores": "mechanisms.score_vectors",
    "ExponentialMechanism": "mechanisms.exponential",
    "GeometricMechanism": "mechanisms.geometric",
    "KaryRandomizedResponse": "mechanisms.kary_response",
    "LaplaceHistogram": "mechanisms.histogram",
    "LaplaceMean": "mechanisms.mean",
    "LaplaceMechanism": "mechanisms.laplace",
    "RandomizedResponse": "mechanisms.randomized_response",
    "StableSelection": "mechanisms.stability",
    "StableSelectionGaps": "mechanisms.gaps",
    "TightStableSelection": "mechanisms.stability",
    "TightStableSelectionGaps": "mechanisms.gaps",
    "TruncatedGeometricMechanism": "mechanisms.geometric",
    "catalogue": "mechanisms.entries",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
