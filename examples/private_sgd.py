"""Private gradient descent for the slope of a line through the origin.

The records are pairs (x, y) in [-1, 1].

    dp-audit run examples/private_sgd.py:wrong --html wrong.html
    dp-audit run examples/private_sgd.py:right

Each step sums the gradients of all records, clipped to length 1, and adds normal noise. `wrong` does not
clip, so one record with a large label can move a step by any amount.
"""

import math
from dataclasses import dataclass

import numpy as np

from audit import ApproximateDP, Relation

DELTA = 1e-5


def epsilon_of(steps: int, noise: float) -> float:
    """Return ε of `steps` steps with normal noise of scale `noise` and sensitivity 1.

    Derivation: each step is 1/(2·noise²)-zCDP, steps add up, and rho-zCDP implies
    (rho + 2·√(rho·ln(1/δ)), δ)-differential privacy (Bun and Steinke 2016).
    """
    rho = steps / (2 * noise**2)
    return rho + 2 * math.sqrt(rho * math.log(1 / DELTA))


@dataclass(frozen=True)
class PrivateSlope:
    """Gradient descent that publishes the weight after every step.

    Guarantee: (epsilon_of(steps, noise), DELTA)-differential privacy if one record is added or removed, and
    if the gradient of every record is clipped.
    """

    clip_each: bool
    steps: int = 3
    noise: float = 4.0

    relation = Relation.ADD_OR_REMOVE_ONE
    records = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (1.0, 50.0), (1.0, float("nan")))
    size = (0, 3)

    @property
    def claim(self) -> ApproximateDP:
        """The claim from the accounting above."""
        return ApproximateDP(epsilon_of(self.steps, self.noise), DELTA)

    def __call__(self, database, rng):
        """Return the weight after each step."""
        data = np.nan_to_num(np.array(database, dtype=float).reshape(-1, 2))
        weight, published = 0.0, []
        for _ in range(self.steps):
            gradients = 2 * data[:, 0] * (weight * data[:, 0] - data[:, 1])
            total = np.clip(gradients, -1.0, 1.0).sum() if self.clip_each else gradients.sum()
            weight -= 0.1 * (total + rng.normal(scale=self.noise))
            published.append(weight)
        return published


wrong, right = PrivateSlope(clip_each=False), PrivateSlope(clip_each=True)
