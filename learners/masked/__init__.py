"""The class MASKED-PARITY and what interaction gains.

Examples
--------
>>> from mechanisms.queries import ExactOracle
>>> AdaptiveMasked(2).learn(ExactOracle(MaskedPopulation(2, r=1, a=1)))
((0, 1), 1)
"""

from learners.masked.algorithms import AdaptiveMasked, BentLearner, GuessingLearner, WeakLearner
from learners.masked.hypothesis import MaskedHypothesis, masked_error
from learners.masked.learner import MaskedParityLearner
from learners.masked.populations import BlindOracle, MaskedPopulation
from learners.masked.problems import MaskedProblem
from learners.masked.queries import BentQuery, BitQuery, MaskedQuery, MaskQuery, ParityQuery

__all__ = [
    "AdaptiveMasked",
    "BentLearner",
    "BentQuery",
    "BitQuery",
    "BlindOracle",
    "GuessingLearner",
    "MaskQuery",
    "MaskedHypothesis",
    "MaskedParityLearner",
    "MaskedPopulation",
    "MaskedProblem",
    "MaskedQuery",
    "ParityQuery",
    "WeakLearner",
    "masked_error",
]
