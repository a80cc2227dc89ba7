"""A scaler with `fit` for one column of values in [0, 10], at ε = 1.

    dp-audit run examples/estimator.py:wrong --html wrong.html
    dp-audit run examples/estimator.py:right

`wrong` publishes its scale without noise. `right` spends half of ε on each attribute, and keeps the noisy
scale away from 0.
"""

from dataclasses import replace

import numpy as np

from audit import PureDP, adapters

WIDTH = 10.0


class WrongScaler:
    """Centre and scale a column, without noise on the scale."""

    def fit(self, X, rng):
        """Learn mean and scale."""
        column = np.clip(np.nan_to_num(X[:, 0]), 0.0, WIDTH)
        self.mean_ = column.mean() + rng.laplace(scale=WIDTH / len(column))
        self.scale_ = column.std()
        return self


class RightScaler:
    """Centre and scale a column by two noisy moments, at ε/2 each."""

    def fit(self, X, rng):
        """Learn mean and scale."""
        column = np.clip(np.nan_to_num(X[:, 0]), 0.0, WIDTH)
        self.mean_ = column.mean() + rng.laplace(scale=2 * WIDTH / len(column))
        square = (column**2).mean() + rng.laplace(scale=2 * WIDTH**2 / len(column))
        self.scale_ = float(np.sqrt(max(square - self.mean_**2, 0.01)))
        return self


def _subject(scaler):
    mechanism = adapters.sklearn(scaler, attributes=["mean_", "scale_"])
    return replace(mechanism, claim=PureDP(epsilon=1.0), records=[0.0, 5.0, 10.0, 1e6, float("nan")], size=4)


wrong, right = _subject(WrongScaler), _subject(RightScaler)
