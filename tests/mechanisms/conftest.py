"""Independent checks of laws and samplers."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from audit.distributions import Countable, Finite, Product
from audit.relations import Relation

SIGNIFICANCE = 1e-9
TAIL = 60  # beyond this many scales a geometric or Laplace law adds nothing


@pytest.fixture(scope="session")
def loss():
    """Return a function that gives the largest log-ratio of two laws.

    The ratio is taken at all points, in either direction.
    """
    return worst_log_ratio


@pytest.fixture(scope="session")
def pairs_of():
    """Return a function that yields every neighbouring pair of a finite domain."""
    return every_pair


@pytest.fixture(scope="session")
def agreement():
    """Return a function that computes the p-value of the chi-square test.

    It takes counts and probabilities, and pools all cells with fewer than 5 expected runs.
    """
    return chi_square


@pytest.fixture(scope="session")
def power():
    """Return a function that computes the power of the chi-square test.

    The significance is 1e-9. Its arguments are the true law, the assumed law and the number of runs.
    """

    def compute(true, assumed, size):
        true, assumed = np.asarray(true), np.asarray(assumed)
        excess = size * ((true - assumed) ** 2 / assumed).sum()
        limit = stats.chi2.isf(SIGNIFICANCE, len(true) - 1)
        return stats.ncx2.sf(limit, len(true) - 1, excess)

    return compute


def worst_log_ratio(left, right):
    if isinstance(left, Product):
        return sum(worst_log_ratio(p, q) for p, q in zip(left.factors, right.factors, strict=True))
    if isinstance(left, Finite):
        return max(abs(left.logpmf(outcome) - right.logpmf(outcome)) for outcome in left.support())
    if isinstance(left, Countable):
        points = np.arange(-TAIL, TAIL + 1)
        return float(np.abs(left.logpmf(points) - right.logpmf(points)).max())
    # the log-ratio of two Laplace laws is monotone or constant between and beyond the peaks: three points
    # suffice
    low, high = sorted([left.ppf(0.5), right.ppf(0.5)])
    points = np.array([low - 1.0, (low + high) / 2, high + 1.0])
    return float(np.abs(left.logpdf(points) - right.logpdf(points)).max())


def every_pair(subject):
    sizes = subject.size if isinstance(subject.size, tuple) else (subject.size, subject.size)
    relation = getattr(subject, "relation", Relation.REPLACE_ONE)
    for length in range(sizes[0], sizes[1] + 1):
        for database in product(subject.records, repeat=length):
            for neighbour in relation.neighbours(list(database), list(subject.records)):
                yield list(database), neighbour


def chi_square(counts, probabilities):
    counts, probabilities = np.asarray(counts, float), np.asarray(probabilities, float)
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-9)
    assert counts[probabilities == 0].sum() == 0
    expected = counts.sum() * probabilities
    rare = expected < 5
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        counts, expected = counts[expected > 0], expected[expected > 0]
    statistic = ((counts - expected) ** 2 / expected).sum()
    return stats.chi2.sf(statistic, len(counts) - 1)


@pytest.fixture(scope="session")
def shares():
    """Return a function that counts the given outcomes among outputs.

    Every output must be one of these outcomes.
    """

    def count(outputs, outcomes):
        seen = Counter(outputs.tolist() if isinstance(outputs, np.ndarray) else outputs)
        counts = [seen.pop(outcome, 0) for outcome in outcomes]
        assert not seen
        return counts

    return count
