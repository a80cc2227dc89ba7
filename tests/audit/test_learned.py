"""The score that learns from every run, beside the best score for known laws."""

import numpy as np
import pytest

from audit.events.features.scores import AdditiveScore
from audit.events.features.views import View
from audit.evidence.learned import LEAST, ScoreLearner, learner_of, vectors

WIDTH, RUNS, BLOCK = 8, 60_000, 20_000


def signal(left, right):
    """Return the squared distance between two sample means, in mean variances."""
    return (left.mean() - right.mean()) ** 2 / (left.var() + right.var()) * 2


def learned(draw, *, runs=RUNS):
    """Return the feature learned from one block of vectors of each side."""
    learner = None
    for _ in range(runs // BLOCK):
        views = [View(list(draw(side, BLOCK))) for side in (0, 1)]
        if learner is None:
            learner = learner_of(*views)
        else:
            learner.add(learner.code(*views))
    return learner.table().bins.feature


SHIFTS = {"independent": np.full(WIDTH, 0.1), "in common": 0.2 * (np.arange(WIDTH) == 3)}


def drawn(rng, noise, shift):
    """Return a function that draws the vectors of side 0 or 1.

    Noise common to all entries hides shifts.
    """
    level = 5.0 if noise == "in common" else 0.0
    return lambda side, size: (
        level * rng.normal(size=(size, 1)) + rng.normal(size=(size, WIDTH)) + shift * side
    )


@pytest.mark.parametrize(("noise", "least"), [("independent", 0.75), ("in common", 0.6)])
def test_the_score_has_most_of_the_signal_of_the_best_score(noise, least):
    """The learned score has most of the best score's signal μᵀΣ⁻¹μ.

    The noise is normal with covariance Σ. If all entries share a noise term, the sum of the entries'
    log-ratios has only about 1/23 of the signal. The measured share of the signal has a standard error
    below 5 %.
    """
    rng, shift = np.random.default_rng(4), SHIFTS[noise]
    feature = learned(drawn(rng, noise, shift))
    assert isinstance(feature, AdditiveScore)
    assert feature.entries == WIDTH
    draw = drawn(rng, noise, shift)
    found = signal(*(feature.column(View(list(draw(side, 50_000)))) for side in (0, 1)))
    covariance = np.eye(WIDTH) + (25.0 if noise == "in common" else 0.0)
    assert least < found / (shift @ np.linalg.solve(covariance, shift)) < 1.2


def test_nothing_is_learned_from_equal_sides():
    """Weights with little evidence are shrunk to near 0."""
    rng = np.random.default_rng(5)
    draw = drawn(rng, "independent", np.zeros(WIDTH))
    feature = learned(draw)
    assert feature.column(View(list(draw(0, 10_000)))).std() < 0.05


def test_only_vectors_of_one_width_are_learned_from():
    vector = [1.0, 2.0, 3.0]
    for outputs in (
        [1.0] * LEAST,
        [vector] * LEAST + [[1.0, 2.0]],
        [vector] * LEAST + ["none"],
        [[1.0]] * LEAST,
    ):
        assert learner_of(View(outputs), View(outputs)) is None
    many = View([[float(k), 0.0, -float(k)] for k in range(LEAST)])
    assert learner_of(many, many) is not None


def test_a_block_is_coded_run_by_run():
    """The counts match the codes, and every run has one code in each column."""
    rng = np.random.default_rng(6)
    views = [View(list(rng.normal(size=(3_000, 3)))) for _ in range(2)]
    learner = ScoreLearner(*(vectors(view, 3) for view in views))
    coded = learner.code(*views)
    assert coded.runs.tolist() == [3_000, 3_000]
    for side, codes in enumerate(coded.codes):
        assert codes.shape == (3_000, 5)
        assert (np.bincount(codes.ravel(), minlength=coded.counts.shape[1]) == coded.counts[side]).all()
        assert ((codes >= learner.starts[:-1]) & (codes < learner.starts[1:])).all()
