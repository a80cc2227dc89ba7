"""Concept classes with their labels, VC dimension and exact errors.

Examples
--------
>>> from learners.concepts import ExampleDistribution, IntervalClass
>>> intervals = IntervalClass(3)
>>> uniform = ExampleDistribution.realizable(intervals, 5, [1 / 8] * 8)
>>> uniform.errors(intervals).tolist()
[0.625, 0.5, 0.375, 0.25, 0.125, 0.0, 0.125, 0.25, 0.375]
"""

from learners.concepts.base import ConceptClass
from learners.concepts.boolean import ConjunctionClass, MaskedParityClass, ParityClass
from learners.concepts.examples import ExampleDistribution
from learners.concepts.explicit import ExplicitClass, dichotomies
from learners.concepts.label import LabelClass
from learners.concepts.ordered import IntervalClass, PointClass

__all__ = [
    "ConceptClass",
    "ConjunctionClass",
    "ExampleDistribution",
    "ExplicitClass",
    "IntervalClass",
    "LabelClass",
    "MaskedParityClass",
    "ParityClass",
    "PointClass",
    "dichotomies",
]
