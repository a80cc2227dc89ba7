"""Release the keys in the data whose noisy count is large enough."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.claims import ApproximateDP
from audit.errors import positive_int
from audit.relations import Relation
from mechanisms.noise.noises import GeometricNoise
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from mechanisms.subjects.neighbours import Pair

__all__ = ["ThresholdRelease"]


@dataclass(frozen=True, kw_only=True)
class ThresholdRelease(PlainParameters):
    """Publish keys with their noisy counts, if these exceed a threshold.

    Parameters
    ----------
    epsilon
        The claimed epsilon, which is also the rate of the noise, > 0.
    threshold
        Noisy counts strictly above this number are published.
    size
        Least and greatest length of audited databases.

    Guarantee
    ---------
    (epsilon, delta)-differential privacy if a record is added or removed. The noise is two-sided geometric,
    and delta is its tail Pr[1 + noise > threshold] = e^(−threshold·epsilon)/(1 + e^(−epsilon)). Another
    record of a key in the data changes one count by 1, so probabilities change by a factor of at most
    e^epsilon. The first record of a key makes the key visible with probability delta. Otherwise the output is
    the same as without it. A first record in an empty database attains this delta.

    Examples
    --------
    >>> round(ThresholdRelease(threshold=5).delta, 6)
    0.004926
    """

    epsilon: float = 1.0
    threshold: int = 5
    size: int | tuple[int, int] = (0, 4)

    name: ClassVar[str] = "threshold-release"
    reference: ClassVar[str] = "Korolova et al. 2009; opendp issue 2922 (`>` where delta says `>`)"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE

    def __post_init__(self) -> None:
        GeometricNoise(self.epsilon)
        positive_int(self.threshold, what=f"The `threshold` of `{type(self).__name__}`")

    @property
    def delta(self) -> float:
        """The delta claimed: Pr[noise ≥ threshold]."""
        return math.exp(-self.threshold * self.epsilon) / (1.0 + math.exp(-self.epsilon))

    @property
    def claim(self) -> ApproximateDP:
        """The privacy claimed."""
        return ApproximateDP(self.epsilon, self.delta)

    @property
    def records(self) -> Any:
        """A Hypothesis strategy for records, which are short texts."""
        from hypothesis import strategies  # runs do not need it

        return strategies.text(max_size=3)

    def __call__(self, database: Sequence[str], rng: np.random.Generator) -> tuple[tuple[str, int], ...]:
        """Return the published keys in order, with their noisy counts."""
        counts = sorted(Counter(database).items())
        noise = GeometricNoise(self.epsilon).sample(len(counts), rng).tolist()
        noisy = ((key, count + draw) for (key, count), draw in zip(counts, noise, strict=True))
        return tuple((key, value) for key, value in noisy if self.is_released(value))

    def is_released(self, value: int) -> bool:
        """Return whether a noisy count is published."""
        return value > self.threshold

    def suggested_pairs(self) -> list[Pair]:
        """Return two pairs of neighbours.

        One pair adds the first record of a key, the other pair a further record.
        """
        return [([], ["k"]), (["k"] * 3, ["k"] * 4)]


entry = Entry(
    ThresholdRelease.name,
    ThresholdRelease,
    options={"budget": 30_000},
    reference=ThresholdRelease.reference,
    summary="keys with noisy counts above a threshold (no law)",
)
