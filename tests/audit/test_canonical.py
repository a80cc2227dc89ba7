"""Which values count as the same value."""

import copy
import enum
import functools
import math
import os
import subprocess
import sys
from collections import Counter, OrderedDict, namedtuple
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.values.canonical import key, same
from audit.values.outcomes import Raised, Unfinished

fixed = settings(derandomize=True, deadline=None, database=None)

atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.sampled_from(
        [0.0, -0.0, 1.0, 2.0**53, 2**53, 2**53 + 1, -(2.0**53), math.nan, math.inf, 1e300, 10**300]
    ),
    st.text(max_size=2),
    st.binary(max_size=2),
)
hashables = st.recursive(
    atoms, lambda inner: st.one_of(st.tuples(inner), st.tuples(inner, inner)), max_leaves=4
)
values = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(hashables, inner, max_size=3),
        st.sets(hashables, max_size=3),
        st.frozensets(hashables, max_size=3),
    ),
    max_leaves=8,
)


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def agree(a, b):
    """Return whether two values are the same, by a definition that uses no keys."""
    if is_number(a) and is_number(b):
        return a == b or (a != a and b != b)  # both are NaN
    if isinstance(a, set | frozenset) and isinstance(b, set | frozenset):
        return matched(list(a), list(b))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return matched(list(a.items()), list(b.items()))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(agree, a, b))
    return a == b


def matched(left, right):
    """Return whether the entries of two sides can be paired as equal values."""
    right = list(right)
    for entry in left:
        place = next((index for index, other in enumerate(right) if agree(entry, other)), None)
        if place is None:
            return False
        del right[place]
    return not right


def disturbed(value):
    """Return the same value with other number types and in another order."""
    if isinstance(value, float) and not isinstance(value, np.floating):
        return int(value) if value.is_integer() else np.float64(value)
    if isinstance(value, list | tuple):
        return type(value)(map(disturbed, value))
    if isinstance(value, dict):
        return {disturbed(name): disturbed(content) for name, content in reversed(value.items())}
    if isinstance(value, set | frozenset):
        return type(value)(map(disturbed, reversed(list(value))))
    return value


@fixed
@given(values, values)
def test_sameness_follows_its_definition(a, b):
    assert same(a, b) == same(b, a) == agree(a, b)


@fixed
@given(values)
def test_every_value_is_the_same_as_its_copy_and_as_itself_in_another_form(value):
    assert key(value) == key(copy.deepcopy(value))
    assert key(value) == key(disturbed(value))
    assert hash(key(value)) == hash(key(disturbed(value)))


@fixed
@given(values, values)
def test_the_same_values_have_keys_that_read_the_same(a, b):
    # The text of a key sorts unordered values, so it must not depend on the type of a number.
    assert repr(key(a)) == repr(key(disturbed(a)))
    assert (repr(key(a)) == repr(key(b))) == same(a, b)


@fixed
@given(st.lists(values, min_size=3, max_size=6))
def test_sameness_is_an_equivalence(sample):
    for a in sample:
        assert same(a, a)
        for b in sample:
            assert same(a, b) == same(b, a)
            for c in sample:
                assert not (same(a, b) and same(b, c)) or same(a, c)


Point = namedtuple("Point", "x y")  # noqa: PYI024  the untyped kind is what people return


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1


@dataclass
class Model:
    weight: float
    name: str = "m"


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Opaque:
    """An object that refuses to be pickled and has no variables."""

    __slots__ = ()

    def __reduce_ex__(self, protocol):
        raise TypeError


def threshold(at):
    return lambda x: x > at


nested = [1, [2.0, {"a": {3}}]]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (math.nan, -math.nan),
        (0.0, -0.0),
        ([0.0, math.nan], [-0.0, float("nan")]),
        (np.float32(0.5), 0.5),
        (np.int8(3), 3),
        (np.uint64(2**63), 2**63),
        (np.bool_(1), True),
        (np.str_("a"), "a"),
        (np.bytes_(b"a"), b"a"),
        (np.longdouble(0.5), 0.5),
        (np.complex64(1j), 1j),
        (np.datetime64("2020-01-01"), date(2020, 1, 1)),
        (Fraction(1, 2), 0.5),
        (Decimal("0.5"), 0.5),
        (Level.LOW, 1),
        (Point(1, 2), (1.0, 2.0)),
        (OrderedDict(a=1, b=2), {"b": 2, "a": 1}),
        (Counter("aab"), {"a": 2, "b": 1}),
        ({1, 2, 10}, frozenset({10.0, 2.0, 1.0})),
        ({1: "a", "b": 2}, {"b": 2.0, 1.0: "a"}),
        (np.array([1, 2], dtype=np.int8), np.array([1, 2], dtype=np.int64)),
        (np.array([1.0, 2.0], dtype=">f4"), np.array([1.0, 2.0])),
        (np.array([0.0, math.nan]), np.array([-0.0, -math.nan])),
        (np.array([0.0 + 0j]), np.array([complex(-0.0, -0.0)])),
        (np.array(["a", "bb"]), np.array(["a", "bb"], dtype="<U9")),
        (np.arange(6).reshape(2, 3).T, np.array([[0, 3], [1, 4], [2, 5]])),
        (np.array([1, "a", None], dtype=object), np.array([1.0, "a", None], dtype=object)),
        (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 3], mask=[0, 1])),
        (Model(1), Model(1.0)),
        (Slotted(1), Slotted(1.0)),
        (SimpleNamespace(a=nested), SimpleNamespace(a=copy.deepcopy(nested))),
        (Opaque(), Opaque()),
        (object(), object()),
        (threshold(1), threshold(1.0)),
        (functools.partial(pow, 2), functools.partial(pow, 2.0)),
        (np.random.default_rng(3), np.random.default_rng(3)),
        (ValueError("a"), ValueError("a")),
        (Raised("ValueError", "a"), Raised("ValueError", "a")),
        (range(3), range(3)),
    ],
)
def test_these_are_the_same(a, b):
    assert same(a, b)
    assert hash(key(a)) == hash(key(b))
    assert repr(key(a)) == repr(key(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, True),
        (0, False),
        (0, None),
        (1, "1"),
        (0, ""),
        ("a", b"a"),
        (math.nan, None),
        (math.nan, "nan"),
        (0.1, np.float32(0.1)),
        (np.longdouble(1) / 3, 1 / 3),
        (2**53 + 1, 2.0**53),
        (10**400, 10**400 + 1),
        (10**5000, -(10**5000)),
        (Fraction(1, 3), 1 / 3),
        ([1], (1,)),
        ([], ()),
        ((), frozenset()),
        (set(), {}),
        ([1], [1, 1]),
        ([[1], 2], [[1, 2]]),
        (("bool", 1), True),
        (("number", "nan"), math.nan),
        ({"a": 1}, {"a": True}),
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ({1: 2}, {2: 1}),
        ({True}, {1}),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        (np.array([1, 2]), np.array([1, 2], dtype=np.uint8)),
        (np.array([1, 0]), np.array([True, False])),
        (np.array([1, 2]), np.array([[1, 2]])),
        (np.array([1, 2]), [1, 2]),
        (np.array(1), 1),
        (np.array([], dtype=float), np.zeros((0, 3))),
        (np.array([1.0]), np.array([np.nextafter(1, 2)])),
        (np.array(["2020"], dtype="M8[Y]"), np.array(["2020"], dtype="M8[D]")),
        (np.datetime64("NaT", "D"), None),
        (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[0, 0])),
        (Model(1), Model(2)),
        (Model(1), SimpleNamespace(weight=1, name="m")),
        (Slotted(1), Slotted(2)),
        (SimpleNamespace(a=1), SimpleNamespace(b=1)),
        (Colour.RED, Colour.BLUE),
        (Colour.RED, 1),
        (threshold(1), threshold(2)),
        (functools.partial(pow, 2), functools.partial(pow, 3)),
        (Point(1, 2)._replace, Point(1, 3)._replace),
        (np.random.default_rng(3), np.random.default_rng(4)),
        (ValueError("a"), ValueError("b")),
        (ValueError("a"), TypeError("a")),
        (Raised("ValueError", "a"), ValueError("a")),
        (Raised("ValueError", "a"), Raised("ValueError", "b")),
        (Raised("a"), Unfinished("a")),
        (int, float),
        (Opaque(), object()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_these_are_not_the_same(a, b):
    assert not same(a, b)


def test_a_long_double_that_is_no_double_keeps_its_digits_inside_an_array():
    third = np.longdouble(1) / 3
    assert not same(np.array([third]), np.array([1 / 3]))
    assert same(np.array([third]), np.array([third]))
    assert same(np.array([0.5], dtype=np.longdouble), np.array([0.5]))


def loop(*front):
    made = [*front]
    made.append(made)
    return made


def test_values_that_contain_themselves_have_keys():
    assert same(loop(1), loop(1.0))
    assert not same(loop(1), loop(2))
    assert not same(loop(1), [1, [1]])
    owner = SimpleNamespace()
    owner.me = {"self": owner}
    assert same(owner, owner)
    assert key(owner) == key(copy.deepcopy(owner))


def test_values_that_contain_themselves_twice_still_differ(monkeypatch):
    monkeypatch.setattr("audit.values.canonical._NODES", 1000)
    first, second = loop(1), loop(2)
    first.append(first)
    second.append(second)
    assert key(first) != key(second)


def test_an_entry_that_occurs_twice_is_not_taken_for_a_loop():
    shared = [1]
    assert same([shared, shared], [[1], [1]])


def deep(levels, core):
    return functools.reduce(lambda inner, _: [inner], range(levels), core)


def test_what_is_nested_a_hundred_thousand_times_has_a_key():
    assert same(deep(50, 1), deep(50, 1.0))
    assert not same(deep(50, 1), deep(50, 2))
    value = deep(100_000, 1)
    assert hash(key(value)) == hash(key(value))


def test_a_value_that_doubles_at_every_level_has_a_key_in_bounded_time(monkeypatch):
    monkeypatch.setattr("audit.values.canonical._NODES", 1000)
    doubled = functools.reduce(lambda inner, _: [inner, inner], range(90), 1)
    assert key(doubled) == ("large", "builtins.list")


def test_an_object_that_raises_at_everything_has_a_key():
    class Hostile:
        def __getattribute__(self, name):
            raise RuntimeError(name)

        def __repr__(self):
            raise RuntimeError

    assert hash(key([Hostile()])) == hash(key([Hostile()]))
    assert not same(Hostile(), 1)


def test_the_mutable_value_behind_a_key_may_change_without_the_key_changing():
    value = np.zeros(3)
    before = key(value)
    value[0] = 1
    assert before == key(np.zeros(3))
    assert before != key(value)


def test_keys_are_the_same_text_in_every_process():
    script = """if True:
        import types
        from audit.values.canonical import key
        words = {'alpha', 'beta', 'gamma', 'delta', ('x', 1), frozenset({'a', 'b', 'c'})}
        print(repr(key([words, {word: 1 for word in words}, types.SimpleNamespace(a=words), object()])))
    """
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
