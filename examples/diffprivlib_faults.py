"""Calls of diffprivlib 0.6.6 that break the ε they are given.

    dp-audit run examples/diffprivlib_faults.py:nanmean

Each call has a pair that shows the fault. The documentation allows every call. If the library warns
(`PrivacyLeakWarning`) or upstream knows of the fault, `reference` says so. docs/libraries.md explains each
fault.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from declare import declare
from diffprivlib import mechanisms, models, tools
from diffprivlib.utils import PrivacyLeakWarning

from audit import PureDP, Relation

fault = partial(declare, claim=PureDP(epsilon=1.0), expected="refuted", budget=20_000)
NAN = float("nan")
UPSTREAM = "https://github.com/IBM/differential-privacy-library/issues/"
NEW = "not reported upstream as far as we know"


# ---------------------------------------------------------------- noise calibrated to the wrong number


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([0.0] + [NAN] * 9, [1.0] + [NAN] * 9)],
    reference=f"sensitivity is divided by all records, the mean by those present; {NEW}",
)
def nanmean(database):
    """Return the mean of the values that are not missing.

    If m of n values are present, the loss is n/m times ε.
    """
    return tools.nanmean(database, epsilon=1, bounds=(0, 1))


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([0.0, 0.0] + [NAN] * 18, [0.0, 1.0] + [NAN] * 18)],
    reference=f"as nanmean; {NEW}",
)
def nanvar(database):
    """Return the variance of the values that are not missing."""
    return tools.nanvar(database, epsilon=1, bounds=(0, 1))


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([6.0] * 10, [6.0] * 9 + [NAN])],
    reference=f"a missing value counts as 0, which lies outside the bounds; {NEW}",
)
def nansum(database):
    """Return the sum of the values that are not missing, each between 5 and 6."""
    return tools.nansum(database, epsilon=1, bounds=(5, 6))


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([(0.1, 0.0), (0.0, 0.0)], [(0.1, 0.0), (1.0, 0.0)])],
    reference=UPSTREAM + "105",
)
def linear_regression(rows):
    """Return the slope of y on x.

    If the lower bound is 0, Σx² gets no noise.
    """
    model = models.LinearRegression(epsilon=1.0, bounds_X=(0, 1), bounds_y=(0, 1), fit_intercept=False)
    x, y = np.array(rows).T
    return float(model.fit(x.reshape(-1, 1), y).coef_[0])


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([(100.0, 1), (0.0, 0)], [(0.0, 1), (0.0, 0)])],
    reference=f"curvature bounded by norm/4 instead of norm²/4 (the argument is in {UPSTREAM}10); {NEW}",
)
def logistic_regression(rows):
    """Return the coefficient of x in a logistic model.

    x is at most 100, like an age or a weight in kg.
    """
    model = models.LogisticRegression(epsilon=1.0, data_norm=100.0, fit_intercept=False)
    x, y = np.array(rows).T
    return float(model.fit(x.reshape(-1, 1), y).coef_[0, 0])


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([(0.0, 0.0, 0)] * 2, [(9e-9, 0.0, 0), (0.0, 0.0, 0)])],
    reference=f"bounds within 1e-8 of one another are taken as equal when clipping; {NEW}",
)
def naive_bayes_small_units(rows):
    """Return a class mean of the first column.

    The library clips the two columns to the bounds of the second column.
    """
    model = models.GaussianNB(epsilon=1.0, bounds=([0.0, 0.0], [1e-12, 9e-9]))
    table = np.array(rows)
    return float(model.fit(table[:, :2], table[:, 2]).theta_[0, 0])


@fault(
    relation=Relation.ADD_OR_REMOVE_ONE,
    pairs=[([(0.5, 1.0)], [(0.5, 1.0), (0.5, 8.0)])],
    reference=f"sensitivity stays 1 whatever the weights; {NEW}",
)
def weighted_histogram(rows):
    """Return the total weights in two bins of [0, 1]."""
    values, weights = zip(*rows, strict=True)
    counts, _ = tools.histogram(values, epsilon=1, bins=2, range=(0, 1), weights=weights)
    return counts


# ---------------------------------------------------------------- finite-precision arithmetic


@fault(
    relation=Relation.LOCAL,
    pairs=[([2**60 + 128], [2**60 + 129])],
    reference=f"whole numbers above 2^53 are rounded as floats; {NEW}",
)
def geometric_large_numbers(database):
    """Return a time in nanoseconds with geometric noise for sensitivity 1."""
    return mechanisms.Geometric(epsilon=1, sensitivity=1).randomise(database[0])


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([1] * 4098 + [0] * 902, [1] * 4099 + [0] * 901)],
    reference=f"the sum is taken in half precision, where it moves in steps of 4 above 4096; {NEW}",
)
def total_in_half_precision(database):
    """Return the sum of a column of half-precision zeros and ones."""
    return tools.sum(np.array(database, dtype=np.float16), epsilon=1, bounds=(0, 1))


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([100, 100], [100, 0])],
    reference=f"the sum wraps around in the dtype asked for; {NEW}",
)
def total_that_wraps(database):
    """Return the sum of integers up to 100, computed in eight bits."""
    return tools.sum(np.array(database, dtype=np.int8), epsilon=1, bounds=(0, 100), dtype=np.int8)


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([0.0] * 509 + [1.0] * 3491, [0.0] * 510 + [1.0] * 3490)],
    reference=f"known as a crash, {UPSTREAM}107; that the crash tells on one record is not",
)
def median_of_many_ties(database):
    """Return the median of a large yes/no column.

    Only one of the intervals between sorted values has positive length. If its weight underflows to 0, all
    weights are 0, and the call raises an exception. Replacing one record can decide whether the call raises.
    """
    return tools.median(database, epsilon=1, bounds=(0, 1))


# ---------------------------------------------------------------- decisions from the data without noise


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([0.5, 0.5], [0.5, NAN])],
    reference=UPSTREAM + "80",
)
def mean_with_missing(database):
    """Return the mean of a column.

    If a value is missing (NaN), the output is NaN.
    """
    return tools.mean(database, epsilon=1, bounds=(0, 1))


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.9])],
    reference=f"the number of bins is computed from the data, and no warning is given; {NEW}",
)
def histogram_with_automatic_bins(database):
    """Return counts in bins of [0, 1].

    The library chooses the number of bins from the data.
    """
    counts, _ = tools.histogram(database, epsilon=1, bins="auto", range=(0, 1))
    return counts


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([0.0, 0.1], [0.0, 0.9])],
    reference="a matter of the relation: ε holds for a record added or removed, 2ε for one replaced",
)
def histogram_replacing_one(database):
    """Return counts in four bins, audited under replace-one.

    The library's other tools are calibrated to replace-one.
    """
    counts, _ = tools.histogram(database, epsilon=1, bins=4, range=(0, 1))
    return counts


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([(0.0, 0), (1.0, 0), (0.0, 1)], [(0.0, 0), (1.0, 0), (0.0, 0)])],
    reference=f"the classes are those present in the data; {NEW}",
)
def naive_bayes_classes(rows):
    """Return the class priors of naive Bayes.

    The number of priors reveals whether a class is empty.
    """
    x, y = np.array(rows).T
    return models.GaussianNB(epsilon=1.0, bounds=(0, 1)).fit(x.reshape(-1, 1), y).class_prior_


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([0.0] * 9 + [1.0], [0.0] * 9 + [100.0])],
    reference="the library warns: PrivacyLeakWarning",
)
def mean_without_bounds(database):
    """Return the mean, with bounds computed from the data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return tools.mean(database, epsilon=1)


@fault(
    relation=Relation.REPLACE_ONE,
    pairs=[([0.0, 0.0], [0.0, 1.0])],
    reference="documented: an integer random_state makes every answer the same",
)
def mean_with_a_seed(database):
    """Return the mean, with `random_state` set as in a reproducible script."""
    return tools.mean(database, epsilon=1, bounds=(0, 1), random_state=42)
