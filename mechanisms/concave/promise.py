"""Algorithm Rec of BNS §3.3 as a mechanism with a law and problems."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from audit.catalogue import Entry
from audit.claims import PAC
from audit.errors import InvalidValue, check_word, finite_number, positive_int, probability
from audit.problems import FixedProblem
from audit.relations import Relation
from mechanisms.composition.accounting import sequential_bound
from mechanisms.concave.bounds import calls, least_promise, lemma_2, log_star
from mechanisms.concave.hard import named_qualities
from mechanisms.concave.instances import telling_pairs, telling_values
from mechanisms.concave.qualities import as_quality
from mechanisms.concave.recursion import Level, Settings, chain, law, runs
from mechanisms.formulas import rec
from mechanisms.formulas.rec_pairs import steepest_lists
from mechanisms.selection.stability import StableSelection
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from audit.claims import ApproximateDP, PureDP
    from audit.distributions import Finite
    from audit.problems import Problem
    from mechanisms.comparison.threshold import ThresholdTest
    from mechanisms.concave.contest import Contest
    from mechanisms.concave.piecewise import StepFunction
    from mechanisms.subjects.neighbours import Pair

__all__ = ["ConcavePromise"]

Accounting: TypeAlias = Literal["lemma 2", "calls", "tight"]
_FEW = 3
"""How many of the listed records suggested pairs use at most."""


@dataclass(frozen=True, kw_only=True)
class ConcavePromise(PlainParameters):
    """Rec, which chooses a point whose quality is close to the promise.

    The points are {0 … top}, and the quality must be quasi-concave.

    Parameters
    ----------
    epsilon, delta
        The privacy parameters of each call that Rec makes, > 0. The privacy of the whole is `claim`.
    top
        T, the last point of the range, at least 2. (At T = 1 Lemmas 2 and 3 are false.)
    promise
        r > 0, a quality that some point is promised to have. Public. Default: the least promise that Lemma 3
        allows at `beta`.
    alpha
        A quality of (1 − alpha)·promise is good enough; 0 < alpha ≤ 1. Public.
    quality
        Q, a function of a database that returns a `StepFunction` on {0 … top}, or the vector of its top + 1
        values. Between neighbours it must change by at most 1 at every point. This is not checked. At
        sensitivity s the loss is s times as large. Default: the database is the quality function itself.
    beta
        The failure probability for Lemma 3, in (0, 1); None if no utility is asked for.
    accounting
        What is claimed. "lemma 2" is the lemma as printed. "calls" adds up epsilon and delta over the calls
        that are made. "tight" does the same with A_dist as (epsilon/2, delta/2)-private, which it is.
    relation, records, size
        Which databases are neighbours, their possible records, and the number of records (or the smallest and
        largest number). Default: vectors of top + 1 values, each of which changes by at most 1.

    Raises
    ------
    InvalidValue
        A parameter is out of bounds, or a quality is not finite or not on {0 … top}.

    Warns
    -----
    UserWarning
        The promise is below the one that Lemma 3 needs, or alpha is above 1/2. Privacy still holds.

    Guarantee
    ---------
    `claim`-differential privacy under `relation` if Q has sensitivity 1 (BNS Lemma 2, for T ≥ 2). Let L(·, j)
    be the largest x such that Q is at least x on 2^j successive points. L(·, j) is a maximum of minima of
    values that change by at most 1, so it changes by at most 1. The inner call of Rec has the quality q =
    min(L(·, j) − (1 − alpha)·r, r − L(·, j + 1)). As r and alpha are public, q changes by at most 1, and so
    does the largest quality in an interval. The intervals depend only on the output of the inner call. The
    candidate set H depends only on outputs. Hence Rec composes 3·N + 1 calls (`concave.bounds.calls`).

    Fig. 1 leaves some cases open. The choices made here do not depend on the data:

    - If a family has one interval, that interval is taken without a call.
    - An empty family is skipped.
    - If one call releases nothing, H consists of the other call's half.
    - If neither call releases anything, H is 32 points spread evenly over {0 … T}.
    - Points between two integers are rounded down and count once.
    - Points beyond T become T.

    The second half of H begins at the left end of B, not at b as printed. With b the result is equally
    private, but misses good points across the border of two A_i (`flawed.LiteralConcavePromise`).

    Utility: `error_bound` (Lemma 3).

    Examples
    --------
    >>> mechanism = ConcavePromise(top=4096, beta=0.01)
    >>> round(mechanism.target), mechanism.claim.delta
    (179294, 1.6e-05)
    >>> peak = [mechanism.target if 59 <= point <= 69 else 0.0 for point in range(4097)]
    >>> law = mechanism.distribution(peak)
    >>> round(sum(law.pmf(point) for point in range(59, 70)), 6)
    1.0
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    top: int = 64
    promise: float | None = None
    alpha: float = 0.5
    quality: Callable[[Any], StepFunction | NDArray[np.float64] | Sequence[float]] = as_quality
    beta: float | None = 0.1
    accounting: Literal["lemma 2", "calls", "tight"] = "lemma 2"
    relation: Any = Relation.QUERY_ANSWERS
    records: Any = None
    size: int | tuple[int, int] | None = None

    name: ClassVar[str] = "concave-promise"
    reference: ClassVar[str] = "BNS §3.3, Fig. 1 (step 10 corrected) and Lemmas 2 and 3"
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        probability(self.delta, what=f"The `delta` of `{owner}`", zero=False, one=False)
        positive_int(self.top, what=f"The `top` of `{owner}`", minimum=2, maximum=None)
        finite_number(self.alpha, what=f"The `alpha` of `{owner}`", above=0, maximum=1)
        if self.beta is not None:
            probability(self.beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        check_word(self.accounting, Accounting, what=f"The `accounting` of `{owner}`")
        self._check_promise()
        if self.size is None:
            object.__setattr__(self, "size", self.top + 1)
        if self.records is None and self.quality is as_quality:
            object.__setattr__(self, "records", telling_values(self.test.threshold))
        _ = self.claim

    @property
    def target(self) -> float:
        """The promise r that Rec runs with."""
        assert self.promise is not None
        return self.promise

    @property
    def claim(self) -> PureDP | ApproximateDP:
        """The privacy claimed, by `accounting`."""
        if self.accounting == "lemma 2":
            return lemma_2(self.top, epsilon=self.epsilon, delta=self.delta)
        tight = self.accounting == "tight"
        return sequential_bound(calls(self.top, epsilon=self.epsilon, delta=self.delta, tight=tight))

    @property
    def utility_claim(self) -> PAC | None:
        """The utility claim of BNS Lemma 3, or None if it says nothing.

        Errors are shares of the promise.
        """
        failure = 1.0 if self.beta is None else 2.0 * self.beta * log_star(self.top)
        if self.beta is None or failure >= 1.0 or self._objection(self.beta) is not None:
            return None
        return PAC(self.alpha, failure)

    def problems(self) -> list[Problem]:
        """Return problems for the default quality, with peaks where Rec is weakest.

        Examples
        --------
        >>> ConcavePromise().problems()[0].name
        'promise on [0, 0], else 0'
        """
        if self.quality is not as_quality:
            return []
        good = (1.0 - self.alpha) * self.target
        return [
            FixedProblem(name, quality, self._error)
            for name, quality in named_qualities(self.top, height=self.target, good=good)
        ]

    def _error(self, output: int, database: Any) -> float:
        """Return how far a point misses the promise, as a share of it."""
        return max(0.0, 1.0 - self.quality_on(database)(output) / self.target)

    @property
    def test(self) -> ThresholdTest:
        """The test with which A_dist compares a gap with its threshold."""
        return StableSelection(epsilon=self.epsilon, delta=self.delta, solutions=range(2)).test

    def quality_on(self, database: Any) -> StepFunction:
        """Return the quality function of a database."""
        quality = as_quality(self.quality(database))
        if quality.top != self.top:
            raise InvalidValue(
                f"The quality of `{type(self).__name__}` must be a function on [0, {self.top}]; "
                f"got one on [0, {quality.top}]."
            )
        return quality

    def left_ends(self, first: Contest | None, second: Contest | None) -> list[int]:
        """Return the left ends of the released intervals, where candidates begin."""
        return [interval.low for interval in (first, second) if interval is not None]

    def __call__(self, database: Any, rng: np.random.Generator) -> int:
        """Return one chosen point."""
        return int(self._runs(database, 1, rng)[0])

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.int64] | list[int]:
        """Return `size` chosen points, as a list if they may exceed 64 bits.

        The random numbers of run i do not depend on the database.
        """
        outputs = self._runs(database, size, rng)
        return outputs.tolist() if outputs.dtype == object else outputs

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the chosen point."""
        return law(self._chain(database))

    def error_bound(self, beta: float) -> float:
        """Return alpha·promise, the most by which the quality misses the promise.

        The bound holds with probability 1 − beta.

        Guarantee
        ---------
        This is BNS Lemma 3, for quasi-concave qualities whose maximum is at least the promise. The failure
        probability is 2·log*(T) times the beta of the lemma.

        Raises
        ------
        InvalidValue
            The promise is too low, or alpha too large, for the lemma at this `beta`.

        Examples
        --------
        >>> ConcavePromise(top=64, promise=1e6).error_bound(0.05)
        500000.0
        """
        beta = probability(beta, what="The `beta` of `error_bound`", zero=False, one=False)
        why = self._objection(beta / (2 * log_star(self.top)))
        if why is not None:
            raise InvalidValue(why)
        return self.alpha * self.target

    def suggested_pairs(self) -> list[Pair]:
        """Return neighbours with a lead of about the gap that A_dist needs.

        The default quality has such pairs. For other qualities, neighbours must replace one of several listed
        records.
        """
        if self.quality is as_quality and self.relation is Relation.QUERY_ANSWERS:
            return [
                (left.values_everywhere(), right.values_everywhere())
                for left, right in telling_pairs(self.top, lead=self.test.threshold)
            ]
        if self.relation is Relation.REPLACE_ONE and isinstance(self.records, (list, tuple)):
            return list(self._swaps())
        return []

    def _swaps(self) -> Iterator[Pair]:
        """Yield pairs that replace one of many equal records by another record."""
        assert self.size is not None
        size = self.size if isinstance(self.size, int) else self.size[1]
        for head in dict.fromkeys((min(size, math.ceil(self.test.threshold)), size)):
            for one, other in permutations(self.records[:_FEW], 2):
                left = [one] * head + [other] * (size - head)
                yield left, [other, *left[1:]]

    def _chain(self, database: Any) -> list[Level]:
        settings = Settings(self.epsilon, self.alpha, self.target, self.test, self.left_ends)
        return chain(self.quality_on(database), settings)

    def _runs(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        return runs(self._chain(database), size, rng=rng)

    def _check_promise(self) -> None:
        owner = type(self).__name__
        if self.promise is None and self.beta is None:
            raise InvalidValue(f"The `promise` of `{owner}` must be given where its `beta` is None.")
        if self.promise is None:
            object.__setattr__(self, "promise", self._least_promise(self.beta or 0.0))
        finite_number(self.promise, what=f"The `promise` of `{owner}`", above=0)
        why = None if self.beta is None else self._objection(self.beta)
        if why is not None:
            warnings.warn(f"{why} Privacy holds all the same.", UserWarning, stacklevel=4)

    def _objection(self, beta: float) -> str | None:
        """Return why Lemma 3 does not apply, or None if it applies."""
        owner = type(self).__name__
        if self.alpha > 0.5:
            return f"The `alpha` of `{owner}` must be ≤ 0.5 for BNS Lemma 3; got {self.alpha:g}."
        least = self._least_promise(beta)
        if self.target >= least:
            return None
        return (
            f"The `promise` of `{owner}` must be ≥ (2/alpha)^log*(T)·16/(alpha·epsilon)·ln(32/(beta·delta)) "
            f"= {least:.6g} for BNS Lemma 3 at beta = {beta:g}; got {self.target:g}."
        )

    def _least_promise(self, beta: float) -> float:
        return least_promise(self.top, alpha=self.alpha, beta=beta, epsilon=self.epsilon, delta=self.delta)


_TIGHT = partial(ConcavePromise, top=40, promise=60.0, beta=None, accounting="tight")
_CLIMBED = partial(ConcavePromise, promise=100.0, beta=None, accounting="tight")


def _with_steepest(made: ConcavePromise) -> dict[str, Any]:
    """Return audit options that add the worst known pair."""
    pairs = [steepest_lists(made.top, made.target), *made.suggested_pairs()]
    return {"pairs": pairs, "size": made.size}


entries = (
    Entry(
        ConcavePromise.name,
        ConcavePromise,
        options=_with_steepest(ConcavePromise()),
        utility={},
        reference=ConcavePromise.reference,
        summary="Rec on [0, 64], claiming what Lemma 2 does",
        formulas=rec.rec,
    ),
    Entry(
        "concave-promise-tight",
        _TIGHT,
        options=_with_steepest(_TIGHT()),
        reference=ConcavePromise.reference,
        summary="Rec claiming the sum of the calls it makes",
        formulas=rec.rec,
    ),
    Entry(
        "concave-promise-climbed",
        _CLIMBED,
        options={"pairs": [steepest_lists(64, 100.0)], "budget": 2_000},
        reference=ConcavePromise.reference,
        summary="Rec on [0, 64] where a climb ended: loss 2.47; its calls add up to 3",
        formulas=rec.rec,
    ),
)
