"""Mechanisms that break their claim, each beside a right one: an audit that does not refute them is no audit.

Those marked "no law" declare no output law, so that an audit has to find them out by sampling.
"""

from mechanisms.flawed.choosing import UncheckedChoosing
from mechanisms.flawed.concave import LiteralConcavePromise
from mechanisms.flawed.exponential import HalfSensitivityExponential, UncheckedScore
from mechanisms.flawed.geometric import DoubleEpsilonGeometric, RenormalisedGeometric
from mechanisms.flawed.laplace import HalfScaleLaplace, RateAsScaleLaplace, ReplaceOneHistogram
from mechanisms.flawed.local import (
    HalfRangeLocalLaplace,
    PerRoundProtocol,
    ShiftedUniform,
    TruthfulLie,
    UnsplitLocalLaplace,
)
from mechanisms.flawed.mean import HalfSensitivityMean, TrustingMean
from mechanisms.flawed.published.budgets import ClassicalGaussian, ShuffledBatches, SwappedShares
from mechanisms.flawed.published.draws import NoiselessComparison, SharedNoise, TextbookLaplace
from mechanisms.flawed.published.keys import InclusiveThreshold, KeysFromData
from mechanisms.flawed.published.noisy_max import ExponentialMaxValue, LaplaceMaxValue
from mechanisms.flawed.published.rank import RankScore
from mechanisms.flawed.published.scales import (
    CountsUnderReplacing,
    FrequencyScaleCounts,
    HundredthHistogram,
    PrefixSums,
)
from mechanisms.flawed.published.sparse_vector import (
    CheapNoiseSparseVector,
    EndlessSparseVector,
    NoiselessSparseVector,
    ValueSparseVector,
)
from mechanisms.flawed.published.sums import (
    DiscardedClip,
    NanAsZero,
    OneEndSquares,
    RangeFromData,
    WrappingSum,
)
from mechanisms.flawed.randomized_response import BinaryCalibratedResponse, ThreeQuartersResponse

__all__ = [
    "BinaryCalibratedResponse",
    "CheapNoiseSparseVector",
    "ClassicalGaussian",
    "CountsUnderReplacing",
    "DiscardedClip",
    "DoubleEpsilonGeometric",
    "EndlessSparseVector",
    "ExponentialMaxValue",
    "FrequencyScaleCounts",
    "HalfRangeLocalLaplace",
    "HalfScaleLaplace",
    "HalfSensitivityExponential",
    "HalfSensitivityMean",
    "HundredthHistogram",
    "InclusiveThreshold",
    "KeysFromData",
    "LaplaceMaxValue",
    "LiteralConcavePromise",
    "NanAsZero",
    "NoiselessComparison",
    "NoiselessSparseVector",
    "OneEndSquares",
    "PerRoundProtocol",
    "PrefixSums",
    "RangeFromData",
    "RankScore",
    "RateAsScaleLaplace",
    "RenormalisedGeometric",
    "ReplaceOneHistogram",
    "SharedNoise",
    "ShiftedUniform",
    "ShuffledBatches",
    "SwappedShares",
    "TextbookLaplace",
    "ThreeQuartersResponse",
    "TrustingMean",
    "TruthfulLie",
    "UncheckedChoosing",
    "UncheckedScore",
    "UnsplitLocalLaplace",
    "ValueSparseVector",
    "WrappingSum",
]
