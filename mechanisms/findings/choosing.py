"""Findings about the choosing mechanism: BNS Definition 12 and Lemma 4."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from audit.findings import Finding, Table
from audit.laws.exact import compare_pairs
from mechanisms.flawed.choosing import UncheckedChoosing
from mechanisms.selection.choosing import ChoosingMechanism
from mechanisms.selection.score_vectors import ChoosingScores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["FINDINGS", "bns_definition_12", "bns_lemma_4", "n5", "n27"]


@dataclass(frozen=True, kw_only=True)
class _UncheckedScores(ChoosingScores):
    """The choosing mechanism on all score vectors, without a check of the size."""

    name: ClassVar[str] = "unchecked-choosing-scores"
    _kind: ClassVar[type[ChoosingMechanism]] = UncheckedChoosing


@cache
def bns_definition_12() -> Finding:
    """BNS Definition 12: scores of bounded growth on a small domain are 1-sensitive.

    Examples
    --------
    >>> bns_definition_12().found
    1.0
    """
    scores = _growing(records=3)
    rows = []
    for name, growth in (("one solution", 1), ("two solutions", 1), ("two solutions", 2)):
        many = [(score,) for score in scores] if name == "one solution" else _grown_pairs(scores, growth)
        moves = [_moves(each) for each in many]
        rows.append((name, growth, len(many), max(far for far, _ in moves), max(how for _, how in moves)))
    return Finding(
        "BNS Definition 12",
        "BNS §4.1, Definition 12 and the words after it",
        "A k-bounded-growth score is, in particular, of sensitivity 1.",
        "holds",
        f"Over all scores of up to three records of two kinds, no score moves by more than {rows[-1][3]} "
        f"between neighbours. Up to 2k solutions may move at once: {rows[1][4]} at k = 1.",
        row="M5",
        claimed=1.0,
        found=float(max(row[3] for row in rows)),
        tables=(
            Table(
                ("scores of", "k", "how many scores", "largest move", "solutions that move at once"),
                tuple(rows),
                "every score on multisets of at most three records of two kinds; neighbours: a record "
                "replaced",
            ),
        ),
    )


def _steps(records: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return all pairs of databases that differ by an added record.

    A database is given by its counts of two kinds of records.
    """
    small = [(a, b) for a in range(records) for b in range(records - a)]
    return [((a, b), more) for a, b in small for more in ((a + 1, b), (a, b + 1))]


def _growing(*, records: int) -> list[dict[tuple[int, int], int]]:
    """Return every score function to which each record adds 0 or 1."""
    found: list[dict[tuple[int, int], int]] = [{(0, 0): 0}]
    for total in range(1, records + 1):
        for place in [(a, total - a) for a in range(total + 1)]:
            before = [less for less, more in _steps(records) if more == place]
            found = [
                {**score, place: value}
                for score in found
                for value in range(max(score[b] for b in before), min(score[b] for b in before) + 2)
            ]
    return found


def _grown_pairs(scores: list[dict[tuple[int, int], int]], growth: int) -> list[tuple[Any, ...]]:
    """Return the pairs of scores whose sum grows by at most `growth`."""
    steps = _steps(3)
    rises = [[score[more] - score[less] for less, more in steps] for score in scores]
    return [
        (scores[i], scores[j])
        for i, left in enumerate(rises)
        for j, right in enumerate(rises)
        if all(a + b <= growth for a, b in zip(left, right, strict=True))
    ]


def _moves(score: tuple[dict[tuple[int, int], int], ...]) -> tuple[int, int]:
    """Return the largest change of a score, and how many scores change."""
    pairs = [((a, b), (a - 1, b + 1)) for a, b in score[0] if a]
    moved = [[abs(each[left] - each[right]) for each in score] for left, right in pairs]
    return max(map(max, moved)), max(sum(move > 0 for move in row) for row in moved)


@cache
def bns_lemma_4() -> Finding:
    """BNS Lemma 4: the choosing mechanism is private at the stated size only.

    Examples
    --------
    >>> bns_lemma_4().judgement
    'holds'
    """
    rows = []
    for alpha, beta, epsilon, delta, growth in ((1.0, 0.5, 8.0, 0.1, 1), (1.0, 0.5, 4.0, 0.1, 2)):
        stated = ChoosingScores(alpha=alpha, beta=beta, epsilon=epsilon, delta=delta, growth=growth)
        size = len(stated.records) - 1
        unchecked = _UncheckedScores(alpha=alpha, beta=beta, epsilon=epsilon, delta=delta, growth=growth)
        below = (_worst_delta(replace(unchecked, records_count=m)) for m in (1, 2, 3))
        rows.append((epsilon, delta, growth, size, _worst_delta(stated), *below))
    table = Table(
        ("ε", "δ", "k", "stated m", "δ found", "at m = 1", "at m = 2", "at m = 3"),
        tuple(rows),
        "α = 1, β = 0.5, three solutions; exact, every pair of score vectors that neighbours can have",
    )
    return Finding(
        "BNS Lemma 4",
        "BNS §4.1, Lemma 4, privacy",
        "At the stated size the choosing mechanism is (ε, δ)-private for k-bounded-growth scores (for "
        "ε ≤ 16/(αβ), see N27).",
        "holds",
        f"At the stated m = {rows[0][3]} (ε = 8, δ = 0.1, k = 1) the worst δ is {rows[0][4]:.3g}. At smaller "
        f"sizes it is larger: {rows[0][5]:.3f} at m = 1 and {rows[0][7]:.3f} at m = 3. For very large ε see "
        "N27.",
        row="M5",
        method="lower bound",
        errata=("N5", "N27"),
        claimed=rows[0][1],
        found=rows[0][4],
        tables=(table,),
    )


def n5() -> Finding:
    """BNS Lemma 4, utility: false as printed if no solution scores high.

    Examples
    --------
    >>> n5().found
    1.0
    """
    mechanism = ChoosingMechanism()
    m = mechanism.size or 0
    rows = []
    for opt in (0, 58, 115, 116, m):
        database = ["a"] * opt + [""] * (m - opt)
        rows.append((opt, mechanism.printed_failure(database), mechanism.failure(database)))
    table = Table(
        ("opt", "Pr[no good solution is returned]", "… if opt > α·m"),
        tuple(rows),
        f"α = 0.5, β = 0.1, ε = 1, δ = 1e-3, m = {m}, as stated; exact",
    )
    empty = math.exp(mechanism.test.log_pass(0.0))
    return Finding(
        "N5",
        "BNS §4.1, Lemma 4, utility",
        "On every database the mechanism returns an α-good solution with probability at least 1 − β.",
        "false",
        f"If no solution has a positive score, the mechanism returns ⊥ with probability {rows[0][1]:g}. (As "
        f"printed, with {1.0 - empty:.7f}: with probability {empty:.2g} the test passes although there is "
        f"nothing to choose from.) At opt = 58 it returns ⊥ with probability {rows[1][1]:.2f}. β is 0.1.",
        row="M5",
        errata=("N5",),
        corrected="If opt > α·m, the answer is α-good with probability at least 1 − β. If not, every "
        "solution is α-good, and ⊥ says that none is needed. If no solution has a positive score, return ⊥.",
        claimed=mechanism.beta,
        found=rows[0][1],
        tables=(table,),
    )


def n27() -> Finding:
    """BNS Lemma 4, privacy: for ε > 16/(αβ) the stated size is too small.

    Examples
    --------
    >>> round(n27().found, 5)
    0.00747
    """
    rows = tuple(_fresh_solutions(epsilon) for epsilon in (40.0, 64.0, 200.0))
    return Finding(
        "N27",
        "BNS §4.1, Lemma 4, privacy",
        "At the stated size the choosing mechanism is (ε, δ)-private, for every ε.",
        "hidden condition",
        f"At ε = 40, α = 1, β = 0.9 and the stated size m = 6, one record that lifts k new solutions gives "
        f"probability {rows[0][3]:.5f} to answers that the neighbour cannot give. δ is {rows[0][1]:.5f}.",
        row="M5",
        method="lower bound",
        errata=("N27",),
        corrected="The statement holds for ε ≤ 16/(αβ).",
        claimed=rows[0][1],
        found=rows[0][3],
        tables=(
            Table(
                ("ε", "δ = e^(−ε/8)", "k", "exact δ(ε) is at least", "÷ δ"),
                rows,
                "α = 1, β = 0.9, opt = 3 = α·m/2, k as large as the stated m = 6 allows",
            ),
        ),
    )


FINDINGS: dict[str, Callable[[], Finding]] = {
    "BNS Definition 12": bns_definition_12,
    "BNS Lemma 4": bns_lemma_4,
    "N5": n5,
    "N27": n27,
}


def _worst_delta(subject: ChoosingScores) -> float:
    return compare_pairs(_vectors(subject), subject.distribution, subject.claim).delta


def _vectors(subject: ChoosingScores) -> Iterator[tuple[list[int], Any]]:
    """Yield every pair of score vectors that neighbouring databases can have."""
    for scores in product(subject.records, repeat=subject.size):
        for other in subject.relation.neighbours(scores, subject.records):
            if list(scores) < other:
                yield list(scores), other


def _fresh_solutions(epsilon: float) -> tuple[float, float, float, float, float]:
    """Return ε, δ, k, P and P/δ.

    P is the probability of releasing one of k solutions of score 1 instead of the only one of score 3.
    """
    delta = math.exp(-epsilon / 8.0)
    growth = math.floor(0.9 * epsilon / 16.0 * math.exp(3.0 * epsilon / 8.0))
    mechanism = UncheckedChoosing(
        alpha=1.0, beta=0.9, epsilon=epsilon, delta=delta, growth=growth, size=6, solutions="a"
    )
    assert mechanism.sample_size() == mechanism.size
    odds = growth * math.exp(epsilon / 4.0 - 3.0 * epsilon / 4.0)  # each scores 1, the other one 3
    mass = math.exp(mechanism.test.log_pass(3.0)) * odds / (1.0 + odds)
    return epsilon, delta, float(growth), mass, mass / delta
