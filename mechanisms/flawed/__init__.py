"""Mechanisms that break their claim, each beside a right one: an audit that does not refute them is no audit.

Those marked "no law" declare no output law, so that an audit has to find them out by sampling.
"""

from mechanisms.flawed.choosing import UncheckedChoosing
from mechanisms.flawed.exponential import HalfSensitivityExponential, UncheckedScore
from mechanisms.flawed.geometric import DoubleEpsilonGeometric, RenormalisedGeometric
from mechanisms.flawed.laplace import HalfScaleLaplace, RateAsScaleLaplace, ReplaceOneHistogram
from mechanisms.flawed.mean import HalfSensitivityMean, TrustingMean
from mechanisms.flawed.randomized_response import BinaryCalibratedResponse, ThreeQuartersResponse

__all__ = [
    "BinaryCalibratedResponse",
    "DoubleEpsilonGeometric",
    "HalfScaleLaplace",
    "HalfSensitivityExponential",
    "HalfSensitivityMean",
    "RateAsScaleLaplace",
    "RenormalisedGeometric",
    "ReplaceOneHistogram",
    "ThreeQuartersResponse",
    "TrustingMean",
    "UncheckedChoosing",
    "UncheckedScore",
]
