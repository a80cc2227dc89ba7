"""Events are sets of outputs, with words, and are saved exactly.

An event gives the same result for one output as for a block.
"""

import json
import math
import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import InvalidValue
from audit.events.edges import point
from audit.events.event import AtomIn, Event, NumberIn, RegionIn
from audit.events.features.atoms import Keys, Kind, Whole
from audit.events.features.bits import FinestBit
from audit.events.features.numbers import (
    ArgMax,
    Coordinate,
    Difference,
    Entry,
    Length,
    PairSum,
    Sum,
    Value,
)
from audit.events.features.parts import PartIs
from audit.events.features.views import View
from audit.laws.region import Region
from audit.values.outcomes import Raised, Unfinished

INF, NAN = math.inf, math.nan
OUTPUTS = [
    *(0.0, -0.0, 1.5, 2, 10**400, -INF, INF, NAN, True, None, "a", "", b"a", 1j),
    *((), (1.0,), (1.0, 2.0), [1.0, 2.0], np.array([1.0, 2.0]), np.array(1.5), np.zeros((2, 2))),
    *({"a": 1.5}, {"a": "x", "b": 2}, {1, 2}, Raised("ValueError", "no"), Unfinished("time limit of 1 s")),
]


def above(low, feature=None):
    return NumberIn(feature or Value(), ((low, INF),))


EVENTS = [
    Event((above(1.5),)),
    Event((NumberIn(Value(), ((-INF, 0.0), (1.0, 2.0))),)),
    Event((NumberIn(Value(), (), unscored=True),)),
    Event((NumberIn(Value(), (point(1.5), point(INF)), unscored=True),)),
    Event((NumberIn(Entry((1, "a")), ((0.0, 1.0),)),)),
    Event((AtomIn(Whole(), (None, "a", (1.0, 2.0), {1, 2}, np.array([1.0, 2.0]), NAN)),)),
    Event((AtomIn(Whole(), (Raised("ValueError", "no"),)),)),
    Event((AtomIn(Whole(), ()),)),
    Event((AtomIn(Kind(), (Raised("ValueError", "other"), (1, 2))),)),
    Event((AtomIn(Keys(), ({"a": 0},)),)),
    Event((above(1.0, Coordinate(0)), above(2.5, Sum()), NumberIn(Length(), ((2.0, 3.0),)))),
    Event((RegionIn(Region(outcomes=("a", 2), intervals=((1.0, 1.75),))),)),
]


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_a_block_holds_the_members_of_its_outputs(event):
    members = event.members(OUTPUTS)
    assert members.dtype == bool
    assert members.tolist() == [event.contains(output) for output in OUTPUTS]
    assert event.members(View(OUTPUTS[::-1])).tolist() == members[::-1].tolist()
    halves = [*event.members(OUTPUTS[:7]), *event.members(OUTPUTS[7:])]
    assert halves == members.tolist()


@settings(deadline=None, derandomize=True, database=None, max_examples=200)
@given(st.lists(st.floats(), max_size=8), st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_arrays_and_lists_of_numbers_have_the_same_members(numbers, low, high):
    for event in (
        Event((NumberIn(Value(), ((low, high),)),)),
        Event((NumberIn(Value(), ((low, INF),), unscored=True),)),
    ):
        assert event.members(np.array(numbers)).tolist() == event.members(numbers).tolist()


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_an_event_survives_json(event):
    again = Event.from_json(json.loads(json.dumps(event.to_json(), allow_nan=False)))
    assert again == event
    assert hash(again) == hash(event)
    assert again.words() == event.words()
    assert again.members(OUTPUTS).tolist() == event.members(OUTPUTS).tolist()
    assert json.dumps(again.to_json()) == json.dumps(event.to_json())


def test_different_events_differ():
    assert len(set(EVENTS)) == len(EVENTS)


@pytest.mark.parametrize(
    ("condition", "inside", "outside"),
    [
        (above(1.5), [1.5, 2, INF, 10**400], [1.4999, NAN, "2", None, -INF]),
        (NumberIn(Value(), ((1.0, 2.0),)), [1.0, 1.999], [2.0, 0.999]),
        (NumberIn(Value(), (), unscored=True), [NAN, "a", None, (1,)], [0.0, INF]),
        (NumberIn(Value(), (point(0.0),)), [0.0, -0.0], [2e-9, -1e-300]),
        (NumberIn(Value(), (point(0.3),)), [0.3, 0.1 + 0.2], [0.3 + 1e-8, 0.3 - 1e-8]),
        (NumberIn(Value(), (point(1e17),)), [1e17], [1e17 + 32, 1e17 - 32]),
        (NumberIn(Value(), (point(np.float64(-sys.float_info.max)),)), [-1.7976931348623157e308], [-1.7e308]),
        (NumberIn(Value(), (point(INF),)), [INF], [1e308, NAN]),
        (NumberIn(Value(), (point(-INF),)), [-INF], [-1e308, NAN]),
        (AtomIn(Whole(), (1,)), [1, 1.0, np.int8(1)], [True, 2, "1"]),
        (AtomIn(Whole(), (NAN,)), [NAN, np.float32("nan")], [0.0]),
        (
            AtomIn(Kind(), (Raised("ValueError", "x"),)),
            [Raised("ValueError", "y")],
            [Raised("KeyError", "x"), 0],
        ),
    ],
)
def test_membership_is_what_the_condition_says(condition, inside, outside):
    event = Event((condition,))
    assert all(event.contains(output) for output in inside)
    assert not any(event.contains(output) for output in outside)


def test_all_conditions_must_hold():
    event = Event((above(0.0, Coordinate(0)), above(0.0, Coordinate(1))))
    assert event.contains((1.0, 1.0))
    assert not event.contains((1.0, -1.0))
    assert not event.contains((-1.0, 1.0))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (above(1.5), "the output is at least 1.5"),
        (NumberIn(Value(), ((-INF, 2.0),)), "the output is below 2"),
        (NumberIn(Value(), ((1.0, 2.0),)), "the output is at least 1 and below 2"),
        (NumberIn(Value(), (point(3.0),)), "the output equals 3"),
        (NumberIn(Value(), (point(3.0), point(4.0))), "the output is one of 3, 4"),
        (NumberIn(Value(), (), unscored=True), "the output is not a number (or is absent)"),
        (above(2.0, Coordinate(1)), "output[1] is at least 2"),
        (above(100000003.7), "the output is at least 100000003.7"),
        (
            NumberIn(Value(), ((0.123456789, 0.123456799),)),
            "the output is at least 0.123456789 and below 0.123456799",
        ),
        (NumberIn(Value(), ((1e12, 1e12 + 0.4),)), "the output is at least 1e+12 and below 1000000000000.4"),
        (NumberIn(Value(), (point(123456789012.0),)), "the output equals 123456789012"),
        (NumberIn(Value(), (point(1.0 / 3.0),)), "the output equals 0.33333333333"),
        (NumberIn(Value(), ((-INF, -1e308),)), "the output is below -1e+308"),
        (NumberIn(Value(), (point(-INF), point(INF))), "the output is one of -inf, inf"),
        (AtomIn(Whole(), ("a",)), "the output is 'a'"),
        (AtomIn(Kind(), (Raised("ValueError", "no rows"),)), "the call raises ValueError"),
        (
            AtomIn(Kind(), (Raised("A"), None, (1,))),
            "the output is None or the kind of the output is tuple or the call raises A",
        ),
        (AtomIn(Whole(), (Raised("ValueError", "no rows\nat all"),)), "the call raises ValueError: no rows"),
        (AtomIn(Whole(), (None,)), "the output is None"),
        (AtomIn(Keys(), ({},)), "no key is released"),
        (AtomIn(Keys(), ({"a": 1.0},)), "only the key 'a' is released"),
        (AtomIn(Keys(), ({"a": 1.0, "b": 2.0},)), "exactly the keys 'a', 'b' are released"),
        (AtomIn(PartIs((("item", "b"),)), ({"b": 3.0},)), "a number is released under the key 'b'"),
        (AtomIn(PartIs((("item", "b"),)), ({},)), "the key 'b' is not released"),
        (AtomIn(PartIs((("item", 1),)), ((1.0, None),)), "output[1] is None"),
        (NumberIn(Entry("b"), ((-INF, INF),)), "a number is released under the key 'b'"),
        (NumberIn(Entry("b"), (), unscored=True), "no number is released under the key 'b'"),
        (NumberIn(Difference(0, 1), ((-INF, INF),)), "output[0] and output[1] are both present"),
        (NumberIn(PairSum(0, 1), (), unscored=True), "output[0] or output[1] is missing"),
        (NumberIn(Length(), ((-INF, 0.5),)), "the output is empty"),
        (NumberIn(Length(), ((0.5, INF),)), "the output is not empty"),
        (NumberIn(Length(), ((2.5, INF),)), "the length of the output is at least 2.5"),
        (NumberIn(ArgMax(), (point(2.0),)), "output[2] is the largest entry"),
        (NumberIn(ArgMax(), ((1.5, 2.5),)), "output[2] is the largest entry"),
        (
            NumberIn(ArgMax(), ((1.5, INF),)),
            "the position of the largest entry of the output is at least 1.5",
        ),
        (NumberIn(FinestBit(), ((-INF, -53.5),)), "the output has bits below 2^−53"),
        (NumberIn(FinestBit(index=1), ((-2.5, INF),)), "output[1] has no bits below 2^−2"),
    ],
)
def test_an_event_describes_itself_in_words(condition, words):
    assert Event((condition,)).words() == words
    assert str(Event((condition, condition))) == f"{words} and {words}"


@pytest.mark.parametrize("location", [0.0, 1.0, 12345.678, 1e8, 123456789012.0, 1e16, -1e300])
@pytest.mark.parametrize("width", [2.0**-40, 1e-9, 1e-3, 0.4, 1.0, 1e5])
def test_the_words_of_an_interval_name_the_same_numbers(location, width):
    """The bounds in the words are off by at most a fiftieth of the interval's width."""
    low, high = location, max(location + width, math.nextafter(location, INF))
    if point(low)[1] >= high:
        return  # both bounds are one number under `numerics="ideal"`
    said = Event((NumberIn(Value(), ((low, high),)),)).words()
    ends = re.findall(r"-?\d[\d.e+-]*", said)
    if " equals " in said:
        assert low <= float(ends[0]) < high
    else:
        assert [float(end) for end in ends] == pytest.approx([low, high], rel=0.0, abs=(high - low) / 50)


@pytest.mark.parametrize("count", [0, 4])
def test_an_event_has_one_to_three_conditions(count):
    with pytest.raises(InvalidValue, match=f"one to three conditions; got {count}"):
        Event((above(0.0),) * count)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"all": []},
        {"all": [{}]},
        {"all": [{"number": {"feature": "Nothing"}, "intervals": [], "unscored": False}]},
        {"all": [{"number": {"feature": "Whole"}, "intervals": [], "unscored": False}]},
        {"all": [{"atom": {"feature": "Value"}, "examples": []}]},
        {"all": 7},
        {"all": [{"number": {"feature": "Value"}, "intervals": [[1]], "unscored": False}]},
        {"all": [{"number": {"feature": "Value"}, "intervals": [["x", "y"]], "unscored": False}]},
    ],
)
def test_an_invalid_event_is_refused_in_one_line(document):
    with pytest.raises(ValueError, match=r".") as refusal:
        Event.from_json(document)
    assert "\n" not in str(refusal.value)
