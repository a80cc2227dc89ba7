"""The choosing mechanism, which chooses among solutions that some record supports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC, ApproximateDP
from audit.errors import InvalidValue, finite_number, flag, positive_int
from audit.problems import FixedProblem
from audit.relations import Relation
from mechanisms.comparison.threshold import ThresholdTest
from mechanisms.formulas import selection
from mechanisms.selection.choosing_round import ChoosingRound, check_terms, least_size
from mechanisms.selection.growth import GrowthCheck, check_growth
from mechanisms.selection.instances import contests, voters
from mechanisms.selection.scoring import (
    MostFrequent,
    candidates_of,
    check_candidates,
    check_solutions,
    scores_of,
    supported,
    whole_scores,
)
from mechanisms.selection.swaps import revealing_swaps
from mechanisms.subjects.parameters import PlainParameters
from mechanisms.subjects.plain_queries import approvals
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from audit.problems import Problem
    from mechanisms.subjects.neighbours import Pair

__all__ = ["REFUSED", "ChoosingMechanism"]

REFUSED: Final = "⊥"
"""The answer if no solution scores high."""


@dataclass(frozen=True, kw_only=True)
class ChoosingMechanism(StatedSize, PlainParameters):
    """Chooses among the solutions that score at least 1, or returns "⊥".

    The test is best score + Lap(4/epsilon) ≥ alpha·size/2. If it passes, the exponential mechanism with
    epsilon/2 chooses. If it fails, or no solution scores at least 1, the answer is "⊥".

    Parameters
    ----------
    epsilon, delta
        The privacy claimed, 0 < epsilon ≤ 16/(alpha·beta) and 0 < delta < 1.
    alpha, beta
        A solution is good if it scores within alpha·size of the best. beta is the failure probability.
    growth
        The number k of scores that one more record may raise, each by 1. Not checked; see `growth_check`.
    score
        A function of a database and a solution that returns a whole number ≥ 0. Default: how many records
        approve.
    solutions
        Every possible answer: distinct values in a sequence, a range or a one-dimensional array. Public.
    vectorised
        Whether `score` takes a database and all solutions, and returns an array of scores.
    candidates
        For solutions too many to list: a function of a database that returns a mapping. It maps every
        solution that scores at least 1 to its score, as `collections.Counter` and `MostFrequent(2**64)` do.
        `score`, `solutions` and `vectorised` are then not used.
    size
        The number m of records. A database of another length is refused. Default: the least allowed.
    records
        The possible records.

    Raises
    ------
    InvalidValue
        A parameter is out of bounds, or `size` is below `sample_size()`.

    Guarantee
    ---------
    (epsilon, delta)-differential privacy when one record is replaced, for a `growth`-bounded-growth score
    (BNS Lemma 4, which omits the bound 16/(alpha·beta) on epsilon).

    Let p be the law on S, q that on a neighbour, opt the best score on S, and u = e^(−epsilon·alpha·m/16). By
    the bound on m, u ≤ delta·e^(−epsilon/4) and k·u ≤ alpha·beta·epsilon/16 ≤ 1. Scores move by at most 1, so
    the test costs a factor e^(epsilon/4). (i) Let opt < alpha·m/4. Then passing has probability at most u/2 ≤
    delta/2, and p(⊥) ≤ e^(epsilon/4)·q(⊥). If no solution scores on S, p(⊥) = 1. Then the neighbour's best
    score is at most 1, so q(⊥) ≥ 1 − delta/2. (ii) Let opt ≥ alpha·m/4. Then the weight of a solution that
    scores on both moves by e^(epsilon/4). The sum of weights is N ≥ e^(epsilon·opt/4) ≥ 1/u on S. On the
    neighbour at most k solutions join, so the sum is at most e^(epsilon/4)·(N + k). The loss is at most
    3·epsilon/4 + k·u ≤ 13·epsilon/16. At most k solutions score on S alone, each 1. The test passes with
    probability at most u²·e^(epsilon·opt/4). It then returns one of them with probability at most
    k·e^(epsilon/4 − epsilon·opt/4). Together this is k·e^(epsilon/4)·u² ≤ delta. At smaller m, (i) and (ii)
    can fail (`UncheckedChoosing`).

    Examples
    --------
    >>> mechanism = ChoosingMechanism(epsilon=8.0, delta=0.1, alpha=1.0, beta=0.5)
    >>> mechanism.size, round(mechanism.distribution(["a"] * 8 + ["b"]).pmf("a"), 6)
    (9, 0.999543)
    >>> ChoosingMechanism(size=229)
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `size` of `ChoosingMechanism` must be at least 230, or it is not private;
    got 229.
    """

    epsilon: float = 1.0
    delta: float = 1e-3
    alpha: float = 0.5
    beta: float = 0.1
    growth: int = 1
    score: Callable[[Any, Any], Any] = approvals
    solutions: Sequence[Any] | NDArray[Any] = ("a", "b", "c")
    vectorised: bool = False
    candidates: Callable[[Any], Mapping[Any, Any]] | None = None
    size: int | None = None
    records: Sequence[Any] = ("", "a", "b")

    name: ClassVar[str] = "choosing"
    reference: ClassVar[str] = "BNS §4.1, Definition 12 and Lemma 4"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        flag(self.vectorised, what=f"The `vectorised` of `{owner}`")
        check_terms(
            alpha=self.alpha,
            beta=self.beta,
            epsilon=self.epsilon,
            delta=self.delta,
            growth=self.growth,
            owner=owner,
        )
        if self.size is None:
            object.__setattr__(self, "size", self.sample_size())
        positive_int(self.size, what=f"The `size` of `{owner}`")
        self._refuse_what_is_not_private()
        if self.candidates is None:
            check_solutions(self.solutions, marks=(REFUSED,), instead="candidates", owner=owner)
        else:
            check_candidates(self.candidates, owner=owner)

    @property
    def claim(self) -> ApproximateDP:
        """The privacy claimed."""
        return ApproximateDP(self.epsilon, self.delta)

    @property
    def utility_claim(self) -> PAC:
        """The claim that the answer is good if the best score exceeds alpha·size."""
        return PAC(self.alpha, self.beta)

    def problems(self) -> list[Problem]:
        """Return databases on which the choice is hard.

        The error of a solution is (best score − its score)/size. The error of "⊥" is infinite if the best
        score exceeds alpha·size, and otherwise 0. There are databases only for the default score over words
        and for `MostFrequent`.

        Examples
        --------
        >>> [problem.name for problem in ChoosingMechanism().problems()]
        ['opt = 0', 'opt = 58', 'opt = 115', 'opt = 116', 'opt = 116, rival 114', 'opt = 173, rival 57']
        """
        return [FixedProblem(name, database, self._error) for name, database in self._hard_databases()]

    def printed_problems(self) -> list[Problem]:
        """Return the databases of `problems` with an infinite error of "⊥" (BNS Lemma 4).

        Examples
        --------
        >>> problem = ChoosingMechanism().printed_problems()[0]
        >>> problem.error("⊥", problem.draw(None))
        inf
        """
        return [FixedProblem(name, data, self._printed_error) for name, data in self._hard_databases()]

    def _hard_databases(self) -> list[tuple[str, list[Any]]]:
        known = voters(self.solutions, self.score, self.candidates)
        blank = -1 if isinstance(self.candidates, MostFrequent) else ""  # a record that votes for nobody
        return contests(known, blank, alpha=self.alpha, size=self._m) if len(known) > 1 else []

    def _error(self, output: Any, database: Any) -> float:
        opt = float(self.scores(database)[1].max(initial=0.0))
        return 0.0 if opt <= self.alpha * self._m else self._printed_error(output, database)

    def _printed_error(self, output: Any, database: Any) -> float:
        if output == REFUSED:
            return math.inf
        names, scores = self.scores(database)
        given = dict(zip(names, scores.tolist(), strict=True)).get(output, 0.0)
        return float(scores.max(initial=0.0) - given) / self._m

    @property
    def _needed(self) -> int:
        """The least size that the guarantee covers."""
        return least_size(
            alpha=self.alpha, beta=self.beta, epsilon=self.epsilon, delta=self.delta, growth=self.growth
        )

    @property
    def test(self) -> ThresholdTest:
        """The noisy comparison of the best score with a threshold."""
        return ThresholdTest(4.0 / self.epsilon, self.alpha * self._m / 2.0)

    @property
    def round(self) -> ChoosingRound:
        """The choice from given scores."""
        return ChoosingRound(self.test, self.epsilon / 4.0)

    @property
    def _m(self) -> int:
        assert self.size is not None  # set when the subject was made
        return self.size

    def scores(self, database: Any) -> tuple[Sequence[Any], NDArray[np.float64]]:
        """Return the solutions that score at least 1, and their scores."""
        owner = type(self).__name__
        if len(database) != self._m:
            raise InvalidValue(f"A database of `{owner}` must hold {self._m} records; got {len(database)}.")
        if self.candidates is None:
            told = scores_of(
                database, self.score, solutions=self.solutions, vectorised=self.vectorised, owner=owner
            )
            return self._listed(told)
        names, scores = candidates_of(database, self.candidates, marks=(REFUSED,), owner=owner)
        return supported(names, whole_scores(scores, owner=owner))

    def _listed(self, scores: Any) -> tuple[Sequence[Any], NDArray[np.float64]]:
        """Return the solutions that score at least 1, and their scores."""
        return supported(self.solutions, whole_scores(scores, owner=type(self).__name__))

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a solution, or "⊥"."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` answers. The random numbers do not depend on the database."""
        return self._choose(*self.scores(database), size=size, rng=rng)

    def choose(self, scores: Any, *, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` answers for given scores of all solutions."""
        return self._choose(*self._listed(scores), size=size, rng=rng)

    def _choose(
        self, names: Sequence[Any], scores: NDArray[np.float64], *, size: int, rng: np.random.Generator
    ) -> list[Any]:
        places = self.round.sample(scores, size, rng).tolist()
        return [REFUSED if place < 0 else names[place] for place in places]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the answer."""
        return self._law(*self.scores(database))

    def law(self, scores: Any) -> Finite:
        """Return the exact law of the answer for given scores."""
        return self._law(*self._listed(scores))

    def _law(self, names: Sequence[Any], scores: NDArray[np.float64]) -> Finite:
        from audit.distributions import Finite

        refused, logs = self.round.log_law(scores)
        return Finite([REFUSED, *names], log_probabilities=[refused, *logs])

    def failure(self, database: Any) -> float:
        """Return the probability that the answer is not good.

        If no score exceeds alpha·size, every answer is good. This is how to read BNS Lemma 4.

        Examples
        --------
        >>> mechanism = ChoosingMechanism()
        >>> mechanism.failure(["a"] * 115 + [""] * 115), mechanism.failure(["a"] * 116 + [""] * 114) < 1e-6
        (0.0, True)
        """
        opt = float(self.scores(database)[1].max(initial=0.0))
        return self.printed_failure(database) if opt > self.alpha * self._m else 0.0

    def printed_failure(self, database: Any) -> float:
        """Return the probability that the answer is "⊥" or not good.

        BNS Lemma 4 says that it is at most beta on every database, which is *false*.

        Examples
        --------
        >>> mechanism = ChoosingMechanism()
        >>> mechanism.printed_failure([""] * 230)
        1.0
        >>> round(mechanism.printed_failure(["a"] * 58 + [""] * 172), 2)
        0.44
        """
        _, scores = self.scores(database)
        refused, logs = self.round.log_law(scores)
        far = scores < scores.max(initial=0.0) - self.alpha * self._m
        return math.exp(refused) + float(np.exp(logs[far]).sum())

    def failure_bound(self) -> float:
        """Return a bound on `failure`, which is at most beta from `sample_size()` on.

        Guarantee
        ---------
        Let m = `size`, and let the best score exceed alpha·m. Then "⊥" needs noise below −alpha·m/2, of
        probability at most e^(−epsilon·alpha·m/8)/2. At most growth·m solutions score at all. One that is not
        good has at most e^(−epsilon·alpha·m/4) times the probability of the best. So failure ≤
        growth·m·e^(−epsilon·alpha·m/4) + e^(−epsilon·alpha·m/8)/2 (BNS Lemma 4).

        Examples
        --------
        >>> ChoosingMechanism().failure_bound() < 1e-6
        True
        """
        exponent = self.epsilon * self.alpha * self._m / 4.0
        return self.growth * self._m * math.exp(-exponent) + 0.5 * math.exp(-exponent / 2.0)

    def growth_check(
        self, *, size: int | None = None, most: int = 20_000, rng: np.random.Generator | None = None
    ) -> GrowthCheck:
        """Return the result of a search for databases that break bounded growth.

        Examples
        --------
        >>> ChoosingMechanism(records=("ab", "c")).growth_check().violation.after
        ['ab']
        """
        return check_growth(
            self.score,
            self.solutions,
            growth=self.growth,
            records=self.records,
            size=size or self._m,
            vectorised=self.vectorised,
            candidates=self.candidates,
            most=most,
            rng=rng,
        )

    def suggested_pairs(self) -> list[Pair]:
        """Return pairs of neighbours that need the largest delta."""
        half = math.ceil(self.alpha * self._m / 2.0)
        return revealing_swaps(
            self.distribution,
            epsilon=self.epsilon,
            records=self.records,
            size=self._m,
            heads=(half - 1, half),
        )

    def _refuse_what_is_not_private(self) -> None:
        owner, least = type(self).__name__, self.sample_size()
        highest = 16.0 / self.alpha / self.beta
        finite_number(
            self.epsilon, what=f"The `epsilon` of `{owner}`, for its alpha and beta,", maximum=highest
        )
        if self._m < least:
            raise InvalidValue(
                f"The `size` of `{owner}` must be at least {least}, or it is not private; got {self._m}."
            )


_TOP = 2**64 - 1
_HALVES = [[0] * ahead + [_TOP] * (490 - ahead) + [-1] * 510 for ahead in (245, 246, 247)]
SHARED = tuple(["a"] * head + ["b"] * (230 - head) for head in (121, 122))

entries = (
    Entry(
        ChoosingMechanism.name,
        ChoosingMechanism,
        options={"pairs": [SHARED], "size": len(SHARED[0])},
        utility={},
        reference=ChoosingMechanism.reference,
        summary="the choosing mechanism at the least size it allows",
        formulas=selection.choosing,
    ),
    Entry(
        "choosing-small",
        partial(ChoosingMechanism, epsilon=8.0, delta=0.1, alpha=1.0, beta=0.5, records=("a", "b")),
        utility={},
        reference=ChoosingMechanism.reference,
        summary="the choosing mechanism, every database of its least size",
        formulas=selection.choosing,
    ),
    Entry(
        "choosing-huge",
        partial(ChoosingMechanism, candidates=MostFrequent(2**64), records=(-1, 0, _TOP), size=1000),
        options={"pairs": [(_HALVES[0], _HALVES[1]), (_HALVES[1], _HALVES[2])], "budget": 4_000},
        utility={},
        reference=ChoosingMechanism.reference,
        summary="the choosing mechanism among 2^64 numbers, 1,000 records",
        formulas=selection.choosing_huge,
    ),
)
