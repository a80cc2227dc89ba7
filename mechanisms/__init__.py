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
    from mechanisms.counts import NoisyCounts
    from mechanisms.entries import catalogue
    from mechanisms.exponential import ExponentialMechanism
    from mechanisms.gaps import StableSelectionGaps, TightStableSelectionGaps
    from mechanisms.geometric import GeometricMechanism, TruncatedGeometricMechanism
    from mechanisms.histogram import LaplaceHistogram
    from mechanisms.kary_response import KaryRandomizedResponse
    from mechanisms.label_response import LabelResponse
    from mechanisms.laplace import LaplaceMechanism
    from mechanisms.local import (
        InteractiveProtocol,
        LaplaceAverage,
        LocalLaplace,
        LROracle,
        NonInteractiveProtocol,
        SignAverage,
        SignResponse,
    )
    from mechanisms.mean import LaplaceMean
    from mechanisms.noisy_max import ExponentialNoisyMax, LaplaceNoisyMax
    from mechanisms.parallel import Parallel
    from mechanisms.processing import PostProcessed, Undeclared
    from mechanisms.queries import PrivateQueryAnswers, StatisticalQuery
    from mechanisms.randomized_response import RandomizedResponse
    from mechanisms.saturating_sum import SaturatingSum
    from mechanisms.score_vectors import ChoosingScores
    from mechanisms.sparse_vector import ResamplingSparseVector, SparseVector
    from mechanisms.stability import StableSelection, TightStableSelection
    from mechanisms.threshold_release import ThresholdRelease

__all__ = [
    "Budget",
    "ChoosingMechanism",
    "ChoosingScores",
    "ConcavePromise",
    "ExponentialMechanism",
    "ExponentialNoisyMax",
    "GeometricMechanism",
    "InteractiveProtocol",
    "KaryRandomizedResponse",
    "LROracle",
    "LabelResponse",
    "LaplaceAverage",
    "LaplaceHistogram",
    "LaplaceMean",
    "LaplaceMechanism",
    "LaplaceNoisyMax",
    "LocalLaplace",
    "NoisyCounts",
    "NonInteractiveProtocol",
    "Parallel",
    "PostProcessed",
    "PrivateQueryAnswers",
    "RandomChoice",
    "RandomizedResponse",
    "ResamplingSparseVector",
    "SaturatingSum",
    "Sequential",
    "SignAverage",
    "SignResponse",
    "SparseVector",
    "StableSelection",
    "StableSelectionGaps",
    "StatisticalQuery",
    "ThresholdRelease",
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
    "ExponentialNoisyMax": "mechanisms.noisy_max",
    "GeometricMechanism": "mechanisms.geometric",
    "InteractiveProtocol": "mechanisms.local",
    "KaryRandomizedResponse": "mechanisms.kary_response",
    "LROracle": "mechanisms.local",
    "LabelResponse": "mechanisms.label_response",
    "LaplaceAverage": "mechanisms.local",
    "LaplaceHistogram": "mechanisms.histogram",
    "LaplaceMean": "mechanisms.mean",
    "LaplaceMechanism": "mechanisms.laplace",
    "LaplaceNoisyMax": "mechanisms.noisy_max",
    "LocalLaplace": "mechanisms.local",
    "NoisyCounts": "mechanisms.counts",
    "NonInteractiveProtocol": "mechanisms.local",
    "Parallel": "mechanisms.parallel",
    "PostProcessed": "mechanisms.processing",
    "PrivateQueryAnswers": "mechanisms.queries",
    "RandomChoice": "mechanisms.composition",
    "RandomizedResponse": "mechanisms.randomized_response",
    "ResamplingSparseVector": "mechanisms.sparse_vector",
    "SaturatingSum": "mechanisms.saturating_sum",
    "Sequential": "mechanisms.composition",
    "SignAverage": "mechanisms.local",
    "SignResponse": "mechanisms.local",
    "SparseVector": "mechanisms.sparse_vector",
    "StableSelection": "mechanisms.stability",
    "StableSelectionGaps": "mechanisms.gaps",
    "StatisticalQuery": "mechanisms.queries",
    "ThresholdRelease": "mechanisms.threshold_release",
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
