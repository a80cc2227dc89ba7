"""Findings about answers to queries, most of them in the local model."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import AuditError
from audit.findings import Finding, Table
from audit.laws.divergence import epsilon_at
from audit.laws.exact import compare_pairs
from mechanisms.local.algorithms import poll_twice
from mechanisms.local.laplace import LocalLaplace
from mechanisms.local.oracle import LROracle
from mechanisms.local.protocols import InteractiveProtocol, NonInteractiveProtocol
from mechanisms.queries.oracles.adversarial import AdversarialOracle
from mechanisms.queries.oracles.boolean import BooleanOnly, ThroughBoolean, boolean_queries
from mechanisms.queries.oracles.private import private_chunk_size
from mechanisms.queries.population import Population
from mechanisms.queries.runs.private_answers import PrivateQueryAnswers
from mechanisms.queries.statistical import StatisticalQuery
from mechanisms.responses.binary import RandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FINDINGS", "b_theorem_7", "k11_definition_5_3", "k11_definition_5_4", "k11_r_g"]

_BETA = 0.05


def _worst_loss(protocol: Any) -> float:
    """Return the largest exact loss over all neighbouring databases of two bits."""
    databases = [list(bits) for bits in product((0, 1), repeat=2)]
    pairs = [(x, y) for x in databases for y in databases if protocol.relation.are_neighbours(x, y)]
    return compare_pairs(pairs, protocol.distribution, protocol.claim).epsilon


def k11_definition_5_3() -> Finding:
    """K11 Definitions 5.2 and 5.3: losses stay within an entry's budget.

    Examples
    --------
    >>> k11_definition_5_3().judgement
    'holds'
    """
    questions = [(range(2), RandomizedResponse(epsilon=0.5)), (0, RandomizedResponse(epsilon=0.25))]
    fixed = NonInteractiveProtocol(queries=questions)
    adaptive = InteractiveProtocol(algorithm=partial(poll_twice, epsilon=1.0), epsilon=1.0)
    refused, untouched = _overspent()
    rows = (
        ("non-interactive, 0.5 and 0.25 to one entry", fixed.claim.epsilon, _worst_loss(fixed)),
        ("interactive, two rounds, budget 1", adaptive.claim.epsilon, _worst_loss(adaptive)),
    )
    return Finding(
        "K11 Definition 5.3",
        "K11 Definitions 5.1-5.3, 5.13",
        "Answers of ε_j-local randomizers with Σ ε_j ≤ ε for every entry are ε-private.",
        "holds",
        f"Equality holds. If all questions are prepared first, the loss is {rows[0][2]:.6f} of "
        f"{rows[0][1]:g}; if they depend on the answers, it is {rows[1][2]:.6f} of {rows[1][1]:g}. A "
        f"question beyond the budget is {'refused' if refused else 'answered'} "
        f"{'before' if untouched else 'after'} anything is drawn.",
        row="M8",
        errata=("N16", "N17"),
        claimed=rows[0][1],
        found=rows[0][2],
        tables=(Table(("protocol", "Σ ε_j", "exact loss"), rows, "two entries of one bit"),),
        command="dp-audit run local-interactive",
    )


def _overspent() -> tuple[bool, bool]:
    """Return whether an oracle refuses an overspending question, and without a draw."""
    rng = np.random.default_rng(0)
    oracle = LROracle([1, 0], epsilon=1.0, rng=rng)
    oracle.ask(0, RandomizedResponse(epsilon=0.75))
    before = rng.bit_generator.state
    try:
        oracle.ask(0, RandomizedResponse(epsilon=0.5))
    except AuditError:
        return True, bool(rng.bit_generator.state == before)
    return False, False


def k11_r_g() -> Finding:
    """K11 §5.1.1: the local loss of the Laplace randomizer R_g is exactly ε.

    Examples
    --------
    >>> round(k11_r_g().ratio, 12)
    1.0
    """
    rows = []
    for epsilon, bound in ((0.5, 1.0), (1.0, 1.0), (1.0, 5.0)):
        randomizer = LocalLaplace(epsilon=epsilon, bound=bound, records=(-bound, 0.0, bound))
        laws = [randomizer.distribution([u]) for u in (-bound, bound)]
        rows.append((epsilon, bound, randomizer.scale, epsilon_at(laws[0], laws[1])))
    return Finding(
        "K11 §5.1.1, R_g",
        "K11 §5.1.1; K08 Claim 4.1",
        "g(u) plus Laplace noise of scale 2b/ε, g in [−b, b], is an ε-local randomizer.",
        "holds",
        f"Equality holds between the ends of the range: the loss is {rows[1][3]:.6f} at ε = 1.",
        row="M9",
        errata=("N16",),
        claimed=rows[1][0],
        found=rows[1][3],
        tables=(Table(("ε", "b", "scale", "exact loss"), tuple(rows), "u at the ends of the range"),),
        command="dp-audit run local-laplace",
    )


def k11_definition_5_4() -> Finding:
    """K11, after Definition 5.4: Boolean queries can answer a real-valued query.

    O(log(b/τ)) of them suffice for bound b and tolerance τ.

    Examples
    --------
    >>> k11_definition_5_4().ratio <= 1
    True
    """
    rng = np.random.default_rng(0)
    rows = []
    for bound, tau in ((1.0, 0.1), (4.0, 0.1), (1.0, 0.001)):
        query = StatisticalQuery.bounded(float, bound=bound, tau=tau)
        population = Population(rng.uniform(-bound, bound, 40).tolist())
        bits = boolean_queries(query)
        off = max(_off(population, query, adversary) for adversary in ("up", "down", "alternating"))
        rows.append(
            (bound, tau, len(bits), 1.0 + math.log2(bound / tau), bits[0].tau, tau / bound, off / tau)
        )
    heads = ("b", "τ", "Boolean queries", "1 + log2(b/τ)", "their tolerance", "τ/b", "worst error ÷ τ")
    return Finding(
        "K11 Definition 5.4",
        "K11 §5.1, Definitions 5.4 and 5.5 and the remark after them",
        "A query into [−b, b] can be answered through O(log(b/τ)) non-adaptive Boolean queries.",
        "holds",
        f"⌈1 + log2(b/τ)⌉ queries suffice, one for each binary digit of the value: {rows[0][2]} at b = 1, τ "
        f"= 0.1 and {rows[2][2]} at τ = 0.001. If every answer is off by its tolerance, the result is off "
        f"by {rows[0][6]:.2f}·τ.",
        corrected="The Boolean queries need the tolerance Θ(τ/b), which the remark does not say.",
        row="M11",
        method="lower bound",
        claimed=rows[0][1],
        found=rows[0][1] * max(row[6] for row in rows),
        tables=(Table(heads, tuple(rows), "40 points, three oracles that always answer at the end"),),
    )


def _off(population: Population, query: StatisticalQuery, adversary: Any) -> float:
    oracle = ThroughBoolean(BooleanOnly(AdversarialOracle(population, adversary)))
    return abs(oracle.ask(query) - population.expectation(query))


def b_theorem_7() -> Finding:
    """B Theorem 7 and C Theorem 1: noise 1/(ε|S_i|) is private and accurate.

    S_i is the part of the sample that answers query i. The number of queries does not matter.

    Examples
    --------
    >>> finding = b_theorem_7()
    >>> finding.found <= finding.claimed
    True
    """
    rows = []
    for queries, epsilon in ((1, 1.0), (10, 1.0), (100, 1.0), (10, 0.1), (1, 0.05)):
        asked = (StatisticalQuery.fraction(bool, tau=0.1),) * queries
        chunk = private_chunk_size(queries, tau=0.1, beta=_BETA, epsilon=epsilon)
        each = _missed(chunk, tau=0.1, epsilon=epsilon)
        small = PrivateQueryAnswers(epsilon=epsilon, queries=asked[:2], chunk=2)
        pairs = [tuple(map(small.distribution, pair)) for pair in small.suggested_pairs()]
        loss = max(epsilon_at(left, right) for left, right in pairs)
        rows.append((queries, epsilon, chunk, -math.expm1(queries * math.log1p(-each)), loss))
    hardest = max(rows, key=lambda row: row[3])
    worst = hardest[3]
    return Finding(
        "B Theorem 7",
        "B Theorem 7; C Theorem 1",
        "M queries are answered ε-privately, all within τ with probability 1 − β, from M chunks of "
        "O((1/ετ + 1/τ²)·log(M/β)) records.",
        "holds",
        f"This needs noise of scale 1/(ε|S_i|) (see E1). The exact loss is then ε. The probability that some "
        f"answer misses τ is at most {worst:.2g} in these cases, for β = {_BETA:g}. The worst case is M = "
        f"{hardest[0]}, ε = {hardest[1]:g}, with {hardest[2]} records in each chunk.",
        row="M12",
        method="lower bound",
        errata=("E1", "B Definition 2"),
        claimed=_BETA,
        found=worst,
        tables=(
            Table(
                ("M", "ε", "records per chunk", "some answer misses", "exact loss"),
                tuple(rows),
                "τ = 0.1, β = 0.05. Misses: fair coins, by binomial and Laplace laws. Loss: two chunks of "
                "two records",
            ),
        ),
        command="dp-audit run private-query-answers-many",
    )


def _missed(chunk: int, *, tau: float, epsilon: float) -> float:
    """Return Pr[|average of `chunk` fair coins + Lap(1/(ε·chunk)) − 1/2| > τ]."""
    from scipy.stats import binom, laplace

    counts = np.arange(chunk + 1)
    off, noise = counts / chunk - 0.5, laplace(scale=1.0 / (epsilon * chunk))
    return float(binom.pmf(counts, chunk, 0.5) @ (noise.sf(tau - off) + noise.cdf(-tau - off)))


FINDINGS: dict[str, Callable[[], Finding]] = {
    "K11 Definition 5.3": k11_definition_5_3,
    "K11 §5.1.1, R_g": k11_r_g,
    "K11 Definition 5.4": k11_definition_5_4,
    "B Theorem 7": b_theorem_7,
}
