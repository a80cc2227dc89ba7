"""Audits by declared laws: proofs, and proofs that take too long."""

import math
import re
import time

import pytest

from audit import PureDP, Relation, Verdict, audit_privacy
from audit.distributions import Density, Finite
from audit.errors import InvalidValue, SubjectError

KEEP = math.e / (1 + math.e)
#: Enough runs for the verdict PROVED.
BUDGET = 20_000


class Response:
    """Randomized response that meets ε = 1 with equality."""

    claim = PureDP(1.0)
    relation = Relation.LOCAL
    records = (0, 1)
    size = 1

    def __call__(self, database, rng):
        return database[0] if rng.random() < KEEP else 1 - database[0]

    def distribution(self, database):
        return Finite([database[0], 1 - database[0]], [KEEP, 1 - KEEP])


class Leak(Response):
    """A subject that declares the law of randomized response but returns the record."""

    def __call__(self, database, rng):
        return database[0]


class Hangs(Response):
    def __call__(self, database, rng):
        time.sleep(30)


class Slow(Response):
    def __call__(self, database, rng):
        time.sleep(0.01)
        return super().__call__(database, rng)


class Turning(Response):
    """A subject whose outputs alternate between 0 and 1.

    Over all calls they are uniform, as its law declares. An observer who knows the state learns the
    record from one output.
    """

    def __init__(self):
        self.turn = 0

    def __call__(self, database, rng):
        self.turn += 1
        return (self.turn + database[0]) % 2

    def distribution(self, database):
        return Finite([0, 1], [0.5, 0.5])


def test_equality_over_every_pair_is_proved():
    result = audit_privacy(Response())
    assert result.verdict is Verdict.PROVED
    assert result.epsilon_lower == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("budget", [1, 150, 1000])
def test_few_runs_of_the_code_prove_nothing(budget):
    """So few runs prove nothing, because they would not reveal a wrong law."""
    for subject in (Response(), Leak()):
        assert audit_privacy(subject, budget=budget).verdict is not Verdict.PROVED


def test_code_that_is_not_its_law_is_an_error():
    assert audit_privacy(Leak()).verdict is Verdict.ERROR


class WrongOnOne(Response):
    """Randomized response, except on one database, where the output is 0.

    This database is not in the worst pair.
    """

    relation = Relation.REPLACE_ONE
    size = (1, 3)

    def __call__(self, database, rng):
        return 0 if list(database) == [1, 1, 0] else super().__call__(database, rng)


class OnThree(WrongOnOne):
    __call__ = Response.__call__


def test_code_that_is_not_its_law_on_one_database_of_a_small_family_is_an_error():
    """62 or more calls all give 0 with probability at most 0.27^62.

    Under the declared law the output is 1 with probability 0.73.
    """
    result = audit_privacy(WrongOnOne())
    assert result.verdict is Verdict.ERROR
    assert "outputs of calls on [1, 1, 0] contradict it" in result.reason
    assert not [said for said in result.assumptions if "did not contradict" in said]


def test_a_proof_says_on_how_many_databases_the_code_was_run():
    result = audit_privacy(OnThree(), budget=BUDGET)
    assert result.verdict is Verdict.PROVED
    assert "runs of the code on all 14 databases did not contradict" in result.assumptions[0]
    wide = OnThree()
    wide.size = (1, 6)
    assert re.search(
        r"runs of the code on (\d+) of the 126 databases", audit_privacy(wide, budget=BUDGET).assumptions[0]
    )


def test_a_law_that_was_not_compared_with_the_code_is_reported():
    result = audit_privacy(Slow(), time_limit=1e-9)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.assumptions[0] == "the declared law, which was not compared with the code"


def test_a_subject_that_keeps_state_is_not_called_proved():
    assert audit_privacy(Turning()).verdict is not Verdict.PROVED


def test_the_time_limit_ends_the_comparison_of_law_and_code():
    started = time.monotonic()
    result = audit_privacy(Slow(), time_limit=0.5)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "time" in result.reason
    assert time.monotonic() - started < 20  # the whole comparison would take 80 s


def test_a_subject_with_a_law_that_never_ends_is_an_error():
    result = audit_privacy(Hangs(), run_time_limit=0.05)
    assert result.verdict is Verdict.ERROR
    assert "no run finished" in result.reason


class Custom:
    name = "within one"

    def __init__(self, gives):
        self.gives = gives

    def are_neighbours(self, left, right):
        return left != right and abs(left[0] - right[0]) <= 1

    def neighbours(self, database, records, rng):
        return self.gives(database)


@pytest.mark.parametrize(
    ("gives", "kind"),
    [
        (lambda database: iter([[database[0] + 5]]), InvalidValue),
        (lambda database: iter([list(database)]), InvalidValue),
        (lambda database: 1 / 0, SubjectError),
        (lambda database: None, SubjectError),
    ],
    ids=["too far", "itself", "raises", "nothing"],
)
def test_a_custom_relation_that_contradicts_itself_is_refused_in_one_line(gives, kind):
    with pytest.raises(kind, match="within one") as caught:
        audit_privacy(
            lambda database, rng: database[0] + rng.laplace(),
            PureDP(1.0),
            relation=Custom(gives),
            records=[0, 1],
            size=1,
            budget=2000,
        )
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("base", [2**53, 10**400])
def test_whole_numbers_beyond_the_precision_of_floats_are_distinguished(base):
    def told(database, rng):
        return base + database[0]

    result = audit_privacy(told, PureDP(1.0), pairs=[([0], [1])], budget=400, fresh=lambda: told)
    assert result.verdict is Verdict.REFUTED


class HiddenCache:
    """A correct mechanism with its noise in a cache, which its pickle leaves out."""

    def __init__(self):
        self.cache = {}

    def __getstate__(self):
        return {**self.__dict__, "cache": {}}

    def __call__(self, database, rng):
        key = tuple(database)
        if key not in self.cache:
            self.cache[key] = database[0] if rng.random() < KEEP else 1 - database[0]
        return self.cache[key], int(rng.integers(2))


def test_noise_in_a_cache_that_its_pickle_leaves_out_refutes_nothing():
    """The bets are misled, but fresh processes with an empty cache confirm nothing.

    With a full cache the mechanism draws fewer numbers from the same generator state.
    """
    verdicts = {
        audit_privacy(HiddenCache(), PureDP(1.0), records=[0, 1], size=1, budget=1000, seed=seed).verdict
        for seed in range(2)
    }
    assert Verdict.REFUTED not in verdicts
    assert Verdict.INCONCLUSIVE in verdicts, "bets have to mislead for this test to mean anything"


def left_out(result):
    return [said for said in result.not_tested if said.startswith("records other than")]


class Clipped(Response):
    """Randomized response to a bit, but 0 for any other record.

    The listed records do not show that.
    """

    def distribution(self, database):
        bit = database[0] if database[0] in {0, 1} else 0
        keep = KEEP if database[0] in {0, 1} else 1.0
        return Finite([bit, 1 - bit], [keep, 1 - keep])

    def __call__(self, database, rng):
        return 0 if database[0] not in {0, 1} else super().__call__(database, rng)


def test_a_claim_kept_on_listed_records_says_that_only_these_were_tested():
    """The claim fails on records outside (0, 1), which were not tested."""
    proved = audit_privacy(Clipped(), budget=BUDGET)
    assert proved.verdict is Verdict.PROVED
    assert left_out(proved) == ["records other than the 2 given (0, 1)"]
    assert "records other than the 2 given (0, 1)" in f"{proved}"
    kept = audit_privacy(Clipped(), budget=1000)
    assert kept.verdict is Verdict.NOT_REFUTED
    assert left_out(kept) == ["records other than the 2 given (0, 1)"]
    wider = audit_privacy(Clipped(), records=[0, 1, 2], budget=BUDGET)
    assert wider.verdict is Verdict.REFUTED
    assert left_out(wider) == []


def test_pairs_that_are_given_list_no_records():
    class Pairs(Response):
        records = None
        size = None

    result = audit_privacy(Pairs(), pairs=[([0], [1])], budget=BUDGET)
    assert result.verdict is Verdict.NOT_REFUTED
    assert left_out(result) == []


class Copies(Response):
    """Randomized response, but the record 7 is returned unchanged."""

    def __call__(self, database, rng):
        return 7 if database[0] == 7 else super().__call__(database, rng)

    def distribution(self, database):
        return Finite([7], [1.0]) if database[0] == 7 else super().distribution(database)


class Suggesting(Copies):
    def suggested_pairs(self):
        return [([0], [7])]


def test_a_pair_given_beside_the_domain_is_compared_before_anything_is_proved():
    assert audit_privacy(Copies(), budget=BUDGET).verdict is Verdict.PROVED
    where = {"records": (0, 1), "size": 1, "budget": BUDGET}
    assert audit_privacy(Copies(), **where, pairs=[([0], [7])]).verdict is Verdict.REFUTED
    assert audit_privacy(Suggesting(), **where).verdict is Verdict.REFUTED


def test_a_proof_counts_given_pairs_separately_from_those_of_its_family():
    domain = {"records": (0, 1), "size": 1, "budget": BUDGET}
    within, beside = (
        audit_privacy(Response(), pairs=[pair], **domain) for pair in (([0], [1]), ((0,), (1,)))
    )
    assert within.verdict is beside.verdict is Verdict.PROVED
    assert within.family == "the one neighbouring pair (local) of size 1 over [0, 1]"
    assert beside.family.endswith(", and 1 given pair")
    assert (within.pairs_total, beside.pairs_total) == (1, 2)


class TwoParties:
    """A relation in which 0 and 1 are neighbours, and so are 2 and 3."""

    def __init__(self, listed):
        self.listed = listed

    def neighbours(self, database, records, rng=None):
        return [[other] for other in self.listed.get(database[0], ())]

    def are_neighbours(self, left, right):
        return left != right and left[0] // 2 == right[0] // 2


BOTH_WAYS = {0: [1], 1: [0], 2: [3], 3: [2]}


def test_a_density_on_any_database_rules_out_the_verdict_proved():
    class Mixed(Response):
        records = (0, 1, 2, 3)

        def __call__(self, database, rng):
            if database[0] < 2:
                return super().__call__(database, rng)
            return rng.laplace(0.1 * database[0])

        def distribution(self, database):
            # The densities have a loss of 0.1 and the bits a loss of 1, so the worst pair is a pair of bits.
            if database[0] < 2:
                return super().distribution(database)
            return Density.laplace(0.1 * database[0], 1.0)

    result = audit_privacy(Mixed(), relation=TwoParties(BOTH_WAYS), budget=BUDGET)
    assert (result.verdict, result.pairs_total) == (Verdict.NOT_REFUTED, 2)
    assert result.epsilon_lower == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("listed", [{2: [3]}, {3: [2]}, {2: [3], 3: [2]}], ids=["left", "right", "both"])
def test_a_pair_that_a_relation_lists_from_one_side_only_is_compared(listed):
    class Telling(Response):
        records = (0, 1, 2, 3)

        def __call__(self, database, rng):
            return super().__call__(database, rng) if database[0] < 2 else database[0]

        def distribution(self, database):
            return super().distribution(database) if database[0] < 2 else Finite([database[0]], [1.0])

    relation = TwoParties({0: [1], **listed})
    assert audit_privacy(Telling(), relation=relation).verdict is Verdict.REFUTED


def test_a_relation_that_lists_fewer_neighbours_than_it_has_is_refused_in_one_line():
    class Four(Response):
        records = (0, 1, 2, 3)

        def distribution(self, database):
            return super().distribution([database[0] % 2])

        def __call__(self, database, rng):
            return super().__call__([database[0] % 2], rng)

    with pytest.raises(
        SubjectError, match=re.escape("calls [2] and [3] neighbours, but its `neighbours` lists neither")
    ):
        audit_privacy(Four(), relation=TwoParties({0: [1]}))
    assert audit_privacy(Four(), relation=TwoParties(BOTH_WAYS), budget=BUDGET).verdict is Verdict.PROVED
