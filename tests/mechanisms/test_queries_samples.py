"""Oracles over samples, by chunks, noise, noisy labels and local answers.

The file is long because all oracles over samples are tested on the same queries and sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.errors import InvalidKind, InvalidValue
from mechanisms import RandomizedResponse
from mechanisms.composition.budget import OverspentError
from mechanisms.local import LROracle, laplace_size, lemma_size, noise_size, sign_size
from mechanisms.queries import (
    AdversarialOracle,
    ExactOracle,
    LaplaceEntries,
    LocalOracle,
    NoisyLabelOracle,
    Population,
    SampleOracle,
    SignEntries,
    StatisticalQuery,
    ThroughBoolean,
    candidate_rates,
    flip_labels,
    learn_from_noisy_labels,
    local_sample_size,
    noisy_labels,
    noisy_sample_size,
    offsets,
    private_sample_size,
    rate_test_size,
    sample_size,
    sampling_size,
    stated_chunk_size,
)

ONES = StatisticalQuery.fraction(bool, tau=0.1)


def binomial_miss(size, share, tau):
    """Return Pr[|average of `size` coins − share| > tau] exactly."""
    counts = np.arange(size + 1)
    off = np.abs(counts / size - share) > tau * (1 + 1e-12)
    return float(stats.binom.pmf(counts, size, share)[off].sum())


@pytest.mark.parametrize(("tau", "beta"), [(0.1, 0.05), (0.03, 1e-6), (0.25, 0.5)])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_the_failure_probability_of_a_chunk_is_within_its_bound(tau, beta, share):
    size = sampling_size(tau=tau, beta=beta)
    assert binomial_miss(size, share, tau) <= beta
    if share == 0.5 and beta < 0.1:  # Hoeffding is nearly tight here: a third of the records is not enough
        assert binomial_miss(size // 3, share, tau) > beta


def test_the_sample_size_of_theorem_6_is_m_chunks_of_hoeffding():
    assert sample_size(10, tau=0.1, beta=0.05) == 10 * math.ceil(math.log(2 * 10 / 0.05) / (2 * 0.1**2))
    assert sample_size(10, tau=0.4, beta=0.05, width=4) == sample_size(10, tau=0.1, beta=0.05)


def test_queries_get_disjoint_chunks_in_order():
    seen = []
    query = StatisticalQuery(
        lambda x: 0.0, tau=0.5, vectorised=lambda xs: seen.append(list(xs)) or np.zeros(len(xs))
    )
    oracle = SampleOracle(list(range(100)), queries=3, beta=0.3)
    size = oracle.chunk_size(query)
    oracle.ask(query)
    oracle.ask_all([query, query])
    assert seen == [list(range(i * size, (i + 1) * size)) for i in range(3)]
    assert oracle.left == 100 - 3 * size


def test_too_few_records_are_refused_with_the_required_number_and_no_answer():
    oracle = SampleOracle([0, 1] * 450, queries=10, beta=0.05)
    oracle.ask(ONES)
    with pytest.raises(InvalidValue, match="must have 900 fresh records for this round; 600 of 900 are left"):
        oracle.ask_all([ONES] * 3)
    assert (oracle.asked, oracle.left) == (1, 600)
    assert oracle.ask_all([ONES] * 2) == [0.5, 0.5]


def test_a_nested_query_gets_its_own_records():
    size = sampling_size(tau=0.1, beta=0.05 / 3)
    sample = [0] * size + [1] * size + [0] * size
    oracle = SampleOracle(sample, queries=3, beta=0.05)
    inner = []

    def asks(record):
        if not inner:
            inner.append(oracle.ask(ONES))
        return record

    assert oracle.ask(StatisticalQuery.fraction(asks, tau=0.1)) == 0.0
    assert (inner, oracle.used) == ([1.0], 2 * size)  # the inner query used the second chunk

    def asks_and_fails(record):
        if len(inner) == 1:
            inner.append(oracle.ask(ONES))
        return 7

    late = SampleOracle(sample, queries=3, beta=0.05)
    oracle, inner[:] = late, [1.0]
    with pytest.raises(InvalidValue, match="must be one of 0, 1; got 7"):
        late.ask(StatisticalQuery.fraction(asks_and_fails, tau=0.1))
    assert late.used == 2 * size  # the records of the inner query stay used


def test_more_queries_than_beta_was_shared_among_are_refused():
    oracle = SampleOracle([0, 1] * 1000, queries=1, beta=0.05)
    oracle.ask(ONES)
    with pytest.raises(InvalidValue, match="at most 1 queries"):
        oracle.ask(ONES)


CLEAN = Population([("a", 1), ("b", -1), ("c", 1)], [0.5, 0.2, 0.3])
CORRELATION = StatisticalQuery(lambda z: z[1] * (0.5 if z[0] == "a" else 1.0), tau=0.1)
MIXED = StatisticalQuery.fraction(lambda z: z[1] == 1 or z[0] == "b", tau=0.05)


@settings(deadline=None, max_examples=60)
@given(eta=st.floats(0.0, 0.49), drawn=offsets(4, extreme=False))
def test_noisy_labels_answer_clean_queries_with_every_inner_oracle(eta, drawn):
    oracle = NoisyLabelOracle(AdversarialOracle(noisy_labels(CLEAN, eta), drawn), eta=eta)
    answers = oracle.ask_all([CORRELATION, MIXED])
    assert abs(answers[0] - (0.25 - 0.2 + 0.3)) <= 0.1 + 1e-9
    assert abs(answers[1] - 1.0) <= 0.05 + 1e-9


def test_the_worst_answers_attain_the_tolerance_of_both_terms():
    oracle = NoisyLabelOracle(AdversarialOracle(noisy_labels(CLEAN, 0.3), "up"), eta=0.3)
    assert oracle.ask(CORRELATION) == pytest.approx(0.35 + 0.1, abs=1e-12)


def test_the_noise_shrinks_the_tolerance_of_the_label_term():
    label, plain = NoisyLabelOracle(ExactOracle(CLEAN), eta=0.3).split(MIXED)
    assert label.tau == pytest.approx(0.4 * 0.05 / 2, rel=1e-12)
    assert plain.tau == 0.025


@pytest.mark.parametrize("eta", [0.5, 0.7, 1.0, -0.1, math.nan])
def test_a_rate_of_one_half_or_more_is_refused(eta):
    with pytest.raises(InvalidValue, match=r"must be a finite number ≥ 0 and < 0\.5"):
        NoisyLabelOracle(ExactOracle(CLEAN), eta=eta)


def test_a_query_out_of_range_under_the_other_label_is_refused():
    # 3 and −1 have mean 1, which is in range, but the query is still refused
    query = StatisticalQuery(lambda z: 1 + 2 * z[1], tau=0.1)
    with pytest.raises(InvalidValue, match=r"must lie in \[-1, 1\]; got 3"):
        NoisyLabelOracle(ExactOracle(noisy_labels(CLEAN, 0.1)), eta=0.1).ask(query)


def test_a_label_that_is_not_a_sign_is_refused():
    with pytest.raises(InvalidValue, match="A label must be −1 or 1"):
        NoisyLabelOracle(ExactOracle(Population([("a", 0)])), eta=0.1).ask(MIXED)


def test_the_noisy_sample_size_of_theorem_8():
    label = math.ceil(2 * math.log(4 * 10 / 0.05) / (0.1 * 0.5) ** 2)
    plain = math.ceil(2 * math.log(4 * 10 / 0.05) / 0.1**2)
    assert noisy_sample_size(10, tau=0.1, beta=0.05, eta=0.25) == 10 * (label + plain)


def test_the_oracles_use_exactly_the_stated_noisy_sample():
    needed = noisy_sample_size(2, tau=0.2, beta=0.1, eta=0.2)
    query = MIXED.with_tau(0.2)

    def ask(size):
        sample = flip_labels(CLEAN.sample(size, np.random.default_rng(0)), 0.2, rng=np.random.default_rng(1))
        return NoisyLabelOracle(SampleOracle(sample, queries=4, beta=0.1), eta=0.2).ask_all([query, query])

    assert len(ask(needed)) == 2
    with pytest.raises(InvalidValue, match=f"must have {needed} fresh records"):
        ask(needed - 1)


def test_a_flipped_label_keeps_its_point_and_flips_at_the_rate():
    flipped = flip_labels([("a", 1)] * 20_000, 0.3, rng=np.random.default_rng(4))
    count = sum(label == -1 for _, label in flipped)
    assert {x for x, _ in flipped} == {"a"}
    # significance 1e-8; rates off by 0.03 are missed with probability below 1e-4
    assert stats.binomtest(count, 20_000, 0.3).pvalue > 1e-8


@settings(deadline=None, max_examples=200)
@given(bound=st.floats(0.0, 0.499), tau=st.floats(0.01, 1.0), share=st.floats(0.0, 1.0))
def test_every_rate_up_to_the_bound_is_close_to_a_candidate(bound, tau, share):
    eta, gamma = share * bound, tau / 2
    rates = candidate_rates(bound, tau=tau)
    assert min(abs((1 - 2 * eta) / (1 - 2 * rate) - 1) for rate in rates) <= gamma + 1e-9
    step = (1 + gamma) / (1 - gamma)
    assert len(rates) <= 2 + math.log(1 / (1 - 2 * bound)) / math.log(step)


@pytest.mark.parametrize("eta", [0.0, 0.17, 0.4])
def test_the_test_among_candidates_finds_a_good_predictor_of_unknown_rate(eta):
    # c*(x) = 1 iff x ≥ 5 on 0 … 9; the learner asks for Pr[h_t errs] of every threshold t, with tolerance
    # 0.04
    points = [(x, 1 if x >= 5 else -1) for x in range(10)]
    noisy = noisy_labels(Population(points), eta)
    tau, bound, excess, beta = 0.04, 0.4, 0.15, 1e-9

    def learn(oracle):
        wrong = oracle.ask_all(
            StatisticalQuery.fraction(lambda z, t=t: (z[0] >= t) != (z[1] == 1), tau=tau) for t in range(11)
        )
        best = int(np.argmin(wrong))
        return lambda x: 1 if x >= best else -1

    rates = candidate_rates(bound, tau=tau)
    size = rate_test_size(len(rates), bound=bound, excess=excess, beta=beta)
    test = noisy.sample(size, np.random.default_rng(7))
    best, *_ = learn_from_noisy_labels(
        learn, lambda: AdversarialOracle(noisy, "towards-zero"), rates=rates, test=test
    )
    error = np.mean([best.predictor(x) != y for x, y in points])
    # With any valid oracle the chosen threshold has error at most 2·tau = 0.08. False alarm probability beta.
    assert error <= 2 * tau + excess


def test_the_test_distinguishes_a_wrong_rate_from_a_close_one():
    # h is always right. The learner returns h if the answered error is within 0.09, and else the opposite of
    # h.
    tau, eta = 0.09, 0.33
    noisy = noisy_labels(Population([(0, -1), (1, 1)]), eta)

    def learn(oracle):
        wrong = oracle.ask(StatisticalQuery.fraction(lambda z: (z[0] == 1) != (z[1] == 1), tau=tau))
        return (lambda x: 2 * x - 1) if wrong <= tau else (lambda x: 1 - 2 * x)

    rates = candidate_rates(0.4, tau=tau)
    size = rate_test_size(len(rates), bound=0.4, excess=0.5, beta=1e-9)  # the false alarm of this test
    test = noisy.sample(size, np.random.default_rng(3))
    made = []

    def oracle():
        made.append(AdversarialOracle(noisy, "up"))
        return made[-1]

    found = learn_from_noisy_labels(learn, oracle, rates=rates, test=test)
    assert found[0].predictor(1) == 1
    assert found[-1].predictor(1) == -1  # at the rate 0 the noise η looks like an error of h
    # the label term has tolerance tau/4, which leaves tau/4 for the error of the rate
    assert [one.least_tau for one in made] == pytest.approx([(1 - 2 * rate) * tau / 4 for rate in rates])


@settings(deadline=None, max_examples=80)
@given(eta=st.floats(0.0, 0.4), tau=st.floats(0.02, 0.5), drawn=offsets(2))
def test_a_close_rate_answers_within_tau(eta, tau, drawn):
    query = StatisticalQuery.fraction(lambda z: z[1] == 1, tau=tau)  # the largest possible label term
    truth = 1.0
    noisy = noisy_labels(Population([("a", 1)]), eta)
    close = min(candidate_rates(0.4, tau=tau), key=lambda rate: abs((1 - 2 * eta) / (1 - 2 * rate) - 1))
    oracle = NoisyLabelOracle(AdversarialOracle(noisy, drawn), eta=close, label_share=0.25)
    assert abs(oracle.ask(query) - truth) <= tau * (1 + 1e-9)


def test_the_size_of_the_test_by_hand():
    assert rate_test_size(4, bound=0.4, excess=0.1, beta=0.05) == math.ceil(
        2 * math.log(2 * 4 / 0.05) / (0.1**2 * 0.2**2)
    )


@dataclass(frozen=True)
class Asking:
    """An estimator with two entries for each query.

    It spends `reports` times the epsilon it declares.
    """

    epsilon: float = 3.0
    reports: float = 1.0

    def entries(self, query, *, beta):
        return 2

    def randomizer(self, query):
        return RandomizedResponse(epsilon=self.reports * self.epsilon)

    def estimate(self, query, reports):
        return float(reports.sum())


def asking(*, entries=4, estimator=None, **options):
    rng = np.random.default_rng(0)
    return LocalOracle(
        entries, estimator=estimator or Asking(), queries=2, beta=0.1, **({"rng": rng} | options)
    )


def test_any_estimator_answers_from_chunks_of_its_own_size():
    oracle = asking(entries=[1, 1, 0, 0], estimator=Asking(epsilon=800.0))
    assert oracle.ask_all([ONES, ONES]) == [2.0, 0.0]
    assert (oracle.epsilon, oracle.left) == (800.0, 0)


@pytest.mark.parametrize("estimator", [0.5, LaplaceEntries])
def test_an_invalid_estimator_is_refused(estimator):
    with pytest.raises(InvalidKind, match="must have `epsilon`, `entries`, `randomizer` and `estimate`"):
        asking(entries=[0], estimator=estimator)


def test_a_local_oracle_without_a_generator_is_refused():
    with pytest.raises(InvalidKind, match="must be a numpy generator; got None"):
        asking(entries=[0] * 4, rng=None)


def test_an_estimator_that_spends_more_than_it_declares_is_refused_before_any_answer():
    rng = np.random.default_rng(0)
    oracle = asking(entries=[0, 1] * 4, estimator=Asking(reports=1.5), rng=rng)
    with pytest.raises(OverspentError, match="Entry 0 has spent 0 of its epsilon of 3"):
        oracle.ask_all([ONES, ONES])
    assert (oracle.asked, oracle.used) == (0, 0)
    assert rng.random() == np.random.default_rng(0).random()


def test_the_budget_of_entries_is_shared_between_algorithms():
    entries = LROracle([0, 1] * 4, epsilon=4.0, rng=np.random.default_rng(0))
    asking(entries=entries, rng=None).ask(ONES)
    assert entries.spent.tolist() == [3.0] * 2 + [0.0] * 6
    with pytest.raises(OverspentError, match="Entry 0 has spent 3 of its epsilon of 4"):
        asking(entries=entries, rng=None).ask(ONES)
    assert asking(entries=entries, estimator=Asking(epsilon=1.0), rng=None).ask(ONES) in (0.0, 1.0, 2.0)


def test_a_whole_round_is_refused_if_its_last_chunk_overspends():
    entries = LROracle([0, 1] * 2, epsilon=np.array([3.0, 3.0, 3.0, 2.0]), rng=np.random.default_rng(0))
    oracle = asking(entries=entries, rng=None)
    with pytest.raises(OverspentError, match="Entry 3 has spent 0 of its epsilon of 2"):
        oracle.ask_all([ONES, ONES])
    assert entries.spent.tolist() == [0.0] * 4
    assert oracle.used == 0


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.3), (-0.3, -0.1), (1e9 + 0.1, 1e9 + 0.7), (0.0, 1e-300)])
def test_the_ends_of_a_range_are_answered_despite_rounding(low, high):
    # (low + high)/2 ± (high − low)/2 misses the ends by an ulp. That must not cause an error or raise the
    # sensitivity.
    query = StatisticalQuery(float, tau=(high - low) / 4, low=low, high=high)
    estimator = LaplaceEntries(epsilon=1e6)
    size = estimator.entries(query, beta=1e-8)
    for end in (low, high):
        oracle = LocalOracle(
            [end] * size, estimator=estimator, queries=1, beta=1e-8, rng=np.random.default_rng(3)
        )
        assert abs(oracle.ask(query) - end) <= query.tau
        values = estimator.randomizer(query).values([end])
        assert np.abs(values).max() <= query.width / 2


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 20.0])
@pytest.mark.parametrize("estimator", [LaplaceEntries, SignEntries])
def test_local_answers_are_within_tau_as_promised(estimator, epsilon):
    query = StatisticalQuery.fraction(bool, tau=0.2)
    beta = 1e-8  # the false alarm of this test
    size = 5 * estimator(epsilon).entries(query, beta=beta / 5)
    sample = Population([0, 1], [0.3, 0.7]).sample(size, np.random.default_rng(1))
    oracle = LocalOracle(
        sample, estimator=estimator(epsilon), queries=5, beta=beta, rng=np.random.default_rng(2)
    )
    assert np.abs(np.array(oracle.ask_all([query] * 5)) - 0.7).max() <= 0.2
    assert oracle.left == 0


def test_the_size_never_falls_below_the_sampling_bound():
    # K11 Theorem 5.7 prints a size ∝ 1/ε². For large ε that is too small: the sampling error of a fair ±1
    # entry remains.
    query = StatisticalQuery.sign(lambda x: 1 if x else -1, tau=0.1)
    for estimator in (LaplaceEntries(1000.0), SignEntries(1000.0)):
        assert binomial_miss(estimator.entries(query, beta=0.05), 0.5, 0.05) <= 0.05


@pytest.mark.parametrize("answer", [math.nan, math.inf, "x", None])
@pytest.mark.parametrize("through", [ThroughBoolean, lambda oracle: NoisyLabelOracle(oracle, eta=0.1)])
def test_an_answer_that_is_not_a_number_is_refused(through, answer):
    class Lying:
        def ask_all(self, queries):
            return [answer for _ in queries]

    query = StatisticalQuery(lambda z: z, tau=0.1)
    with pytest.raises((InvalidValue, InvalidKind), match="An oracle's answer must be a"):
        through(Lying()).ask(query)


def test_a_rate_so_near_one_half_that_floats_lose_the_answer_is_refused():
    # 1 − 2η = 1.1e-16: the label term is the difference of two numbers near 1/2, which is lost to rounding
    eta = math.nextafter(0.5, 0.0)
    noisy = noisy_labels(Population([(0, 1)]), eta)
    with pytest.raises(InvalidValue, match="which floats cannot keep"):
        NoisyLabelOracle(ExactOracle(noisy), eta=eta).ask(StatisticalQuery(lambda z: z[1], tau=0.1))


@pytest.mark.parametrize("tau", [1e-160, 5e-324, "a", math.nan])
@pytest.mark.parametrize(
    "size",
    [
        lambda tau: sample_size(3, tau=tau, beta=0.1),
        lambda tau: private_sample_size(3, tau=tau, beta=0.1, epsilon=1.0),
        lambda tau: stated_chunk_size(3, tau=tau, beta=0.1, epsilon=1.0),
        lambda tau: noisy_sample_size(3, tau=tau, beta=0.1, eta=0.2),
        lambda tau: laplace_size(tau=tau, beta=0.1, epsilon=1.0),
        lambda tau: lemma_size(tau=tau, beta=0.1, epsilon=1.0),
        lambda tau: sign_size(tau=tau, beta=0.1, epsilon=1.0),
        lambda tau: noise_size(tau=tau, beta=0.1, epsilon=1.0),
    ],
)
def test_an_unreachable_tolerance_is_refused_in_one_line(size, tau):
    with pytest.raises((InvalidValue, InvalidKind)) as refused:
        size(tau)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("epsilon", [1e3, 1e12, 1e300])
def test_with_negligible_noise_the_sampling_error_sets_the_size(epsilon):
    # ln(2/β)·2b²/τ²
    assert laplace_size(tau=0.1, beta=0.05, epsilon=epsilon) == pytest.approx(200 * math.log(40), abs=2)


@pytest.mark.parametrize("queries", [0, 2.5])
def test_a_size_for_no_number_of_queries_is_refused(queries):
    with pytest.raises((InvalidValue, InvalidKind), match="`queries` of `local_sample_size`"):
        local_sample_size(ONES, estimator=LaplaceEntries(1.0), queries=queries, beta=0.1)


@pytest.mark.parametrize("example", [3, (1, 2, 3)])
def test_an_example_that_is_not_a_pair_is_refused(example):
    with pytest.raises(InvalidKind, match=r"must be a pair \(x, y\)"):
        flip_labels([example], 0.1, rng=np.random.default_rng(0))


@pytest.mark.parametrize("sample", [None, 3])
def test_an_invalid_sample_is_refused(sample):
    with pytest.raises(InvalidKind, match="must be a sequence or an array"):
        SampleOracle(sample, queries=1, beta=0.1)
