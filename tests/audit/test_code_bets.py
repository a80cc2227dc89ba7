"""If a subject declares a law, an audit still finds what runs alone would find."""

import itertools
import math
import re

import numpy as np
import pytest

from audit import ApproximateDP, AuditResult, Evidence, PureDP, Relation, Verdict, audit_privacy
from audit.distributions import Finite
from audit.laws.law_check import detectable_distance, law_log_e_value
from audit.privacy import make_task
from audit.verdict.by_runs import audit_by_runs, least_budget


def keep(epsilon):
    return math.exp(epsilon) / (1.0 + math.exp(epsilon))


class Response:
    """Randomized response, whose code and law may have different ε."""

    claim = PureDP(1.0)
    records = (0, 1)
    size = 1

    def __init__(self, epsilon=1.0):
        self.own = keep(epsilon)

    def __call__(self, database, rng):
        return database[0] if rng.random() < self.own else 1 - database[0]

    def distribution(self, database):
        return Finite([database[0], 1 - database[0]], [keep(1.0), 1.0 - keep(1.0)])


def test_a_law_does_not_hide_code_that_loses_a_little_more():
    """A law hides no probability that is off by 0.01.

    Without the declared law, about 50,000 runs refute the claim. The check of the law alone cannot.
    """
    result = audit_privacy(Response(1.07))
    assert (result.verdict, result.evidence) == (Verdict.REFUTED, Evidence.STATISTICAL)
    assert 1.0 < result.epsilon_lower < 1.07
    assert result.samples_to_refutation <= result.budget
    assert "The declared law hid this" in result.notes[0]
    assert AuditResult.from_json(result.to_json()) == result


class OnOneDatabase(Response):
    """A subject whose output is always 1 on one boundary database.

    The declared law allows this output.
    """

    records = (0, 1, 2)
    size = 7

    def __call__(self, database, rng):
        return 1 if list(database) == [2] * 7 else int(rng.integers(2))

    def distribution(self, database):
        return Finite([0, 1], [0.5, 0.5])


def test_a_law_does_not_hide_code_that_leaks_on_one_database_of_the_boundary():
    result = audit_privacy(OnOneDatabase())
    assert (result.verdict, result.evidence) == (Verdict.REFUTED, Evidence.STATISTICAL)
    assert [2] * 7 in (result.witness.left, result.witness.right)
    assert result.replay().verdict is Verdict.REFUTED


def test_code_that_is_its_law_is_proved_and_says_what_could_hide():
    result = audit_privacy(Response())
    assert result.verdict is Verdict.PROVED
    assert result.samples <= result.budget
    assert 0.05 < result.law_distance < 0.15
    assert 1.0 < result.detectable_epsilon < 1.2
    assert result.detectable_event
    assert re.search(r"differs from its law by 0\.\d+ in total variation, and a true ε of 1\.", words(result))
    assert AuditResult.from_json(result.to_json()) == result


def words(result):
    return " ".join(f"{result}".split())


def test_a_budget_with_which_no_bets_could_refute_is_reported():
    class Near(Response):
        claim = PureDP(20.0)

    result = audit_privacy(Near())
    assert result.verdict is Verdict.PROVED
    assert result.detectable_epsilon is None
    assert any("with this budget no bets could refute it" in said for said in result.assumptions)
    assert "whatever their ε" in words(result)


def test_bets_without_power_cast_no_doubt_on_the_law():
    """At ε = 5 the smallest budget has little power by any event but an outright leak."""

    class Fifth(Response):
        claim = PureDP(5.0)

        def distribution(self, database):
            return Finite([database[0], 1 - database[0]], [keep(5.0), 1.0 - keep(5.0)])

    least = least_budget(5.0, 0.0, 5e-7)
    bare = audit_by_runs(make_task(Fifth(5.0), budget=least, significance=5e-7))
    assert bare.verdict is Verdict.INCONCLUSIVE
    result = audit_privacy(Fifth(5.0), budget=2 * least + 1)
    assert result.verdict is Verdict.PROVED
    assert result.detectable_epsilon is None


def test_the_bets_and_the_comparison_share_the_budget():
    for budget in (1_000, 9_000):
        assert audit_privacy(Response(), budget=budget).samples <= budget


def test_a_claim_with_a_delta_is_bet_on_as_well():
    class Leaks(Response):
        claim = ApproximateDP(1.0, 1e-3)

        def __call__(self, database, rng):
            return "told" if database[0] and rng.random() < 0.02 else super().__call__(database, rng)

        def distribution(self, database):
            shares = [keep(1.0), 1.0 - keep(1.0)]
            told = 1e-3 if database[0] else 0.0
            return Finite([database[0], 1 - database[0], "told"], [*((1.0 - told) * x for x in shares), told])

    result = audit_privacy(Leaks())
    assert result.verdict in {Verdict.REFUTED, Verdict.ERROR}


class Unsorted:
    """A subject that is declared symmetric but is private on sorted lists only."""

    claim = PureDP(1.0)
    relation = Relation.REPLACE_ONE
    records = (0, 1)
    size = 20
    symmetric = True

    def __call__(self, database, rng):
        if list(database) != sorted(database):
            return sum(database) % 2
        return int(rng.integers(2))

    def distribution(self, database):
        return Finite([0, 1], [0.5, 0.5])


def test_code_that_leaks_only_on_unsorted_lists_is_not_proved_symmetric():
    result = audit_privacy(Unsorted())
    assert result.verdict in {Verdict.ERROR, Verdict.REFUTED}


def test_a_symmetric_subject_is_run_on_lists_in_another_order():
    orders = set()

    class Watched(Unsorted):
        def __call__(self, database, rng):
            orders.add(list(database) == sorted(database))
            return int(rng.integers(2))

    result = audit_privacy(Watched(), budget=20_000)
    assert result.verdict is not Verdict.ERROR
    assert orders == {True, False}


class Changing(Response):
    """A subject that declares a new law each time it is asked."""

    def __init__(self, calls):
        super().__init__()
        self.calls = calls

    def distribution(self, database):
        p = 0.5 + next(self.calls)
        return Finite([database[0], 1 - database[0]], [p, 1.0 - p])


@pytest.mark.parametrize(
    "calls",
    [
        0.001 * np.random.default_rng(1).random(1000),
        itertools.chain([0.0] * 3, itertools.repeat(0.01)),
        itertools.chain([0.0] * 4, [0.01], itertools.repeat(0.0)),
    ],
    ids=["at random", "after the first", "once"],
)
def test_a_law_that_changes_when_it_is_asked_again_proves_nothing(calls):
    subject = Changing(iter(calls))
    subject.own = 0.5
    result = audit_privacy(subject, budget=20_000)
    assert result.verdict is Verdict.ERROR
    assert "does not give the same law each time" in result.reason


@pytest.mark.parametrize("k", [2, 4, 8])
def test_a_law_at_the_detectable_distance_is_found_nine_times_in_ten(k):
    """A share of at least 0.9 minus four standard errors detects the difference.

    There are 200 comparisons with a law at this distance.
    """
    law = Finite(range(k), [1.0 / k] * k)
    limit, runs = math.log(1e6), 1_000
    distance = detectable_distance(law, runs, limit)
    p = np.full(k, 1.0 / k)
    p[: k // 2] += 2.0 * distance / k
    p[k // 2 :] -= 2.0 * distance / k
    rng = np.random.default_rng(5)
    found = [law_log_e_value(law, rng.choice(k, size=runs, p=p)) >= limit for _ in range(200)]
    assert np.mean(found) >= 0.9 - 4.0 * math.sqrt(0.09 / 200)


@pytest.mark.parametrize(("k", "runs"), [(2, 40), (3, 14), (4, 9)])
def test_the_regret_of_the_mixture_is_largest_if_all_outputs_are_equal(k, runs):
    from scipy.special import gammaln, xlogy

    counts = [c for c in itertools.product(range(runs + 1), repeat=k) if sum(c) == runs]
    n = np.array(counts, dtype=float)
    mixture = gammaln(n + 0.5).sum(axis=1) - k * gammaln(0.5) + gammaln(k / 2) - gammaln(runs + k / 2)
    regrets = xlogy(n, n / runs).sum(axis=1) - mixture
    alike = gammaln(runs + k / 2) - gammaln(runs + 0.5) + gammaln(0.5) - gammaln(k / 2)
    assert regrets.max() == pytest.approx(alike, abs=1e-9)
