"""If one entry of an output leaks, the leak is located."""

import collections
import dataclasses
import functools
import json
import types
from fractions import Fraction

import numpy as np
import pytest

from audit import AuditResult, PureDP, Verdict, audit_privacy
from audit.errors import SubjectError
from audit.events.features.base import feature_from_json
from audit.events.features.parts import MOST_DEPTH, MOST_LEAVES, Part, PartIs, holds_more, leaves
from audit.events.features.propose import propose
from audit.events.features.views import View
from audit.values.canonical import key, same
from audit.values.outcomes import Raised, Unfinished

NAN = float("nan")


@dataclasses.dataclass(frozen=True)
class Model:
    weights: object
    label: str = "linear"


class Plain:
    def __init__(self, a, b):
        self.a, self.b = a, b


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class ArrayLike:
    """An object that numpy can read, like a data frame or a tensor."""

    def __init__(self, rows):
        self.rows = rows

    def __array__(self, dtype=None, copy=None):
        return np.array(self.rows, dtype=dtype)


class Hostile:
    def __getattribute__(self, name):
        raise RuntimeError("no")


def threshold(at):
    return lambda x: x > at


def at(*steps):
    """Return a path in which text steps are attributes and all other steps are items."""
    return tuple(("attribute" if isinstance(step, str) else "item", step) for step in steps)


@pytest.mark.parametrize(
    ("output", "path", "value", "words"),
    [
        ((np.array([1.0, 2.5]), 3.0), at(0, 1), 2.5, "output[0][1]"),
        ([[1, 2], [3, 4]], at(1, 0), 3.0, "output[1][0]"),
        ({"a": {"b": 0.5}}, (("item", "a"), ("item", "b")), 0.5, "output['a']['b']"),
        ({(1, "x"): [2]}, (("item", (1, "x")), ("item", 0)), 2.0, "output[(1, 'x')][0]"),
        ([np.array([[1, 2], [3, 4]])], at(0, (1, 1)), 4.0, "output[0][1, 1]"),
        (Model(np.array([7.0])), at("weights", 0), 7.0, "output.weights[0]"),
        (Plain(1, Fraction(1, 4)), at("b"), 0.25, "output.b"),
        (Slotted(2), at("a"), 2.0, "output.a"),
        (types.SimpleNamespace(x=1.5), at("x"), 1.5, "output.x"),
        (1 + 2j, at("imag"), 2.0, "output.imag"),
        (np.complex128(1 + 2j), at("real"), 1.0, "output.real"),
        (np.array([1 + 2j]), at(0, "imag"), 2.0, "output[0].imag"),
        (np.array((1, 2.5), dtype=[("a", "i4"), ("b", "f8")])[()], (("item", "b"),), 2.5, "output['b']"),
        ({3.0, 1.0}, (("sorted", 0),), 1.0, "sorted(output)[0]"),
        (collections.deque([4]), at(0), 4.0, "output[0]"),
        (functools.partial(max, 5), at("args", 0), 5.0, "output.args[0]"),
        (threshold(0.5), (("variable", "at"),), 0.5, "(output's variable at)"),
        (ArrayLike([[1, 2]]), (("array", None), ("item", (0, 1))), 2.0, "asarray(output)[0, 1]"),
        (b"\x07a", at(0), 7.0, "output[0]"),
        ("n=-2.5e1, 3", (("number", 0),), -25.0, "number 1 in output"),
        (["x 1", "y 7"], (("item", 1), ("number", 0)), 7.0, "number 1 in output[1]"),
        (Raised("E", "got 3"), (("attribute", "message"), ("number", 0)), 3.0, "number 1 in output.message"),
    ],
)
def test_a_part_is_found_and_its_words_say_where_it_is(output, path, value, words):
    assert path in leaves(output)
    assert Part(path).of(output) == value
    assert Part(path).words == words
    again = feature_from_json(json.loads(json.dumps(Part(path).to_json(), allow_nan=False)))
    assert again == Part(path)
    assert again.of(output) == value


@pytest.mark.parametrize(
    "output",
    [1.5, "text", None, Raised("E"), Unfinished("time limit"), (), [], {}, int, np, NAN],
    ids=lambda output: type(output).__name__,
)
def test_a_leaf_has_no_parts(output):
    assert leaves(output) == {}
    assert same(Part(at(0)).of(output), NAN)
    assert same(Part(at("kind")).of(output), NAN)


def test_an_object_that_refuses_everything_is_a_leaf():
    assert leaves(Hostile()) == {}
    assert leaves([Hostile()]).keys() == {at(0)}
    assert PartIs(at(0)).of([Hostile()])


def test_reading_parts_changes_no_output_and_terminates():
    counts = collections.defaultdict(float, {"a": 1.0})
    assert same(Part((("item", "b"),)).of(counts), NAN)
    assert dict(counts) == {"a": 1.0}
    cyclic = [1.0]
    cyclic.append(cyclic)
    assert 0 < len(leaves(cyclic)) < MOST_LEAVES
    assert len(leaves([list(range(1000))] * 1000)) == MOST_LEAVES
    assert len(leaves(range(10**12))) <= MOST_LEAVES


@pytest.mark.parametrize("value", [ValueError(2), Plain(1, 2), Slotted(1), Model(1), threshold(1), object()])
def test_reading_the_parts_of_an_object_leaves_it_unchanged(value):
    before = key(value)
    leaves([value])
    assert key(value) == before


def test_a_part_that_is_not_a_number_is_known_by_its_key():
    first = PartIs(at(0))
    assert first.of(("yes", 1)) == first.of(["yes", 2]) != first.of(("no", 1))
    assert first.of((1.5, 0)) == first.of((2, 0)) != first.of((NAN, 0))
    assert [first.show(output) for output in (("yes",), (1.5,), ())] == ["'yes'", "a number", "absent"]


def test_parts_are_proposed_if_outputs_are_structured_and_do_not_recur():
    rng = np.random.default_rng(0)
    flat = [[View([tuple(row) for row in rng.normal(size=(50, 3))])] for _ in "ab"]
    recurring = [[View([Model((k % 3,)) for k in range(50)])] for _ in "ab"]
    inside = [[View([Model((x, k)) for x in rng.normal(size=50)])] for k in (0, 1)]
    kinds = [[type(f) for f in propose(*sides, floats=False)] for sides in (flat, recurring, inside)]
    assert [Part in each for each in kinds] == [False, False, True]


def noise(rng):
    return float(rng.laplace())


LEAKS = {
    "coefficients and intercept": lambda s, rng: (np.array([noise(rng), s + noise(rng) / 10]), noise(rng)),
    "text beside noise": lambda s, rng: {"winner": "ab"[s > 1], "noise": noise(rng)},
    "text and noise": lambda s, rng: ("ab"[s > 1], noise(rng)),
    "dataclass": lambda s, rng: Model((noise(rng), s + noise(rng) / 10)),
    "object": lambda s, rng: Plain(noise(rng), s + noise(rng) / 10),
    "complex": lambda s, rng: complex(noise(rng), s + noise(rng) / 10),
    "a refusal most of the time": lambda s, rng: [[s + noise(rng) / 10]] if rng.random() < 0.4 else None,
    "a text with a number": lambda s, rng: f'{{"label": "{"ab"[s > 1]}", "noise": {rng.random()}}}',
    "one weight of many": lambda s, rng: {"w": rng.laplace(size=300) + 9 * s * (np.arange(300) == 277)},
    "an error beside noise": lambda s, rng: {"error": ValueError(s), "noise": noise(rng)},
    "two entries that share their noise": lambda s, rng: {"a": (x := noise(rng)), "b": x + s},
    "a little in each of many": lambda s, rng: {"w": rng.laplace(size=30) + 0.6 * s},
    "many keys": lambda s, rng: {k: noise(rng) + s * 10 * (k == 77) for k in range(100)},
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_in_one_part_is_refuted_and_its_witness_survives_a_file(name):
    def release(database, rng):
        return LEAKS[name](sum(database), rng)

    result = audit_privacy(release, PureDP(epsilon=1.0), records=[0, 1], size=3, budget=6_000)
    assert result.verdict is Verdict.REFUTED
    saved = json.loads(json.dumps(result.to_json()))
    assert AuditResult.from_json(saved).to_json() == saved
    assert str(AuditResult.from_json(saved)) == str(result)
    assert result.witness.replayable
    assert result.replay().verdict is Verdict.REFUTED


@pytest.mark.parametrize("spent", [lambda x: iter([x]), lambda x: (y for y in [x]), lambda x: map(abs, [x])])
def test_an_output_that_gives_its_content_once_is_refused(spent):
    with pytest.raises(SubjectError, match=r"whose contents an audit cannot read.*list\(f\("):
        audit_privacy(
            lambda database, rng: spent(sum(database) + rng.laplace()),
            PureDP(epsilon=1.0),
            records=[0, 1],
            size=2,
            budget=1_000,
        )


def nested(depth):
    """Return a number inside this many lists."""
    return [nested(depth - 1)] if depth else 0.5


@pytest.mark.parametrize(
    ("output", "more"),
    [
        (["a"] * 512, False),
        (["a"] * 513, True),
        ({"rows": [["a"] * 200] * 2}, False),
        ({"rows": [["a"] * 200] * 3}, True),
        ({"empty": [[]] * 3, "flat": "a"}, False),
        (nested(MOST_DEPTH), False),
        (nested(MOST_DEPTH + 1), True),
        (0.5, False),
        (list(range(10_000)), True),
    ],
)
def test_an_output_holds_more_than_is_opened_beyond_512_parts_and_16_steps(output, more):
    assert holds_more(output) is more


@pytest.mark.parametrize(("count", "said"), [(8, False), (600, True)])
def test_unread_parts_are_reported_only_if_an_output_had_any(count, said):
    def wide(database, rng):
        return {"mean": rng.laplace(), "names": ["a"] * count}

    result = audit_privacy(wide, PureDP(1.0), pairs=[([0], [1])], budget=300)
    assert result.verdict is Verdict.NOT_REFUTED
    words = "parts of an output beyond the first 512, or more than 16 levels deep"
    assert (words in result.not_tested) is said


def test_long_flat_numbers_have_no_unread_parts():
    result = audit_privacy(
        lambda database, rng: rng.laplace(size=600).tolist(), PureDP(1.0), pairs=[([0], [1])], budget=300
    )
    assert not any("parts of an output" in untested for untested in result.not_tested)
