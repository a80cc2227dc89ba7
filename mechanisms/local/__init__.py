"""The local model: randomizers, the LR oracle with a budget an entry, protocols, and averages.

Examples
--------
>>> from mechanisms.local import LocalLaplace
>>> print(LocalLaplace(epsilon=0.5).claim)
PureDP(epsilon=0.5)
"""

from mechanisms.local.averages import LaplaceAverage, SignAverage
from mechanisms.local.laplace import LocalLaplace
from mechanisms.local.oracle import LROracle
from mechanisms.local.problems import MeanProblem
from mechanisms.local.protocols import InteractiveProtocol, NonInteractiveProtocol
from mechanisms.local.randomizers import (
    LocalRandomizer,
    Transparent,
    cost_of,
    transition,
    transition_matrix,
)
from mechanisms.local.sign import SignResponse
from mechanisms.local.sizes import LEMMA_CONSTANT, laplace_size, lemma_size, noise_size, sign_size
from mechanisms.local.sums import LaplaceSum, laplace_rate, mean_tail_bound

__all__ = [
    "LEMMA_CONSTANT",
    "InteractiveProtocol",
    "LROracle",
    "LaplaceAverage",
    "LaplaceSum",
    "LocalLaplace",
    "LocalRandomizer",
    "MeanProblem",
    "NonInteractiveProtocol",
    "SignAverage",
    "SignResponse",
    "Transparent",
    "cost_of",
    "laplace_rate",
    "laplace_size",
    "lemma_size",
    "mean_tail_bound",
    "noise_size",
    "sign_size",
    "transition",
    "transition_matrix",
]
