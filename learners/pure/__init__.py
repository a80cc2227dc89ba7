"""Pure learners of points and thresholds (BNS §1)."""

from learners.pure.hashed import HashedPoint, HashedPointLearner, hashed_size
from learners.pure.proper import PureIntervalLearner, PurePointLearner, pure_size

__all__ = [
    "HashedPoint",
    "HashedPointLearner",
    "PureIntervalLearner",
    "PurePointLearner",
    "hashed_size",
    "pure_size",
]
