"""Monotone conjunctions from noisy labels: law, privacy and accuracy."""

import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate, stats

from audit import Verdict, audit_privacy, audit_utility
from audit.claims import PureDP
from audit.errors import InvalidKind, InvalidValue
from learners.by_queries.chunks import INSUFFICIENT
from learners.by_queries.conjunctions import ConjunctionQueries
from learners.by_queries.noisy_labels import (
    NoiseIgnored,
    NoisyConjunctionLearner,
    NoisyLabelProblem,
    SignedConjunctions,
    log_tail_of_two,
)
from learners.concepts import ConjunctionClass
from learners.finite.hypotheses import Hypotheses
from mechanisms.queries import BoundedNoiseRun, NoisyRun, Population, SQLearner

RNG = np.random.default_rng
SIGNIFICANCE = 1e-7
PAIRS = [((0, 1), 1), ((1, 1), -1), ((0, 0), -1), ((1, 0), 1), ((0, 0), 1), ((1, 1), 1), ((0, 1), -1)]


@pytest.mark.parametrize(("wide", "narrow"), [(1.0, 1.0), (1.0, 1.0 - 1e-9), (2.0, 0.5), (1.25, 1.0)])
@pytest.mark.parametrize("value", [-3.0, -0.2, 0.0, 0.7, 4.0, 30.0])
def test_the_tail_of_a_sum_of_two_laplace_variables_is_their_convolution(wide, narrow, value):
    # E[Pr[B > value − A]], where A has the larger scale; the quadrature is split at the kinks
    def integrand(a):
        return stats.laplace.pdf(a, scale=wide) * stats.laplace.sf(value - a, scale=narrow)

    ends = sorted({-60.0, -10.0, 0.0, value, 10.0, 60.0})
    parts = [integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in pairwise(ends)]
    assert math.exp(log_tail_of_two(value, wide, narrow)) == pytest.approx(math.fsum(parts), rel=1e-8)


def kept_by_hand(learner, database, place):
    """Return Pr[the variable is kept], by definition.

    It follows from the averages of the two chunks and the tail of the noise.
    """
    chunk = len(database) // (2 * learner.dimension)
    label = database[2 * place * chunk : (2 * place + 1) * chunk]
    plain = database[(2 * place + 1) * chunk : (2 * place + 2) * chunk]
    keep = 1 - 2 * learner.eta
    mean = sum(y * (x[place] == 0) for x, y in label) / (2 * chunk) / keep
    mean += sum(x[place] == 0 for x, _ in plain) / (2 * chunk)
    scale = 1 / (learner.epsilon * chunk)
    value = learner.alpha / (2 * learner.dimension) - mean

    def integrand(a):
        return stats.laplace.pdf(a, scale=scale / keep) * stats.laplace.cdf(value - a, scale=scale)

    ends = sorted({-60 * scale, 0.0, value, 60 * scale})
    return math.fsum(integrate.quad(integrand, a, b)[0] for a, b in pairwise(ends))


@pytest.mark.parametrize("eta", [0.0, 0.3])
@pytest.mark.parametrize("size", [4, 9])
def test_the_law_keeps_variables_independently_by_tails(eta, size):
    learner = NoisyConjunctionLearner(dimension=2, epsilon=0.8, eta=eta)
    database = (PAIRS * 2)[:size]
    kept = [kept_by_hand(learner, database, place) for place in (0, 1)]
    law = learner.distribution(database)
    for word in product((0, 1), repeat=2):
        expected = math.prod(p if bit else 1 - p for p, bit in zip(kept, word, strict=True))
        assert law.pmf(word) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("draw", ["sample", "call"])
def test_runs_follow_the_law(draw):
    """4,000 outputs of `sample` detect half or twice the noise.

    They do so with a probability above 0.9999. 1,000 calls detect half the noise with probability 0.997.
    """
    learner = NoisyConjunctionLearner(dimension=2, epsilon=1.0, eta=0.2)
    rng, runs = RNG(7), 4_000 if draw == "sample" else 1_000
    found = (
        learner.sample(PAIRS, runs, rng) if draw == "sample" else [learner(PAIRS, rng) for _ in range(runs)]
    )
    counts, law = Counter(found), learner.distribution(PAIRS)
    words = list(product((0, 1), repeat=2))
    expected = [runs * law.pmf(word) for word in words]
    assert stats.chisquare([counts[word] for word in words], expected).pvalue > SIGNIFICANCE


def test_the_learner_is_private_on_every_database_of_its_size():
    result = audit_privacy(NoisyConjunctionLearner(dimension=1, size=3), budget=16_000)
    assert result.verdict is Verdict.PROVED
    assert 0.5 < result.epsilon_lower <= 1.0


def test_half_the_noise_is_refuted():
    loud, rest = NoisyConjunctionLearner(dimension=1, size=4, epsilon=2.0), [((0,), 1)] * 3
    pairs = [([((0,), 1), *rest], [((0,), -1), *rest])]
    assert audit_privacy(loud, PureDP(1.0), pairs=pairs, budget=1_000).verdict is Verdict.REFUTED


def test_the_sample_size_is_the_larger_chunk_times_the_number_of_parts():
    # 2d = 4 chunks: Hoeffding at half the tolerance (1 − 2η)·α/8, failure probability β/8. The noise needs
    # fewer records.
    tau = 0.8 * 0.45 / 8
    assert NoisyConjunctionLearner().sample_size() == 4 * math.ceil(2 * math.log(2 * 8 / 0.2) / tau**2)


def test_a_betting_audit_does_not_refute_the_accuracy_on_clean_labels():
    learner = NoisyConjunctionLearner(beta=0.4)
    problems = learner.problems()[:1]
    result = audit_utility(learner, problems=problems, budget=800, significance=SIGNIFICANCE)
    assert result.verdict is Verdict.NOT_REFUTED


def test_ignoring_the_noise_is_refuted():
    assert audit_utility(NoiseIgnored(), budget=300).verdict is Verdict.REFUTED


def test_problems_are_about_clean_labels_and_draw_noisy_ones():
    learner = NoisyConjunctionLearner(eta=0.25)
    problems = learner.problems()
    assert len(problems) >= 5
    for problem in [*problems, learner.random(RNG(0)), learner.vary(problems[0], RNG(1))]:
        assert isinstance(problem, NoisyLabelProblem)
        assert (problem.eta, problem.optimum, problem.examples) == (0.25, 0.0, learner.sample_size())
        row = problem.hypotheses.table.row(int(np.argmin(problem.risks)))
        chosen = problem.draw(RNG(2))[:].chosen  # record 2i + s is point i with label s
        wrong = int((row[chosen // 2] != (chosen % 2)).sum())
        # binomial with probability 1/4; false alarm probability 7e-8 (5.4 standard deviations)
        assert abs(wrong - problem.examples / 4) < 5.4 * math.sqrt(problem.examples * 0.25 * 0.75)


def conjunctions(*, tau, dimension=2):
    """Run the SQ learner of conjunctions in the form that `mechanisms` accepts."""
    signed = SignedConjunctions(dimension)
    learner = ConjunctionQueries(dimension, 2 * dimension * tau)

    def error(output, population):
        wrong = [signed.label(output, x) != y for x, y in population.points]
        return float(np.dot(wrong, population.weights))

    words = list(ConjunctionClass(dimension).listed_domain())
    targets = {f"target {t}": Population([(x, signed.label(t, x)) for x in words]) for t in words}
    return SQLearner(
        run=learner.learn,
        queries=dimension,
        hardest=learner.queries()[0],
        alpha=learner.alpha,
        error=error,
        populations=targets,
        predict=signed.label,
    )


@pytest.mark.parametrize(("model", "target"), [("central", 0), ("local", -1)])
def test_the_sq_learner_runs_on_noisy_labels_in_either_model(model, target):
    run = NoisyRun(make=conjunctions, tau=0.1, beta=0.4, eta=0.2, model=model, epsilon=2.0)
    told = {"problems": [run.problems()[target]], "budget": 350, "significance": SIGNIFICANCE}
    assert audit_utility(run, **told).verdict is Verdict.NOT_REFUTED


def test_the_sq_learner_runs_with_only_a_bound_on_the_noise_known():
    # false alarm probability at most 1e-7, the beta of the claim
    run = BoundedNoiseRun(make=conjunctions, tau=0.12, bound=0.3, excess=0.2, beta=1e-7)
    problem = run.problems()[-1]
    assert problem.error(run(problem.draw(RNG(0)), RNG(1)), None) <= run.utility_claim.alpha


def test_the_answer_to_too_few_records_does_not_depend_on_them():
    learner = NoisyConjunctionLearner(dimension=2)
    assert learner(PAIRS[:3], RNG(0)) == INSUFFICIENT
    assert learner.sample(PAIRS[:3], 2, RNG(0)) == [INSUFFICIENT] * 2
    assert learner.distribution(PAIRS[:3]).pmf(INSUFFICIENT) == 1.0
    assert learner.claim == PureDP(1.0)


@pytest.mark.parametrize("record", [((1, 1), 2), ((1, 1), 0), ((1, 2), 1), ((1,), 1), "ab", 5])
def test_an_invalid_record_is_refused_in_one_line(record):
    learner = NoisyConjunctionLearner(dimension=2)
    for ask in (learner.distribution, lambda it: learner(it, RNG(0))):
        with pytest.raises((InvalidValue, InvalidKind)) as caught:
            ask([((1, 1), 1), record])
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "keywords",
    [{"dimension": 0}, {"epsilon": 0}, {"alpha": 0.5}, {"beta": 0.0}, {"eta": 0.5}, {"eta": "much"}],
)
def test_parameters_out_of_range_are_refused(keywords):
    with pytest.raises((InvalidValue, InvalidKind)):
        NoisyConjunctionLearner(**keywords)


def test_a_problem_refuses_a_rate_that_leaves_nothing_to_learn():
    pair = Hypotheses.of_rows([[0], [1]], domain="a", labels=(-1, 1))
    with pytest.raises(InvalidValue, match="The `eta` of `NoisyLabelProblem`"):
        NoisyLabelProblem("none", pair, np.array([[1.0, 0.0]]), examples=1, eta=0.5)
