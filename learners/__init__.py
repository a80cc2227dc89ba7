"""Learners and sanitizers of the source texts.

Examples
--------
>>> from learners import ParityLearner
>>> print(ParityLearner(dimension=2, epsilon=0.5).claim)
PureDP(epsilon=0.5)
"""

from typing import TYPE_CHECKING

from audit.values.on_demand import names_on_demand

if TYPE_CHECKING:
    from learners.approximate import IntervalLearner, LengthSearch, PointLearner, SearchingIntervalLearner
    from learners.by_queries.conjunctions import ConjunctionLearner
    from learners.by_queries.kmeans import KMeans
    from learners.by_queries.noisy_labels import NoisyConjunctionLearner
    from learners.by_queries.perceptron import Perceptron
    from learners.generic.agnostic import GenericLearner, VCLearner
    from learners.generic.compression import CompressionLearner
    from learners.generic.labels import LabelPrivateLearner
    from learners.masked import MaskedParityLearner
    from learners.parity import AmplifiedParityLearner, ParityLearner, ParityLearnerMultisets
    from learners.pure import HashedPointLearner, PureIntervalLearner, PurePointLearner
    from learners.sanitizers import GenericSanitizer, IntervalSanitizer, PointSanitizer, SanitizingLearner

__all__ = [
    "AmplifiedParityLearner",
    "CompressionLearner",
    "ConjunctionLearner",
    "GenericLearner",
    "GenericSanitizer",
    "HashedPointLearner",
    "IntervalLearner",
    "IntervalSanitizer",
    "KMeans",
    "LabelPrivateLearner",
    "LengthSearch",
    "MaskedParityLearner",
    "NoisyConjunctionLearner",
    "ParityLearner",
    "ParityLearnerMultisets",
    "Perceptron",
    "PointLearner",
    "PointSanitizer",
    "PureIntervalLearner",
    "PurePointLearner",
    "SanitizingLearner",
    "SearchingIntervalLearner",
    "VCLearner",
]

_HOMES = {
    "AmplifiedParityLearner": "learners.parity",
    "CompressionLearner": "learners.generic.compression",
    "ConjunctionLearner": "learners.by_queries.conjunctions",
    "GenericLearner": "learners.generic.agnostic",
    "GenericSanitizer": "learners.sanitizers",
    "HashedPointLearner": "learners.pure",
    "IntervalLearner": "learners.approximate",
    "IntervalSanitizer": "learners.sanitizers",
    "KMeans": "learners.by_queries.kmeans",
    "LabelPrivateLearner": "learners.generic.labels",
    "LengthSearch": "learners.approximate",
    "MaskedParityLearner": "learners.masked",
    "NoisyConjunctionLearner": "learners.by_queries.noisy_labels",
    "ParityLearner": "learners.parity",
    "ParityLearnerMultisets": "learners.parity",
    "Perceptron": "learners.by_queries.perceptron",
    "PointLearner": "learners.approximate",
    "PointSanitizer": "learners.sanitizers",
    "PureIntervalLearner": "learners.pure",
    "PurePointLearner": "learners.pure",
    "SanitizingLearner": "learners.sanitizers",
    "SearchingIntervalLearner": "learners.approximate",
    "VCLearner": "learners.generic.agnostic",
}

__getattr__, __dir__ = names_on_demand(__name__, _HOMES)
