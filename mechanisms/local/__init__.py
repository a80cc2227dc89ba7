"""The local model, with randomizers, the LR oracle, protocols and averages.

Examples
--------
>>> from mechanisms.local import LocalLaplace
>>> print(LocalLaplace(epsilon=0.5).claim)
PureDP(epsilon=0.5)
"""

from typing import TYPE_CHECKING

from audit.values.on_demand import names_on_demand

if TYPE_CHECKING:
    from mechanisms.local.averaging.averages import LaplaceAverage, SignAverage
    from mechanisms.local.averaging.problems import MeanProblem
    from mechanisms.local.averaging.sizes import (
        LEMMA_CONSTANT,
        laplace_size,
        lemma_size,
        noise_size,
        sign_size,
    )
    from mechanisms.local.averaging.sums import LaplaceSum, laplace_rate, mean_tail_bound
    from mechanisms.local.laplace import LocalLaplace
    from mechanisms.local.oracle import LROracle
    from mechanisms.local.protocols import InteractiveProtocol, NonInteractiveProtocol
    from mechanisms.local.randomizers import (
        LocalRandomizer,
        Transparent,
        cost_of,
        transition,
        transition_matrix,
    )
    from mechanisms.local.sign import SignResponse

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

_HOMES = {
    "InteractiveProtocol": "mechanisms.local.protocols",
    "LEMMA_CONSTANT": "mechanisms.local.averaging.sizes",
    "LROracle": "mechanisms.local.oracle",
    "LaplaceAverage": "mechanisms.local.averaging.averages",
    "LaplaceSum": "mechanisms.local.averaging.sums",
    "LocalLaplace": "mechanisms.local.laplace",
    "LocalRandomizer": "mechanisms.local.randomizers",
    "MeanProblem": "mechanisms.local.averaging.problems",
    "NonInteractiveProtocol": "mechanisms.local.protocols",
    "SignAverage": "mechanisms.local.averaging.averages",
    "SignResponse": "mechanisms.local.sign",
    "Transparent": "mechanisms.local.randomizers",
    "cost_of": "mechanisms.local.randomizers",
    "laplace_rate": "mechanisms.local.averaging.sums",
    "laplace_size": "mechanisms.local.averaging.sizes",
    "lemma_size": "mechanisms.local.averaging.sizes",
    "mean_tail_bound": "mechanisms.local.averaging.sums",
    "noise_size": "mechanisms.local.averaging.sizes",
    "sign_size": "mechanisms.local.averaging.sizes",
    "transition": "mechanisms.local.randomizers",
    "transition_matrix": "mechanisms.local.randomizers",
}

__getattr__, __dir__ = names_on_demand(__name__, _HOMES)
