"""Small SQ algorithms on examples (x, y) that need clean labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mechanisms.queries.population import Population
from mechanisms.queries.runs.algorithms import SQAlgorithm
from mechanisms.queries.statistical import StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Callable

    from mechanisms.queries.oracles.oracle import SQOracle

__all__ = ["SQLearner", "direction_and_error", "one_variable"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SQLearner(SQAlgorithm):
    """An `SQAlgorithm` whose output predicts labels.

    Parameters
    ----------
    run, queries, hardest, alpha, error, populations, adaptive
        As in `SQAlgorithm`. The error is how often the output predicts a label other than y.
    predict
        A function of an output and x that returns −1 or 1.

    Examples
    --------
    >>> one_variable(tau=0.1).predict(1, 0)
    -1
    """

    predict: Callable[[Any, Any], int]


def direction_and_error(*, tau: float = 0.45) -> SQAlgorithm:
    """Return the algorithm that guesses y from x and tests the guess.

    Both x and y are −1 or 1. The guess is y = x or y = −x, by the sign of an estimate of E[x·y].

    Guarantee
    ---------
    Two Boolean queries of tolerance `tau`, of widths 2 and 1. With a valid oracle, output 1 is within tau of
    E[x·y], and output 2 is within tau of Pr[y ≠ guess].

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle
    >>> mostly = Population([(1, 1), (1, -1)], [0.75, 0.25])
    >>> direction_and_error(tau=0.1).run(ExactOracle(mostly))
    (0.5, 0.25)
    """
    together = StatisticalQuery(_product, tau, boolean=True)

    def run(oracle: SQOracle) -> tuple[float, float]:
        answer = oracle.ask(together)
        return answer, oracle.ask(_misses(answer, tau=tau))

    def error(output: Any, population: Population) -> float:
        answer, share = output
        off = abs(share - population.expectation(_misses(answer, tau=tau)))
        return float(max(abs(answer - population.expectation(together)), off))

    same, other = [(-1, -1), (1, 1)], [(-1, 1), (1, -1)]
    return SQAlgorithm(
        run=run,
        queries=2,
        hardest=together,
        alpha=tau,
        error=error,
        populations={
            "y is x": Population(same),
            "y is −x": Population(other),
            "y is 1": Population([(-1, 1), (1, 1)]),
            "y is x in three of four": Population(same + other, [0.375, 0.375, 0.125, 0.125]),
        },
    )


def one_variable(*, tau: float = 0.17) -> SQLearner:
    """Return the SQ learner of B Theorem 5 for one bit x.

    The label y is always 1, or it is 1 exactly if x is 1.

    Guarantee
    ---------
    One query of tolerance tau and width 1 asks for P = Pr[x = 0 ∧ y = 1]. If the answer is at most tau, the
    learner keeps the variable (output 1). The error is at most 2·tau with every valid oracle, for both kinds
    of labels. If y is 1 exactly if x is 1, then P = 0, so the variable is kept. If the variable is kept, the
    error is at most P ≤ 2·tau.

    Examples
    --------
    >>> from mechanisms.queries import AdversarialOracle
    >>> learner, always = one_variable(tau=0.1), Population([(0, 1), (1, 1)], [0.2, 0.8])
    >>> learner.run(AdversarialOracle(always, "down")), learner.error(1, always), learner.error(0, always)
    (1, 0.2, 0.0)
    """
    zero_though_positive = StatisticalQuery.fraction(_zero_though_positive, tau=tau)

    def run(oracle: SQOracle) -> int:
        (answer,) = oracle.ask_all([zero_though_positive])
        return int(answer <= tau * (1.0 + _ROUNDING))

    def error(output: Any, population: Population) -> float:
        wrong = StatisticalQuery.fraction(partial(_wrong, output), tau=tau)
        return population.expectation(wrong)

    light = min(2.1 * tau, 1.0)
    return SQLearner(
        run=run,
        queries=1,
        hardest=zero_though_positive,
        alpha=2.0 * tau,
        error=error,
        populations={
            "y is −1": Population([(0, -1)]),
            "y is 1, x is 0 a little more often than alpha": Population([(0, 1), (1, 1)], [light, 1 - light]),
        },
        adaptive=False,
        predict=_predicted,
    )


_ROUNDING = 1e-12
"""Relative rounding allowance for answers that are off by exactly tau."""


def _product(example: Any) -> Any:
    x, y = example
    return x * y


def _misses(answer: float, *, tau: float) -> StatisticalQuery:
    sign = 1 if answer >= 0 else -1
    return StatisticalQuery.fraction(lambda example: sign * example[0] != example[1], tau=tau)


def _zero_though_positive(example: Any) -> bool:
    x, y = example
    return bool(x == 0 and y == 1)


def _predicted(output: Any, x: Any) -> int:
    return -1 if output == 1 and x == 0 else 1


def _wrong(output: Any, example: Any) -> bool:
    x, y = example
    return bool(_predicted(output, x) != y)
