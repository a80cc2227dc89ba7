"""Publish the number of people in each town, and their mean income.

    dp-audit run examples/data_release.py:wrong --html wrong.html
    dp-audit run examples/data_release.py:right

`wrong` publishes a town only if somebody lives there, so a key of the output reveals that a record exists.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from audit import PureDP, Relation, adapters

TOWNS = ("Bonn", "Ulm")
HIGHEST = 100.0  # incomes are clipped to [0, HIGHEST], in thousands


def _noisy_sum(incomes: pd.Series, rng: np.random.Generator) -> float:
    return float(incomes.fillna(0.0).clip(0.0, HIGHEST).sum() + rng.laplace(scale=2 * HIGHEST))


def _by_what_occurs(frame: pd.DataFrame, rng: np.random.Generator) -> dict[str, float]:
    counts = {town: len(rows) + rng.laplace(scale=2.0) for town, rows in frame.groupby("town")}
    return {**counts, "income": _noisy_sum(frame["income"], rng)}


def _by_a_fixed_list(frame: pd.DataFrame, rng: np.random.Generator) -> dict[str, float]:
    counts = {town: (frame["town"] == town).sum() + rng.laplace(scale=2.0) for town in TOWNS}
    return {**counts, "income": _noisy_sum(frame["income"], rng)}


def _subject(function):
    incomes = (0.0, HIGHEST, 10 * HIGHEST, float("nan"))
    return replace(
        adapters.pandas(function, columns=["town", "income"]),
        claim=PureDP(epsilon=1.0),
        relation=Relation.ADD_OR_REMOVE_ONE,
        records=[(town, income) for town in TOWNS for income in incomes],
        size=(0, 3),
    )


wrong, right = _subject(_by_what_occurs), _subject(_by_a_fixed_list)
