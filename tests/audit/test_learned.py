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


def test_what_all_entries_share_is_learned_from_few_runs():
    """Twenty entries with Laplace noise all move by a little: the best score is about Σ sign(x − shift/2)."""
    rng, shift, runs = np.random.default_rng(6), 0.01, 40_000
    learner = learner_of(*(View(rng.laplace(size=(runs, 20)) + shift * side) for side in (0, 1)))
    noise = rng.laplace(size=(50_000, 20))
    at = [learner.table().bins.feature.column(View(noise + shift * side)) for side in (0, 1)]
    best = [np.sign(noise + shift * side - shift / 2).sum(axis=1) for side in (0, 1)]
    assert signal(*at) > 0.5 * signal(*best)


def test_the_runs_that_a_score_was_fitted_to_look_no_better_than_new_ones():
    """The separation in the counts, over several seeds, is at most about that of new runs."""
    counted, fresh = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        shift = 0.01 * rng.choice([-1, 1], WIDTH)

        def views(runs, rng=rng, shift=shift):
            return [View(rng.normal(size=(runs, WIDTH)) + side * shift) for side in (0, 1)]

        table = learner_of(*views(20_000)).table()
        counted.append(separation(table.counts))
        fresh.append(separation(table.count(*views(100_000))))
    assert 0.5 < sum(counted) / sum(fresh) < 1.4


def separation(counts):
    """Return by how many standard deviations the mean cell of the left side lies above that of the right."""
    left, right = counts / counts.sum(axis=1, keepdims=True)
    cells = np.arange(len(left))
    return (left @ cells - right @ cells) / max(np.sqrt(left @ (cells - left @ cells) ** 2), 1e-9)


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
