"""The mutation check: the same audit refutes smaller claims that are false."""

import json
import math

import pytest

from audit import ApproximateDP, AuditResult, Evidence, PureDP, Verdict, audit_privacy
from audit.distributions import Density, Finite
from audit.errors import CorruptFile, InvalidKind, InvalidValue
from audit.mutation.check import FACTORS, mutation_check
from audit.mutation.result import MutationCheck, Repetition

PAIR = {"pairs": [([0], [1])]}


class Tight:
    """A sum with exactly the noise that ε = 1 needs."""

    def __call__(self, database, rng):
        return sum(database) + rng.laplace()

    def sample(self, database, size, rng):
        return sum(database) + rng.laplace(size=size)


class Declared(Tight):
    def distribution(self, database):
        return Density.laplace(float(sum(database)), 1.0)


def blind(database, rng):
    return 0


@pytest.fixture(scope="module")
def tight():
    return mutation_check(Tight(), PureDP(1.0), **PAIR, budget=150_000, seed=3)


def test_a_tight_mechanism_is_noticed_at_nine_tenths(tight):
    """With 150,000 runs the audit misses with probability below 1e-7.

    The loss is 1. By the KL bound and the auditor's efficiency, refuting a claim of 0.9 takes about
    30,000 runs.
    """
    assert [each.factor for each in tight.repetitions] == [0.5, 0.8, 0.9]
    assert [each.result.claim.epsilon for each in tight.repetitions] == pytest.approx([0.5, 0.8, 0.9])
    assert tight.noticed_from == 0.9
    assert "Noticed at 0.9 × ε: this audit would have refuted a claim of ε = 0.9." in str(tight)


def test_an_exact_audit_is_checked_by_its_law():
    """The exact loss of 1 is above 0.9."""
    check = mutation_check(Declared(), PureDP(1.0), **PAIR)
    assert check.noticed_from == 0.9
    assert {each.result.evidence for each in check.repetitions} == {Evidence.EXACT}


@pytest.mark.parametrize("damaged", [{}, {"repetitions": [{}]}, {"repetitions": 3}, 5])
def test_a_damaged_check_is_refused_in_one_line(tight, damaged):
    with pytest.raises(CorruptFile, match=r"^the mutation check of a saved result is damaged\.$|^the key"):
        MutationCheck.from_json("m", tight.claim, stored=damaged)
    with pytest.raises(CorruptFile, match="damaged"):
        MutationCheck.from_json("m", None, stored=tight.to_json())


def test_an_audit_that_sees_nothing_says_so():
    """A constant satisfies every claim, so no smaller claim is refuted.

    A false alarm has probability at most 3e-6.
    """
    check = mutation_check(blind, PureDP(1.0), **PAIR, budget=2_000)
    assert check.noticed_from is None
    assert "has not shown that it works" in str(check)


def test_proved_smaller_claims_are_no_sign_of_a_blind_audit():
    """A constant loses nothing, so its law proves every claim."""

    class Constant:
        def __call__(self, database, rng):
            return 0

        def distribution(self, database):
            return Finite([0], probabilities=[1.0])

    check = mutation_check(Constant(), PureDP(1.0), records=[0, 1], size=2)
    assert {each.result.verdict for each in check.repetitions} == {Verdict.PROVED}
    assert "That is right for the proved ones" in str(check)
    assert "by the declared law" in str(check)


def test_each_repetition_has_a_separate_seed_derived_from_the_seed(tight):
    seeds = [each.result.seed for each in tight.repetitions]
    assert len({*seeds, 3}) == 4
    other = mutation_check(blind, PureDP(1.0), **PAIR, budget=200, seed=4)
    assert not set(seeds) & {each.result.seed for each in other.repetitions}
    again = mutation_check(blind, PureDP(1.0), **PAIR, budget=200, seed=3)
    assert [each.result.seed for each in again.repetitions] == seeds


def test_a_repetition_is_an_ordinary_audit_of_the_smaller_claim(tight):
    for each in tight.repetitions[:2]:  # the third takes most of the runs and differs in the claim alone
        own = audit_privacy(Tight(), each.result.claim, **PAIR, budget=150_000, seed=each.result.seed)
        assert own == each.result


def test_delta_is_kept_and_reported():
    check = mutation_check(Tight(), ApproximateDP(1.0, 1e-3), **PAIR, budget=400)
    claims = [each.result.claim for each in check.repetitions]
    assert claims == [ApproximateDP(factor, 1e-3) for factor in FACTORS]
    assert "Only ε was scaled; δ stayed at 0.001." in str(check)


def test_the_budget_spent_is_stated(tight):
    assert "spends its own significance (3e-06 in all) and tests a smaller claim" in str(tight)
    assert "Only ε" not in str(tight)


def test_the_largest_noticed_factor_counts_even_if_a_smaller_one_was_missed():
    def result(verdict):
        return AuditResult("m", PureDP(1.0), verdict, Evidence.STATISTICAL)

    verdicts = (Verdict.NOT_REFUTED, Verdict.REFUTED, Verdict.INCONCLUSIVE)
    repetitions = [Repetition(factor, result(v)) for factor, v in zip(FACTORS, verdicts, strict=True)]
    assert MutationCheck("m", PureDP(1.0), tuple(repetitions)).noticed_from == 0.8


def test_it_is_saved_and_read_back(tight):
    stored = json.loads(json.dumps(tight.to_json()))
    assert MutationCheck.from_json(tight.subject, tight.claim, stored=stored) == tight
    assert stored["noticed_from"] == 0.9


def test_the_claim_is_by_default_the_subjects_own():
    class Own(Tight):
        claim = PureDP(math.log(2))

    check = mutation_check(Own(), **PAIR, budget=400)
    assert check.repetitions[0].result.claim.epsilon == pytest.approx(math.log(2) / 2)


@pytest.mark.parametrize(
    ("claim", "options", "words"),
    [
        (PureDP(0.0), {}, "already claims ε = 0"),
        (None, {}, "must be a privacy claim"),
        (PureDP(1.0), {"seed": -1}, "The `seed` must be a whole number ≥ 0; got -1."),
        (PureDP(1.0), {"budget": 3}, "can never refute"),
    ],
)
def test_bad_arguments_get_one_line(claim, options, words):
    with pytest.raises((InvalidValue, InvalidKind)) as caught:
        mutation_check(blind, claim, **PAIR, **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
