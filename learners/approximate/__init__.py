"""Proper learners of points and thresholds with approximate privacy (BNS §3)."""

from learners.approximate.interval import IntervalLearner
from learners.approximate.lumped import LumpedLearner
from learners.approximate.point import PointLearner, lemma_1_size, point_size
from learners.approximate.samples import NumberSample
from learners.approximate.searches import LengthSearch
from learners.approximate.searching import SearchingIntervalLearner
from learners.approximate.sources import IntervalProblem, NumberSource, PointProblem

__all__ = [
    "IntervalLearner",
    "IntervalProblem",
    "LengthSearch",
    "LumpedLearner",
    "NumberSample",
    "NumberSource",
    "PointLearner",
    "PointProblem",
    "SearchingIntervalLearner",
    "lemma_1_size",
    "point_size",
]
