"""Mechanisms that run all of several mechanisms, or one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.claims import check_claim
from audit.errors import InvalidValue, probability
from mechanisms.composition.accounting import claimed, parallel_bound, sequential_bound
from mechanisms.composition.budget import refuse_overspending
from mechanisms.composition.combined import (
    Combined,
    columns_of,
    drawn,
    laid_out,
    law_of,
    listed,
    product_of,
    rows,
    suggested,
)
from mechanisms.composition.mixing import mixture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audit.claims import PrivacyClaim
    from audit.distributions import Law, Product

__all__ = ["RandomChoice", "Sequential"]


@dataclass(frozen=True, kw_only=True)
class Sequential(Combined):
    """Run every mechanism on the whole database, and return all outputs.

    Parameters
    ----------
    parts
        Mechanisms that claim privacy for the same relation.
    budget
        The most to which the claims of the parts may add up.
    relation, records, size
        As for any mechanism. Default: those of the first part.

    Raises
    ------
    OverspentError
        The claims add up to more than the budget. No part was run.
    InvalidValue
        There are no parts, one of them claims nothing, or they claim for different relations.

    Guarantee
    ---------
    The privacy is `sequential_bound` of the parts' claims (K11 Claim 2.2; B, "Composition"). If all parts
    declare laws, the law of the output is the product of these laws. A vector counts as its coordinates.

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
            refuse_overspending([claimed(part) for part in self.subjects()], limit=check_claim(self.budget))

    @property
    def claim(self) -> PrivacyClaim:
        """The privacy claimed, which is the sum of the parts' claims."""
        return sequential_bound(claimed(subject) for subject in self.subjects())

    def __call__(self, database: Any, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return one output of each part."""
        told = ((subject, subject.call(database, rng)) for subject in self.subjects())
        return tuple(value for subject, output in told for value in laid_out(subject, database, output))

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return `size` outputs, as a matrix or as tuples."""
        told = [(subject, drawn(subject, database, size, rng=rng)) for subject in self.subjects()]
        return rows(
            [column for subject, outputs in told for column in columns_of(subject, database, outputs)]
        )

    def distribution(self, database: Any) -> Product | None:
        """Return the exact law, or None if a part has none."""
        return product_of([law_of(subject, database) for subject in self.subjects()])

    def suggested_pairs(self) -> list[tuple[Any, Any]]:
        """Return the pairs of databases that the parts suggest."""
        return [pair for subject in self.subjects() for pair in suggested(subject)]


@dataclass(frozen=True, kw_only=True)
class RandomChoice(Combined):
    """Run one mechanism, chosen with public probabilities.

    Parameters
    ----------
    parts
        Mechanisms that claim privacy for the same relation.
    probabilities
        The probability of each part; they sum to 1.
    relation, records, size
        As for any mechanism. Default: those of the first part.

    Guarantee
    ---------
    The privacy is `parallel_bound` of the parts' claims. Let p and q be the output laws on two databases. For
    an event E, p(E) − e^ε·q(E) is the average of this difference over the parts.

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
        """The privacy claimed, with the largest epsilon and delta of the parts."""
        return parallel_bound(claimed(subject) for subject in self.subjects())

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one output of one part."""
        subject = self.subjects()[self._chosen(1, rng)[0]]
        return subject.call(database, rng)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs.

        The random numbers of run i do not depend on the database.
        """
        chosen = self._chosen(size, rng).tolist()
        outputs = [listed(drawn(subject, database, size, rng=rng)) for subject in self.subjects()]
        return [outputs[part][run] for run, part in enumerate(chosen)]

    def distribution(self, database: Any) -> Law | None:
        """Return the exact law of the output, or None.

        The law is known if every part's law is finite, a density or a mixture of both.
        """
        return mixture([law_of(subject, database) for subject in self.subjects()], self.probabilities)

    def suggested_pairs(self) -> list[tuple[Any, Any]]:
        """Return the pairs of databases that the parts suggest."""
        return [pair for subject in self.subjects() for pair in suggested(subject)]

    def _chosen(self, size: int, rng: np.random.Generator) -> Any:
        ends = np.cumsum(self.probabilities)
        return np.searchsorted(ends, rng.random(size) * ends[-1], side="right")
