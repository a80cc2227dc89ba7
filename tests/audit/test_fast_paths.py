"""A whole block gives the same values as each output alone."""

import math
from collections import OrderedDict

import numpy as np
import pytest

from audit.events.features.atoms import Keys, Kind, Whole
from audit.events.features.numbers import Entry, Length, Value
from audit.events.features.views import View
from audit.events.tables import AtomBins
from audit.evidence.power import _first
from audit.values.outcomes import Raised

DICTS = [
    {"a": 1.5, "b": 2},
    {"b": 2, "a": 1.5},
    {"a": True},
    {"a": 10**400},
    {"a": -(10**400), "b": None},
    {"a": np.float32(0.1), "b": np.bool_(1)},
    {"a": math.nan},
    {"a": "text"},
    {},
]
ODD_KEYS = [{1: 0.5, 2: 0.25}, {1.0: 0.5}, {True: 0.5}, {("a",): 1}]
OTHERS = [OrderedDict(a=2.5), (("a", 3),), "a", None, 4.5, Raised("ValueError", "no"), frozenset({1})]
FEATURES = [Entry("a"), Entry("b"), Entry("absent"), Keys(), Kind(), Whole(), Length(), Value()]


def same(left, right):
    return left == right or (left != left and right != right)


@pytest.mark.parametrize("feature", FEATURES, ids=str)
@pytest.mark.parametrize(
    "block",
    [
        DICTS,
        DICTS[:2],
        DICTS[2:4],
        DICTS[5:6],
        ODD_KEYS,
        DICTS + ODD_KEYS,
        DICTS + OTHERS,
        OTHERS,
        ["a", None],
    ],
    ids=lambda block: str(len(block)),
)
def test_a_block_of_mappings_is_scored_as_each_output_alone(feature, block):
    column = list(feature.column(View(block)))
    alone = [feature.of(output) for output in block]
    assert len(column) == len(block)
    assert all(same(a, b) for a, b in zip(column, alone, strict=True)), (column, alone)


def test_entries_of_mappings_are_their_numbers():
    column = Entry("a").column(View(DICTS)).tolist()
    assert column[:5] == [1.5, 1.5, 1.0, math.inf, -math.inf]
    assert column[5] == float(np.float32(0.1))
    assert all(map(math.isnan, column[6:]))


def test_atom_bins_without_known_atoms_put_everything_into_the_bin_for_others():
    bins = AtomBins(Whole(), {}, ())
    assert bins.find(View(["a", 1.0, None])).tolist() == [0, 0, 0]


@pytest.mark.parametrize("guess", [0, 3, 20, 100])
def test_the_first_index_that_holds_is_found_from_any_guess(guess):
    for true in range(41):
        asked = []

        def holds(k, asked=asked, true=true):
            asked.append(k)
            return k >= true

        assert _first(holds, count=40, guess=guess) == (true if true < 40 else None)
        assert all(0 <= k < 40 for k in asked)
        assert len(asked) <= 12, true
