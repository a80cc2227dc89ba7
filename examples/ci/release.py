"""The released value: the mean of values that are clipped to [0, 1]."""

import math

import numpy as np

from audit import PureDP, edges


class Mean:
    """A mean with Laplace noise.

    Replacing one value moves the mean by at most 1/n.
    """

    claim, records, size = PureDP(epsilon=1.0), edges.floats(0, 1), 5

    def __call__(self, database, rng):
        """Return one release."""
        return float(self.sample(database, 1, rng)[0])

    def sample(self, database, size, rng):
        """Return many releases at once, which makes audits fast."""
        clipped = [0.0 if math.isnan(value) else min(max(value, 0.0), 1.0) for value in database]
        return np.mean(clipped) + rng.laplace(scale=1.0 / len(database), size=size)
