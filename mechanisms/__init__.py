"""Private mechanisms of the source texts, with claims, samplers and exact laws.

The package also has flawed versions of them.

Examples
--------
>>> from mechanisms import LaplaceMean
>>> print(LaplaceMean(epsilon=0.5).claim)
PureDP(epsilon=0.5)
"""

from typing import TYPE_CHECKING

from audit.values.on_demand import names_on_demand

if TYPE_CHECKING:
    from mechanisms.comparison.noisy_max import ExponentialNoisyMax, LaplaceNoisyMax
    from mechanisms.comparison.sparse_vector import ResamplingSparseVector, SparseVector
    from mechanisms.comparison.threshold_release import ThresholdRelease
    from mechanisms.composition.budget import Budget
    from mechanisms.composition.parallel import Parallel
    from mechanisms.composition.processing import PostProcessed, Undeclared
    from mechanisms.composition.sequential import RandomChoice, Sequential
    from mechanisms.concave import ConcavePromise
    from mechanisms.local import (
        InteractiveProtocol,
        LaplaceAverage,
        LocalLaplace,
        LROracle,
        NonInteractiveProtocol,
        SignAverage,
        SignResponse,
    )
    from mechanisms.noise.counts import NoisyCounts
    from mechanisms.noise.geometric import GeometricMechanism, TruncatedGeometricMechanism
    from mechanisms.noise.histogram import LaplaceHistogram
    from mechanisms.noise.laplace import LaplaceMechanism
    from mechanisms.noise.mean import LaplaceMean
    from mechanisms.noise.saturating_sum import SaturatingSum
    from mechanisms.queries import PrivateQueryAnswers, StatisticalQuery
    from mechanisms.responses.binary import RandomizedResponse
    from mechanisms.responses.kary import KaryRandomizedResponse
    from mechanisms.responses.labels import LabelResponse
    from mechanisms.selection.choosing import ChoosingMechanism
    from mechanisms.selection.exponential import ExponentialMechanism
    from mechanisms.selection.gaps import StableSelectionGaps, TightStableSelectionGaps
    from mechanisms.selection.score_vectors import ChoosingScores
    from mechanisms.selection.stability import StableSelection, TightStableSelection

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
]

_HOMES = {
    "Budget": "mechanisms.composition.budget",
    "ChoosingMechanism": "mechanisms.selection.choosing",
    "ChoosingScores": "mechanisms.selection.score_vectors",
    "ConcavePromise": "mechanisms.concave",
    "ExponentialMechanism": "mechanisms.selection.exponential",
    "ExponentialNoisyMax": "mechanisms.comparison.noisy_max",
    "GeometricMechanism": "mechanisms.noise.geometric",
    "InteractiveProtocol": "mechanisms.local",
    "KaryRandomizedResponse": "mechanisms.responses.kary",
    "LROracle": "mechanisms.local",
    "LabelResponse": "mechanisms.responses.labels",
    "LaplaceAverage": "mechanisms.local",
    "LaplaceHistogram": "mechanisms.noise.histogram",
    "LaplaceMean": "mechanisms.noise.mean",
    "LaplaceMechanism": "mechanisms.noise.laplace",
    "LaplaceNoisyMax": "mechanisms.comparison.noisy_max",
    "LocalLaplace": "mechanisms.local",
    "NoisyCounts": "mechanisms.noise.counts",
    "NonInteractiveProtocol": "mechanisms.local",
    "Parallel": "mechanisms.composition.parallel",
    "PostProcessed": "mechanisms.composition.processing",
    "PrivateQueryAnswers": "mechanisms.queries",
    "RandomChoice": "mechanisms.composition.sequential",
    "RandomizedResponse": "mechanisms.responses.binary",
    "ResamplingSparseVector": "mechanisms.comparison.sparse_vector",
    "SaturatingSum": "mechanisms.noise.saturating_sum",
    "Sequential": "mechanisms.composition.sequential",
    "SignAverage": "mechanisms.local",
    "SignResponse": "mechanisms.local",
    "SparseVector": "mechanisms.comparison.sparse_vector",
    "StableSelection": "mechanisms.selection.stability",
    "StableSelectionGaps": "mechanisms.selection.gaps",
    "StatisticalQuery": "mechanisms.queries",
    "ThresholdRelease": "mechanisms.comparison.threshold_release",
    "TightStableSelection": "mechanisms.selection.stability",
    "TightStableSelectionGaps": "mechanisms.selection.gaps",
    "TruncatedGeometricMechanism": "mechanisms.noise.geometric",
    "Undeclared": "mechanisms.composition.processing",
}

__getattr__, __dir__ = names_on_demand(__name__, _HOMES)
