"""Private answers to statistical queries from disjoint chunks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit import Evidence, PureDP, Verdict, audit_privacy, audit_utility
from audit.catalogue import load_catalogue
from audit.errors import InvalidKind, InvalidValue
from audit.relations import Relation
from mechanisms.queries import (
    LiteralPrivateOracle,
    LiteralQueryAnswers,
    PrivateOracle,
    PrivateQueryAnswers,
    StatisticalQuery,
    private_chunk_size,
    private_sample_size,
    stated_chunk_size,
)

ONES = StatisticalQuery.fraction(bool, tau=0.1)
ZEROS = StatisticalQuery.fraction(lambda x: not x, tau=0.1)


def private_miss(size, share, *, tau, scale):
    """Return Pr[|average + Lap(scale) − share| > tau] exactly.

    It is a binomial mixture of Laplace tails.
    """
    counts = np.arange(size + 1)
    error = counts / size - share
    tails = stats.laplace.sf(tau - error, scale=scale) + stats.laplace.cdf(-tau - error, scale=scale)
    return float(stats.binom.pmf(counts, size, share) @ tails)


@pytest.mark.parametrize("share", [0.5, 0.02])
@pytest.mark.parametrize(("queries", "epsilon", "tau"), [(1, 1.0, 0.1), (20, 0.5, 0.1), (5, 3.0, 0.05)])
def test_the_failure_probability_of_a_private_chunk_is_within_its_share_of_beta(share, queries, epsilon, tau):
    size = private_chunk_size(queries, tau=tau, beta=0.05, epsilon=epsilon)
    assert private_miss(size, share, tau=tau, scale=1 / (epsilon * size)) <= 0.05 / queries


@settings(deadline=None, max_examples=100)
@given(
    queries=st.integers(1, 10_000),
    tau=st.floats(0.01, 1.0),
    beta=st.floats(1e-9, 0.999),
    epsilon=st.floats(0.01, 100.0),
)
def test_the_stated_size_with_its_constant_is_enough_for_the_corrected_noise(queries, tau, beta, epsilon):
    needed = private_chunk_size(queries, tau=tau, beta=beta, epsilon=epsilon)
    assert needed <= stated_chunk_size(queries, tau=tau, beta=beta, epsilon=epsilon)


def test_private_sizes_by_hand():
    # ε = 0.01: the noise sets the size, 2·ln(2·10/0.05)/(0.01·0.1) = 2000·ln 400
    assert private_sample_size(10, tau=0.1, beta=0.05, epsilon=0.01) == 10 * math.ceil(2000 * math.log(400))
    # ε = 1: the sampling error sets the size, 2·ln(4·10/0.05)/0.1² = 200·ln 800
    assert private_sample_size(10, tau=0.1, beta=0.05, epsilon=1.0) == 10 * math.ceil(200 * math.log(800))


def test_the_noise_of_an_answer_is_laplace_of_the_stated_scale():
    oracle = PrivateOracle([1] * 700_000, epsilon=1.0, queries=1000, beta=0.5, rng=np.random.default_rng(5))
    query = StatisticalQuery(float, tau=0.4, low=-1, high=1)
    size = oracle.chunk_size(query)
    answers = np.array(oracle.ask_all([query] * 1000))
    # significance 1e-8; twice the scale is at distance 1/4 and is missed with probability below
    # 2·exp(-2000·0.15²)
    assert stats.kstest(answers - 1.0, stats.laplace(scale=2 / size).cdf).pvalue > 1e-8


def test_the_literal_oracle_has_the_chunks_of_the_proof_and_m_times_the_noise():
    oracle = LiteralPrivateOracle([0], epsilon=0.5, queries=7, beta=0.1, rng=np.random.default_rng(0))
    size = oracle.chunk_size(ONES)
    assert size == math.ceil(4 * (1 / (0.5 * 0.1) + 1 / 0.1**2) * math.log(2 * 7 / 0.1))
    assert oracle.scale(ONES) == pytest.approx(7 / (0.5 * size), rel=1e-12)


@pytest.mark.parametrize("queries", [1, 2])
def test_the_corrected_answers_are_exactly_epsilon_private(queries):
    subject = PrivateQueryAnswers(epsilon=0.8, queries=(ONES,) * queries, chunk=2)
    result = audit_privacy(subject, budget=1_000)
    assert (result.verdict, result.evidence) == (Verdict.NOT_REFUTED, Evidence.EXACT)
    assert result.epsilon_lower == pytest.approx(0.8, rel=1e-9)


@pytest.mark.parametrize("queries", [1, 2])
def test_the_literal_answers_are_exactly_epsilon_over_m_private(queries):
    subject = LiteralQueryAnswers(epsilon=0.8, queries=(ONES,) * queries, chunk=2)
    result = audit_privacy(subject, budget=1_000)
    assert (result.verdict, result.evidence) == (Verdict.NOT_REFUTED, Evidence.EXACT)
    assert result.epsilon_lower == pytest.approx(0.8 / queries, rel=1e-9)
    less = audit_privacy(subject, PureDP(0.79 / queries), budget=1_000, recorded=False)
    assert less.verdict is Verdict.REFUTED


def test_noise_for_half_the_width_is_refuted():
    class HalfNoise(PrivateQueryAnswers):
        @property
        def scales(self):
            return super().scales / 2

    result = audit_privacy(HalfNoise(epsilon=0.8, chunk=2), budget=1_000, recorded=False)
    assert result.verdict is Verdict.REFUTED
    assert result.epsilon_lower == pytest.approx(1.6, rel=1e-9)


def test_utility_is_claimed_only_for_large_enough_chunks():
    subject = PrivateQueryAnswers(queries=(ONES,) * 3)
    assert subject.utility_claim.alpha == 0.1
    assert PrivateQueryAnswers(queries=(ONES,) * 3, chunk=subject.chunk_size - 1).utility_claim is None
    problem = subject.problems()[0]
    assert len(problem.draw(np.random.default_rng(0))) == subject.size
    assert problem.error([0.5, 0.75, 0.4], None) == pytest.approx(0.25)


def test_samples_of_the_subject_follow_its_law(agreement):
    subject = PrivateQueryAnswers(epsilon=2.0, chunk=3)
    database = [0, 1, 1, 0, 0, 1]
    drawn = subject.sample(database, 20_000, np.random.default_rng(2))
    for column, average in zip(drawn.T, [2 / 3, 1 / 3], strict=True):
        # significance 1e-8 each; a shift by half a scale is missed with probability below 1e-100
        assert stats.kstest(column, stats.laplace(loc=average, scale=1 / 6).cdf).pvalue > 1e-8


def test_the_utility_audit_finds_e1():
    # τ = ε = 1, M = 24, chunks of 4·(1 + 1)·ln 960 = 55: the noise exceeds τ in some answer with probability
    # 0.92
    queries = (ONES.with_tau(1.0),) * 24
    literal = audit_utility(LiteralQueryAnswers(queries=queries), budget=100)
    assert literal.verdict is Verdict.REFUTED
    corrected = audit_utility(PrivateQueryAnswers(queries=queries), budget=100)
    assert corrected.verdict is not Verdict.REFUTED


@dataclass(frozen=True, kw_only=True)
class Adaptive:
    """An algorithm that asks for the share of ones, then for another mean.

    If the share is above 1/2, it asks for the mean square, else for the share of zeros.
    """

    factor: float = 1.0

    claim: ClassVar[PureDP] = PureDP(1.0)
    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    def __call__(self, database, rng):
        oracle = PrivateOracle(database, epsilon=self.factor * 1.0, queries=2, beta=0.9, rng=rng)
        first = oracle.ask(ONES.with_tau(1.0))
        second = (ONES if first > 0.5 else ZEROS).with_tau(1.0)
        return first, oracle.ask(second)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, Verdict.NOT_REFUTED), (3.0, Verdict.REFUTED)])
def test_an_adaptive_run_is_private_as_a_whole(factor, verdict):
    # No law is declared, so the audit samples. Significance 1e-7; a third of the noise has a loss of 3.
    size = 2 * private_chunk_size(2, tau=1.0, beta=0.9, epsilon=1.0)
    left, right = [1] * size, [1] * (size // 2) + [0] + [1] * (size // 2 - 1)
    pairs = [(left, right), (left, [0, *left[1:]])]
    options = {"pairs": pairs, "budget": 2_000, "significance": 1e-7, "recorded": False}
    result = audit_privacy(Adaptive(factor=factor), confirm_budget=2_000, **options)
    assert result.verdict is verdict
    assert result.evidence is Evidence.STATISTICAL


def test_a_database_of_another_length_is_refused():
    with pytest.raises(InvalidValue, match=r"must have 4 records, 2 chunks of 2; got 3"):
        PrivateQueryAnswers(chunk=2).distribution([0, 1, 0])
    with pytest.raises(InvalidKind, match="must be statistical queries"):
        PrivateQueryAnswers(queries=())


NAMES = ("private-query-answers", "literal-query-answers", "flawed-shared-chunk-answers")


def test_the_utility_of_the_entry_with_the_noise_of_the_proof_is_refuted():
    told = {entry.name: entry for entry in load_catalogue()}
    assert set(NAMES) <= set(told)
    assert told["literal-query-answers-many"].flaws == ["utility"]
    # 1 − (1 − e^(−chunk/16))^16 with chunks of ⌈4·2·ln(640)⌉ = 52
    assert told["literal-query-answers-many"].factory().failure_of_noise() == pytest.approx(
        1 - (1 - math.exp(-52 / 16)) ** 16
    )


@pytest.mark.parametrize(
    "entry", [e for e in load_catalogue() if e.name in NAMES], ids=lambda entry: entry.name
)
def test_every_catalogue_entry_has_the_expected_verdict(entry):
    subject = entry.factory()
    assert subject.name == entry.name
    result = audit_privacy(subject, budget=1_000, recorded=False)
    wanted = Verdict.REFUTED if entry.expected == "refuted" else Verdict.NOT_REFUTED
    assert (result.verdict, result.evidence) == (wanted, Evidence.EXACT)
    losses = {"literal-query-answers": 0.5, "flawed-shared-chunk-answers": 2.0}
    assert result.epsilon_lower == pytest.approx(losses.get(entry.name, 1.0), rel=1e-9)
