"""Local randomizers and protocols that break their claim."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.errors import finite_number
from audit.relations import Relation
from mechanisms.local.algorithms import poll_twice
from mechanisms.local.laplace import LocalLaplace, only_record
from mechanisms.local.oracle import LROracle
from mechanisms.local.protocols import InteractiveProtocol
from mechanisms.responses.binary import RandomizedResponse
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from audit.distributions import Density
    from mechanisms.local.grouping import Grouped
    from mechanisms.subjects.neighbours import Pair

__all__ = [
    "HalfRangeLocalLaplace",
    "PerRoundProtocol",
    "ShiftedUniform",
    "TruthfulLie",
    "UnsplitLocalLaplace",
]


@dataclass(frozen=True, kw_only=True)
class TruthfulLie(RandomizedResponse):
    """Tells the truth with probability t = e^ε/(e^ε + 1), else tosses a fair coin.

    So the truth is reported with probability (1 + t)/2. The loss is ln((1 + t)/(1 − t)) = ln(2·e^epsilon +
    1), which is ln 5 for a claim of ln 2.

    Parameters
    ----------
    epsilon, size
        As in `RandomizedResponse`.

    Examples
    --------
    >>> round(TruthfulLie(epsilon=math.log(2)).truth, 12)
    0.833333333333
    """

    name: ClassVar[str] = "flawed-randomized-response-truthful-lie"
    reference: ClassVar[str] = "K11 §1.1 (Warner): the lie must be a lie"

    @property
    def log_odds(self) -> float:
        """The log-odds of a true report, ln(2·e^epsilon + 1)."""
        return self.epsilon + math.log(2.0 + math.exp(-self.epsilon))


@dataclass(frozen=True, kw_only=True)
class HalfRangeLocalLaplace(LocalLaplace):
    """The local Laplace randomizer R_g with half the right noise.

    The scale is b/epsilon, but values in [−b, b] are up to 2b apart. So the loss is 2·epsilon.

    Parameters
    ----------
    epsilon, query, bound, dimension, norm, vectorised, records
        As in `LocalLaplace`.

    Examples
    --------
    >>> HalfRangeLocalLaplace(epsilon=0.5).scale
    2.0
    """

    name: ClassVar[str] = "flawed-local-laplace-half-range"
    reference: ClassVar[str] = "K11 §5.1.1: the sensitivity of g: D → [−b, b] is 2b"

    @property
    def scale(self) -> float:
        """Scale of the noise, which is half of what the claim needs."""
        return super().scale / 2.0


@dataclass(frozen=True, kw_only=True)
class UnsplitLocalLaplace(LocalLaplace):
    """The local Laplace randomizer R_g that spends epsilon on every coordinate.

    Each of the d coordinates has noise of scale 2b/epsilon. Between entries that are −b and b in every
    coordinate, the loss is d·epsilon.

    Parameters
    ----------
    epsilon, query, bound, dimension, norm, vectorised, records
        As in `LocalLaplace`.

    Examples
    --------
    >>> UnsplitLocalLaplace(epsilon=0.5).scale
    4.0
    """

    dimension: int | None = 2
    records: Sequence[Any] = ((-1, -1), (-1, 1), (1, 1))

    name: ClassVar[str] = "flawed-local-laplace-unsplit"
    reference: ClassVar[str] = "K11 Theorem 2.3: the L1 sensitivity of d coordinates is 2bd"

    @property
    def scale(self) -> float:
        """Scale of the noise, which suits one coordinate alone."""
        return 2.0 * self.bound / self.epsilon


@dataclass(frozen=True, kw_only=True)
class ShiftedUniform(ClaimsItsEpsilon):
    """The randomizer R(u) = u + Uniform[0, 1], which reveals its entry u.

    K11 Definition 5.1 holds, because it bounds only the probabilities of single points, which are 0. For the
    entries 0 and 1 the answers lie in [0, 1] and [1, 2], so the loss is infinite.

    Parameters
    ----------
    epsilon
        The privacy claimed.

    Examples
    --------
    >>> ShiftedUniform().distribution([1]).cdf(1.0)
    0.0
    """

    epsilon: float = 1.0

    name: ClassVar[str] = "flawed-local-shifted-uniform"
    reference: ClassVar[str] = "K11 Definition 5.1, K08 Definition 4.3: single outcomes"
    relation: ClassVar[Relation] = Relation.LOCAL
    records: ClassVar[Sequence[int]] = (0, 1)
    size: ClassVar[int] = 1
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        finite_number(self.epsilon, what="The `epsilon` of `ShiftedUniform`", above=0)

    def __call__(self, database: Sequence[Any], rng: np.random.Generator) -> float:
        """Return one answer."""
        return float(self.sample(database, 1, rng)[0])

    def sample(self, database: Sequence[Any], size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return `size` answers.

        The random number of run i does not depend on the entry.
        """
        return rng.random(size) + float(only_record(database, owner="ShiftedUniform"))

    def distribution(self, database: Sequence[Any]) -> Density:
        """Return the exact law of an answer."""
        from audit.distributions import Density

        low = float(only_record(database, owner="ShiftedUniform"))
        return Density.uniform(low, low + 1.0)

    def suggested_pairs(self) -> list[Pair]:
        """Return the only pair of databases."""
        return [([0], [1])]


@dataclass(frozen=True, kw_only=True)
class PerRoundProtocol(InteractiveProtocol):
    """A protocol in which each round spends an entry's whole budget.

    So the loss can be 2·epsilon.

    Parameters
    ----------
    algorithm, coins, epsilon, size, records
        As in `InteractiveProtocol`.

    Examples
    --------
    >>> def same_twice(size):
    ...     first = yield range(size), RandomizedResponse(epsilon=1.0)
    ...     second = yield range(size), RandomizedResponse(epsilon=1.0)
    ...     return (*first.tolist(), *second.tolist())
    >>> protocol = PerRoundProtocol(algorithm=same_twice, epsilon=1.0, size=1)
    >>> law, other = (protocol.distribution([bit]) for bit in (1, 0))
    >>> round(law.logpmf((1, 1)) - other.logpmf((1, 1)), 12)
    2.0
    """

    name: ClassVar[str] = "flawed-local-budget-per-round"
    reference: ClassVar[str] = "K11 Definition 5.3: ε₁ + … + ε_k ≤ ε over all questions to an entry"

    @property
    def _allowed(self) -> float:
        return 2.0 * super()._allowed

    def _oracle(self, entries: Grouped, rng: np.random.Generator) -> LROracle:
        return LROracle(entries, epsilon=self._allowed, rng=rng)


entries = (
    Entry(
        TruthfulLie.name,
        TruthfulLie,
        expected="refuted",
        reference=TruthfulLie.reference,
        summary="lies with a coin that may tell the truth: loss ln 5, not ln 2",
    ),
    Entry(
        HalfRangeLocalLaplace.name,
        HalfRangeLocalLaplace,
        expected="refuted",
        reference=HalfRangeLocalLaplace.reference,
        summary="noise b/ε for a query in [−b, b]: loss 2ε",
    ),
    Entry(
        UnsplitLocalLaplace.name,
        UnsplitLocalLaplace,
        expected="refuted",
        reference=UnsplitLocalLaplace.reference,
        summary="spends ε on each of two coordinates: loss 2ε",
    ),
    Entry(
        ShiftedUniform.name,
        ShiftedUniform,
        expected="refuted",
        reference=ShiftedUniform.reference,
        summary="u + Uniform[0, 1], private by single outcomes only: unbounded",
    ),
    Entry(
        PerRoundProtocol.name,
        partial(PerRoundProtocol, algorithm=partial(poll_twice, epsilon=2.0), epsilon=1.0, size=2),
        options={"budget": 20_000},
        expected="refuted",
        reference=PerRoundProtocol.reference,
        summary="the budget anew in each of two rounds: loss 2ε",
    ),
)
