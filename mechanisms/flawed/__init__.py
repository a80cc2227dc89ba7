"""Flawed versions of correct mechanisms, which audits must refute."""

from typing import TYPE_CHECKING

from audit.values.on_demand import names_on_demand

if TYPE_CHECKING:
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

_HOMES = {
    "BinaryCalibratedResponse": "mechanisms.flawed.randomized_response",
    "CheapNoiseSparseVector": "mechanisms.flawed.published.sparse_vector",
    "ClassicalGaussian": "mechanisms.flawed.published.budgets",
    "CountsUnderReplacing": "mechanisms.flawed.published.scales",
    "DiscardedClip": "mechanisms.flawed.published.sums",
    "DoubleEpsilonGeometric": "mechanisms.flawed.geometric",
    "EndlessSparseVector": "mechanisms.flawed.published.sparse_vector",
    "ExponentialMaxValue": "mechanisms.flawed.published.noisy_max",
    "FrequencyScaleCounts": "mechanisms.flawed.published.scales",
    "HalfRangeLocalLaplace": "mechanisms.flawed.local",
    "HalfScaleLaplace": "mechanisms.flawed.laplace",
    "HalfSensitivityExponential": "mechanisms.flawed.exponential",
    "HalfSensitivityMean": "mechanisms.flawed.mean",
    "HundredthHistogram": "mechanisms.flawed.published.scales",
    "InclusiveThreshold": "mechanisms.flawed.published.keys",
    "KeysFromData": "mechanisms.flawed.published.keys",
    "LaplaceMaxValue": "mechanisms.flawed.published.noisy_max",
    "LiteralConcavePromise": "mechanisms.flawed.concave",
    "NanAsZero": "mechanisms.flawed.published.sums",
    "NoiselessComparison": "mechanisms.flawed.published.draws",
    "NoiselessSparseVector": "mechanisms.flawed.published.sparse_vector",
    "OneEndSquares": "mechanisms.flawed.published.sums",
    "PerRoundProtocol": "mechanisms.flawed.local",
    "PrefixSums": "mechanisms.flawed.published.scales",
    "RangeFromData": "mechanisms.flawed.published.sums",
    "RankScore": "mechanisms.flawed.published.rank",
    "RateAsScaleLaplace": "mechanisms.flawed.laplace",
    "RenormalisedGeometric": "mechanisms.flawed.geometric",
    "ReplaceOneHistogram": "mechanisms.flawed.laplace",
    "SharedNoise": "mechanisms.flawed.published.draws",
    "ShiftedUniform": "mechanisms.flawed.local",
    "ShuffledBatches": "mechanisms.flawed.published.budgets",
    "SwappedShares": "mechanisms.flawed.published.budgets",
    "TextbookLaplace": "mechanisms.flawed.published.draws",
    "ThreeQuartersResponse": "mechanisms.flawed.randomized_response",
    "TrustingMean": "mechanisms.flawed.mean",
    "TruthfulLie": "mechanisms.flawed.local",
    "UncheckedChoosing": "mechanisms.flawed.choosing",
    "UncheckedScore": "mechanisms.flawed.exponential",
    "UnsplitLocalLaplace": "mechanisms.flawed.local",
    "ValueSparseVector": "mechanisms.flawed.published.sparse_vector",
    "WrappingSum": "mechanisms.flawed.published.sums",
}

__getattr__, __dir__ = names_on_demand(__name__, _HOMES)
