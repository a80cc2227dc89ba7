"""Features are total functions of one output.

A feature that depends on the block of outputs (its width, its dtype, its order) would give away the
database. The file is long because every feature is tested on the same outputs.
"""

import dataclasses
import gc
import inspect
import json
import math
import warnings
import weakref
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from audit.events.features.atoms import Keys, Kind, Type, Whole
from audit.events.features.base import _REGISTRY, AtomFeature, NumberFeature, feature_from_json
from audit.events.features.bits import FinestBit, HighestBit, LastBits, PatternEnd, ZeroSign
from audit.events.features.numbers import (
    ArgMax,
    Coordinate,
    Count,
    Difference,
    Entry,
    First,
    Largest,
    Last,
    Length,
    Missing,
    Norm,
    PairSum,
    Smallest,
    Spread,
    Sum,
    Value,
)
from audit.events.features.parts import Part, PartIs, PartsDifference, PartsScore, PartsSum
from audit.events.features.propose import propose
from audit.events.features.scores import AdditiveScore, TableScore
from audit.events.features.views import _MANY, View
from audit.sampling.loops import joined
from audit.values.outcomes import Raised, Unfinished

INF, NAN = math.inf, math.nan
SCORE = TableScore(((0.0, 1.0), (0.5,)), ((1.0, 2.0, 3.0, -1.0), (0.25, 0.5, 0.0)))
BOTH = AdditiveScore(((0.0, 1.0), (0.5,), (0.0,)), ((1.0, 2.0, 3.0, -1.0), (0.25, 0.5, 0.0), (0.0, 1.0, 0.5)))
ALL = [
    BOTH,
    *(Value(), Length(), Sum(), Largest(), Smallest(), Spread(), Norm(), ArgMax(), SCORE),
    *(Coordinate(0), Coordinate(2), Difference(first=0, second=1), Entry("a"), Entry(0), Entry((1, "b"))),
    *(Count(0.0), First(1.0), Last(1.0), Count(INF)),
    *(Part((("item", 0),)), Part((("item", "a"), ("item", 0))), Part((("attribute", "real"),))),
    *(PartIs((("item", 0),)), PartIs((("item", "a"),))),
    PartsDifference((("item", 0),), (("item", 1),)),
    PartsSum(((("item", 0),), (("item", "a"),))),
    PartsScore(SCORE.edges, SCORE.scores, ((("item", 0),), (("item", "a"),))),
    *(FinestBit(), HighestBit(), FinestBit(1), HighestBit(0), Whole(), Keys(), Kind()),
    *(ZeroSign(), PatternEnd(), ZeroSign(path=(("item", "a"),)), PatternEnd(1), Missing()),
    *(LastBits(), LastBits(0), LastBits(path=(("item", 1),)), PairSum(first=0, second=1)),
    *(Type(), Type((("item", 0),)), PartIs((("letter", -1),)), Part((("ticks", None),))),
    Part((("item", 0), ("ticks", None))),
]


class Broken:
    """An object that raises on every access."""

    def __len__(self):
        raise RuntimeError("no length")

    def __float__(self):
        raise RuntimeError("no number")

    def __eq__(self, other):
        raise RuntimeError("no equality")

    __hash__ = None


class Rude(float):
    """A number whose conversion to a float raises."""

    def __float__(self):
        raise RuntimeError("no")


@dataclasses.dataclass(frozen=True)
class Predictor:
    threshold: float


class LoudFraction(Fraction):
    def __float__(self):
        raise ZeroDivisionError("no")


numbers = st.one_of(
    st.floats(),
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.booleans(),
    st.fractions(),
    st.complex_numbers(),
    st.sampled_from([np.float64(0.1), np.float32(0.1), np.int64(2**62 + 1), np.uint8(200), np.bool_(1)]),
    st.sampled_from([np.complex128(1 + 2j), np.datetime64("2020-01-01"), np.timedelta64("NaT", "s")]),
)
dtypes = st.sampled_from(["f8", "f4", "i8", "u1", "?", "c16", "U3", "S2", "M8[s]", "m8[s]", ">f8", "f2"])
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
objects = st.sampled_from(
    [
        *(
            Raised("ValueError", "no"),
            Raised("KeyError"),
            Unfinished("time limit of 1 s"),
            None,
            ...,
            object(),
        ),
        *(Broken(), Predictor(0.5), Predictor(1.5), LoudFraction(1, 2), range(3), len, int),
        *(np.ma.masked_array([1.0, 2.0], [0, 1]), np.array([1, "a", None], dtype=object), np.array(None)),
    ]
)
leaves = st.one_of(numbers, st.text(max_size=3), st.binary(max_size=3), arrays, objects)
keys = st.one_of(st.text(max_size=1), st.integers(0, 2), st.just((1, "b")), st.just(np.int64(0)))
outputs = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.lists(st.tuples(st.sampled_from(["a", "b", 0]), inner), max_size=3),
        st.dictionaries(keys, inner, max_size=3),
        st.sets(st.integers(0, 3)),
        st.frozensets(st.text(max_size=1)),
    ),
    max_leaves=5,
)
# separate code reads blocks whose entries have one kind
entries = st.one_of(st.floats(), st.integers(-(10**20), 10**20), st.booleans())
blocks = st.one_of(
    st.lists(outputs, max_size=6),
    st.lists(st.one_of(st.floats(), st.integers()), max_size=8),
    st.lists(st.integers(-(10**400), 10**400), max_size=4),
    st.integers(0, 3).flatmap(lambda n: st.lists(st.tuples(*[entries] * n), max_size=6)),
    st.lists(st.lists(entries, max_size=3).map(tuple), max_size=6),
    st.lists(hnp.arrays("f8", st.integers(0, 3)), max_size=6),
    st.lists(hnp.arrays("f8", 2), max_size=6),
    st.lists(st.dictionaries(st.text(max_size=1), leaves, max_size=3), max_size=6),
    st.lists(st.dictionaries(keys, st.floats(), max_size=3), max_size=6),
)
quick = settings(deadline=None, derandomize=True, database=None, max_examples=150)
few = settings(quick, max_examples=100)


def same(a, b):
    """Return whether two numbers or atoms are the same.

    NaN equals NaN, and 0.0 equals −0.0.
    """
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return a == b


def values(feature, block):
    return list(feature.column(View(block)))


def differences(feature, block):
    """Return the places where a feature of a block differs from that of single outputs."""
    column = values(feature, block)
    assert len(column) == len(block)
    alone = [feature.of(output) for output in block]
    return [i for i, (a, b) in enumerate(zip(column, alone, strict=True)) if not same(a, b)]


@quick
@given(blocks)
def test_a_column_holds_each_outputs_own_value(block):
    """Permuting, splitting and merging blocks change no value."""
    for feature in ALL:
        assert differences(feature, block) == [], feature


@few
@given(
    st.lists(outputs, min_size=1, max_size=6)
    | st.lists(st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, np.int64(1), np.float64(1), b"1"]), min_size=1)
)
def test_equal_outputs_are_read_once_and_different_ones_are_told_apart(block):
    """A view of equal outputs in groups agrees with a view that never groups.

    The second view reads them from an object array of numpy.
    """
    view = View(block * _MANY)
    array = np.empty(len(view), dtype=object)
    array[:] = [*view.outputs]
    plain = View(array, replaced=True)
    assert plain.grouped is None
    assert all(map(_shows_alike, view.outputs, block * _MANY))
    for feature in ALL:
        assert all(map(same, feature.values(view), feature.column(plain))), feature
    for (where, found), (wanted, listed) in [
        (view.numbers, plain.numbers),
        *((view.vectors[size], plain.vectors[size]) for size in view.vectors.keys() | plain.vectors.keys()),
    ]:
        np.testing.assert_array_equal(np.arange(len(view))[where], np.arange(len(view))[wanted])
        np.testing.assert_array_equal(found, listed)
    assert [i for i, _ in view.rest] == [i for i, _ in plain.rest]


def _shows_alike(output, other):
    return output is other or repr(output) == repr(other)


def test_only_plain_outputs_are_grouped():
    """Numbers of numpy and instances of classes are not grouped.

    A number of numpy has the bytes of a plain bytes object. A class may change what it shows.
    """
    assert View([(1, "a"), (2.0, None)] * _MANY).grouped is not None
    for odd in (np.int64(1), b"1", Predictor(0.5), np.array([1.0, 2.0]), {1: 2}, "long" * 300, [0] * 300):
        assert View([(1, odd), (2, odd)] * _MANY).grouped is None
        assert View([(1, 2)] * 4 * _MANY + [(1, odd)]).grouped is None
    assert View([(i, 1) for i in range(4 * _MANY)]).grouped is None
    assert View([1, 2] * _MANY).grouped is None


def test_outputs_that_hold_themselves_or_are_nested_deeply_are_viewed_at_once():
    """`marshal` would visit 2^2000 paths through such outputs, and recursion would fail."""
    twice, deep = [], ()
    twice += [twice, twice]
    for _ in range(900):
        deep = (deep,)
    for odd in (twice, deep):
        assert View([odd] * _MANY).grouped is None
        assert View([(1, 2)] * 4 * _MANY + [odd]).grouped is None


def test_a_view_is_freed_as_soon_as_nobody_uses_it():
    """No view refers to itself, so its arrays do not wait for the garbage collector."""
    gc.disable()
    try:
        for outputs in (np.ones((10, 10)), [(1, 2)] * 2 * _MANY):
            view = View(outputs)
            gone = weakref.ref(view)
            del view
            assert gone() is None
    finally:
        gc.enable()


@few
@given(
    st.one_of(
        hnp.arrays(dtypes, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)),
        hnp.arrays(st.sampled_from(["f8", "i8", "?"]), hnp.array_shapes(min_dims=2, max_dims=3, max_side=4)),
    )
)
def test_an_array_of_outputs_is_the_list_of_its_rows_in_any_memory_layout(array):
    rows = list(array)
    for feature in ALL:
        alone = [feature.of(row) for row in rows]
        for block in (array, rows, np.asfortranarray(array)):
            column = values(feature, block)
            assert len(column) == len(alone)
            assert all(map(same, column, alone)), feature
        assert all(map(same, values(feature, array[::2]), alone[::2])), feature


@few
@given(st.lists(st.lists(st.floats(), min_size=2, max_size=3).map(tuple), min_size=1, max_size=6))
def test_tuples_and_arrays_of_the_same_numbers_have_the_same_numbers(block):
    for feature in ALL:
        if isinstance(feature, NumberFeature):
            arrays = [np.array(output) for output in block]
            assert all(map(same, values(feature, block), values(feature, arrays))), feature


@pytest.mark.parametrize("feature", ALL, ids=repr)
def test_an_empty_block_has_an_empty_column(feature):
    for block in ([], np.empty(0), np.empty((0, 3)), np.empty((0, 2), dtype=bool), np.empty(0, dtype="U1")):
        assert len(feature.column(View(block))) == 0


@pytest.mark.parametrize("words", [("a", "b"), ("a", "much longer"), (b"a", b"longer")])
def test_the_width_of_text_arrays_changes_no_value(words):
    """A sampler's text arrays are as wide as their longest entry.

    Blocks of mixed widths become lists.
    """
    mixed = joined([np.array([words[0]] * 2), np.array([words[0], words[1]])])
    plain = joined([np.array([words[0]] * 2)] * 2)
    for feature in ALL:
        column = [*values(feature, mixed)[:3], feature.of(words[0])]
        assert all(map(same, column, values(feature, plain))), feature
        assert same(column[0], feature.of(words[0])), feature


def test_padding_to_the_widest_output_of_the_block_would_be_seen():
    class PaddedLength(Length):
        def column(self, view):
            return np.full(len(view), max((len(output) for output in view.outputs), default=0), dtype=float)

    assert differences(Length(), [("a",), ("a", "b")]) == []
    assert differences(PaddedLength(), [("a",), ("a", "b")]) == [0]


def test_ranks_within_the_block_would_be_seen():
    class Rank(Value):
        def column(self, view):
            return np.argsort(np.argsort(super().column(view))).astype(float)

    assert differences(Rank(), [3.0, 1.0])


@pytest.mark.parametrize(
    ("feature", "output", "expected"),
    [
        (Value(), 1.5, 1.5),
        (Value(), 3, 3.0),
        (Value(), np.float32(0.5), 0.5),
        (Value(), np.array(2.5), 2.5),
        (Value(), Fraction(1, 4), 0.25),
        (Value(), 10**400, INF),
        (Value(), -(10**400), -INF),
        (Value(), True, NAN),
        (Value(), "1.5", NAN),
        (Value(), None, NAN),
        (Value(), (1.5,), NAN),
        (Value(), 1 + 2j, NAN),
        (Value(), np.complex128(1 + 2j), NAN),
        (Value(), LoudFraction(1, 2), NAN),
        (Length(), (1, 2), 2.0),
        (Length(), (), 0.0),
        (Length(), "four", 4.0),
        (Length(), {"a": 1}, 1.0),
        (Length(), [("a", 1), ("b", 2)], 2.0),
        (Length(), np.zeros((2, 3)), 6.0),
        (Length(), 7, NAN),
        (Length(), Broken(), NAN),
        (Length(), Raised("ValueError"), NAN),
        (Coordinate(1), (4, 5, 6), 5.0),
        (Coordinate(3), (4, 5, 6), NAN),
        (Coordinate(0), (True, False), 1.0),
        (Coordinate(0), ("a", 1), NAN),
        (Coordinate(3), np.arange(6.0).reshape(2, 3), 3.0),
        (Difference(first=2, second=0), (4, 5, 7), 3.0),
        (Difference(first=2, second=0), (4, 5), NAN),
        (Sum(), (1, 2, "x"), 3.0),
        (Largest(), (1, NAN, 3), 3.0),
        (Smallest(), (1, NAN, 3), 1.0),
        (Spread(), (1, 5, 3), 4.0),
        (Spread(), (NAN, NAN), NAN),
        (Norm(), (3, 4), 5.0),
        (ArgMax(), (3, 7, 7), 1.0),
        (Count(1.0), (1, 0, True), 2.0),
        (First(1.0), (0, 1, 1), 1.0),
        (First(1.0), (0, 0), 2.0),
        (Last(1.0), (1, 1, 0), 1.0),
        (Last(1.0), (0, 0), -1.0),
        (Entry("a"), {"a": 2}, 2.0),
        (Entry("a"), {"b": 2}, NAN),
        (Entry("a"), [("a", 2.5)], 2.5),
        (Entry((1, "b")), {(1, "b"): 4}, 4.0),
        (Entry("a"), {"a": "text"}, NAN),
        (SCORE, (0.5, 0.7), 2.0 + 0.5),
        (SCORE, (NAN, 0.2), -1.0 + 0.25),
        (SCORE, (0.5,), NAN),
        (FinestBit(), 0.75, -2.0),
        (FinestBit(), 12.0, 2.0),
        (FinestBit(), 0.0, INF),
        (FinestBit(), INF, NAN),
        (HighestBit(), 0.75, 0.0),
        (HighestBit(), 12.0, 4.0),
        (FinestBit(1), (1.0, 0.5), -1.0),
        (ZeroSign(), -0.0, -1.0),
        (ZeroSign(), 2.0, 0.0),
        (ZeroSign(path=(("item", "a"),)), {"a": [-0.0]}, NAN),
        (ZeroSign(path=(("item", "a"), ("item", 0))), {"a": [-0.0]}, -1.0),
        (PatternEnd(), 1 + 3 * 2.0**-52, 3.0),
        (LastBits(), 35, 3.0),
        (LastBits(), 0.5, NAN),
        (LastBits(), 2**70 + 5, 5.0),
        (LastBits(), 10**400 + 1, 1.0),
        (LastBits(1), (0, -(2**60) - 1), 15.0),
        (LastBits(1), np.array([[0, 2**62 + 1]]), 1.0),
        (LastBits(), INF, NAN),
        (Missing(), (1, NAN, "x", None), 3.0),
        (Missing(), np.ma.masked_array([1.0, 2.0], [0, 1]), 1.0),
        (PairSum(first=2, second=0), (4, 5, 7), 11.0),
        (PairSum(first=2, second=0), (4, 5), NAN),
    ],
)
def test_a_feature_is_what_its_words_say(feature, output, expected):
    assert same(feature.of(output), expected)


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        (1.5, "number"),
        (np.int8(1), "number"),
        (NAN, "NaN"),
        (np.float64("nan"), "NaN"),
        (True, "bool"),
        (np.bool_(0), "bool"),
        ("a", "str"),
        (np.str_("a"), "str"),
        (1j, "complex"),
        (np.complex128(1j), "complex"),
        (np.zeros((2, 3)), "array of shape (2, 3)"),
        (Raised("ValueError", "x"), "ValueError raised"),
        (None, "NoneType"),
    ],
)
def test_the_kind_of_an_output_is_its_type_or_how_the_run_ended(output, kind):
    assert Kind().of(output) == kind


def test_whole_outputs_differ_by_container_and_by_message():
    assert Whole().of([1, 2]) != Whole().of((1, 2))
    assert Whole().of((1, 2.0)) == Whole().of((1.0, 2))
    assert Whole().of(Raised("E", "a")) != Whole().of(Raised("E", "b"))
    assert Whole().of(Predictor(0.5)) == Whole().of(Predictor(0.5)) != Whole().of(Predictor(1.5))


def test_only_a_mapping_has_keys_and_they_keep_their_order():
    assert Keys().of({"a": 1, "b": 2}) == Keys().of([("a", 5), ("b", 6)]) != Keys().of({"a": 1})
    assert Keys().of((1, 2)) == Keys().of("text")


FIELDS = [
    *ALL,
    Entry(np.int64(3)),
    Entry(b"x"),
    Entry(None),
    First(-INF),
    TableScore(((INF,),), ((NAN, 1.0, 2.0),)),
]


@pytest.mark.parametrize("feature", FIELDS, ids=repr)
def test_a_feature_survives_json(feature):
    text = json.dumps(feature.to_json(), allow_nan=False)
    again = feature_from_json(json.loads(text))
    assert type(again) is type(feature)
    assert again.to_json() == feature.to_json()
    assert again.words == feature.words
    for output in ((0.5, 0.7, 1.0), {"a": 1.0, (1, "b"): 2.0, 3: 3.0, b"x": 4.0, None: 5.0}, 1.5, "a"):
        assert same(again.of(output), feature.of(output))


@pytest.mark.parametrize(
    "document",
    [
        *({}, {"feature": "Nothing"}, {"feature": 7}, {"feature": "_OfTwo", "first": 0, "second": 1}),
        *({"feature": "Coordinate"}, {"feature": "Value", "extra": 1}),
    ],
)
def test_a_feature_that_cannot_be_rebuilt_is_refused_in_one_line(document):
    with pytest.raises(ValueError, match=r"feature") as refusal:
        feature_from_json(document)
    assert "\n" not in str(refusal.value)


@few
@given(blocks, blocks)
def test_features_can_be_proposed_from_any_outputs(left, right):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proposed = list(propose([View(left)], [View(right)], floats=True))
    assert len(proposed) == len(set(map(repr, proposed)))
    for feature in proposed:
        assert isinstance(feature, (NumberFeature, AtomFeature))
        assert feature.words
        assert differences(feature, left) == []


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (1, "int"),
        (1.5, "float"),
        (np.float32(1), "float32"),
        ([1, 2], "list of int"),
        ((1, 2.0, None), "tuple of (int, float, NoneType)"),
        ({"a": [1.0], "b": ()}, "dict of (list of float, empty tuple)"),
        (np.zeros(2, dtype="f4"), "ndarray of shape (2,) of float32"),
        (Raised("ValueError", "x"), "ValueError"),
    ],
)
def test_the_type_of_an_output_names_the_types_of_its_entries(output, words):
    assert Type().of(output) == Type().show(output) == words


def test_types_are_not_read_if_one_output_can_change_the_type_of_another():
    """A type that depends on other outputs is not read.

    numpy makes whole numbers floats beside a NaN, in a sampler's batch too.
    """
    blocks = [View([1, 2], typed=False)], [View([1.0, 2.0], typed=False)]
    assert not any(isinstance(feature, Type) for feature in propose(*blocks, floats=False))
    typed = [View([1, 2])], [View([1.0, 2.0])]
    assert any(isinstance(feature, Type) for feature in propose(*typed, floats=False))


def test_bit_patterns_are_proposed_only_when_floats_are_attacked():
    left, right = [View(np.array([0.1, 0.2]))], [View(np.array([0.3, 0.4]))]
    bits = {FinestBit, HighestBit, PatternEnd, ZeroSign}
    assert bits & set(map(type, propose(left, right, floats=True))) == bits
    assert not bits & set(map(type, propose(left, right, floats=False)))


def test_every_feature_is_in_these_tests():
    ours = {kind for kind in _REGISTRY.values() if kind.__module__.startswith("audit.")}
    assert {kind for kind in ours if not inspect.isabstract(kind)} == set(map(type, ALL))


@pytest.mark.parametrize("dtype", [bool, np.int64, np.uint8, np.float64, np.float32])
@pytest.mark.parametrize("shape", [(60,), (60, 1), (60, 3), (60, 2, 2), (0, 2)])
def test_equal_rows_of_an_array_are_read_once_and_get_the_same_value(dtype, shape):
    rows = np.random.default_rng(0).integers(0, 3, size=shape).astype(dtype)
    if rows.dtype.kind == "f" and len(rows):
        rows.reshape(-1)[:3] = NAN, 0.0, -0.0
    assert Whole().column(View(rows)) == [Whole().of(row) for row in rows]
