"""K11 Theorem 5.7 as a subject, in the local and the central model."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from audit import Evidence, Verdict, audit_privacy, audit_utility
from audit.claims import Accuracy
from audit.errors import InvalidValue
from mechanisms.composition.budget import OverspentError
from mechanisms.flawed.queries import ReusedEntries
from mechanisms.local import LocalLaplace, laplace_size
from mechanisms.queries import (
    AdversarialOracle,
    CentralRun,
    LaplaceEntries,
    LocalRun,
    Population,
    SignEntries,
    SQAlgorithm,
    StatisticalQuery,
    direction_and_error,
    mean_and_spread,
    private_chunk_size,
)
from mechanisms.queries.runs.deviations import standard_deviation

POINTS = Population([-1, 0, 1], [0.2, 0.3, 0.5])


@pytest.mark.parametrize("adversary", ["up", "down", "towards-zero", "away-from-zero", "alternating"])
def test_the_algorithm_keeps_its_promise_with_every_valid_oracle(adversary):
    algorithm = mean_and_spread(tau=0.3)
    oracle = AdversarialOracle(POINTS, adversary)
    mean, spread = output = algorithm.run(oracle)
    centre = min(max(mean, -1.0), 1.0)
    truth = 0.2 * abs(-1 - centre) + 0.3 * abs(centre) + 0.5 * abs(1 - centre)
    assert algorithm.error(output, POINTS) == pytest.approx(max(abs(mean - 0.3), abs(spread - truth)))
    assert algorithm.error(output, POINTS) <= algorithm.alpha * (1 + 1e-12)
    assert (oracle.asked, oracle.rounds, oracle.least_tau) == (2, 2, 0.3)


@pytest.mark.parametrize("run", [LocalRun(epsilon=20.0), CentralRun()])
def test_a_betting_audit_of_the_utility_does_not_refute_theorem_5_7(run):
    # significance: a false alarm has probability at most 1e-7
    result = audit_utility(run, problems=run.problems(), significance=1e-7, seed=3)
    assert result.verdict is Verdict.NOT_REFUTED


@dataclass(frozen=True)
class Fewer(LaplaceEntries):
    """The estimator A_g with a twelfth of the stated number of entries."""

    def entries(self, query, *, beta):
        return super().entries(query, beta=beta) // 12


def test_the_same_audit_refutes_a_twelfth_of_the_entries():
    # 4 entries for each query at ε = 4: the mean has variance (1 + 2/4)/4; it is off by 0.5 with probability
    # about 0.4
    few = LocalRun(estimator=Fewer)
    assert audit_utility(few, problems=few.problems(), significance=1e-7).verdict is Verdict.REFUTED


def test_the_size_is_that_of_two_queries_sharing_beta():
    assert LocalRun().size == 2 * laplace_size(tau=0.5, beta=0.025, epsilon=4.0)
    assert CentralRun().size == 2 * private_chunk_size(2, tau=0.5, beta=0.05, epsilon=4.0, width=2.0)


@pytest.mark.parametrize("kind", [LocalRun, CentralRun])
def test_the_size_follows_from_the_tolerance_of_the_queries(kind):
    # a standard deviation within 0.6 needs two queries with tolerance 0.6²/3 = 0.12
    run = kind(tau=0.6, make=standard_deviation)
    if kind is LocalRun:
        each = laplace_size(tau=0.12, beta=0.025, epsilon=4.0)
    else:
        each = private_chunk_size(2, tau=0.12, beta=0.05, epsilon=4.0, width=2.0)
    assert run.size == 2 * each
    assert run.utility_claim == Accuracy(0.6, 0.05)
    for problem in run.problems():
        output = run(problem.draw(np.random.default_rng(4)), np.random.default_rng(5))
        assert 0.0 <= output <= 2.0
    with pytest.raises(InvalidValue, match=f"must be at least {2 * each} for 2 queries within 0.12 "):
        kind(tau=0.6, make=standard_deviation, size=2 * each - 1)


@pytest.mark.parametrize("run", [LocalRun(epsilon=1.0), CentralRun(epsilon=1.0)])
def test_a_whole_run_with_correlated_rounds_is_not_refuted_end_to_end(run):
    result = audit_privacy(run, budget=2_000, pairs=run.suggested_pairs()[:1])
    assert (result.verdict, result.evidence) == (Verdict.NOT_REFUTED, Evidence.STATISTICAL)


@dataclass(frozen=True)
class Leaking(LaplaceEntries):
    """A subject that reports with a hundred times the epsilon that it claims."""

    def randomizer(self, query):
        wide = super().randomizer(query)
        return Disguised(wide, LocalLaplace(epsilon=100 * self.epsilon, query=wide.query, vectorised=True))


@dataclass(frozen=True)
class Disguised:
    """A randomizer that claims the epsilon of one randomizer and runs another."""

    claimed: LocalLaplace
    run: LocalLaplace

    @property
    def claim(self):
        return self.claimed.claim

    @property
    def relation(self):
        return self.claimed.relation

    def __call__(self, database, rng):
        return self.run(database, rng)

    def respond(self, entries, rng):
        return self.run.respond(entries, rng)


def test_a_randomizer_with_a_false_claim_is_refuted_end_to_end():
    # the oracle trusts the randomizer's claim; an audit of the whole run detects that its noise is 100 times
    # too small
    leaking = LocalRun(epsilon=1.0, estimator=Leaking)
    pairs = leaking.suggested_pairs()[:1]
    result = audit_privacy(leaking, budget=600, confirm_budget=300, recorded=False, pairs=pairs)
    assert result.verdict is Verdict.REFUTED


@dataclass(frozen=True)
class Overspending(LaplaceEntries):
    """A subject that declares an epsilon and spends twice as much."""

    def randomizer(self, query):
        return LaplaceEntries(epsilon=2 * self.epsilon).randomizer(query)


def test_an_estimator_that_overspends_is_refused_in_every_run():
    run = LocalRun(estimator=Overspending)
    with pytest.raises(OverspentError, match="Entry 0 has spent 0 of its epsilon of 4"):
        run([0] * run.size, np.random.default_rng(0))


@pytest.mark.parametrize("kind", [LocalRun, CentralRun])
def test_too_few_records_are_refused_with_the_required_number(kind):
    needed = kind().size
    with pytest.raises(InvalidValue, match=f"must be at least {needed} for 2 queries within 0.5"):
        kind(size=needed - 1)
    with pytest.raises(InvalidValue, match=f"must hold {needed} records; got 1"):
        kind()([0], np.random.default_rng(0))
    assert kind().utility_claim == Accuracy(0.5, 0.05)


def test_an_algorithm_that_asks_more_than_it_declares_is_stopped():
    def three(*, tau):
        told = mean_and_spread(tau=tau)
        return type(told)(**vars(told) | {"run": lambda oracle: [told.run(oracle), told.run(oracle)]})

    run = LocalRun(make=partial(three))
    with pytest.raises(InvalidValue, match="must be asked at most 2 queries"):
        run([0] * run.size, np.random.default_rng(0))


def test_the_transcript_holds_every_report_once_and_the_answers_from_them():
    run = LocalRun(view="transcript")
    said = run([1, -1] * (run.size // 2), np.random.default_rng(3))
    half = run.size // 2
    first, mean, second, spread = said[:half], said[half], said[half + 1 : -1], said[-1]
    assert len(second) == half
    assert mean == pytest.approx(np.mean(first))
    assert spread == pytest.approx(1 + np.mean(second))  # the query has range [0, 2] with middle 1
    output = LocalRun()([1, -1] * half, np.random.default_rng(3))
    assert output == (mean, spread)


def test_the_transcript_reveals_more_about_one_entry_than_the_output():
    # One report is at most −1 with probability 1/2 or e^−2/2, so a few runs find most of ε = 2.
    pairs = LocalRun(epsilon=2.0).suggested_pairs()[:1]
    options = {"budget": 800, "significance": 1e-7, "pairs": pairs, "recorded": False}
    shown, hidden = (
        audit_privacy(LocalRun(epsilon=2.0, view=view), **options) for view in ("transcript", "output")
    )
    assert not shown.refuted
    assert not hidden.refuted
    assert shown.epsilon_lower > 1.0
    assert hidden.epsilon_lower < 0.5


SIGNS = {"records": ((1, 1), (1, -1)), "make": direction_and_error, "estimator": SignEntries, "tau": 0.9}


def test_entries_that_report_again_are_refuted_from_the_transcript_alone():
    # Both reports of an entry are true with probability 0.88² and false with 0.12²: a loss of 4 for a claim
    # of 2.
    again = {view: ReusedEntries(epsilon=2.0, view=view, **SIGNS) for view in ("transcript", "output")}
    options = {"pairs": again["output"].suggested_pairs()[:1], "recorded": False}
    shown = audit_privacy(again["transcript"], budget=2_000, confirm_budget=300, **options)
    hidden = audit_privacy(again["output"], budget=600, significance=1e-7, **options)
    assert shown.verdict is Verdict.REFUTED
    assert (hidden.refuted, hidden.epsilon_lower < 0.5) == (False, True)
    right = LocalRun(epsilon=2.0, view="transcript", **SIGNS)
    options = {"pairs": right.suggested_pairs()[:1], "recorded": False}
    result = audit_privacy(right, budget=800, significance=1e-7, **options)
    assert result.verdict in {Verdict.NOT_REFUTED, Verdict.INCONCLUSIVE}


def test_a_transcript_claims_no_utility_and_an_unknown_view_is_refused():
    assert LocalRun(view="transcript").utility_claim is None
    central = CentralRun(view="transcript")
    assert central.utility_claim is None
    records = [1] * central.size
    assert central(records, np.random.default_rng(0)) == CentralRun()(records, np.random.default_rng(0))
    with pytest.raises(InvalidValue, match="must be one of output, transcript; got 'all'"):
        LocalRun(view="all")


def test_a_tolerance_beyond_1_is_claimed_as_an_accuracy():
    assert CentralRun(tau=1.5).utility_claim == Accuracy(1.5, 0.05)


@pytest.mark.parametrize("kind", [LocalRun, CentralRun])
def test_an_algorithm_declared_nonadaptive_gets_only_one_round(kind):
    asked = StatisticalQuery(float, tau=0.5)

    def at_once(oracle):
        return tuple(oracle.ask_all([asked, asked]))

    def by_turns(oracle):
        (first,) = oracle.ask_all([asked])
        return (first, *oracle.ask_all([asked]))

    def run_of(run):
        told = mean_and_spread(tau=0.5)
        made = SQAlgorithm(
            run=run,
            queries=2,
            hardest=asked,
            alpha=0.5,
            error=told.error,
            populations=told.populations,
            adaptive=False,
        )
        return kind(make=lambda *, tau: made)

    rng = np.random.default_rng(0)
    right, wrong = run_of(at_once), run_of(by_turns)
    assert len(right([1] * right.size, rng)) == 2
    with pytest.raises(InvalidValue, match="must ask everything in one `ask_all`; it asks again"):
        wrong([1] * wrong.size, rng)
    with pytest.raises(InvalidValue, match="it asks one query by itself"):
        run_of(lambda oracle: oracle.ask(asked))([1] * right.size, rng)
