"""Private learners of PARITY.

Examples
--------
>>> from learners.parity import ParityLearner
>>> print(ParityLearner(dimension=3, epsilon=0.5).claim)
PureDP(epsilon=0.5)
"""

from learners.parity.amplified import INSUFFICIENT, AmplifiedParityLearner
from learners.parity.examples import BitExamples
from learners.parity.learner import REFUSED, ParityLearner
from learners.parity.multisets import ParityLearnerMultisets
from learners.parity.plans import Plan
from learners.parity.sources import BitSource, ParityProblem, Part, hard_problems

__all__ = [
    "INSUFFICIENT",
    "REFUSED",
    "AmplifiedParityLearner",
    "BitExamples",
    "BitSource",
    "ParityLearner",
    "ParityLearnerMultisets",
    "ParityProblem",
    "Part",
    "Plan",
    "hard_problems",
]
