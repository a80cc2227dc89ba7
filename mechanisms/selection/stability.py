"""A_dist, which returns a solution only if it is far ahead."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from audit.catalogue import Entry
from audit.claims import PAC, ApproximateDP
from audit.errors import InvalidKind, InvalidValue, finite_number, flag, probability
from audit.relations import Relation
from mechanisms.comparison.threshold import ThresholdTest
from mechanisms.formulas import selection
from mechanisms.selection.instances import answer_problem, blocks, voters
from mechanisms.selection.scoring import (
    Leaders,
    TwoBest,
    check_solutions,
    refuse_marks,
    scores_of,
    two_best,
)
from mechanisms.selection.swaps import revealing_swaps
from mechanisms.subjects.parameters import PlainParameters
from mechanisms.subjects.plain_queries import approvals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from audit.distributions import Finite
    from audit.problems import Problem
    from mechanisms.subjects.neighbours import Pair

__all__ = ["TIED", "UNSTABLE", "StableSelection", "TightStableSelection"]

UNSTABLE: Final = "⊥1"
"""The answer if the best solution is not far enough ahead."""
TIED: Final = "⊥2"
"""The answer if two solutions are best and the test passes."""


@dataclass(frozen=True, kw_only=True)
class StableSelection(PlainParameters):
    """A_dist, which returns the best solution if it is far ahead of all others.

    The gap between the two best scores, plus Lap(4/epsilon), is compared with (4/epsilon)·ln(1/delta) + 2. If
    the noisy gap is smaller, the answer is "⊥1". Otherwise it is the best solution, or "⊥2" for a tie.

    Parameters
    ----------
    epsilon, delta
        The privacy claimed, epsilon > 0 and 0 < delta < 1.
    score
        A function of a database and a solution that returns a finite number. Higher is better. It must move
        by at most 1 between neighbours, which is not checked. Default: how many records approve.
    solutions
        At least two distinct answers in a sequence, a range or a one-dimensional array. Public.
    vectorised
        Whether `score` takes a database and all solutions, and returns an array of scores.
    leaders
        For solutions too many to list: an object whose `two_best(database)` returns `TwoBest`. It replaces
        `score`, `solutions` and `vectorised`.
    relation, records, size
        Which databases are neighbours, their possible records, and their length (or least and greatest).
    beta
        The failure probability of `utility_claim`, in (0, 1).

    Raises
    ------
    InvalidValue
        `epsilon` or `delta` is out of bounds, there are fewer than two solutions, a solution is "⊥1" or "⊥2",
        or a score is not finite.

    Guarantee
    ---------
    (epsilon, delta)-differential privacy under `relation` (BNS Proposition 2(i)). In fact the mechanism is
    (epsilon/2, delta/2)-private. At every loss from epsilon/2 on, its exact delta is delta/2. If delta is
    small, the least loss at delta is below epsilon/2 by about delta at most.

    With b the scale and t the threshold, let f be best with gap g on one database, and let g′ be the gap on a
    neighbour.

    (i) If f is best on the neighbour too, |g − g′| ≤ 2. Then the probabilities of "⊥1" and of f both change
    by a factor of at most e^(2/b).

    (ii) Otherwise the neighbour never returns f. Since f leads by g on one database and not on the neighbour,
    g ≤ 2. So the database returns f with probability at most Pr[2 + Lap(b) ≥ t] = e^(−(t − 2)/b)/2. The same
    holds for a solution that only the neighbour returns. The gaps differ by at most 2, so "⊥1" changes as in
    (i).

    Here 2/b = epsilon/2 and (t − 2)/b = ln(1/delta). A gap of 2 on one database and a tie on a neighbour
    attain delta/2. Gaps g > 0 and g + 2 ≤ t of the same solution attain epsilon/2.

    Examples
    --------
    >>> mechanism = StableSelection(epsilon=4.0, delta=0.01, solutions="ab")
    >>> law = mechanism.distribution(["a"] * 9)
    >>> round(law.pmf("a"), 6), law.pmf("b"), mechanism.distribution(["ab"] * 9).pmf("a")
    (0.954406, 0.0, 0.0)
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    score: Callable[[Any, Any], Any] = approvals
    solutions: Sequence[Any] | NDArray[Any] = ("a", "b", "c")
    vectorised: bool = False
    leaders: Leaders | None = None
    relation: Any = Relation.REPLACE_ONE
    records: Sequence[Any] = ("", "a", "b", "c")
    size: int | tuple[int, int] = 3
    beta: float = 0.1

    name: ClassVar[str] = "stable-selection"
    reference: ClassVar[str] = "BNS §2.4, algorithm A_dist, and Proposition 2"
    aligned: ClassVar[bool] = True

    _highest_delta: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        owner = type(self).__name__
        flag(self.vectorised, what=f"The `vectorised` of `{owner}`")
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        probability(self.delta, what=f"The `delta` of `{owner}`", zero=False, one=False)
        probability(self.beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        self._refuse_delta()
        _ = self.test
        if self.leaders is None:
            self._refuse_solutions()
        elif not isinstance(self.leaders, Leaders):
            raise InvalidKind(
                f"The `leaders` of `{owner}` must have a method `two_best`; got {self.leaders!r:.60}."
            )

    @property
    def claim(self) -> ApproximateDP:
        """The privacy claimed."""
        return ApproximateDP(self.epsilon, self.delta)

    @property
    def utility_claim(self) -> PAC:
        """The claim that a best solution with a lead of `needed_gap` is returned."""
        return PAC(0.0, self.beta)

    def problems(self) -> list[Problem]:
        """Return databases with just the lead that the utility claim needs.

        The score must be the default one over words, or `leaders` a `MostFrequent`.

        Examples
        --------
        >>> [problem.name for problem in StableSelection().problems()]
        ['a lead of 64', 'a lead of 64, on many', 'a lead of 64, on a tie']
        """
        return self._leads(math.ceil(self.needed_gap(self.beta)))

    def printed_problems(self) -> list[Problem]:
        """Return databases with the lead of BNS Proposition 2(ii), rounded up.

        Examples
        --------
        >>> StableSelection(epsilon=5.0).printed_problems()[0].name
        'a lead of 14'
        """
        return self._leads(math.ceil(self.printed_gap(self.beta) * (1.0 - _ROUNDING)))

    def _leads(self, gap: int) -> list[Problem]:
        """Return problems in which the best solution leads by `gap`."""
        known = voters(self.solutions, self.score, self.leaders)
        if len(known) < 2:
            return []
        best, *others = known
        told = [
            (f"a lead of {gap}", blocks((best, gap))),
            (f"a lead of {gap}, on many", blocks((best, gap + _MANY), (others[0], _MANY))),
            (f"a lead of {gap}, on a tie", blocks((best, gap + 1), *((other, 1) for other in others))),
        ]
        return [answer_problem(name, database, answer=best) for name, database in told]

    @property
    def scale(self) -> float:
        """Scale of the noise on the gap."""
        return 4.0 / self.epsilon

    @property
    def threshold(self) -> float:
        """The least noisy gap at which the best solution is returned."""
        return 2.0 - self.scale * math.log(self.delta)

    @property
    def test(self) -> ThresholdTest:
        """The noisy comparison of the gap with the threshold."""
        return ThresholdTest(self.scale, self.threshold)

    def two_best(self, database: Any) -> TwoBest:
        """Return the best solution and the two best scores."""
        if self.leaders is None:
            return two_best(self.solutions, self._scores(database))
        return self._checked(self.leaders.two_best(database))

    def _scores(self, database: Any) -> NDArray[np.float64]:
        return scores_of(
            database,
            self.score,
            solutions=self.solutions,
            vectorised=self.vectorised,
            owner=type(self).__name__,
        )

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the best solution, "⊥1" or "⊥2"."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` answers. The noise does not depend on the database."""
        gap, answer = self._answer(database)
        return [answer if stable else UNSTABLE for stable in self.test.sample(gap, size, rng).tolist()]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the answer."""
        from audit.distributions import Finite

        gap, answer = self._answer(database)
        return Finite(
            [UNSTABLE, answer], log_probabilities=[self.test.log_fail(gap), self.test.log_pass(gap)]
        )

    def failure(self, gap: float) -> float:
        """Return the probability that a lead of `gap` gives no solution.

        Examples
        --------
        >>> StableSelection().failure(0.0), StableSelection().failure(StableSelection().threshold)
        (1.0, 0.5)
        """
        gap = finite_number(gap, what="The `gap` of `failure`", minimum=0)
        return 1.0 if gap == 0.0 else math.exp(self.test.log_fail(gap))

    def printed_gap(self, beta: float) -> float:
        """Return the gap that BNS Proposition 2(ii) states for a failure probability.

        Guarantee
        ---------
        The gap is (4/epsilon)·ln(2/(beta·delta)). For A_dist the statement is *false* for epsilon > 4·ln 2,
        because the proof omits the term 2 of the threshold. The failure probability is Pr[Lap(4/epsilon) < 2
        − (4/epsilon)·ln(2/beta)], which is (beta/4)·e^(epsilon/2) if epsilon ≤ 2·ln(2/beta).

        Examples
        --------
        >>> mechanism = StableSelection(epsilon=5.0)
        >>> round(mechanism.failure(mechanism.printed_gap(0.1)), 4)
        0.3046
        """
        beta = probability(beta, what="The `beta` of `printed_gap`", zero=False, one=False)
        return 4.0 / self.epsilon * (math.log(2.0) - math.log(beta) - math.log(self.delta))

    def needed_gap(self, beta: float) -> float:
        """Return the least lead with which the best solution is returned reliably.

        The allowed probability of a failure is `beta`.

        Guarantee
        ---------
        The value is exact if it is positive. (A gap of 0 always fails.) For beta ≤ 1/2 it is threshold +
        scale·ln(1/(2·beta)). For A_dist this is (4/epsilon)·ln(1/(2·beta·delta)) + 2.

        Examples
        --------
        >>> mechanism = StableSelection(epsilon=5.0)
        >>> round(mechanism.failure(mechanism.needed_gap(0.1)), 12)
        0.1
        """
        return max(0.0, self.test.value_that_fails(beta))

    def suggested_pairs(self) -> list[Pair]:
        """Return pairs of neighbours that need the largest delta."""
        most = self.size if isinstance(self.size, int) else self.size[1]
        many = self.leaders is None and len(self.solutions) > _FEW
        if most == 0 or many or self.relation is not Relation.REPLACE_ONE:
            return []
        return revealing_swaps(
            self.distribution,
            epsilon=self.epsilon,
            records=self.records,
            size=most,
            heads=(1, (most - 1) // 2),
        )

    def _answer(self, database: Any) -> tuple[float, Any]:
        """Return the gap, and the answer if the gap passes the test."""
        best = self.two_best(database)
        if not math.isfinite(best.gap):
            raise InvalidValue(f"The scores of `{type(self).__name__}` span more than floats can hold.")
        return best.gap, best.solution if best.gap > 0.0 else TIED

    def _checked(self, best: TwoBest) -> TwoBest:
        """Return a valid result of `leaders` with scores as floats."""
        owner = type(self).__name__
        score, runner_up = (
            finite_number(value, what=f"A score of the `leaders` of `{owner}`")
            for value in (best.score, best.runner_up)
        )
        if score < runner_up:
            raise InvalidValue(
                f"The `leaders` of `{owner}` must name the best first; "
                f"got scores {score:g} and {runner_up:g}."
            )
        refuse_marks([best.solution], (UNSTABLE, TIED), owner=owner)
        return TwoBest(best.solution, score, runner_up)

    def _refuse_delta(self) -> None:
        """Raise an error if the guarantee does not cover this delta."""

    def _refuse_solutions(self) -> None:
        check_solutions(
            self.solutions, least=2, marks=(UNSTABLE, TIED), instead="leaders", owner=type(self).__name__
        )


@dataclass(frozen=True, kw_only=True)
class TightStableSelection(StableSelection):
    """A_dist with half the noise and a lower threshold, whose claim is tight.

    The noise has scale 2/epsilon, and the threshold is (2/epsilon)·ln(1/(2·delta)) + 2.

    Parameters
    ----------
    epsilon, delta, score, solutions, vectorised, leaders, relation, records, size, beta
        As in `StableSelection`. delta ≤ 1/2.

    Guarantee
    ---------
    (epsilon, delta)-differential privacy. At epsilon no smaller delta is enough. The derivation of
    `StableSelection` holds for any noise scale b and threshold t, with the loss 2/b and the delta e^(−(t −
    2)/b)/2. With this b and t they are epsilon and delta. `needed_gap` is about half as large,
    (2/epsilon)·ln(1/(4·beta·delta)) + 2.

    Examples
    --------
    >>> claimed, tight = StableSelection(), TightStableSelection()
    >>> round(claimed.needed_gap(0.05), 1), round(tight.needed_gap(0.05), 1)
    (66.5, 32.8)
    """

    name: ClassVar[str] = "tight-stable-selection"
    reference: ClassVar[str] = "BNS §2.4, algorithm A_dist, with the noise that Proposition 2(i) needs"

    @property
    def scale(self) -> float:
        """Scale of the noise on the gap."""
        return 2.0 / self.epsilon

    @property
    def threshold(self) -> float:
        """The least noisy gap at which the best solution is returned."""
        return 2.0 - self.scale * math.log(2.0 * self.delta)

    def _refuse_delta(self) -> None:
        finite_number(self.delta, what="The `delta` of `TightStableSelection`", above=0, maximum=0.5)


_MANY = 50
"""The votes of a strong second solution in problems."""

_ROUNDING = 1e-12
"""A gap this close to a whole number is not rounded up."""

_FEW = 1000
"""Most solutions that the search for revealing pairs scores in full."""


entries = (
    Entry(
        StableSelection.name,
        partial(
            StableSelection, size=60
        ),  # above the threshold, 57.3: with fewer records the answer is nearly always a refusal
        utility={},
        reference=StableSelection.reference,
        summary="A_dist: the best candidate if far ahead; found: (ε/2, δ/2)",
        formulas=selection.stable,
    ),
    Entry(
        TightStableSelection.name,
        partial(TightStableSelection, size=32),  # the threshold is 28.2
        utility={},
        reference=TightStableSelection.reference,
        summary="A_dist with the noise that its claim needs",
        formulas=selection.tight_stable,
    ),
)
