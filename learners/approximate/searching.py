"""Learners of thresholds by a noisy binary search (BNS §3.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import check_word
from learners.approximate.samples import NumberSample, threshold_errors
from learners.approximate.searches import MOST_LISTED_LENGTHS, By, LengthSearch
from learners.approximate.sizes import promised_size
from learners.approximate.thresholds import ThresholdLearner
from learners.formulas import searches
from mechanisms.concave.contest import Contest
from mechanisms.concave.recursion import (
    PATTERNS,
    by_pattern,
    inverted,
    log_choice,
    log_outcome,
    log_sums,
)
from mechanisms.selection.stability import TightStableSelection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from audit.distributions import Finite

__all__ = ["SearchingIntervalLearner", "mixed_contest"]

_PARTS = 4
"""Each released interval is divided into this many parts, and H has the ends of the parts."""

_CANDIDATES = 2 * (_PARTS + 1) + 2
"""The most thresholds in H: those of two intervals, and both ends of the range."""


def mixed_contest(sample: NumberSample, *, offset: int, width: int, top: int) -> Contest:
    """Return the interval with the largest min(zeros, ones), and its lead (`gap`).

    The intervals are [offset + i·width, offset + (i + 1)·width − 1], trimmed at top − 1. The only interval
    has an infinite lead.

    Examples
    --------
    >>> some = NumberSample.counted([3, 4, 4, 9], [1, 0, 0, 0])
    >>> mixed_contest(some, offset=2, width=4, top=16)
    Contest(low=2, high=5, gap=1.0)
    >>> [mixed_contest(some, offset=0, width=width, top=16).gap for width in (4, 16)]
    [0.0, inf]
    """
    members = -(-(top - offset) // width)
    if members <= 0:
        return Contest(0, 0, 0.0)
    if members == 1:
        return Contest(offset, top - 1, math.inf)
    kind = sample.points.dtype.type if sample.points.dtype != object else int
    inside = sample.points >= kind(offset)
    buckets, places = np.unique((sample.points[inside] - kind(offset)) // kind(width), return_inverse=True)
    zeros, ones = (
        np.bincount(places, weights=counts[inside], minlength=len(buckets))
        for counts in (sample.zeros, sample.ones)
    )
    scores = np.minimum(zeros, ones)
    # the other intervals contain no records
    ahead = sorted([*scores.tolist(), *[0.0] * min(2, members - len(scores))])
    low = offset + (int(buckets[int(scores.argmax())]) if len(scores) else 0) * width
    return Contest(low, min(low + width, top) - 1, ahead[-1] - ahead[-2])


@dataclass(frozen=True, kw_only=True)
class SearchingIntervalLearner(ThresholdLearner):
    """Learn a threshold in an interval with many ones and zeros.

    The search finds a length, then an interval, then a threshold in the interval. A database is a list of (x,
    y) or a `NumberSample`. x is an integer below 2^dimension; y is 0 or 1.

    Parameters
    ----------
    dimension
        d, from 1 to 4,096.
    epsilon, delta
        The total privacy, epsilon > 0 and 0 < delta ≤ 1/2.
    alpha, beta
        Error in (0, 1) and failure probability in (0, 1/2).
    by
        How to search for the length, "power" or "length" (`LengthSearch`).
    points, size
        The numbers, and the number of examples, in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or a record is not an example (x, y) of the class.

    Guarantee
    ---------
    (epsilon, delta)-differential privacy when one record is replaced, by composition. The search is pure
    (`LengthSearch`). Each of two tight calls of A_dist spends delta/2 on min(zeros, ones), which one record
    changes by at most 1. An exponential mechanism chooses from a set H of thresholds by their errors.
    `shares` add up to epsilon.

    *Utility*, on `sample_size` examples labelled by a threshold t. Three statements hold, each except with
    probability beta/6. First, comparisons err only if Q(J) is within s of the level. Second, A_dist releases
    every interval that leads by g or more. Third, the exponential mechanism comes within f =
    (2/ε)·ln(66/beta) of the fewest errors in H, which has at most 12 thresholds. The level of the search is g
    + s.

    (i) *The search finds J.* Some J consecutive numbers have g ones and g zeros. Two families have intervals
    of length 2J. The intervals of one family begin at the multiples of 2J, those of the other J later (the
    text has length J: N21). One interval contains those J numbers. Labels change only at t, so no other
    interval of its family contains ones and zeros. So this interval leads by g or is the only one, and A_dist
    releases it. H has two thresholds in this interval, ⌈J/2⌉ apart, one on each side of t. The ⌈J/2⌉ numbers
    between them are one number, or no more than the length tried before J. So they have at most g + 2s ones,
    or at most g + 2s zeros. One of the two thresholds errs on no other numbers.

    (ii) *The search finds no length.* All numbers have at most g + 2s ones, or at most g + 2s zeros. H has
    the thresholds 0 and 2^d.

    In (i) and (ii) at most g + 2s + f examples are wrong. So `promised_size` is enough, as for
    `IntervalLearner`.

    Examples
    --------
    >>> [SearchingIntervalLearner(dimension=64, by=by).sample_size() for by in ("power", "length")]
    [4642, 19574]
    """

    by: By = "power"
    points: tuple[int, ...] | None = None
    size: int | tuple[int, int] = 3

    name: ClassVar[str] = "searching-interval-learner"
    reference: ClassVar[str] = "BNS §3.2, both noisy binary searches"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_word(self.by, By, what=f"The `by` of `{type(self).__name__}`")

    @property
    def _failure(self) -> float:
        return self.beta / 6.0

    @property
    def shares(self) -> tuple[float, float, float]:
        """The epsilons of the search, of each A_dist and of the choice of a threshold.

        They minimise the error bound. For n calls with an error term κ/ε, the best ε is proportional to
        √(κ/n).
        """
        comparisons = LengthSearch(dimension=self.dimension, by=self.by).comparisons
        needs = (
            2.0 * comparisons * math.log(comparisons / (2.0 * self._failure)),
            # two calls with 2·ln(…)/ε each; the term occurs once in the sum
            -math.log(2.0 * self._failure * self.delta),
            2.0 * math.log((_CANDIDATES - 1) / self._failure),
        )
        search, stable, choice = (math.sqrt(need) for need in needs)
        unit = self.epsilon / (search + 2.0 * stable + choice)
        return search * unit, stable * unit, choice * unit

    @cached_property
    def stable(self) -> TightStableSelection:
        """The mechanism of each call of A_dist."""
        return TightStableSelection(epsilon=self.shares[1], delta=self.delta / 2.0)

    @cached_property
    def search(self) -> LengthSearch:
        """The search for the length."""
        search = LengthSearch(dimension=self.dimension, epsilon=self.shares[0], by=self.by)
        level = self.stable.needed_gap(self._failure) + search.slack(self._failure)
        return LengthSearch(dimension=self.dimension, epsilon=self.shares[0], by=self.by, level=level)

    @cached_property
    def most_errors(self) -> float:
        """The most errors on a sample, except with probability beta/2."""
        chosen = 2.0 / self.shares[2] * math.log((_CANDIDATES - 1) / self._failure)
        return self.search.level + self.search.slack(self._failure) + chosen

    @property
    def _needed(self) -> int:
        return promised_size(2.0 * math.floor(self.most_errors) + 1.0, alpha=self.alpha, beta=self.beta)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[int]:
        """Return `size` thresholds."""
        run = _Run(self.counted(database), self)
        searched = list(run.learner.search.runs(run.counted, size, rng=rng))
        noise = rng.laplace(0.0, run.test.scale, (2, size))
        uniforms = rng.random(size)
        found = [0] * size
        for length, rows in searched:
            contests = run.contests(length)
            for released, some in by_pattern(contests, rows, noise=noise, test=run.test):
                points = run.candidates(contests, released, length=length)
                chosen = inverted(run.log_choice(points), uniforms[some])
                for row, place in zip(some.tolist(), chosen.tolist(), strict=True):
                    found[row] = points[place]
        return found

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law of the threshold; None for more than 256 lengths."""
        from audit.distributions import Finite

        if self.search.lengths > MOST_LISTED_LENGTHS:
            return None
        run = _Run(self.counted(database), self)
        place: dict[int, int] = {}
        places: list[int] = []
        terms = []
        for log, length in self.search.outcomes(run.counted):
            contests = run.contests(length)
            for released in PATTERNS:
                log_released = log_outcome(contests, released, test=run.test)
                if log_released > -math.inf:
                    points = run.candidates(contests, released, length=length)
                    places += [place.setdefault(point, len(place)) for point in points]
                    terms.append(run.log_choice(points) + (log + log_released))
        logs = log_sums(np.array(places), np.concatenate(terms), size=len(place))
        return Finite(list(place), log_probabilities=logs)


class _Run:
    def __init__(self, counted: NumberSample, learner: SearchingIntervalLearner) -> None:
        self.counted, self.learner = counted, learner
        self.errors = threshold_errors(counted, top=learner.top)
        self.test = learner.stable.test

    def contests(self, length: int) -> tuple[Contest, Contest]:
        """Return the best interval of each family, if a length was found."""
        if not length:
            return Contest(0, 0, 0.0), Contest(0, 0, 0.0)
        told = {"width": 2 * length, "top": self.learner.top}
        return mixed_contest(self.counted, offset=0, **told), mixed_contest(
            self.counted, offset=length, **told
        )

    def candidates(
        self, contests: tuple[Contest, Contest], released: tuple[bool, bool], *, length: int
    ) -> list[int]:
        """Return the thresholds to choose from."""
        step = -(-length // 2)
        points = {0, self.learner.top}
        for contest, one in zip(contests, released, strict=True):
            if one:
                points |= {min(contest.low + i * step, contest.high + 1) for i in range(_PARTS + 1)}
        return sorted(points)

    def log_choice(self, points: list[int]) -> NDArray[np.float64]:
        """Return the log-probability of choosing each threshold in `points`."""
        return log_choice(-self.errors.values_at(points), epsilon=self.learner.shares[2])


entry = Entry(
    SearchingIntervalLearner.name,
    partial(SearchingIntervalLearner, epsilon=8.0, delta=0.4),
    options={"pairs": [searches.SEARCHED], "size": 3},
    utility={"budget": 3_000},
    reference=SearchingIntervalLearner.reference,
    summary="INTERVAL_2 by a search over powers, all samples of 3 and two of 96",
    formulas=searches.searching,
)
