"""Randomized response among k answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import InvalidValue, finite_number, positive_int, probability
from audit.relations import Relation
from mechanisms.formulas import responses as formulas
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite, Product
    from mechanisms.subjects.neighbours import Pair

__all__ = ["KaryRandomizedResponse"]


@dataclass(frozen=True, kw_only=True)
class KaryRandomizedResponse(ClaimsItsEpsilon):
    """Randomized response among k answers.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0. The truth is reported with probability e^epsilon/(e^epsilon + k − 1).
    categories
        The number k ≥ 2 of answers, which are 0 … k − 1.
    size
        Number of respondents. For one, which is a local randomizer, the output is a bare answer. For more it
        is an array.

    Raises
    ------
    InvalidValue
        A parameter is out of range, a database is empty, or a record is not one of the answers.

    Guarantee
    ---------
    epsilon-local differential privacy of every respondent (K11 §1.1 and Definition 5.1). A report is the
    truth with probability e^epsilon/(e^epsilon + k − 1) and any other answer with 1/(e^epsilon + k − 1). So
    if another answer is the truth, the probability of a report changes by the factor e^epsilon or not at all.
    A survey is epsilon-private when one record is replaced, because the other reports keep their laws.

    Examples
    --------
    >>> response = KaryRandomizedResponse(epsilon=math.log(2), categories=3)
    >>> [round(response.distribution([1]).pmf(report), 12) for report in range(3)]
    [0.25, 0.5, 0.25]
    """

    epsilon: float = 1.0
    categories: int = 3
    size: int = 1

    name: ClassVar[str] = "kary-randomized-response"
    reference: ClassVar[str] = "K11 §1.1 and Definition 5.1, for k answers"
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        positive_int(self.categories, what=f"The `categories` of `{owner}`", minimum=2)
        positive_int(self.size, what=f"The `size` of `{owner}`")

    @property
    def relation(self) -> Relation:
        """The relation, LOCAL for one respondent and REPLACE_ONE for more."""
        return Relation.LOCAL if self.size == 1 else Relation.REPLACE_ONE

    @property
    def records(self) -> list[int]:
        """The possible answers."""
        return list(range(self.categories))

    @property
    def log_odds(self) -> float:
        """The log-odds of a true report."""
        return self.epsilon - math.log(self.categories - 1)

    @property
    def truth(self) -> float:
        """Probability that the truth is reported."""
        return math.exp(_log_sigmoid(self.log_odds))

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> int | NDArray[np.int64]:
        """Return the reports of one run.

        For one respondent, this is a bare answer.
        """
        reports: NDArray[np.int64] = self.sample(database, 1, rng)[0]
        return int(reports) if reports.ndim == 0 else reports

    def sample(self, database: Sequence[int], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the reports of `size` runs, of shape (size,) or (size, respondents).

        The random numbers of run i do not depend on the database.
        """
        truths = self.answers(database)
        shape = (size, *(truths.shape if len(truths) > 1 else ()))
        honest = rng.random(shape) < self.truth
        others = rng.integers(1, self.categories, shape)
        return np.asarray(np.where(honest, truths, (truths + others) % self.categories))

    def distribution(self, database: Sequence[int]) -> Finite | Product:
        """Return the exact law of a report, or the product of laws for a survey."""
        from audit.distributions import Product

        laws = [self._report_law(truth) for truth in self.answers(database).tolist()]
        return laws[0] if len(laws) == 1 else Product(laws)

    def answers(self, database: Sequence[int]) -> NDArray[np.int64]:
        """Return the true answers.

        Raises
        ------
        InvalidValue
            An answer is not in 0 … k − 1.
        """
        owner = type(self).__name__
        wrong = [record for record in database if not _is_answer(record, self.categories)]
        if wrong or len(database) == 0:
            what = repr(wrong[0]) if wrong else "no record"
            raise InvalidValue(
                f"A record of `{owner}` must be one of 0 … {self.categories - 1}; got {what:.60}."
            )
        return np.asarray(database, dtype=np.int64)

    def estimate(self, reports: Any) -> NDArray[np.float64]:
        """Return unbiased estimates of the proportions of the k answers.

        Guarantee
        ---------
        Let the truth be reported with probability t, and any other answer with w = (1 − t)/(k − 1). The
        expected share of reports of answer j is w + (t − w)·(true share of j). So the estimate is (observed
        share − w)/(t − w). The estimates sum to 1. They are not clipped, and may lie outside [0, 1].

        Examples
        --------
        >>> response = KaryRandomizedResponse(epsilon=math.log(2), categories=3)
        >>> response.estimate([0, 0, 1, 2]).round(9).tolist()
        [1.0, 0.0, 0.0]
        """
        counts = np.bincount(self.answers(np.ravel(reports).tolist()), minlength=self.categories)
        wrong = (1.0 - self.truth) / (self.categories - 1)
        shares: NDArray[np.float64] = (counts / counts.sum() - wrong) / (self.truth - wrong)
        return shares

    def error_bound(self, beta: float) -> float:
        """Return a bound on the errors of `estimate`.

        With probability 1 − `beta` no component exceeds it.

        Guarantee
        ---------
        It holds on every database of `size` respondents. A reported share is a mean of independent bits. By
        Hoeffding's inequality, for both tails and all k answers, some share is off by more than s with
        probability ≤ 2k·exp(−2·size·s²). For k = 2 the two shares have the same error, so 2·exp(−2·size·s²)
        is enough. `estimate` divides a reported share, and so s, by (e^epsilon − 1)/(e^epsilon + k − 1).

        Examples
        --------
        >>> round(KaryRandomizedResponse(size=10_000).error_bound(0.05), 4)
        0.0425
        """
        beta = probability(beta, what="The `beta` of `error_bound`", zero=False, one=False)
        separate = self.categories if self.categories > 2 else 1
        share = math.sqrt(math.log(2 * separate / beta) / (2 * self.size))
        return share / (self.truth - (1.0 - self.truth) / (self.categories - 1))

    def suggested_pairs(self) -> list[Pair]:
        """Return two databases that differ in one respondent."""
        rest = [0] * (self.size - 1)
        return [([0, *rest], [1, *rest])]

    def _report_law(self, truth: int) -> Finite:
        from audit.distributions import Finite

        wrong = _log_sigmoid(-self.log_odds) - math.log(self.categories - 1)
        logs = np.full(self.categories, wrong)
        logs[truth] = _log_sigmoid(self.log_odds)
        return Finite(range(self.categories), log_probabilities=logs)


def _log_sigmoid(x: float) -> float:
    """Return ln(1/(1 + e^(−x))) without overflow or cancellation."""
    return -math.log1p(math.exp(-x)) if x >= 0 else x - math.log1p(math.exp(x))


def _is_answer(record: Any, categories: int) -> bool:
    try:
        return bool(record in range(categories))
    except ValueError:  # the record is an array
        return False


entry = Entry(
    KaryRandomizedResponse.name,
    KaryRandomizedResponse,
    reference=KaryRandomizedResponse.reference,
    summary="randomized response among k answers",
    formulas=formulas.responses,
)
