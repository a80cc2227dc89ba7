"""Mechanisms run one after the other on the same database, or one of several at random."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.errors import InvalidValue, probability
from audit.values import canonical
from mechanisms.composition.accounting import claimed, parallel_bound, sequential_bound
from mechanisms.composition.budget import refuse_overspending
from mechanisms.composition.combined import Combined, drawn, law_of, listed, product_of, rows, suggested

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from audit.claims import PrivacyClaim
    from audit.distributions import Finite, Product

__all__ = ["RandomChoice", "Sequential", "mixture"]


def mixture(laws: Sequence[Finite], weights: Sequence[float]) -> Finite:
    """Return the law of an output that comes from one of several finite laws, chosen by the weights.

    Examples
    --------
    >>> from audit.distributions import Finite
    >>> mixture([Finite("ab", [0.5, 0.5]), Finite("b", [1.0])], [0.5, 0.5]).pmf("b")
    0.75
    """
    from audit.distributions import Finite

    found: dict[Hashable, Any] = {}
    masses: dict[Hashable, float] = {}
    for law, weight in zip(laws, weights, strict=True):
        shift = math.log(weight) if weight else -math.inf
        for place, log in enumerate(law.log_probabilities.tolist()):
            outcome = law.outcome(place)
            key = canonical.key(outcome)
            found.setdefault(key, outcome)
            masses[key] = float(np.logaddexp(masses.get(key, -np.inf), log + shift))
    return Finite(list(found.values()), log_probabilities=list(masses.values()))


@dataclass(frozen=True, kw_only=True)
class Sequential(Combined):
    """Run every part on the whole database; the output is the tuple of their outputs.

    Parameters
    ----------
    parts
        Subjects that claim privacy for the same relation.
    budget
        Refuse to exist if the claims add up to more than this.
    relation, records, size
        As for any subject; default: those of the first part.

    Raises
    ------
    OverspentError
        The claims add up to more than the budget: nothing has been drawn, nor can be.
    InvalidValue
        There are no parts, one of them claims nothing, or they claim for different relations.

    Guarantee
    ---------
    `sequential_bound` of the parts' claims (K11 Claim 2.2; B, "Composition"). The law is the product of
    theirs, where each declares one and none is a vector.

    Examples
    --------
    >>> from mechanisms import LaplaceMechanism, RandomizedResponse
    >>> both = Sequential(parts=[LaplaceMechanism(epsilon=0.5), LaplaceMechanism(epsilon=1.0)])
    >>> print(both.claim, both.distribution([1, 0, 1]).factors[0].cdf(2.0))
    PureDP(epsilon=1.5) 0.5
    """

    budget: PrivacyClaim | None = None

    name: ClassVar[str] = "sequential-composition"
    reference: ClassVar[str] = "K11 Claim 2.2; B, Composition"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.budget is not None:
            refuse_overspending([claimed(part) for part in self.subjects()], limit=self.budget)

    @property
    def claim(self) -> PrivacyClaim:
        """The privacy claimed: the sums."""
        return sequential_bound(claimed(subject) for subject in self.subjects())

    def __call__(self, database: Any, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return one output of each part."""
        return tuple(subject.call(database, rng) for subject in self.subjects())

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return `size` outputs: rows of a matrix where every part answers with one number, else tuples."""
        return rows([drawn(subject, database, size, rng=rng) for subject in self.subjects()])

    def distribution(self, database: Any) -> Product | None:
        """Return the exact law, None where a part has none or answers with a vector."""
        return product_of([law_of(subject, database) for subject in self.subjects()])

    def suggested_pairs(self) -> list[tuple[Any, Any]]:
        """Return what the parts suggest."""
        return [pair for subject in self.subjects() for pair in suggested(subject)]


@dataclass(frozen=True, kw_only=True)
class RandomChoice(Combined):
    """Run one part, chosen by public probabilities; which one is not told.

    Parameters
    ----------
    parts
        Subjects that claim privacy for the same relation.
    probabilities
        Of the parts, summing to 1.
    relation, records, size
        As for any subject; default: those of the first part.

    Guarantee
    ---------
    `parallel_bound` of the parts' claims: p(E) − e^ε·q(E) is the average of theirs.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> parts = [RandomizedResponse(epsilon=1.0), RandomizedResponse(epsilon=2.0)]
    >>> print(RandomChoice(parts=parts, probabilities=[0.5, 0.5]).claim)
    PureDP(epsilon=2)
    """

    probabilities: Sequence[float]

    name: ClassVar[str] = "random-choice"
    reference: ClassVar[str] = "K11 Claim 2.2 (g may be probabilistic)"

    def __post_init__(self) -> None:
        super().__post_init__()
        what = "A probability of `RandomChoice`"
        total = sum(probability(share, what=what) for share in self.probabilities)
        if len(self.probabilities) != len(self.parts) or abs(total - 1.0) > 1e-9:
            raise InvalidValue(
                f"The `probabilities` of `RandomChoice` must be {len(self.parts)} that sum to 1; "
                f"got {list(self.probabilities)!r:.60}."
            )

    @property
    def claim(self) -> PrivacyClaim:
        """The privacy claimed: the largest of the parts."""
        return parallel_bound(claimed(subject) for subject in self.subjects())

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one output of one part."""
        subject = self.subjects()[self._chosen(1, rng)[0]]
        return subject.call(database, rng)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs; every part draws all of them, so that run i draws alike everywhere."""
        chosen = self._chosen(size, rng).tolist()
        outputs = [listed(drawn(subject, database, size, rng=rng)) for subject in self.subjects()]
        return [outputs[part][run] for run, part in enumerate(chosen)]

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law, None where that of a part is not finite."""
        from audit.distributions import Finite

        laws = [law_of(subject, database) for subject in self.subjects()]
        finite = [law for law in laws if isinstance(law, Finite)]
        return mixture(finite, self.probabilities) if len(finite) == len(laws) else None

    def suggested_pairs(self) -> list[tuple[Any, Any]]:
        """Return what the parts suggest."""
        return [pair for subject in self.subjects() for pair in suggested(subject)]

    def _chosen(self, size: int, rng: np.random.Generator) -> Any:
        ends = np.cumsum(self.probabilities)
        return np.searchsorted(ends, rng.random(size) * ends[-1], side="right")
