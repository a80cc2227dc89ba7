"""Formulas of learners that choose from a listed class.

The weights are e^(−ε·errors/2).
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

from audit.catalogue import Formulas
from mechanisms.formulas.noise import laplace_cdf
from mechanisms.formulas.selection import softmax

__all__ = [
    "by_length",
    "compression",
    "generic",
    "generic_sanitizer",
    "label_private",
    "one_only",
    "sanitizing",
]

_CALLS = 2_000


def _errors(concepts: Any, names: Any, database: Any) -> dict[Any, int]:
    """Return how many records each concept misclassifies."""
    return {name: sum(bool(concepts.says(name, [x])[0]) != bool(y) for x, y in database) for name in names}


def _distinct(concepts: Any, names: Any, points: Any) -> list[Any]:
    """Return the first concept of each labelling of the points."""
    seen: dict[tuple[bool, ...], Any] = {}
    for name in names:
        seen.setdefault(tuple(bool(concepts.says(name, [x])[0]) for x in points), name)
    return list(seen.values())


def _choice(errors: dict[Any, int], epsilon: float) -> dict[Any, float]:
    return softmax({name: -float(wrong) for name, wrong in errors.items()}, epsilon / 2.0)


def _size(hypotheses: int, *, alpha: float, beta: float, epsilon: float) -> int:
    """Return the size of K11 Theorem 3.4, corrected (erratum E3).

    It is ⌈6·(ln|H| + ln(3/β))·max{1/εα, 1/α²}⌉.
    """
    return math.ceil(6.0 * math.log(3.0 * hypotheses / beta) * max(1.0 / (epsilon * alpha), 1.0 / alpha**2))


def one_only(made: Any, *, records: int = 6) -> list[tuple[list[Any], list[Any]]]:
    """Return neighbours that differ in the label of one record.

    With its new label all concepts but one err on that record, and the remaining concept errs on all others.
    The loss is ln((1 + (k − 1)·g^t)/(1 + (k − 1)·g^(t − 2))) for k concepts and t records, where g = e^(ε/2).
    """
    concepts = made.concepts
    names = _distinct(concepts, concepts.listed_concepts(), concepts.listed_domain())
    for x in concepts.listed_domain():
        for y in (0, 1):
            if sum(bool(concepts.says(name, [x])[0]) == bool(y) for name in names) == 1:
                against = [(x, 1 - y)] * records
                return [(against, [(x, y), *against[1:]])]
    return []


def generic(made: Any) -> Formulas:
    """Return the formulas of the generic learner."""
    concepts, domain = made.concepts, made.concepts.listed_domain()
    names = _distinct(concepts, concepts.listed_concepts(), domain)
    told = {"alpha": made.alpha, "beta": made.beta, "epsilon": made.epsilon}
    a, b = domain[0], domain[-1]
    return Formulas(
        epsilon=made.epsilon,
        law=lambda database: _choice(_errors(concepts, names, database), made.epsilon),
        databases=([(a, 1), (a, 1)], [(a, 1), (b, 0)]),
        calls=_CALLS,
        numbers={"sample size": (made.sample_size(), _size(len(names), **told))},
    )


def by_length(made: Any) -> Formulas:
    """Return the formulas of the learner that prefers short descriptions.

    Its weights are e^(−ε·errors/2)·2^−bits, where the bits are the length of the concept's description.
    """
    concepts, domain = made.concepts, made.concepts.listed_domain()
    names = list(concepts.listed_concepts())

    def law(database: Any) -> dict[Any, float]:
        wrong = _errors(concepts, names, database)
        scores = {c: -made.epsilon / 2.0 * wrong[c] - math.log(2.0) * made.bits(c) for c in names}
        return softmax(scores, 1.0)

    return Formulas(
        epsilon=made.epsilon, law=law, databases=([(domain[0], 1)] * 2, [(domain[-1], 1)] * 3), calls=_CALLS
    )


def label_private(made: Any) -> Formulas:
    """Return the formulas of the label-private learner.

    If the claimed accuracy needs u records without labels and l with labels, ⌈n·u/(u + l)⌉ of n records are
    used without labels.
    """
    concepts = made.concepts
    names = _distinct(concepts, concepts.listed_concepts(), concepts.listed_domain())
    v, half_a, half_b = concepts.vc_dimension(), made.alpha / 2.0, made.beta / 2.0

    def ways(points: int) -> int:
        return sum(math.comb(points, i) for i in range(v + 1))

    def missed(n: int) -> float:
        return float(2.0 * ways(2 * n) ** 2 * 2.0 ** (-n * half_a / 2.0))

    u = next(n for n in range(math.ceil(8.0 / half_a), 10**6) if missed(n) <= half_b)
    kept = min(ways(u), len(names))
    labelled = _size(kept, alpha=half_a, beta=half_b, epsilon=made.epsilon)

    def law(database: Any) -> dict[Any, float]:
        first = -(-len(database) * u // (u + labelled))
        left = _distinct(concepts, names, [x for x, _ in database[:first]])
        return _choice(_errors(concepts, left, database[first:]), made.epsilon)

    return Formulas(
        epsilon=made.epsilon,
        law=law,
        databases=([(1, 0), (1, 1), (1, 1)], [(0, 1), (2, 0), (0, 1)]),
        calls=_CALLS,
        numbers={"sample size": (made.sample_size(), u + labelled)},
    )


def compression(made: Any) -> Formulas:
    """Return the formulas of the compression learner.

    A record affects one step of one round: the choice of a hypothesis, or the measurement of its error. So
    the loss is at most ε. The measurement can lose nearly ε.
    """
    concepts, first, caps = made.concepts, made.first_round, made.caps
    names = list(concepts.listed_concepts())

    def law(database: Any) -> dict[Any, float]:
        found: dict[Any, float] = dict.fromkeys(names, 0.0)
        going, start, length = 1.0, 0, first
        for cap in caps:
            if start + length > len(database):
                break
            middle, stop = start + length - length // 2, start + length
            admitted = [name for name in names if made.bits(name) <= cap]
            learn, test = database[start:middle], database[middle:stop]
            wrong = _errors(concepts, admitted, test)
            passed = 0.0
            for name, log in _choice(_errors(concepts, admitted, learn), made.epsilon).items():
                noisy = laplace_cdf(wrong[name] / len(test), 1.0 / (made.epsilon * len(test)))
                share = math.exp(log) * noisy(2.0 * made.alpha / 3.0)
                found[name] += going * share
                passed += share
            going, start, length = going * (1.0 - passed), stop, 2 * length
        return {name: math.log(mass) for name, mass in found.items() if mass > 0.0} | {
            "insufficient samples": math.log(going)
        }

    return Formulas(
        epsilon=made.epsilon,
        law=law,
        databases=(
            [("u", 0), ("v", 1), ("v", 1), ("u", 1), ("v", 0), ("u", 0)],
            [("v", 1), ("u", 1), ("u", 0), ("v", 1), ("v", 1), ("v", 1)],
        ),
        calls=_CALLS,
    )


def _sanitized(made: Any, domain: Any, says: Any, database: Any, *, records: int) -> dict[Any, float]:
    """Return the law of the small database that a sanitizer returns.

    The weight of a small database is e^(−ε·m·off/2), where m is the number of records of `database`, and
    `off` the largest error of the small database.
    """
    tables = {tuple(bool(says(name, x)) for x in domain) for name in made.concepts.listed_concepts()}

    def shares(points: Any) -> list[float]:
        return [sum(point == x for point in points) / len(points) for x in domain]

    truth = shares(database)
    scores = {}
    for small in combinations_with_replacement(domain, records):
        off = [one - other for one, other in zip(shares(small), truth, strict=True)]
        worst = max(abs(sum(o for o, inside in zip(off, table, strict=True) if inside)) for table in tables)
        scores[small] = -len(database) * worst
    return softmax(scores, made.epsilon / 2.0)


def generic_sanitizer(made: Any) -> Formulas:
    """Return the formulas of Blum, Ligett and Roth's sanitizer.

    If there are many records and all are equal, one small database is chosen almost certainly. If a record is
    replaced, the weight of this small database falls by e^(−ε/2). The weight of a small database with the new
    record rises by e^(ε/2). So the loss tends to ε.
    """
    domain = made.concepts.listed_domain()
    records = math.ceil(len(domain) / (2.0 * made.alpha) - 1e-9)
    count = math.comb(len(domain) + records - 1, records)
    size = math.ceil(4.0 / (made.alpha * made.epsilon) * math.log(count / made.beta))

    def says(name: Any, x: Any) -> bool:
        return bool(made.concepts.says(name, [x])[0])

    def law(database: Any) -> dict[Any, float]:
        return _sanitized(made, domain, says, database, records=records)

    a, *_, b = domain
    return Formulas(
        epsilon=made.epsilon,
        law=law,
        databases=([a, a, b], [b, b, b]),
        numbers={
            "sample size": (made.sample_size(), size),
            "records of the output": (made.output_size, records),
        },
    )


def sanitizing(made: Any) -> Formulas:
    """Return the formulas of the sanitizing learner."""
    concepts = made.concepts
    domain = [(x, y) for x in concepts.listed_domain() for y in (0, 1)]
    records = math.ceil(len(domain) / (2.0 * made.alpha) - 1e-9)

    def wrong(name: Any, record: Any) -> bool:
        return bool(concepts.says(name, [record[0]])[0]) != bool(record[1])

    def law(database: Any) -> dict[Any, float]:
        found: dict[Any, float] = {}
        names = list(concepts.listed_concepts())
        for small, log in _sanitized(made, domain, wrong, database, records=records).items():
            best = min(names, key=lambda name: sum(wrong(name, record) for record in small))
            found[best] = found.get(best, 0.0) + math.exp(log)
        return {name: math.log(mass) for name, mass in found.items()}

    count = math.comb(len(domain) + records - 1, records)
    size = math.ceil(4.0 / (made.alpha * made.epsilon) * math.log(count / made.beta))
    low, high = 2.0 * made.alpha, 3.0 * made.alpha
    apart = low * math.log(low / high) + (1.0 - low) * math.log((1.0 - low) / (1.0 - high))
    labellings = len(_distinct(concepts, concepts.listed_concepts(), concepts.listed_domain()))
    transfer = math.ceil(math.log(labellings / made.beta) / apart)
    return Formulas(
        epsilon=made.epsilon,  # the sanitizer's loss, on samples with all but two examples of one kind
        law=law,
        databases=([(0, 1), (0, 1), (1, 0)], [(1, 1), (1, 1), (0, 0)]),
        numbers={
            "least sample size of the sanitizer": (made.sanitizer.sample_size(), size),
            "examples enough for small training errors to mean small errors": (made.transfer_size, transfer),
        },
    )
