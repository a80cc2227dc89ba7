"""A saved value is read back equal, with its type and bits, or as text.

Reading runs no code.
"""

import dataclasses
import datetime as dt
import enum
import json
import math
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.claims import PAC, ApproximateDP, PureDP
from audit.codec.decoding import decode
from audit.codec.encoding import encode
from audit.codec.stored import ForeignClaim, Opaque, dumps, is_replayable
from audit.errors import AuditError, CorruptFile
from audit.events.event import AtomIn, Event
from audit.events.features.atoms import Whole
from audit.values.canonical import same, show
from audit.values.outcomes import Raised, Unfinished

Point = namedtuple("Point", "x y")  # noqa: PYI024 - the plain kind is what users have


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass(frozen=True)
class Record:
    age: int
    tags: tuple = ()

    def __post_init__(self):
        if self.age < 0:
            raise ValueError("negative")


@dataclasses.dataclass(frozen=True)
class Concentrated:
    """A claim whose class belongs to another package."""

    rho: float

    epsilon = 2.0
    delta = 1e-5

    def profile(self, epsilon):
        return self.delta

    def group(self, k):
        return Concentrated(self.rho * k * k)

    def to_json(self):
        return {}


def through_text(value):
    return decode(json.loads(dumps(encode(value))))


class Twin:  # noqa: PLW1641 - compared only
    """A value that equals only values of the same type.

    Floats inside equal values have the same bits.
    """

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        a, b = self.value, other.value
        return type(a) is type(b) and repr(a) == repr(b)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
hashables = st.recursive(
    scalars | st.complex_numbers() | st.fractions(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
values = st.recursive(
    hashables,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(hashables, inner, max_size=3),
    max_leaves=12,
)


@given(values)
def test_written_values_are_read_back_equal(value):
    again = through_text(value)
    assert type(again) is type(value)
    assert same(again, value)


@given(st.floats())
def test_floats_keep_every_bit(value):
    again = through_text(value)
    assert Twin(again) == Twin(value)


@given(st.text(st.characters()))  # surrogates included
def test_any_text_survives(text):
    assert through_text(text) == text
    assert dumps(encode(text)).isascii()


@pytest.mark.parametrize(
    "value",
    [
        (1, [2, (3,)], {"a": (4,)}),
        {"$": "tuple", "items": [1]},  # a database may look like a tag of our file format
        {1: "a", "1": "b", (2, 3): None},
        {True: 1, 2.5: "x"},
        bytearray(b"\x00\xff"),
        range(0, 10, 3),
        Decimal("0.10"),
        Fraction(1, 3),
        complex(-0.0, 1),
        10**40,
        10**5000,  # more decimal digits than Python writes
        -(10**5000),
        dt.date(2020, 2, 29),
        dt.datetime(2020, 2, 29, 1, 2, 3, 4, tzinfo=dt.UTC),
        dt.timedelta(days=-1, microseconds=1),
        np.str_("yes"),
        np.bytes_(b"\x00a"),
        -0.0,
        PureDP(1.0),
        ApproximateDP(1.0, 1e-6),
        PAC(0.1, 0.05),
        Raised("ValueError", "no <records>"),
        Unfinished("time limit"),
        Point(1, (2,)),
        Colour.RED,
        Record(3, ("a",)),
        np.float32(0.1),
        np.int8(-3),
        np.bool_(1),
        np.float64("nan"),
    ],
    ids=show,
)
def test_values_keep_their_type(value):
    again = through_text(value)
    assert again == value if isinstance(value, int) else Twin(again) == Twin(value)
    assert is_replayable(encode(value))


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3)),
        np.array([[1.5, math.nan], [-0.0, math.inf]]),
        np.arange(6, dtype=np.uint8).reshape(2, 3),
        np.array(["a", "bc"]),
        np.array([1 + 2j]),
        np.array([(1, 2), None, "x"], dtype=object),
        np.array(3.0),
        np.array([True, False]),
        np.asfortranarray([[1, 2], [3, 4]]),
    ],
    ids=str,
)
def test_arrays_keep_shape_kind_and_values(array):
    again = through_text(array)
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert list(map(repr, again.ravel().tolist())) == list(map(repr, array.ravel().tolist()))


def test_bytes_do_not_depend_on_the_order_of_a_set():
    names = [f"name{i}" for i in range(50)]
    grown = set()
    for name in reversed(names):
        grown.add(name)
    assert dumps(encode(set(names))) == dumps(encode(grown))
    assert dumps(encode(frozenset(names))).index("name10") < dumps(encode(frozenset(names))).index("name9")


class Foreign:
    def __repr__(self):
        return "<Foreign object at 0x7f00aa11>"


class Broken:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Foreign(), "<Foreign object>"),
        (Broken(), "<Broken whose repr raises RuntimeError>"),
        (len, "<built-in function len>"),
    ],
)
def test_a_value_without_a_saved_form_becomes_text_and_is_not_replayable(value, text):
    stored = encode([value])
    assert decode(stored) == [Opaque(text)]
    assert not is_replayable(stored)
    assert encode(decode(stored)) == stored


def test_a_cycle_and_a_deep_nest_become_text():
    cycle = [1]
    cycle.append(cycle)
    assert decode(encode(cycle)) == [1, Opaque("<nested list>")]
    deep = []
    for _ in range(10_000):
        deep = [deep]
    assert not is_replayable(encode(deep))


def test_the_same_value_twice_is_no_cycle():
    record = [1, 2]
    assert decode(encode([record, record])) == [[1, 2], [1, 2]]


def test_a_class_that_is_not_loaded_stays_text_and_is_written_back_unchanged():
    stored = encode(Record(3))
    stored["type"] = "nowhere:Record"
    again = decode(stored)
    assert isinstance(again, Opaque)
    assert "age=3" in str(again)
    assert encode(again) == stored


def test_reading_a_file_does_not_import_or_call_anything(tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    trap = {"$": "dataclass", "type": "trap:Trap", "text": "Trap()", "fields": {}}
    assert decode(trap) == Opaque("Trap()")
    negative = encode(Record(3))
    negative["fields"]["age"] = -1  # its constructor would raise, but it is not called
    assert decode(negative).age == -1


def test_a_foreign_claim_keeps_its_numbers_without_its_code():
    stored = encode(Concentrated(0.5))
    assert decode(stored) == Concentrated(0.5)
    stored["value"]["type"] = "nowhere:Concentrated"
    again = decode(stored)
    assert isinstance(again, ForeignClaim)
    assert (again.epsilon, again.delta) == (2.0, 1e-5)
    assert encode(again) == stored


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ({"$": "pickle", "data": "gASV"}, 'value has the unknown tag "pickle".'),
        ({"$": ["x"]}, "unknown tag"),
        ([1, {"$": "float", "value": "1.5"}], 'value[1] must be nan, inf or -inf; got "1.5".'),
        ({"a": {"$": "tuple"}}, "value.a is not a valid \"tuple\": the key 'items' is missing."),
        ({"$": "tuple", "items": 3}, "value.items must be a list; got int."),
        ({"$": "ndarray", "dtype": "<f8", "shape": [2], "items": [1, 2, 3]}, 'not a valid "ndarray"'),
        ({"$": "ndarray", "dtype": "V8", "shape": [0], "items": []}, "unsupported dtype"),
        ({"$": "claim", "claim": "PureDP", "epsilon": -1}, "must be a finite number ≥ 0"),
        ({"$": "set", "items": [[1]]}, 'not a valid "set"'),
        ({"$": "fraction", "value": "1/0"}, 'not a valid "fraction"'),
        ({"$": "decimal", "value": "x"}, "not a decimal number"),
        ({"$": "Raised", "kind": "E", "other": 1}, 'not a valid "Raised"'),
    ],
)
def test_a_damaged_value_is_named_in_one_line(stored, message):
    with pytest.raises(CorruptFile) as caught:
        decode(stored)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, AuditError)


def test_an_event_has_the_same_words_after_saving():
    example = [len]  # this value is saved as text only
    event = Event((AtomIn(Whole(), (example,)),))
    again = through_text(event)
    assert again.words() == event.words() == "the output is [<built-in function len>]"
    assert encode(again) == encode(event)


@pytest.mark.parametrize(
    "text", ["\ud83d\ude00", "a\ud83d\ude00b", {"\ud83d\ude00": 1}, ["\ud83d", "\ude00"]]
)
def test_two_surrogates_do_not_come_back_as_one_character(text):
    """JSON reads two escaped surrogates in a row as one character beyond U+FFFF."""
    again = decode(json.loads(dumps(encode(text))))
    assert again == text
    assert decode(json.loads(dumps(encode("\U0001f600")))) == "\U0001f600"
