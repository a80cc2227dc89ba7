"""Audits of diffprivlib's mechanisms and tools, called as its documentation calls them.

    dp-audit run examples/diffprivlib_audit.py:laplace

Every claim is what the constructor was given. diffprivlib does not say which databases are neighbours; its
sensitivities do: means, sums, variances and quantiles are calibrated to one record replaced, histograms to
one record added or removed. The pairs are the hardest that we know for each: extremes of the bounds, ties,
constant data. diffprivlib draws its noise from the operating system, so a seed does not repeat these runs.
"""

from __future__ import annotations

import numpy as np
from declare import declare
from diffprivlib import mechanisms, tools

from audit import ApproximateDP, PureDP, Relation

ONE = PureDP(epsilon=1.0)
COUNTS = [([0, 0, 0], [0, 0, 1]), ([1, 1, 1], [1, 1, 0])]
# One record from one bound to the other: beside its like, beside its opposites, and alone.
EXTREMES = [([0.0] * 4, [0.0] * 3 + [1.0]), ([0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]), ([0.0], [1.0])]
TOUCHED = [([0.5] * 4, [0.5] * 3 + [1.0]), ([0.5] * 4, [0.5] * 3 + [0.0])]


# ---------------------------------------------------------------- mechanisms that add noise to a count


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace(database):
    """Count of ones with Laplace noise."""
    return mechanisms.Laplace(epsilon=1, sensitivity=1).randomise(sum(database))


@declare(claim=ApproximateDP(epsilon=1.0, delta=0.1), relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace_approximate(database):
    """Count of ones; the Laplace mechanism with a δ."""
    return mechanisms.Laplace(epsilon=1, delta=0.1, sensitivity=1).randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace_truncated(database):
    """Count of ones, clamped to what a count can be."""
    noise = mechanisms.LaplaceTruncated(epsilon=1, sensitivity=1, lower=0, upper=len(database))
    return noise.randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace_folded(database):
    """Count of ones, folded back into the range of a count."""
    noise = mechanisms.LaplaceFolded(epsilon=1, sensitivity=1, lower=0, upper=len(database))
    return noise.randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS, budget=50_000)
def laplace_bounded_domain(database):
    """Count of ones from the bounded Laplace mechanism, which widens its noise to pay for the bounds."""
    noise = mechanisms.LaplaceBoundedDomain(epsilon=1, sensitivity=1, lower=0, upper=len(database))
    return noise.randomise(sum(database))


@declare(claim=ApproximateDP(epsilon=1.0, delta=0.1), relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace_bounded_noise(database):
    """Count of ones with noise that never passes a bound; what it cannot reach costs δ."""
    return mechanisms.LaplaceBoundedNoise(epsilon=1, delta=0.1, sensitivity=1).randomise(sum(database))


@declare(claim=ApproximateDP(epsilon=0.0, delta=0.25), relation=Relation.REPLACE_ONE, pairs=COUNTS)
def uniform(database):
    """Count of ones with uniform noise: ε = 0, all of the loss in δ."""
    return mechanisms.Uniform(delta=0.25, sensitivity=1).randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def staircase(database):
    """Count of ones with the staircase mechanism."""
    return mechanisms.Staircase(epsilon=1, sensitivity=1).randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def snapping(database):
    """Count of ones with Mironov's snapping mechanism."""
    return mechanisms.Snapping(epsilon=1, sensitivity=1, lower=0, upper=3).randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def geometric(database):
    """Count of ones with two-sided geometric noise."""
    return mechanisms.Geometric(epsilon=1, sensitivity=1).randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def geometric_truncated(database):
    """Count of ones with geometric noise, clamped."""
    noise = mechanisms.GeometricTruncated(epsilon=1, sensitivity=1, lower=0, upper=len(database))
    return noise.randomise(sum(database))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def geometric_folded(database):
    """Count of ones with geometric noise, folded at half-integers."""
    noise = mechanisms.GeometricFolded(epsilon=1, sensitivity=1, lower=-0.5, upper=len(database) + 0.5)
    return noise.randomise(sum(database))


@declare(claim=ApproximateDP(epsilon=1.0, delta=0.01), relation=Relation.REPLACE_ONE, pairs=COUNTS)
def gaussian(database):
    """Count of ones with the classical Gaussian mechanism."""
    return mechanisms.Gaussian(epsilon=1, delta=0.01, sensitivity=1).randomise(sum(database))


@declare(
    claim=ApproximateDP(epsilon=1.0, delta=0.01), relation=Relation.REPLACE_ONE, pairs=COUNTS, budget=50_000
)
def gaussian_analytic(database):
    """Count of ones with the analytically calibrated Gaussian mechanism: tight."""
    return mechanisms.GaussianAnalytic(epsilon=1, delta=0.01, sensitivity=1).randomise(sum(database))


@declare(
    claim=ApproximateDP(epsilon=1.0, delta=0.01), relation=Relation.REPLACE_ONE, pairs=COUNTS, budget=20_000
)
def gaussian_discrete(database):
    """Count of ones with the discrete Gaussian mechanism: tight."""
    return mechanisms.GaussianDiscrete(epsilon=1, delta=0.01, sensitivity=1).randomise(sum(database))


# ---------------------------------------------------------------- selection and local randomisers

# The first score falls and all the others rise: what the exponential mechanism's factor 2 is for.
SCORES = [([1.0] + [0.0] * 20, [0.0] + [1.0] * 20), ([1.0, 1.0, 0.0], [1.0, 0.0, 1.0])]


@declare(claim=ONE, relation=Relation.QUERY_ANSWERS, pairs=SCORES)
def exponential(scores):
    """Index of a high score, by the exponential mechanism."""
    return mechanisms.Exponential(epsilon=1, sensitivity=1, utility=list(scores)).randomise()


@declare(claim=ONE, relation=Relation.QUERY_ANSWERS, pairs=SCORES)
def permute_and_flip(scores):
    """Index of a high score, by permute-and-flip."""
    return mechanisms.PermuteAndFlip(epsilon=1, sensitivity=1, utility=list(scores)).randomise()


@declare(
    claim=ONE,
    relation=Relation.ADD_OR_REMOVE_ONE,
    pairs=[([], ["a"]), (["a"] * 3 + ["b"] * 3, ["a"] * 4 + ["b"] * 3)],
)
def exponential_most_common(database):
    """Return a common item; a record added only raises scores, so `monotonic` halves the noise."""
    items = list("abcdefghijklmnopqrst")
    counts = [float(database.count(item)) for item in items]
    choice = mechanisms.Exponential(
        epsilon=1, sensitivity=1, utility=counts, monotonic=True, candidates=items
    )
    return choice.randomise()


@declare(claim=ONE, relation=Relation.LOCAL, pairs=[(["yes"], ["no"])])
def binary(database):
    """One answer by randomised response."""
    return mechanisms.Binary(epsilon=1, value0="no", value1="yes").randomise(database[0])


UTILITIES = [("red", "pink", 1.0), ("red", "blue", 3.0), ("pink", "blue", 2.0)]


@declare(
    claim=ONE,
    relation=Relation.LOCAL,
    pairs=[(["red"], ["blue"]), (["red"], ["pink"]), (["pink"], ["blue"])],
)
def exponential_categorical(database):
    """One category, likelier to become one that is near to it."""
    return mechanisms.ExponentialCategorical(epsilon=1, utility_list=UTILITIES).randomise(database[0])


# ---------------------------------------------------------------- tools: what a data scientist calls


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=EXTREMES + TOUCHED)
def mean(database):
    """Return the mean of values in [0, 1]."""
    return tools.mean(database, epsilon=1, bounds=(0, 1))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=[([0.0, -5.0], [0.0, 9.0]), ([0.0], [np.inf])])
def mean_outside_bounds(database):
    """Return the mean of values that the bounds must clip, an infinite one included."""
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
    """Return the sum of whole numbers between 5 and 6, as a whole number."""
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


# The record that crosses makes the narrow interval above 0.9 likelier and the wide one below it less likely.
CROSSED = [([0.0, 0.9, 0.9, 1.0], [1.0, 0.9, 0.9, 1.0]), ([0.5] * 4, [0.5] * 3 + [1.0])]


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=CROSSED)
def median(database):
    """Return the median of values in [0, 1], ties and constant data among them."""
    return tools.median(database, epsilon=1, bounds=(0, 1))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=[([0.0, 0.9, 1.0, 1.0], [1.0, 0.9, 1.0, 1.0])])
def lower_quartile(database):
    """Return the lower quartile of values in [0, 1]."""
    return tools.quantile(database, 0.25, epsilon=1, bounds=(0, 1))


@declare(claim=ONE, relation=Relation.REPLACE_ONE, pairs=COUNTS)
def laplace_from_seed(database, rng):
    """Count of ones with noise drawn from the audit's generator: this one a seed repeats."""
    state = np.random.RandomState(rng.bit_generator)
    return mechanisms.Laplace(epsilon=1, sensitivity=1, random_state=state).randomise(sum(database))
