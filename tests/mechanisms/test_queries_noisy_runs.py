"""SQ algorithms on noisy labels, with a noise rate known, bounded or wrong."""

import math
from functools import partial

import numpy as np
import pytest

from audit import Verdict, audit_privacy, audit_utility
from audit.claims import PAC, PureDP
from audit.errors import InvalidKind, InvalidValue
from mechanisms.flawed.noisy_labels import OneRateRun, WrongRateRun
from mechanisms.local import laplace_size
from mechanisms.queries import (
    AdversarialOracle,
    BoundedNoiseRun,
    ExactOracle,
    NoisyLabelOracle,
    NoisyProblem,
    NoisyRun,
    Population,
    candidate_rates,
    direction_and_error,
    mean_and_spread,
    noisy_labels,
    one_variable,
)

ADVERSARIES = ["up", "down", "towards-zero", "away-from-zero", "alternating"]
SKEWED = Population([(-1, -1), (-1, 1), (1, -1), (1, 1)], [0.1, 0.3, 0.2, 0.4])
RNG = np.random.default_rng


def clean_error(output, population):
    """Return the larger of two errors, computed by hand.

    They are the errors of the answer for E[x·y], and of the answer for the error rate of the guess.
    """
    answer, share = output
    together = sum(p * x * y for (x, y), p in zip(population.points, population.weights, strict=True))
    guess = 1 if answer >= 0 else -1
    wrong = sum(p for (x, y), p in zip(population.points, population.weights, strict=True) if guess * x != y)
    return max(abs(answer - together), abs(share - wrong))


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("eta", [0.0, 0.2, 0.4])
def test_the_two_queries_about_clean_labels_have_error_at_most_tau(adversary, eta):
    algorithm = direction_and_error(tau=0.2)
    noisy = AdversarialOracle(noisy_labels(SKEWED, eta), adversary)
    output = algorithm.run(NoisyLabelOracle(noisy, eta=eta))
    assert algorithm.error(output, SKEWED) == pytest.approx(clean_error(output, SKEWED))
    assert algorithm.error(output, SKEWED) <= 0.2 * (1 + 1e-9)
    assert (noisy.asked, noisy.rounds) == (4, 2)  # each query becomes two, and the second round is adaptive


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("name", one_variable(tau=0.2).populations)
def test_one_variable_has_an_error_of_at_most_twice_tau(adversary, name):
    learner = one_variable(tau=0.2)
    population = learner.populations[name]
    output = learner.run(AdversarialOracle(population, adversary))
    wrong = sum(
        p
        for (x, y), p in zip(population.points, population.weights, strict=True)
        if y != (-1 if output and x == 0 else 1)
    )
    assert learner.error(output, population) == pytest.approx(wrong)
    assert wrong <= 0.4 * (1 + 1e-12)


def hoeffding_chunk(asked, *, tau, beta, width, epsilon):
    sampling = 2 * width**2 * math.log(2 * 2 * asked / beta) / tau**2
    return math.ceil(max(sampling, 2 * width * math.log(2 * asked / beta) / (epsilon * tau)))


def test_the_size_is_two_chunks_for_each_query():
    # M = 2 queries of width 2: four chunks, tolerances (1 − 2η)τ/2 and τ/2
    label = hoeffding_chunk(4, tau=0.5 * 0.45 / 2, beta=0.2, width=2, epsilon=1.0)
    plain = hoeffding_chunk(4, tau=0.45 / 2, beta=0.2, width=2, epsilon=1.0)
    assert NoisyRun().size == 2 * (label + plain)
    local = [laplace_size(tau=tau, beta=0.05, epsilon=2.0) for tau in (0.1125, 0.225)]
    assert NoisyRun(model="local", epsilon=2.0).size == 2 * sum(local)


def test_the_size_for_a_grid_of_rates_is_its_chunks_plus_its_tests():
    run = BoundedNoiseRun(epsilon=1.0)
    chunk = partial(hoeffding_chunk, 3 * len(run.rates), beta=0.3, width=1, epsilon=1.0)
    learnt = [chunk(tau=(1 - 2 * eta) * 0.17 / 4) + chunk(tau=0.17 / 2) for eta in run.rates]
    test = chunk(tau=0.15 * (1 - 2 * 0.2) / 2)
    assert run.rates == candidate_rates(0.2, tau=0.17)
    assert run.size == sum(learnt) + len(run.rates) * test
    assert run.utility_claim == PAC(2 * 0.17 + 0.15, 0.3)


@pytest.mark.parametrize("kind", [NoisyRun, partial(NoisyRun, model="local"), BoundedNoiseRun])
def test_too_few_examples_are_refused_with_the_required_number(kind):
    needed = kind().size
    with pytest.raises(InvalidValue, match=f"must be at least {needed} for"):
        kind(size=needed - 1)
    with pytest.raises(InvalidValue, match=f"must hold {needed} records; got 1"):
        kind()([(1, 1)], RNG(0))


@pytest.mark.parametrize("run", [NoisyRun(), NoisyRun(model="local", epsilon=2.0)])
def test_a_betting_audit_does_not_refute_the_promise_about_clean_labels(run):
    # significance: a false alarm has probability at most 1e-7
    problems = [run.problems()[0], run.problems()[-1]]
    result = audit_utility(run, problems=problems, budget=1_000, significance=1e-7)
    assert result.verdict is Verdict.NOT_REFUTED
    assert run.claim == PureDP(run.epsilon)


def test_the_same_audit_refutes_chunks_of_eight_examples():
    # the label chunk alone gives E[x·y] a standard deviation of √(3/4)/√8/(1/2) = 0.6; the tolerance is 0.45
    class Few(NoisyRun):
        def _private(self, database, rng):
            oracle = super()._private(database, rng)
            oracle.chunk_size = lambda query: 8
            return oracle

    few = Few()
    assert audit_utility(few, problems=few.problems(), budget=1_000).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("run", "answered"),
    [(WrongRateRun(eta=0.0, actual=0.25), 0.5), (WrongRateRun(eta=0.25, actual=0.0), 2.0)],
)
def test_a_wrong_rate_scales_the_answer_and_is_refuted(run, answered):
    problem = run.problems()[0]  # y is x: E[x·y] = 1
    exact = ExactOracle(noisy_labels(problem.population, run.actual))
    assert NoisyLabelOracle(exact, eta=run.eta).ask(run.algorithm.hardest) == pytest.approx(answered)
    assert audit_utility(run, problems=run.problems(), budget=500).verdict is Verdict.REFUTED


def test_the_true_rate_keeps_the_claim_that_a_wrong_one_breaks():
    right = WrongRateRun(eta=0.25, actual=0.25)
    problems = right.problems()[:1]  # the problem that shows the wrong rates above
    result = audit_utility(right, problems=problems, budget=1_000, significance=1e-7)
    assert result.verdict is Verdict.NOT_REFUTED


@pytest.mark.parametrize("place", range(6))
def test_a_grid_and_a_test_learn_at_every_rate_up_to_the_bound(place):
    # each run fails with probability at most 1e-7, the beta of the claim
    run = BoundedNoiseRun(beta=1e-7)
    problem = run.problems()[place]
    assert problem.eta in {0.2, 0.1, 0.0}
    assert problem.error(run(problem.draw(RNG(5)), RNG(6)), None) <= run.utility_claim.alpha


def test_the_learner_without_a_grid_is_refuted():
    assert audit_utility(OneRateRun(), budget=300).verdict is Verdict.REFUTED


def test_problems_draw_labels_that_are_flipped_at_the_rate():
    population = Population([(0, 1), (1, -1)])
    problem = NoisyProblem("flipped", population, one_variable(), 40_000, eta=0.2)
    wrong = np.mean([y != (1 if x == 0 else -1) for x, y in problem.draw(RNG(3))])
    # binomial with standard deviation 0.002; false alarm probability 4e-8 (5.5 standard deviations)
    assert wrong == pytest.approx(0.2, abs=0.011)


def test_noise_for_a_larger_epsilon_is_refuted():
    class Louder(NoisyRun):
        def _private(self, database, rng):
            return NoisyRun(epsilon=40.0, eta=0.1, tau=1.0, size=self.size)._private(database, rng)

    coarse = {"epsilon": 1.0, "eta": 0.1, "tau": 1.0}
    options = {"budget": 600, "significance": 1e-7, "recorded": False}
    options["pairs"] = NoisyRun(**coarse).suggested_pairs()[:1]
    louder = audit_privacy(Louder(**coarse), confirm_budget=600, **options)
    assert louder.verdict is Verdict.REFUTED
    assert audit_privacy(NoisyRun(**coarse), **options).verdict is Verdict.NOT_REFUTED


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: NoisyRun(eta=0.5), "The `eta` of `NoisyRun` must be a finite number ≥ 0 and < 0.5; got 0.5"),
        (lambda: NoisyRun(eta=math.nan), "The `eta` of `NoisyRun`"),
        (lambda: NoisyRun(model="both"), "must be one of central, local; got 'both'"),
        (lambda: NoisyRun(view="labels"), "must be one of output, transcript; got 'labels'"),
        (lambda: NoisyRun(tau=0.0), "The `tau` of `NoisyRun`"),
        (lambda: NoisyRun(beta=1.0), "The `beta` of `NoisyRun`"),
        (lambda: NoisyRun(epsilon=0), "The `epsilon` of `NoisyRun`"),
        (lambda: BoundedNoiseRun(bound=0.5), "The `bound` of `BoundedNoiseRun`"),
        (lambda: BoundedNoiseRun(excess=0.0), "The `excess` of `BoundedNoiseRun`"),
        (lambda: BoundedNoiseRun(make=mean_and_spread), "must return an `SQLearner`; got SQAlgorithm"),
        (lambda: WrongRateRun(actual=0.6), "The `actual` of `WrongRateRun`"),
    ],
)
def test_parameters_out_of_range_are_refused_in_one_line(make, words):
    with pytest.raises((InvalidValue, InvalidKind)) as caught:
        make()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("run", [NoisyRun(), NoisyRun(model="local", epsilon=2.0), BoundedNoiseRun()])
def test_a_label_that_cannot_be_flipped_is_refused(run):
    with pytest.raises(InvalidValue, match="A label must be −1 or 1"):
        run([(0, 0)] * run.size, RNG(0))
