"""Audits of diffprivlib's mechanisms and tools, called as in its documentation.

    dp-audit run examples/diffprivlib_audit.py:laplace

Every claim is the ε (and δ) given to the constructor. The sensitivities of diffprivlib imply its
neighbours: one record is replaced, or for histograms added or removed. Each audit uses the hardest pairs
that we know: extremes of the bounds, ties, constant data. diffprivlib draws its noise from the operating
system, so a seed does not repeat these runs.
"""

from __future__ import annotations

import numpy as np
from declare import declare
from diffprivlib import mechanisms, tools

from audit import ApproximateDP, PureDP, Relation

ONE = PureDP(epsilon=1.0)
COUNTS = [([0, 0, 0], [0, 0, 1]), ([1, 1, 1], [1, 1, 0])]
# One record moves from one bound to the other: among equal records, among opposite ones, and alone.
EXTREMES = [([0.0] * 4, [0.0] * 3 + [1.0]), ([0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]), ([0.0], [1.0])]
TOUCHED = [([0.5] * 4, [0.5] * 3 + [1.0]), ([0.5] * 4, [0.5] * 3 + [0.0])]


# ---------------------------------------------------------------- mechanisms that add noise to a count


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace(database):
    """Return the count of ones with Laplace noise."""
    return mechanisms.Laplace(epsilon=1, sensitivity=1).randomise(sum(database))


@declare(claim=ApproximateDP(epsilon=1.0, delta=0.1), relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace_approximate(database):
    """Return the count of ones, from the Laplace mechanism with a δ."""
    return mechanisms.Laplace(epsilon=1, delta=0.1, sensitivity=1).randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace_truncated(database):
    """Return the count of ones with Laplace noise, clamped to the range of a count."""
    noise = mechanisms.LaplaceTruncated(epsilon=1, sensitivity=1, lower=0, upper=len(database))
    return noise.randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace_folded(database):
    """Return the count of ones with Laplace noise, folded into its range."""
    noise = mechanisms.LaplaceFolded(epsilon=1, sensitivity=1, lower=0, upper=len(database))
    return noise.randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS, budget=50_000)
def laplace_bounded_domain(database):
    """Return the count of ones, from the bounded Laplace mechanism.

    Its bounds cost extra noise.
    """
    noise = mechanisms.LaplaceBoundedDomain(epsilon=1, sensitivity=1, lower=0, upper=len(database))
    return noise.randomise(sum(database))


@declare(claim=ApproximateDP(epsilon=1.0, delta=0.1), relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace_bounded_noise(database):
    """Return the count of ones with bounded noise.

    δ covers outputs that one neighbour cannot give.
    """
    return mechanisms.LaplaceBoundedNoise(epsilon=1, delta=0.1, sensitivity=1).randomise(sum(database))


@declare(claim=ApproximateDP(epsilon=0.0, delta=0.25), relation=Relation.REPLACE_ONE, pairs=COUNTS)
def uniform(database):
    """Return the count of ones with uniform noise.

    Here ε = 0, and all of the loss is in δ.
    """
    return mechanisms.Uniform(delta=0.25, sensitivity=1).randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def staircase(database):
    """Return the count of ones, from the staircase mechanism."""
    return mechanisms.Staircase(epsilon=1, sensitivity=1).randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def snapping(database):
    """Return the count of ones, from Mironov's snapping mechanism."""
    return mechanisms.Snapping(epsilon=1, sensitivity=1, lower=0, upper=3).randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def geometric(database):
    """Return the count of ones with two-sided geometric noise."""
    return mechanisms.Geometric(epsilon=1, sensitivity=1).randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def geometric_truncated(database):
    """Return the count of ones with geometric noise, clamped to the range of a count."""
    noise = mechanisms.GeometricTruncated(epsilon=1, sensitivity=1, lower=0, upper=len(database))
    return noise.randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def geometric_folded(database):
    """Return the count of ones with geometric noise, folded at −1/2 and n + 1/2."""
    noise = mechanisms.GeometricFolded(epsilon=1, sensitivity=1, lower=-0.5, upper=len(database) + 0.5)
    return noise.randomise(sum(database))


@declare(claim=ApproximateDP(epsilon=1.0, delta=0.01), relation=Relation.REPLACE_ONE, pairs=COUNTS)
def gaussian(database):
    """Return the count of ones, from the classical Gaussian mechanism."""
    return mechanisms.Gaussian(epsilon=1, delta=0.01, sensitivity=1).randomise(sum(database))


@declare(
    claim=ApproximateDP(epsilon=1.0, delta=0.01), relation=Relation.REPLACE_ONE, pairs=COUNTS, budget=50_000
)
def gaussian_analytic(database):
    """Return the count of ones, from the analytic Gaussian mechanism.

    Its claim is tight.
    """
    return mechanisms.GaussianAnalytic(epsilon=1, delta=0.01, sensitivity=1).randomise(sum(database))


@declare(
    claim=ApproximateDP(epsilon=1.0, delta=0.01), relation=Relation.REPLACE_ONE, pairs=COUNTS, budget=20_000
)
def gaussian_discrete(database):
    """Return the count of ones, from the discrete Gaussian mechanism.

    Its claim is tight.
    """
    return mechanisms.GaussianDiscrete(epsilon=1, delta=0.01, sensitivity=1).randomise(sum(database))


# ---------------------------------------------------------------- selection and local randomisers

# The first score falls and all others rise: the case that needs the factor 2 of the exponential mechanism.
SCORES = [([1.0] + [0.0] * 20, [0.0] + [1.0] * 20), ([1.0, 1.0, 0.0], [1.0, 0.0, 1.0])]


@declare(claim=ONE, relation=Relation.QUERY_ANSWERS, pairs=SCORES)
def exponential(scores):
    """Return the index of a high score, by the exponential mechanism."""
    return mechanisms.Exponential(epsilon=1, sensitivity=1, utility=list(scores)).randomise()


@declare(claim=ONE, relation=Relation.QUERY_ANSWERS, pairs=SCORES)
def permute_and_flip(scores):
    """Return the index of a high score, by permute-and-flip."""
    return mechanisms.PermuteAndFlip(epsilon=1, sensitivity=1, utility=list(scores)).randomise()


@declare(
    claim=ONE,
    relation=Relation.ADD_OR_REMOVE_ONE,
    pairs=[([], ["a"]), (["a"] * 3 + ["b"] * 3, ["a"] * 4 + ["b"] * 3)],
)
def exponential_most_common(database):
    """Return a common item.

    Adding a record can only raise scores, so `monotonic` halves the noise.
    """
    items = list("abcdefghijklmnopqrst")
    counts = [float(database.count(item)) for item in items]
    choice = mechanisms.Exponential(
        epsilon=1, sensitivity=1, utility=counts, monotonic=True, candidates=items
    )
    return choice.randomise()


@declare(claim=ONE, relation=Relation.LOCAL, pairs=[(["yes"], ["no"])])
def binary(database):
    """Return one answer by randomised response."""
    return mechanisms.Binary(epsilon=1, value0="no", value1="yes").randomise(database[0])


UTILITIES = [("red", "pink", 1.0), ("red", "blue", 3.0), ("pink", "blue", 2.0)]


@declare(
    claim=ONE,
    relation=Relation.LOCAL,
    pairs=[(["red"], ["blue"]), (["red"], ["pink"]), (["pink"], ["blue"])],
)
def exponential_categorical(database):
    """Return a category, most likely one close to the true one."""
    return mechanisms.ExponentialCategorical(epsilon=1, utility_list=UTILITIES).randomise(database[0])


# ---------------------------------------------------------------- tools for data scientists


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=EXTREMES + TOUCHED)
def mean(database):
    """Return the mean of values in [0, 1]."""
    return tools.mean(database, epsilon=1, bounds=(0, 1))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=[([0.0, -5.0], [0.0, 9.0]), ([0.0], [np.inf])])
def mean_outside_bounds(database):
    """Return the mean of values outside the bounds.

    The tool clips the values, one of which is infinite.
    """
    return tools.mean(database, epsilon=1, bounds=(0, 1))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=EXTREMES[:2] + TOUCHED, budget=20_000)
def variance(database):
    """Return the variance of values in [0, 1]."""
    return tools.var(database, epsilon=1, bounds=(0, 1))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=EXTREMES[:2] + TOUCHED, budget=20_000)
def standard_deviation(database):
    """Return the standard deviation of values in [0, 1]."""
    return tools.std(database, epsilon=1, bounds=(0, 1))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=EXTREMES)
def total(database):
    """Return the sum of values in [0, 1]."""
    return tools.sum(database, epsilon=1, bounds=(0, 1))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=[([5, 5, 5], [5, 5, 6]), ([5], [6])])
def total_of_whole_numbers(database):
    """Return the sum of whole numbers between 5 and 6."""
    return tools.sum(database, epsilon=1, bounds=(5, 6), dtype=int)


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def count_nonzero(database):
    """Return the number of values that are not 0."""
    return tools.count_nonzero(database, epsilon=1)


@declare(
    claim=ONE,
    relation=Relation.ADD_OR_REMOVE_ONE,
    pairs=[([0.1, 0.9], [0.1, 0.9, 0.9]), ([], [0.5]), ([0.1] * 5, [0.1] * 4)],
)
def histogram(database):
    """Return counts in four bins of [0, 1]."""
    counts, _ = tools.histogram(database, epsilon=1, bins=4, range=(0, 1))
    return counts


# When a record crosses 0.9, the narrow interval above becomes more likely and the wide one below less likely.
CROSSED = [([0.0, 0.9, 0.9, 1.0], [1.0, 0.9, 0.9, 1.0]), ([0.5] * 4, [0.5] * 3 + [1.0])]


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=CROSSED)
def median(database):
    """Return the median of values in [0, 1].

    The pairs include ties and constant data.
    """
    return tools.median(database, epsilon=1, bounds=(0, 1))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=[([0.0, 0.9, 1.0, 1.0], [1.0, 0.9, 1.0, 1.0])])
def lower_quartile(database):
    """Return the lower quartile of values in [0, 1]."""
    return tools.quantile(database, 0.25, epsilon=1, bounds=(0, 1))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace_from_seed(database, rng):
    """Return the count of ones with noise that a seed repeats.

    The noise comes from the audit's generator.
    """
    state = np.random.RandomState(rng.bit_generator)
    return mechanisms.Laplace(epsilon=1, sensitivity=1, random_state=state).randomise(sum(database))
