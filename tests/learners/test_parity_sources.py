"""Structured laws on bit vectors: errors, draws and hard problems."""

import math
from itertools import product

import numpy as np
import pytest

from audit.errors import InvalidValue
from learners.parity import BitExamples, BitSource, ParityProblem, Part, hard_problems

ALPHA = 0.15
PROBLEMS = pytest.mark.parametrize(
    "problem", hard_problems(4, alpha=ALPHA, size=20_000), ids=lambda problem: problem.name
)


def law_of(source):
    """Return the law of a point by listing every member of every part."""
    law = dict.fromkeys(product((0, 1), repeat=source.dimension), 0.0)
    for part in source.parts:
        members = [
            tuple(
                (np.array(part.origin) + np.array(coins) @ np.array(part.directions).reshape(len(coins), -1))
                % 2
            )
            if coins
            else part.origin
            for coins in product((0, 1), repeat=len(part.directions))
        ]
        for member in members:
            law[tuple(map(int, member))] += part.weight / len(members)
    return law


def parity(r, x):
    return sum(a * b for a, b in zip(r, x, strict=True)) % 2


@PROBLEMS
def test_the_error_matches_enumeration(problem):
    law = law_of(problem.source)
    assert math.fsum(law.values()) == pytest.approx(1.0)
    for r in law:
        expected = sum(mass for x, mass in law.items() if parity(r, x) != parity(problem.target, x))
        assert problem.error(r, None) == pytest.approx(expected, abs=1e-15)
    assert problem.error(problem.target, None) == 0.0
    assert problem.error("⊥", None) == problem.error("insufficient samples", None) == math.inf


@PROBLEMS
def test_samples_follow_the_law_and_the_target(problem):
    database = problem.draw(np.random.default_rng(6))
    assert isinstance(database, BitExamples)
    assert len(database) == 20_000
    counts = dict.fromkeys(law_of(problem.source), 0)
    for x, y in database:
        counts[x] += 1
        assert y == parity(problem.target, x)
    for x, mass in law_of(problem.source).items():
        # Bernstein: a deviation of 6.5 sd + 15 has probability below 1e-9
        assert abs(counts[x] - 20_000 * mass) <= 6.5 * math.sqrt(20_000 * mass * (1 - mass)) + 15 * (mass > 0)


def test_more_than_eight_directions_are_all_random():
    """Each pair of bits agrees in half of the draws, within 6 standard deviations.

    The law has eleven directions in eleven variables.
    """
    source = hard_problems(11, alpha=ALPHA, size=1)[0].source
    points = source.draw(20_000, np.random.default_rng(0), target=(0,) * 11).points
    assert points.shape == (20_000, 11)
    for i, j in product(range(11), range(11)):
        if i < j:
            assert abs((points[:, i] ^ points[:, j]).mean() - 0.5) < 6 * 0.5 / math.sqrt(20_000)
    assert abs(points.mean(axis=0) - 0.5).max() < 6 * 0.5 / math.sqrt(20_000)


def test_problems_sit_close_to_alpha_on_both_sides():
    errors = {
        problem.name: {problem.error(r, None) for r in product((0, 1), repeat=4)}
        for problem in hard_problems(4, alpha=ALPHA, size=1)
    }
    assert min(e for e in errors["rarely uniform"] if e) == max(errors["rarely uniform"])
    for name in ("rarely uniform", "a point just above alpha", "unit vectors just above alpha"):
        assert min(e for e in errors[name] if e) == pytest.approx(1.01 * ALPHA)
    for name in ("a point just below alpha", "unit vectors just below alpha"):
        assert min(e for e in errors[name] if e) == pytest.approx(0.99 * ALPHA)


@pytest.mark.parametrize("dimension", [1, 2, 3, 16, 64])
def test_there_are_problems_of_every_dimension(dimension):
    rng = np.random.default_rng(dimension)
    for problem in hard_problems(dimension, alpha=0.49, size=10):
        assert problem.draw(rng).points.shape == (10, dimension)
        assert problem.error(problem.target, None) == 0.0


def test_variations_of_a_problem_are_valid_problems():
    rng = np.random.default_rng(1)
    names = set()
    for problem in hard_problems(5, alpha=0.1, size=30):
        for _ in range(6):
            near = problem.varied(rng).varied(rng)
            assert isinstance(near, ParityProblem)
            assert math.fsum(part.weight for part in near.source.parts) == pytest.approx(1.0)
            assert len(near.draw(rng)) == 30
            names.add(near.name.split(", ")[-1])
    assert {"another target", "weights moved"} <= names


def test_weights_that_do_not_sum_to_one_are_refused():
    with pytest.raises(InvalidValue, match=r"must be ≥ 0 and sum to 1; got a sum of 0\.5"):
        BitSource((Part(0.5, (0,)),))
