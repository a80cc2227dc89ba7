"""The verdict on every kind of mechanism, and the message for bad arguments.

A correct mechanism is refuted with probability at most 1e-6. A faulty mechanism is missed with
probability below 1e-9. The file is long because it has a few lines for each kind of mechanism and each
bad argument.
"""

import functools
import json
import math
import os
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import audit.verdict.by_runs
from audit import PAC, ApproximateDP, AuditResult, Evidence, PureDP, Relation, Verdict, audit_privacy
from audit.errors import AuditError, InvalidKind, InvalidValue, SubjectError
from audit.verdict.by_runs import least_budget

PAIR = [([0], [1])]
CLAIM = PureDP(math.log(3))
BUDGET = 4_000


def response(database, rng):
    """Return randomized response, which meets `CLAIM` with equality."""
    return "yes" if (database == [1]) == (rng.random() < 0.75) else "no"


def audited(mechanism, claim=CLAIM, **options):
    return audit_privacy(mechanism, claim, **{"pairs": PAIR, "budget": BUDGET, **options})


# Correct mechanisms, however they behave


class CallCounter:
    def __init__(self):
        self.calls = 0

    def __call__(self, database, rng):
        self.calls += 1
        return rng.random() < (0.9 if self.calls % 2 else 0.1)


class CountsBlocks(CallCounter):
    def sample(self, database, size, rng):
        self.calls += 1
        return rng.random(size) < (0.9 if self.calls % 2 else 0.1)


class CachesNoise:
    def __init__(self):
        self.noise = {}

    def __call__(self, database, rng):
        key = sum(database)
        if key not in self.noise:
            self.noise[key] = rng.laplace()
        return key + self.noise[key]


def cache_in_a_closure():
    return functools.partial(_cached, CachesNoise())


def _cached(cache, database, rng):
    return cache(database, rng)


class KeepsState:
    def __init__(self):
        self.seen = []

    def __call__(self, database, rng):
        self.seen.append(len(self.seen))
        return response(database, rng)


class ReturnsItsBuffer:
    def __init__(self):
        self.buffer = np.zeros(2)

    def __call__(self, database, rng):
        self.buffer[:] = sum(database) + rng.laplace(scale=2, size=2)
        return self.buffer


def mutates_its_input(database, rng):
    database[0] += 5
    return rng.laplace()


def grows_its_input(database, rng):
    database.append(0)
    return rng.random() < 0.5


def prints(database, rng):
    print("the secret is", database)  # noqa: T201
    return response(database, rng)


def nothing_but_nan(database, rng):
    return math.nan


def draws_its_own(database):
    return int(np.random.default_rng().random() < 0.5)


def returns_anything(database, rng):
    outputs = (None, {1, 2}, {"a": [1, (2,)]}, b"x", 1j, object(), np.array(0.5), np.zeros((2, 2)), [], ())
    return outputs[rng.integers(len(outputs))]


def raises_at_times(database, rng):
    if rng.random() < 0.3:
        raise ValueError(f"unlucky {rng.integers(3)}")
    return response(database, rng)


def quits_at_times(database, rng):
    if rng.random() < 0.05:
        raise SystemExit(1)
    return response(database, rng)


CORRECT = {
    "call counter": (CallCounter, PureDP(0.5)),
    "counts blocks": (CountsBlocks, PureDP(0.5)),
    "keeps state": (KeepsState, CLAIM),
    "returns its own buffer": (ReturnsItsBuffer, PureDP(1.0)),
    "mutates its input": (lambda: mutates_its_input, PureDP(0.1)),
    "grows its input": (lambda: grows_its_input, PureDP(0.1)),
    "prints": (lambda: prints, CLAIM),
    "NaN alone": (lambda: nothing_but_nan, PureDP(0.1)),
    "draws its own randomness": (lambda: draws_its_own, PureDP(0.1)),
    "returns anything": (lambda: returns_anything, PureDP(0.1)),
    "raises at times": (lambda: raises_at_times, CLAIM),
    "quits at times": (lambda: quits_at_times, CLAIM),
}


@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_mechanism_is_not_refuted_however_it_behaves(name, capsys):
    make, claim = CORRECT[name]
    result = audited(make(), claim)
    assert result.verdict in (Verdict.NOT_REFUTED, Verdict.INCONCLUSIVE)
    assert result.evidence is Evidence.STATISTICAL
    assert capsys.readouterr() == ("", "")
    assert AuditResult.from_json(result.to_json()).to_json() == result.to_json()
    assert "secret" not in str(result)


@pytest.mark.parametrize("make", [CachesNoise, cache_in_a_closure])
def test_cached_noise_refutes_nothing_and_asks_for_a_factory(make):
    """A small claim needs fewer fresh processes than a large claim.

    Sums differ by 0.1 under noise of scale 1.
    """
    result = audited(make(), PureDP(0.1), pairs=[([0.0], [0.1])])
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "give `fresh=`" in result.reason
    assert result.witness is not None
    assert not result.witness.confirmed
    assert result.samples_to_refutation is None
    assert AuditResult.from_json(result.to_json()).to_json() == result.to_json()


def test_a_doubt_about_the_refutation_makes_it_inconclusive(monkeypatch):
    confirm = audit.verdict.by_runs.confirm
    monkeypatch.setattr(
        audit.verdict.by_runs,
        "confirm",
        lambda *arguments, **options: replace(confirm(*arguments, **options), doubt="who knows"),
    )
    result = audited(lambda database, rng: database[0])
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason == "who knows"
    assert result.witness.confirmed
    assert (result.epsilon_lower, result.delta_lower) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("mechanism", "word"),
    [(mutates_its_input, "changes the database"), (prints, "prints"), (draws_its_own, "seed")],
)
def test_unusual_behaviour_of_the_mechanism_is_noted(mechanism, word):
    assert any(word in note for note in audited(mechanism, PureDP(1.5)).notes)


def test_the_databases_of_the_user_do_not_change():
    left, right = [0], [1]
    audited(mutates_its_input, PureDP(0.1), pairs=[(left, right)])
    assert (left, right) == ([0], [1])


def mutates_late(database, rng):
    """Return the first record with too little noise, and later change the input.

    The calls are counted in an environment variable, which copies of the function share.
    """
    left = int(os.environ["CALLS_LEFT"]) - 1
    os.environ["CALLS_LEFT"] = str(left)
    answer = database[0] + rng.laplace(scale=0.1)
    if left < 0:
        database.append(0)
    return answer


@pytest.mark.parametrize("stage", ["audit", "confirmation"])
def test_an_input_that_is_changed_late_loses_neither_runs_nor_the_refutation(stage, monkeypatch):
    """The runs before the restart of the audit are counted.

    A change during the confirmation does not lose the refutation.
    """

    def audited_with(calls):
        monkeypatch.setenv("CALLS_LEFT", str(calls))
        return audit_privacy(mutates_late, PureDP(1.0), pairs=[([0], [1])])

    plain = audited_with(10**6)
    crossed = plain.samples_to_refutation
    calls = crossed // 2 if stage == "audit" else (crossed + plain.samples) // 2
    result = audited_with(calls)
    assert result.verdict is Verdict.REFUTED
    assert result.witness.confirmed
    assert any(f"{stage} restarted with a new copy" in note for note in result.notes)
    if stage == "audit":
        assert crossed < result.samples_to_refutation < 2 * crossed
    else:
        assert result.samples_to_refutation == crossed


# Faulty mechanisms, however they show it


def script(database, rng):
    return "<script>alert(1)</script>" if database == [1] else "safe"


def raises_on_the_right(database, rng):
    if database == [1]:
        raise ValueError("no such <record>")
    return 0


def raises_on_the_left(database, rng):
    if database == [0]:
        raise ValueError("no such <record>")
    return 0


def nan_on_the_right(database, rng):
    return math.nan if database == [1] else 1.0


def message_tells(database, rng):
    if database == [1]:
        raise ValueError(f"{sum(database)} is out of range")
    raise ValueError("0 is out of range") if rng.random() < 0.9 else KeyError("x")


class ForgetsItsBuffer(ReturnsItsBuffer):
    def __call__(self, database, rng):
        self.buffer[:] = sum(database) + rng.laplace(scale=0.1, size=2)
        return self.buffer


class LeaksAndKeepsState(KeepsState):
    def __call__(self, database, rng):
        self.seen.append(len(self.seen))
        return database[0]


FAULTY = {
    "hostile text": script,
    "raises on the right": raises_on_the_right,
    "raises on the left": raises_on_the_left,
    "NaN on the right": nan_on_the_right,
    "a mutable buffer": ForgetsItsBuffer(),
    "keeps state": LeaksAndKeepsState(),
    "no rng": lambda database: database[0],
    "mutates and leaks": lambda database, rng: database.append(0) or database[0],
    "complex numbers": lambda database, rng: np.complex128(database[0] * 1j),
    "arrays without dimension": lambda database, rng: np.array(float(database[0])),
    "numpy keys": lambda database, rng: {np.int64(3): float(database[0]), (1, "a"): 0.0},
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_leak_is_refuted_however_it_shows(name):
    result = audited(FAULTY[name])
    assert result.verdict is Verdict.REFUTED, result.reason
    assert result.witness.confirmed
    assert result.samples_to_refutation <= 250
    assert result.epsilon_lower > CLAIM.epsilon
    assert result.witness.left == [0]
    assert result.witness.right == [1]
    again = AuditResult.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    assert again.witness.event.words() == result.witness.event.words()
    assert str(result)


def test_hostile_output_stays_text(capsys):
    result = audited(script, PureDP(1.0))
    assert "safe" in result.witness.event.words() or "<script>" in result.witness.event.words()


# Mechanisms that do not answer


def test_a_mechanism_that_always_raises_is_an_error_with_its_own_message():
    def always(database, rng):
        raise KeyError("age")

    result = audited(always)
    assert result.verdict is Verdict.ERROR
    assert result.reason == "every run raised KeyError: 'age'"


def test_a_mechanism_that_hangs_is_soon_reported_as_an_error():
    def hangs(database, rng):
        while True:
            time.sleep(0.005)

    start = time.monotonic()
    result = audited(hangs, run_time_limit=0.05)
    assert result.verdict is Verdict.ERROR
    assert "time limit of 0.05 s" in result.reason
    assert result.unfinished > 0
    assert time.monotonic() - start < 20


def test_a_mechanism_that_kills_its_process_is_an_error_in_isolation():
    def dies(database, rng):
        os._exit(3)

    result = audited(dies, isolate=True)
    assert result.verdict is Verdict.ERROR
    assert "process exited with code 3" in result.reason


class SlowOn:
    """Randomized response that runs out of memory on one database.

    The audit treats this like a time-out, which is slower.
    """

    def __init__(self, value, share=0.6):
        self.value, self.share = value, share

    def __call__(self, database, rng):
        if database == [self.value] and rng.random() < self.share:
            raise MemoryError
        return response(database, rng)


@pytest.mark.parametrize("value", [0, 1])
def test_slow_on_one_side_only_is_inconclusive_and_names_the_option_to_use(value):
    result = audited(SlowOn(value))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "only unfinished runs speak against the claim" in result.reason
    assert 'unfinished="output"' in result.reason
    assert any("did not finish" in said for said in result.assumptions)


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("share", [0.6, 1.0])
def test_slow_on_one_side_only_is_refuted_if_unfinished_runs_are_outputs(value, share):
    result = audited(SlowOn(value, share), unfinished="output")
    assert result.verdict is Verdict.REFUTED
    assert result.witness.confirmed


def test_a_real_time_out_on_one_side_decides_nothing():
    def slow(database, rng):
        if database == [1]:
            time.sleep(5)
        return 0

    result = audited(slow, PureDP(0.5), run_time_limit=0.01, budget=160)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.unfinished >= 40


def test_a_leak_is_refuted_although_some_runs_do_not_finish():
    def leaks(database, rng):
        if rng.random() < 0.1:
            raise MemoryError
        return database[0]

    assert audited(leaks).verdict is Verdict.REFUTED


def test_a_process_that_dies_at_times_is_audited_in_isolation():
    def dies_at_times(database, rng):
        if rng.random() < 0.02:
            os._exit(1)
        return database[0]

    result = audited(dies_at_times, PureDP(0.5), isolate=True, confirm_budget=400)
    assert result.verdict is Verdict.REFUTED
    assert result.unfinished > 0


# Same seed, same bytes


def stored(result):
    """Return the result as bytes, without its environment."""
    document = json.loads(result.to_json()) if isinstance(result.to_json(), str) else result.to_json()
    return json.dumps(document["result"]).encode()


class Noisy:
    """A sum with noise of scale 1/3, whose `sample` draws many outputs at once."""

    def __call__(self, database, rng):
        return sum(database) + rng.laplace(scale=1 / 3)

    def sample(self, database, size, rng):
        return sum(database) + rng.laplace(scale=1 / 3, size=size)


def noisy(database, rng):
    return sum(database) + rng.laplace(scale=1 / 3)


MECHANISMS = {
    "one by one": noisy,
    "many at once": Noisy(),
    "text": response,
}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", [1.0, 3.5])
def test_the_same_seed_gives_the_same_bytes_for_one_worker_or_two(name, epsilon):
    options = {
        "claim": PureDP(epsilon),
        "records": [0, 1],
        "size": 2,
        "budget": 6_000,
        "pairs": None,
        "seed": 7,
    }
    once, again = (stored(audited(MECHANISMS[name], jobs=jobs, **options)) for jobs in (1, 1))
    shared = stored(audited(MECHANISMS[name], jobs=2, **options))
    assert once == again == shared


def test_another_seed_gives_other_runs():
    results = [audited(Noisy(), PureDP(1.0), seed=seed) for seed in (1, 2)]
    assert {result.verdict for result in results} == {Verdict.REFUTED}
    assert results[0].log_wealth != results[1].log_wealth


def test_a_search_is_repeated_with_its_seed():
    options = {"records": st.integers(-3, 3), "size": (1, 3), "pairs": None}
    assert stored(audited(Noisy(), PureDP(1.0), **options)) == stored(
        audited(Noisy(), PureDP(1.0), **options)
    )


# What a verdict carries


def test_continuing_to_the_budget_tightens_the_bound():
    stopped = audited(Noisy(), PureDP(1.0), seed=1, budget=40_000)
    went_on = audited(Noisy(), PureDP(1.0), seed=1, budget=40_000, until="budget")
    assert went_on.refuted
    assert stopped.refuted
    # Either bound is above 3 with probability at most 1e-6.
    assert stopped.epsilon_lower < went_on.epsilon_lower <= 3.0
    assert went_on.samples > 40_000 - 2


def test_a_time_limit_ends_between_batches():
    result = audited(lambda database, rng: time.sleep(0.002), PureDP(1.0), time_limit=0.1)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "stopped after" in result.reason


def test_only_runs_cut_short_by_the_time_limit_say_so():
    slow = audited(lambda database, rng: time.sleep(0.002), PureDP(1.0), time_limit=0.5, budget=20_000)
    assert f"Stopped by the time limit after {slow.samples:,} of 20,000 runs." in slow.notes
    swift = audited(lambda database, rng: 0.0, PureDP(1.0), time_limit=500.0, budget=400)
    assert not any("time limit" in note for note in swift.notes)


def test_not_refuted_gives_the_epsilon_that_was_detectable():
    """The detectable ε lies above the claim of ln 3 and below the ceiling."""
    result = audited(response, budget=10_000)
    assert result.verdict is Verdict.NOT_REFUTED
    assert CLAIM.epsilon < result.detectable_epsilon < result.ceiling_epsilon
    assert result.epsilon_lower <= CLAIM.epsilon
    assert result.detectable_event


class Declares:
    claim = PureDP(0.5)
    relation = Relation.ADD_OR_REMOVE_ONE
    records = (0, 1)
    size = 2

    def __call__(self, database, rng):
        return len(database)


def test_the_claim_relation_and_databases_of_the_subject_are_used():
    result = audit_privacy(Declares(), budget=2_000)
    assert result.verdict is Verdict.REFUTED
    assert result.claim == PureDP(0.5)
    assert "add" in result.relation
    assert abs(len(result.witness.left) - len(result.witness.right)) == 1


def test_a_database_is_converted_before_the_mechanism_sees_it():
    seen = set()

    def mechanism(database, rng):
        seen.add(type(database))
        return response(list(database), rng)

    audited(mechanism, convert=tuple)
    assert seen == {tuple}


# Bad arguments

OPTIONS = [
    *[(name, value, InvalidValue) for name in ("budget", "jobs") for value in (0, -1)],
    ("seed", -1, InvalidValue),
    ("progress", 3, InvalidKind),
    ("confirm_budget", 3, InvalidValue),
    *[
        (name, value, InvalidKind)
        for name in ("budget", "seed", "jobs", "confirm_budget")
        for value in (1.5, True, "9", math.nan)
    ],
    *[(name, None, InvalidKind) for name in ("budget", "seed", "jobs")],
    *[
        (name, value, InvalidValue)
        for name in ("time_limit", "run_time_limit", "significance")
        for value in (0, -1.0, math.nan, math.inf)
    ],
    *[(name, value, InvalidValue) for name in ("time_limit", "run_time_limit") for value in ("9", True)],
    *[("significance", value, InvalidKind) for value in ("9", True, None)],
    ("run_time_limit", None, InvalidValue),
    ("significance", 1, InvalidValue),
    *[
        (name, value, InvalidValue)
        for name in ("numerics", "until", "unfinished")
        for value in ("x", None, 1)
    ],
    ("pairs", [], InvalidValue),
    ("pairs", 5, InvalidKind),
    ("pairs", "ab", InvalidValue),
    ("pairs", [([0],)], InvalidValue),
    ("pairs", ([0], [1]), InvalidValue),
    ("pairs", [(0, 1)], InvalidValue),
    ("pairs", [([0], [0])], InvalidValue),
    ("pairs", [([0], [1, 2])], InvalidValue),
    ("pairs", [([0, 0], [1, 1])], InvalidValue),
    ("relation", "nothing", InvalidValue),
    ("relation", 5, InvalidKind),
    ("isolate", "x", InvalidKind),
    ("isolate", None, InvalidKind),
    ("convert", 5, SubjectError),
    ("databases", 5, InvalidKind),
    ("databases", st.nothing(), InvalidValue),
]


def refusal(kind, mechanism=response, claim=CLAIM, **options):
    with pytest.raises(kind) as caught:
        audit_privacy(mechanism, claim, **options)
    said = str(caught.value)
    assert isinstance(caught.value, AuditError)
    assert "\n" not in said
    assert len(said) < 400
    return said


@pytest.mark.parametrize(("name", "value", "kind"), OPTIONS, ids=repr)
def test_a_bad_option_is_refused_in_one_line_that_names_it(name, value, kind):
    said = refusal(kind, **{"pairs": PAIR, **({"pairs": None} if name == "databases" else {}), name: value})
    assert name.rstrip("s") in said.lower() or "neighbours under replace-one" in said
    assert any(words in said for words in ("must", "not neighbours", "give ", "Build the values"))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("budget", -3, ("budget", "-3", "≥ 1")),
        ("seed", 1.5, ("seed", "1.5", "whole number")),
        ("significance", 2, ("significance", "got 2", "(0, 1)")),
        ("significance", 5e-324, ("significance", "5e-324", "1e-300")),
        ("run_time_limit", -1, ("run_time_limit", "-1", "positive number of seconds")),
        ("until", "never", ("until", "'never'", '"refuted" or "budget"')),
        ("pairs", [([0], [1, 2])], ("not neighbours", "replace-one", "lengths are 1 and 2")),
        ("pairs", [], ("pairs", "empty", "at least one pair")),
        ("relation", "nothing", ("relation", "'nothing'", "add-or-remove-one")),
    ],
)
def test_a_refusal_names_the_argument_its_value_and_what_is_allowed(name, value, words):
    said = refusal(AuditError, **{"pairs": PAIR, name: value})
    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    "name", ["budget", "seed", "significance", "time_limit", "until", "pairs", "relation"]
)
def test_a_refusal_knows_its_parameter(name):
    with pytest.raises(AuditError) as caught:
        audit_privacy(response, CLAIM, **{"pairs": PAIR, name: 0.5j})
    assert caught.value.parameter == name


@pytest.mark.parametrize(
    ("domain", "kind", "words"),
    [
        ({"records": [], "size": 2}, InvalidValue, ("records", "empty")),
        ({"records": {}, "size": 2}, InvalidValue, ("records", "empty")),
        ({"records": "ab", "size": 2}, InvalidKind, ("records", "'ab'", "list of records")),
        ({"records": 5, "size": 2}, InvalidKind, ("records", "5")),
        ({"records": st.nothing(), "size": 2}, InvalidValue, ("records", "strategy")),
        ({"records": [0, 1]}, InvalidValue, ("size", "number of records")),
        ({"records": [0, 1], "size": 0}, InvalidValue, ("size", "at least 1", "0")),
        ({"records": [0, 1], "size": -1}, InvalidValue, ("size", "-1")),
        ({"records": [0, 1], "size": (3, 2)}, InvalidValue, ("size", "(3, 2)")),
        ({"records": [0, 1], "size": "2"}, InvalidKind, ("size", "'2'", "whole number")),
        ({"records": [0, 1], "size": 1.5}, InvalidKind, ("size", "1.5")),
        ({"records": [0, 1], "size": True}, InvalidKind, ("size", "True")),
        (
            {"records": [0, 1], "size": 0, "relation": "add-or-remove-one"},
            InvalidValue,
            ("size", "at least 1"),
        ),
        ({"records": [0, 1], "size": 2, "relation": "local"}, InvalidValue, ("size", "at most 1", "2")),
        ({}, InvalidValue, ("pairs", "records", "size", "databases")),
        ({"size": 3}, InvalidValue, ("records",)),
    ],
)
def test_a_domain_without_databases_is_refused_in_one_line(domain, kind, words):
    said = refusal(kind, **domain)
    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    ("claim", "kind"),
    [("PureDP", InvalidKind), (1.0, InvalidKind), (PAC(0.1, 0.1), InvalidKind), (None, InvalidValue)],
)
def test_an_object_that_is_not_a_privacy_claim_is_refused(claim, kind):
    assert "PureDP(epsilon=1.0)" in refusal(kind, claim=claim, pairs=PAIR)


@pytest.mark.parametrize("epsilon", [-1, math.nan, math.inf, "1", None, True])
def test_an_invalid_epsilon_never_becomes_a_claim(epsilon):
    with pytest.raises(AuditError, match=r"epsilon.*finite number ≥ 0; got"):
        PureDP(epsilon)


@pytest.mark.parametrize("delta", [-1, 1, 2, math.nan, "1"])
def test_a_delta_outside_its_range_never_becomes_a_claim(delta):
    with pytest.raises(AuditError, match=r"delta.*\[0, 1\); got"):
        ApproximateDP(1.0, delta)


@pytest.mark.parametrize("mechanism", [5, None, "x", int, lambda: 0, lambda a, b, c: 0])
def test_a_mechanism_that_cannot_be_called_is_refused_with_what_to_write(mechanism):
    said = refusal(SubjectError, mechanism, pairs=PAIR)
    assert "audit" in said


def test_a_budget_that_can_never_refute_is_refused_with_the_least_that_could():
    least = least_budget(1.0, 0.0, 1e-6)
    said = refusal(InvalidValue, claim=PureDP(1.0), pairs=PAIR, budget=least - 1)
    assert f"at least {least}" in said
    leak = audit_privacy(lambda database, rng: database[0], PureDP(1.0), pairs=PAIR, budget=least + 20)
    assert leak.verdict is Verdict.REFUTED


def test_the_least_budget_lies_between_the_largest_stake_on_every_call_and_what_a_leak_takes():
    """If the subject leaks, a call pays 2 − h − δ on the p side and h − δ on the q side.

    Bets differ in the constant h. The largest stake is 0.985 of the possible loss. Its growth, at the
    best h, gives the fewest calls that can refute.
    """
    h = np.linspace(0.2, 1.8, 2_001)
    most = np.maximum(h + 0.1, 2 * math.e + 0.1 - h)
    payoff = (np.log1p(0.985 * (2 - h - 0.1) / most) + np.log1p(0.985 * (h - 0.1) / most)).max() / 2
    least = least_budget(1.0, 0.1, 1e-6)
    assert 2 * 16 + math.log(1e6) / payoff <= least
    leak = audit_privacy(lambda database, rng: database[0], ApproximateDP(1.0, 0.1), pairs=PAIR)
    assert least <= leak.samples_to_refutation <= least + 60


@pytest.mark.parametrize("claim", [PureDP(1e308), PureDP(700.0), ApproximateDP(700.0, 1 - 2**-53)])
def test_an_enormous_claim_is_refused_in_one_short_line(claim):
    assert "can never refute" in refusal(InvalidValue, claim=claim, pairs=PAIR)


def test_a_domain_without_neighbours_is_refused():
    assert "neighbours" in refusal(InvalidValue, records=[0], size=2)


def test_a_failing_conversion_is_refused_with_its_message():
    said = refusal(SubjectError, pairs=PAIR, convert=lambda database: 1 / 0)
    assert "ZeroDivisionError" in said


@pytest.mark.parametrize("value", [np.int64(500), np.uint8(200)])
def test_numpy_integers_are_whole_numbers_and_can_be_saved(value):
    result = audited(response, budget=value, seed=np.int64(3))
    assert AuditResult.from_json(result.to_json()).budget == int(value)
    assert stored(result) == stored(audited(response, budget=int(value), seed=3))


def test_an_audit_inside_given_is_refused():
    @settings(max_examples=1, database=None, derandomize=True)
    @given(st.integers())
    def inside(_):
        audited(response)

    with pytest.raises(InvalidValue, match="@given") as caught:
        inside()
    assert "databases=" in str(caught.value)
