"""A_dist on gaps between scores instead of databases.

An exact audit of it covers every database size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.errors import InvalidValue, finite_number, positive_int
from mechanisms.formulas import selection
from mechanisms.selection.scoring import TwoBest
from mechanisms.selection.stability import StableSelection, TightStableSelection
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from audit.claims import ApproximateDP
    from audit.distributions import Finite
    from mechanisms.subjects.neighbours import Pair

__all__ = ["ScoreGaps", "StableSelectionGaps", "TightStableSelectionGaps"]

_STEP = 2
"""The most by which a difference of two scores moves."""


@dataclass(frozen=True)
class ScoreGaps:
    """The relation between gaps that differ by at most 2.

    The gap [g] says that one solution leads by g or, if g < 0, that another solution leads by −g. The
    difference of two scores of sensitivity 1 moves by at most 2.

    Examples
    --------
    >>> ScoreGaps().are_neighbours([1], [-1]), ScoreGaps().are_neighbours([2], [-1])
    (True, False)
    >>> list(ScoreGaps().neighbours([0], range(-3, 4)))
    [[-2], [-1], [1], [2]]
    """

    name: ClassVar[str] = "score-gaps"

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Return whether two gaps can occur on neighbouring databases."""
        return len(left) == len(right) == 1 and 0 < abs(left[0] - right[0]) <= _STEP

    def neighbours(
        self, database: Sequence[Any], records: Sequence[Any], rng: Any = None
    ) -> Iterator[list[Any]]:
        """Yield all neighbours among the gaps `records`, or random ones if `rng` is given.

        The random stream has no end.
        """
        near = [[gap] for gap in records if self.are_neighbours(database, [gap])]
        if rng is None:
            yield from near
            return
        while near:
            yield near[int(rng.integers(len(near)))]


@dataclass(frozen=True)
class _TwoSolutions:
    """Two solutions with a signed gap."""

    def two_best(self, database: Sequence[Any]) -> TwoBest:
        gap = _gap(database)
        return TwoBest("f" if gap > 0 else "f′", abs(gap), 0.0)


def _gap(database: Sequence[Any]) -> float:
    if len(database) != 1:
        raise InvalidValue(f"A database of gaps must hold one gap; got {len(database)}.")
    return finite_number(database[0], what="A gap")


@dataclass(frozen=True, kw_only=True)
class StableSelectionGaps(PlainParameters):
    """A_dist on all pairs of gaps that neighbouring databases can have.

    Parameters
    ----------
    epsilon, delta
        As in `StableSelection`.
    largest
        Gaps run from −largest to largest. Default: 3 beyond the threshold.

    Raises
    ------
    InvalidValue
        As in `StableSelection`.

    Guarantee
    ---------
    What holds for all pairs of these gaps holds for A_dist on databases of every size. There may be any
    number ≥ 2 of solutions, and any whole scores of sensitivity 1. The answer depends on the best solution
    and its gap alone. Take two neighbouring databases with gaps g and g′. If they have the same best
    solution, |g − g′| ≤ 2. The gap is the least of several differences that move by at most 2. Suppose their
    best solutions are different, f and f′. For the score q, the difference q(f) − q(f′) is at least g on one
    database and at most −g′ on its neighbour. It moves by at most 2, so g + g′ ≤ 2. A tie, in which f is not
    returned, is the gap 0. In each case the two laws are those of signed gaps that differ by at most 2.

    Larger gaps need no check. Let b be the scale of the noise and ε′ any privacy loss. Take two gaps beyond
    the threshold, and let x be Pr[⊥1] at the smaller one. The excess over e^ε′ times the neighbour's
    probability is x·(1 − e^(ε′ − 2/b)) for "⊥1" and (1 − e^ε′) + x·(e^ε′ − e^(−2/b)) for f. Each excess grows
    with x or is not positive, and x falls as the gap grows. Scores that are not whole change nothing at ε′ ≥
    2/b. Only the pairs of case (ii) of `StableSelection` have an excess there, and it is largest at gap 2.

    Examples
    --------
    >>> subject = StableSelectionGaps(epsilon=1.0, delta=1e-6)
    >>> print(subject.claim, subject.records[-1], subject.distribution([0]).pmf("f"))
    ApproximateDP(epsilon=1, delta=1e-06) 61 0.0
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    largest: int | None = None

    name: ClassVar[str] = "stable-selection-gaps"
    reference: ClassVar[str] = "BNS Proposition 2(i), all gaps"
    relation: ClassVar[ScoreGaps] = ScoreGaps()
    size: ClassVar[int] = 1
    aligned: ClassVar[bool] = True
    family: ClassVar[str] = "every database of every size"

    _kind: ClassVar[type[StableSelection]] = StableSelection

    def __post_init__(self) -> None:
        _ = self.mechanism
        if self.largest is not None:
            positive_int(self.largest, what=f"The `largest` of `{type(self).__name__}`", minimum=2)

    @property
    def mechanism(self) -> StableSelection:
        """The mechanism on two solutions with a given gap."""
        return self._kind(epsilon=self.epsilon, delta=self.delta, leaders=_TwoSolutions())

    @property
    def claim(self) -> ApproximateDP:
        """The privacy claimed."""
        return self.mechanism.claim

    @property
    def records(self) -> range:
        """All gaps."""
        largest = self.largest or max(2, math.ceil(self.mechanism.threshold)) + _STEP + 1
        return range(-largest, largest + 1)

    def __call__(self, database: Sequence[Any], rng: np.random.Generator) -> Any:
        """Return "f" or "f′", "⊥1" or "⊥2"."""
        return self.mechanism(database, rng)

    def sample(self, database: Sequence[Any], size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` answers."""
        return self.mechanism.sample(database, size, rng)

    def distribution(self, database: Sequence[Any]) -> Finite:
        """Return the exact law of the answer."""
        return self.mechanism.distribution(database)

    def suggested_pairs(self) -> list[Pair]:
        """Return two pairs of gaps, 2 and 0 (a tie), and 1 and −1 (another leader)."""
        return [([2], [0]), ([1], [-1])]


@dataclass(frozen=True, kw_only=True)
class TightStableSelectionGaps(StableSelectionGaps):
    """The tight A_dist on all pairs of gaps of neighbouring databases.

    Parameters
    ----------
    epsilon, delta, largest
        As in `StableSelectionGaps`. delta ≤ 1/2.

    Examples
    --------
    >>> subject = TightStableSelectionGaps(epsilon=1.0, delta=1e-6)
    >>> round(subject.distribution([2]).pmf("f") / 1e-6, 12)
    1.0
    """

    name: ClassVar[str] = "tight-stable-selection-gaps"
    reference: ClassVar[str] = "BNS Proposition 2(i), all gaps, with the noise that it needs"

    _kind: ClassVar[type[StableSelection]] = TightStableSelection


entries = (
    Entry(
        StableSelectionGaps.name,
        StableSelectionGaps,
        reference=StableSelectionGaps.reference,
        summary="A_dist on every pair of gaps: every database size",
        formulas=selection.stable_gaps,
    ),
    Entry(
        TightStableSelectionGaps.name,
        TightStableSelectionGaps,
        reference=TightStableSelectionGaps.reference,
        summary="tight A_dist on every pair of gaps: (ε, δ) exactly",
        formulas=selection.tight_gaps,
    ),
)
