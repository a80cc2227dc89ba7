"""Formulas for randomized response and its compositions (K11 §1.1, Def. 5.1-5.3)."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from audit.catalogue import Formulas
from mechanisms.formulas.noise import two_sided

__all__ = ["count_and_survey", "labels", "noninteractive", "poll", "responses", "signs"]

_CALLS, _FEWER = 30_000, 12_000


def _report(truth: Any, answers: Any, epsilon: float) -> dict[Any, float]:
    """Return the log-probability of each of k reports.

    The truth has probability e^ε/(e^ε + k − 1), any other answer 1/(e^ε + k − 1).
    """
    whole = math.log(math.exp(epsilon) + len(answers) - 1)
    return {answer: (epsilon if answer == truth else 0.0) - whole for answer in answers}


def responses(made: Any) -> Formulas:
    """Return the formulas of one respondent's report among k."""
    answers = range(made.categories)
    honest = math.exp(made.epsilon)
    return Formulas(
        epsilon=made.epsilon,
        law=lambda database: _report(database[0], answers, made.epsilon),
        databases=([0], [1]),
        calls=_CALLS,
        numbers={"probability of the truth": (made.truth, honest / (honest + made.categories - 1))},
    )


def signs(made: Any) -> Formulas:
    """Return the formulas of a ±1 report."""
    shrunk = (math.exp(made.epsilon) - 1.0) / (math.exp(made.epsilon) + 1.0)
    return Formulas(
        epsilon=made.epsilon,
        law=lambda database: _report(database[0], (-1, 1), made.epsilon),
        databases=([-1], [1]),
        calls=_CALLS,
        numbers={"mean of a report of 1": (made.shrinkage, shrunk)},
    )


def labels(made: Any) -> Formulas:
    """Return the formulas of an example whose label alone is randomized."""

    def law(database: Any) -> dict[Any, float]:
        laws = [_report(label, range(made.labels), made.epsilon) for _, label in database]
        return {
            tuple((x, label) for (x, _), label in zip(database, told, strict=True)): sum(
                each[label] for each, label in zip(laws, told, strict=True)
            )
            for told in product(range(made.labels), repeat=len(database))
        }

    return Formulas(law=law, databases=([("x", 0), ("y", 1)],), calls=_CALLS)


def count_and_survey(made: Any) -> Formulas:
    """Return the formulas of a noisy count and a randomized response."""
    half = made.epsilon / 2.0

    def law(database: Any) -> dict[Any, float]:
        [bit] = database
        counts = two_sided(bit, math.exp(half), range(bit - 80, bit + 80))
        told = _report(bit, (0, 1), half)
        return {(count, answer): counts[count] + told[answer] for count in counts for answer in told}

    return Formulas(epsilon=made.epsilon, law=law, databases=([0], [1]), calls=_FEWER)


def noninteractive(made: Any) -> Formulas:
    """Return the largest loss of three questions to one entry, which is 1.

    The questions have ε = 1/4, 1/2 and 1/4. The other entry is asked only two of them.
    """
    del made
    return Formulas(epsilon=1.0)


def poll(made: Any) -> Formulas:
    """Return the formulas of `poll_twice`.

    An entry spends ε/2. If it answers 0, it spends ε/4 or ε/2 more.
    """
    half = made.epsilon / 2.0

    def law(database: Any) -> dict[Any, float]:
        found: dict[Any, float] = {}
        firsts = [_report(bit, (0, 1), half) for bit in database]
        for first in product((0, 1), repeat=len(database)):
            log = sum(each[bit] for each, bit in zip(firsts, first, strict=True))
            denied = [place for place, bit in enumerate(first) if bit == 0]
            share = made.epsilon * (0.25 if 2 * len(denied) > len(database) else 0.5)
            for again in product((0, 1), repeat=len(denied)):
                seconds = zip(denied, again, strict=True)
                more = sum(_report(database[place], (0, 1), share)[bit] for place, bit in seconds)
                found[(*first, *again)] = log + more
        return found

    return Formulas(epsilon=made.epsilon, law=law, databases=([0, 1], [1, 1]), calls=_FEWER)
