"""Averages of all entries' local answers, as mechanisms that can be audited."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import Accuracy
from audit.errors import InvalidValue, probability
from mechanisms.formulas import answers
from mechanisms.formulas.losses import whole
from mechanisms.local.averaging import failures, sizes
from mechanisms.local.averaging.base import LocalAverage
from mechanisms.local.averaging.sums import LaplaceSum
from mechanisms.local.laplace import LocalLaplace
from mechanisms.local.sign import SignResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.distributions import Density, Finite, Product

__all__ = ["LaplaceAverage", "SignAverage"]

_MOST_EXACT = 256
"""Largest database for which `SignAverage` declares its law, which takes time n²."""


@dataclass(frozen=True, kw_only=True)
class LaplaceAverage(LocalAverage):
    """The average of Laplace answers of all entries to one statistical query.

    A_g, as K11 calls it, is the average of g(z_i) + Lap(2b/epsilon) over all entries z_i.

    Parameters
    ----------
    epsilon, query, bound, dimension, norm, vectorised, records
        As in `LocalLaplace`, the randomizer of every entry.
    tolerance
        tau, 0 < tau ≤ 2·bound. Every coordinate of the answer is to be within tau of the mean of g over the
        distribution of the entries. If None, nothing is promised.
    beta
        The probability of failure allowed.
    size
        The number n of entries. Default: the least that the tolerance needs, or 2 without a tolerance.

    Raises
    ------
    InvalidValue
        A parameter is out of range. `size` is too small for the tolerance; the message says what is needed. A
        database has another number of entries, or an entry's value lies outside [−b, b].

    Guarantee
    ---------
    *Privacy*: epsilon-differential privacy when one entry is replaced, because each entry gives one answer of
    an epsilon-local randomizer (K11 §5.1.1). The loss is epsilon in the far tail of the average.

    *Utility*: on n ≥ `laplace_size(…)` independent entries the answer is within tau of E[g] with probability
    ≥ 1 − beta. This is K11 Lemma 5.6 with max{1, 1/ε²} in place of 1/ε². n ≥ 34·(b²/tau²)·max{1,
    1/ε²}·ln(2/beta) is enough. The derivation is at the top of `mechanisms.local.averaging.sizes`.

    Examples
    --------
    >>> average = LaplaceAverage(epsilon=1.0, tolerance=0.5, beta=0.05)
    >>> print(average.size, average.claim, average.utility_claim)
    268 PureDP(epsilon=1) Accuracy(alpha=0.5, beta=0.05)
    >>> LaplaceAverage(tolerance=0.5, size=100)
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `size` of `LaplaceAverage` must be at least 268 for an answer within 0.5
    with probability 0.95; got 100.
    """

    bound: float = 1.0
    dimension: int | None = None
    norm: float | None = None
    records: Sequence[Any] = (-1, 0, 1)

    name: ClassVar[str] = "local-laplace-average"
    aligned: ClassVar[bool] = True

    @property
    def randomizer(self) -> LocalLaplace:
        """The randomizer R_g of every entry."""
        return LocalLaplace(
            epsilon=self.epsilon,
            query=self.query,
            bound=self.bound,
            dimension=self.dimension,
            norm=self.norm,
            vectorised=self.vectorised,
            records=self.records,
        )

    @property
    def largest(self) -> float:
        """The largest absolute value that the query can take."""
        return self.bound

    def _entries(self, tolerance: float) -> int:
        """Return `laplace_size`."""
        return sizes.laplace_size(
            tau=tolerance,
            beta=self.beta,
            epsilon=self.epsilon,
            bound=self.bound,
            sensitivity=self.randomizer.scale * self.epsilon,
            dimension=self.dimension or 1,
        )

    @property
    def noise(self) -> LaplaceSum:
        """The law of the sum of all n noises in one coordinate."""
        return LaplaceSum(self._n, self.randomizer.scale)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the answers of `size` runs, of shape (size,) or (size, dimension).

        The noise of run i does not depend on the database.
        """
        mean = self._mean(database)
        noise = self.noise.sample(size * mean.size, rng) / self._n
        return mean + noise.reshape(size, *mean.shape)

    def distribution(self, database: Any) -> Density | Product:
        """Return the exact law of the answer.

        Examples
        --------
        >>> round(LaplaceAverage(size=1000).distribution([1] * 500 + [-1] * 500).sf(0.1), 6)
        0.131724
        """
        from audit.distributions import Product

        mean = self._mean(database)
        if self.dimension is None:
            return self.noise.law_of_mean(float(mean))
        return Product([self.noise.law_of_mean(value) for value in mean.tolist()])

    def error_bound(self, beta: float) -> float:
        """Return a bound on |answer − E[g]| that fails with probability `beta`.

        Guarantee
        ---------
        The bound is the tau at which `laplace_size` is n. It holds for every distribution of the entries.

        Examples
        --------
        >>> round(LaplaceAverage(size=6642).error_bound(0.05), 4)
        0.1
        """
        return failures.laplace_error(
            self._n, beta, scale=self.randomizer.scale, bound=self.bound, dimension=self.dimension or 1
        )

    def failure(self, high: float) -> float:
        """Return the exact probability that the answer misses the tolerance.

        For each entry z, g(z) is independently b with probability `high`, else −b.

        Examples
        --------
        >>> LaplaceAverage(tolerance=0.5).failure(0.5) < 0.05
        True
        """
        if self.tolerance is None or self.dimension is not None:
            raise InvalidValue("`failure` needs a `tolerance`, and a query that returns a number.")
        return failures.laplace_failure(self.noise, tau=self.tolerance, high=high, bound=self.bound)

    def _mean(self, database: Any) -> NDArray[np.float64]:
        self._sized(len(database))
        return np.asarray(self.randomizer.values(database).mean(axis=0))

    def _estimate(self, total: Any) -> Any:
        return total / self._n


@dataclass(frozen=True, kw_only=True)
class SignAverage(LocalAverage):
    """The de-biased average of all entries' randomized responses to a ±1 query.

    Parameters
    ----------
    epsilon, query, vectorised, records
        As in `SignResponse`, the randomizer of every entry.
    tolerance, beta, size
        As in `LaplaceAverage`, with bound 1.

    Raises
    ------
    InvalidValue
        As in `LaplaceAverage`, or a value is neither −1 nor 1.

    Guarantee
    ---------
    *Privacy*: epsilon-differential privacy when one entry is replaced, as for `LaplaceAverage`.

    *Utility*: a report has mean tanh(epsilon/2)·g. So the average report ÷ tanh(epsilon/2) is unbiased. It is
    within tau of E[g] with probability ≥ 1 − beta on n ≥ `sign_size(…)` = ⌈2·ln(2/beta)/(tau·tanh(ε/2))²⌉
    independent entries.

    Examples
    --------
    >>> average = SignAverage(epsilon=1.0, tolerance=0.5, beta=0.05)
    >>> average.size, average([1] * average.size, np.random.default_rng(0)) > 0.5
    (139, True)
    """

    records: Sequence[Any] = (-1, 1)

    name: ClassVar[str] = "local-sign-average"

    @property
    def randomizer(self) -> SignResponse:
        """Randomized response to g."""
        return SignResponse(
            epsilon=self.epsilon, query=self.query, vectorised=self.vectorised, records=self.records
        )

    def _entries(self, tolerance: float) -> int:
        """Return `sign_size`."""
        return sizes.sign_size(tau=tolerance, beta=self.beta, epsilon=self.epsilon)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the answers of `size` runs."""
        ones, truth = self._ones(database), self.randomizer.truth
        reported = rng.binomial(ones, truth, size) + rng.binomial(self._n - ones, 1.0 - truth, size)
        return np.asarray(self._estimate(2 * reported - self._n))

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law of the answer, or None beyond 256 entries."""
        return None if self._n > _MOST_EXACT else self.law(database)

    def law(self, database: Any) -> Finite:
        """Return the exact law of the answer, computed in time n² for n entries.

        Examples
        --------
        >>> round(SignAverage(size=1000).law([1] * 500 + [-1] * 500).pmf(0.0), 4)
        0.0284
        """
        return _sign_law(self._ones(database), self._n, self.epsilon)

    def error_bound(self, beta: float) -> float:
        """Return a bound on |answer − E[g]| that fails with probability `beta`.

        Guarantee
        ---------
        The bound is √(2·ln(2/beta)/n)/tanh(ε/2), by Hoeffding's inequality as in `sign_size`.

        Examples
        --------
        >>> round(SignAverage(size=3455).error_bound(0.05), 4)
        0.1
        """
        beta = probability(beta, what="The `beta` of `error_bound`", zero=False, one=False)
        return math.sqrt(2.0 * math.log(2.0 / beta) / self._n) / self.randomizer.shrinkage

    def failure(self, high: float) -> float:
        """Return the exact probability that the answer misses the tolerance.

        For each entry z, g(z) is independently 1 with probability `high`, else −1.

        Examples
        --------
        >>> SignAverage(tolerance=0.5).failure(0.5) < 0.05
        True
        """
        if self.tolerance is None:
            raise InvalidValue("`failure` needs a `tolerance`.")
        return failures.sign_failure(self._n, tau=self.tolerance, high=high, epsilon=self.epsilon)

    def _ones(self, database: Any) -> int:
        self._sized(len(database))
        return int((self.randomizer.values(database) > 0).sum())

    def _estimate(self, total: Any) -> Any:
        return _debiased(total, self._n, self.epsilon)


def _debiased(total: Any, size: int, epsilon: float) -> Any:
    return total / (size * math.tanh(epsilon / 2.0))


def _sign_law(ones: int, size: int, epsilon: float) -> Finite:
    """Return the law of the estimate if `ones` of the entries are 1."""
    from audit.distributions import Finite

    logs = failures.log_reports(ones, size, truth=SignResponse(epsilon=epsilon).truth)
    totals = 2 * np.arange(size + 1) - size
    return Finite(np.asarray(_debiased(totals, size, epsilon)), log_probabilities=logs)


entries = (
    Entry(
        "local-laplace-average",
        partial(LaplaceAverage, records=(-1, 1)),
        reference=LaplaceAverage.reference,
        summary="A_g: the average of all entries' R_g",
        formulas=whole,
    ),
    Entry(
        "local-sign-average",
        partial(SignAverage, size=4),
        reference=SignAverage.reference,
        summary="the average of all entries' randomized responses",
        formulas=whole,
    ),
    Entry(
        "local-laplace-average-query",
        partial(LaplaceAverage, tolerance=0.5),
        options={"budget": 20_000},
        utility={},
        reference=LaplaceAverage.reference,
        summary="A_g on 268 entries, within 0.5 of the mean except for 5 % of the runs",
        formulas=answers.laplace_average,
    ),
    Entry(
        "local-sign-average-query",
        partial(SignAverage, epsilon=3.0, tolerance=0.5),
        utility={},
        reference=SignAverage.reference,
        summary="±1 responses, within 0.5 of the mean except for 5 % of the runs",
        formulas=answers.sign_average,
    ),
    Entry(
        "local-laplace-average-printed-size",
        partial(LaplaceAverage, epsilon=4.0, size=293),
        options={"budget": 20_000},
        utility={"claim": Accuracy(0.08, 0.05)},
        utility_expected="refuted",
        reference="K11 Lemma 5.6 as printed, c = 10, for ε = 4",
        summary="private, but misses 0.08 in 26 % of runs, not 5 %: the printed size at a large ε",
    ),
)
