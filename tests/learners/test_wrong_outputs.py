"""An output of the wrong shape counts as a failure with error inf or 1."""

import math

import numpy as np
import pytest

from learners.by_queries.kmeans import KMeans
from learners.by_queries.perceptron import Perceptron
from learners.generic.agnostic import GenericLearner
from learners.masked.hypothesis import MaskedHypothesis
from learners.masked.learner import MaskedParityLearner
from learners.parity.learner import ParityLearner

NOTHING = (None, "?", 3.5, math.nan, (), [0, 1], np.array([0, 1]), {"a": 1}, object(), (None,), ((), ()))
WRONG = {
    "parity": (
        ParityLearner(2),
        math.inf,
        [(0, 1, 1), (0,), (0, 2), (0, -1), (0.0, 1.0), ("0", "1"), (0, None)],
    ),
    "k-means": (
        KMeans(),
        math.inf,
        [
            ((0.1,),),
            ((0.1,),) * 3,
            (0.1, 0.9),
            ((0.1, 0.2), (0.3, 0.4)),
            (("a",), ("b",)),
            ((math.nan,), (0.1,)),
        ],
    ),
    "perceptron": (
        Perceptron(dimension=2, rounds=None),
        1.0,
        [(1.0,), (1.0, 1.0, 1.0), ("a", "b"), ((1.0,), (1.0,)), (math.nan, 1.0), (math.inf, 1.0)],
    ),
    "masked": (
        MaskedParityLearner(dimension=2),
        1.0,
        [
            ((0, 1, 1), 0),
            ((0,), 0),
            ((0, 2), 0),
            ((0, 1), 2),
            ((0.0, 1.0), 0),
            (1, 0),
            ("01", 0),
            MaskedHypothesis(4, shown=0, word=0, mask=0),
        ],
    ),
    "listed": (GenericLearner(), 1.0, [(0,), -1, 4, 0.5]),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_output_of_another_shape_fails(name):
    learner, failure, outputs = WRONG[name]
    for problem in learner.problems():
        for output in (*NOTHING, *outputs):
            assert problem.error(output, None) == failure


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("parity", (np.int64(0), True)),
        ("k-means", ((np.float64(0.25),), (1,))),
        ("perceptron", (np.float64(0.25), 1)),
        ("masked", ((np.int64(0), True), 1)),
        ("listed", np.int64(1)),
    ],
)
def test_numbers_of_other_types_are_accepted(name, output):
    learner, failure, _ = WRONG[name]
    assert min(problem.error(output, None) for problem in learner.problems()) < failure
