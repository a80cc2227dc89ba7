"""Pure privacy: how many examples proper and improper learners of POINT_d and INTERVAL_d need (BNS §1)."""

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
