"""Pure privacy: what POINT_d and INTERVAL_d cost without a delta, properly and improperly (BNS §1)."""

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
