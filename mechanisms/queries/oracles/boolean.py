"""Real-valued statistical queries through an oracle for Boolean queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue
from mechanisms.queries.oracles.oracle import Oracle, check_oracle, finite_answers
from mechanisms.queries.statistical import StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mechanisms.queries.oracles.oracle import SQOracle

__all__ = ["BooleanOnly", "ThroughBoolean", "bits_needed", "boolean_queries"]


def bits_needed(query: StatisticalQuery) -> int:
    """Return how many Boolean queries answer a real-valued query.

    Guarantee
    ---------
    m = max{1, ⌈log₂(2b/tau)⌉}, where b is half the width of the range. Further bits move the mean by at most
    b·2^(−m) ≤ tau/2.

    Raises
    ------
    InvalidValue
        More than 52 bits would be needed.

    Examples
    --------
    >>> bits_needed(StatisticalQuery.bounded(float, bound=4.0, tau=0.1))
    7
    """
    count = max(1, math.ceil(math.log2(query.width) - math.log2(query.tau)))
    if count > _DIGITS:
        raise InvalidValue(
            f"The `tau` of a query must be at least 2^(−{_DIGITS}) of its width, {query.width:g}, for its "
            f"digits to be asked; got {query.tau:g}."
        )
    return count


_DIGITS = 52
"""Number of binary digits that floats keep."""


def boolean_queries(query: StatisticalQuery) -> list[StatisticalQuery]:
    """Return the Boolean queries whose answers together give the query's answer.

    The queries g_1 … g_m have values in {−1, 1}.

    Guarantee
    ---------
    Let h = (g − low)/width in [0, 1], and m = `bits_needed`. For j = 1 … m let g_j be 1 if the j-th binary
    digit of h is 1, else −1. These digits leave an interval of length 2^(−m) for h. With b = width/2, its
    middle gives

        g = low + b + Σ_j b·2^(−j)·g_j ± b·2^(−m)

    (Σ_j 2^(−j)·(1 + g_j)/2 is the truncated h. Adding half of the interval turns Σ_j 2^(−j) = 1 − 2^(−m) into
    1.) Answers within tau′ of the g_j's means give the mean of g within b·(1 − 2^(−m))·tau′ + b·2^(−m). This
    is tau for tau′ = (tau/b − 2^(−m))/(1 − 2^(−m)), which lies between tau/2b and tau/b. So the tolerance is
    divided by Θ(b), and the query g = b·g_1 needs this order. No query depends on an answer.

    This is K11's remark after Definition 5.4, which quotes Bshouty and Feldman. The remark does not mention
    that the tolerance becomes Θ(tau/b).

    Examples
    --------
    >>> [bit.values([-1.0, 0.1, 1.0]).tolist() for bit in boolean_queries(StatisticalQuery(float, tau=0.5))]
    [[-1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]]
    """
    count = bits_needed(query)
    last = 2.0**-count
    tau = (2.0 * query.tau / query.width - last) / (1.0 - last)
    return [
        StatisticalQuery(_Digit(query, j), tau, boolean=True, vectorised=_Digits(query, j))
        for j in range(1, count + 1)
    ]


class BooleanOnly(Oracle):
    """Passes on Boolean queries and refuses all others (K11 Definition 5.4).

    Parameters
    ----------
    oracle
        The oracle that answers the Boolean queries.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population
    >>> BooleanOnly(ExactOracle(Population([0.5]))).ask(StatisticalQuery(float, tau=0.1))
    Traceback (most recent call last):
    audit.errors.InvalidValue: A query of `BooleanOnly` must be Boolean; got one with values in [-1, 1].
    """

    def __init__(self, oracle: SQOracle) -> None:
        super().__init__()
        self.oracle: SQOracle = check_oracle(oracle, owner=type(self).__name__)

    def _prepare(self, queries: Sequence[StatisticalQuery]) -> None:
        for query in queries:
            if not query.boolean:
                raise InvalidValue(
                    "A query of `BooleanOnly` must be Boolean; "
                    f"got one with values in [{query.low:g}, {query.high:g}]."
                )

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        return self.oracle.ask_all(queries)

    def _answer(self, query: StatisticalQuery) -> float:
        return self._answers([query])[0]


class ThroughBoolean(Oracle):
    """Answers any bounded query through Boolean queries, all asked in one round.

    Parameters
    ----------
    oracle
        The oracle that answers Boolean queries.

    Guarantee
    ---------
    Valid whenever `oracle` is valid for Boolean queries (`boolean_queries`). A round of queries becomes one
    round of Boolean queries, so a non-adaptive algorithm stays non-adaptive.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population
    >>> oracle = ThroughBoolean(BooleanOnly(ExactOracle(Population([-1.0, 0.5]))))
    >>> abs(oracle.ask(StatisticalQuery(float, tau=0.01)) + 0.25) <= 0.01
    True
    """

    def __init__(self, oracle: SQOracle) -> None:
        super().__init__()
        self.oracle: SQOracle = check_oracle(oracle, owner=type(self).__name__)

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        parts = [boolean_queries(query) for query in queries]
        answers = iter(finite_answers(self.oracle.ask_all([bit for bits in parts for bit in bits])))
        return [
            query.low
            + query.width / 2.0 * (1.0 + sum(2.0**-j * next(answers) for j in range(1, len(bits) + 1)))
            for query, bits in zip(queries, parts, strict=True)
        ]

    def _answer(self, query: StatisticalQuery) -> float:
        return self._answers([query])[0]


@dataclass(frozen=True)
class _Digits:
    """Maps records to 1 or −1 by the binary digit j of (g − low)/width."""

    query: StatisticalQuery
    j: int

    def __call__(self, records: Any) -> Any:
        shares = (self.query.values(records) - self.query.low) / self.query.width
        cells = np.minimum(np.floor(shares * 2.0**self.j), 2.0**self.j - 1.0)
        return 2.0 * np.mod(cells, 2.0) - 1.0


@dataclass(frozen=True)
class _Digit:
    """Maps one record to its digit, 1 or −1."""

    query: StatisticalQuery
    j: int

    def __call__(self, record: Any) -> float:
        return float(_Digits(self.query, self.j)([record])[0])
