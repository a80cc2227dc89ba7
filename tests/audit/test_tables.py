"""Tables of bins and counts, and the effect of unfinished runs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.events.edges import bins_of, learn_edges
from audit.events.features.atoms import Kind, Whole
from audit.events.features.numbers import Value
from audit.events.features.views import View
from audit.events.tables import MOST_ATOMS, AtomBins, Table, learn_bins
from audit.evidence.bets import Bet
from audit.values.outcomes import Unfinished

LOST = Unfinished("time limit of 1 s")
quick = settings(deadline=None, derandomize=True, database=None, max_examples=200)


@quick
@given(st.lists(st.one_of(st.floats(), st.integers(-3, 3).map(float)), max_size=80))
def test_edges_are_sorted_and_every_number_has_one_bin(values):
    edges = learn_edges(np.array(values, dtype=float))
    assert (np.diff(edges) > 0).all()
    assert not np.isnan(edges).any()
    bins = learn_bins(Value(), [View(values)])
    found = bins.find(View(values))
    assert ((found >= 0) & (found < bins.width)).all()
    for value, place in zip(values, found, strict=True):
        if math.isnan(value):
            assert place == bins.width - 1
        else:
            below = edges[place - 1] if place else -math.inf
            above = edges[place] if place < len(edges) else math.inf
            assert below <= value
            assert value < above or (above == math.inf and place == len(edges))


@quick
@given(st.lists(st.floats(), max_size=60), st.data())
def test_the_event_of_some_bins_holds_the_values_of_these_bins(values, data):
    bins = learn_bins(Value(), [View(values)])
    members = np.array(data.draw(st.lists(st.booleans(), min_size=bins.width, max_size=bins.width)))
    probes = [*values, 0.0, math.inf, -math.inf, math.nan, 1e308]
    wanted = members[bins.find(View(probes))]
    assert bins.condition(members).members(View(probes)).tolist() == wanted.tolist()


def test_few_values_have_a_bin_each_and_so_has_a_frequent_value_among_many():
    edges = learn_edges(np.repeat([0.0, 1.0, 7.0], 50))
    assert edges.tolist() == [0.5, 4.0]
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=1000), np.zeros(300)])
    bins = learn_bins(Value(), [View(values)])
    found = bins.find(View([0.0, -1e-6, 1e-6]))
    assert len(set(found.tolist())) == 3


def test_atoms_seen_twice_have_a_bin_and_all_others_share_one():
    outputs = ["a"] * 3 + ["b"] * 2 + ["c"]
    bins = learn_bins(Whole(), [View(outputs)])
    assert isinstance(bins, AtomBins)
    assert bins.width == 3
    assert bins.find(View(["a", "b", "c", "never seen", None])).tolist() == [0, 1, 2, 2, 2]
    many = learn_bins(Whole(), [View([i for i in range(1000) for _ in range(2)])])
    assert many.width == MOST_ATOMS + 1


def counted(left, right, feature=None):
    table = Table(learn_bins(feature or Whole(), [View(left), View(right)]))
    return table, table.count(View(left), View(right))


def test_the_runs_of_both_sides_are_counted_by_bin_and_learned():
    table, counts = counted(["a", "a", "b", "b"], ["a", "b", "b", "b", "b"])
    assert counts.sum(axis=1).tolist() == [4, 5]
    assert counts[:, :2].tolist() == [[2, 2], [4, 1]]  # "b" is more frequent and has the first bin
    table.counts += counts
    table.counts += counts
    assert table.counts[:, :2].tolist() == [[4, 4], [8, 2]]


@quick
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(0, 30))
def test_split_blocks_count_the_same(outputs, cut):
    table, whole = counted(outputs, outputs[::-1])
    parts = table.count(View(outputs[:cut]), View(outputs[::-1][:-cut])) + table.count(
        View(outputs[cut:]), View(outputs[::-1][-cut:])
    )
    assert (parts == whole).all()


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("against", [True, False])
def test_the_four_counts_agree_with_the_members_of_the_events(side, against):
    """The counts agree with a reference that counts one run at a time.

    Unfinished runs count as outside the event for p, and as inside for q.
    """
    rng = np.random.default_rng(3)
    left = [LOST if rng.random() < 0.2 else int(rng.integers(5)) for _ in range(200)]
    right = [LOST if rng.random() < 0.1 else int(rng.integers(1, 6)) for _ in range(150)]
    table, counted_bins = counted(left, right, Value())
    table.counts += counted_bins
    candidates = table.suggest(side, unfinished_counts_against=against)
    assert candidates.past == 175
    counts = candidates.count(counted_bins if side == 0 else counted_bins[::-1])
    p_side, q_side = (left, right) if side == 0 else (right, left)
    for k in range(len(candidates.p)):
        expected = [0.0, 0.0, 0.0, 0.0]
        for run in p_side:
            inside = not (against and run is LOST) and candidates.inside_p[k][table.find(View([run]))[0]]
            expected[0 if inside else 1] += 1
        for run in q_side:
            inside = (against and run is LOST) or candidates.inside_q[k][table.find(View([run]))[0]]
            expected[2 if inside else 3] += 1
        assert counts[k].tolist() == expected


def test_estimates_stay_inside_the_unit_interval():
    table, counts = counted([1] * 50, [0] * 50, Value())
    table.counts += counts
    for side in (0, 1):
        candidates = table.suggest(side, unfinished_counts_against=True)
        assert ((candidates.p > 0) & (candidates.p < 1)).all()
        assert ((candidates.q > 0) & (candidates.q < 1)).all()
    assert candidates.past == 50


def test_an_event_of_values_seen_once_promises_nothing():
    """No value occurs twice, so no growth is predicted.

    Each run is judged by an order of the values from the other runs. An order from all runs would predict
    a fast growth.
    """
    outputs = [f"x{i}" for i in range(40)]
    table = Table(AtomBins(Whole(), {Whole().of(o): i for i, o in enumerate(outputs)}, tuple(outputs)))
    table.counts += table.count(View(outputs[:20]), View(outputs[20:]))
    candidates = table.suggest(0, unfinished_counts_against=True)
    assert (candidates.p <= candidates.q + 0.05).all()


@pytest.mark.parametrize("seed", range(40))
def test_by_enumeration_unfinished_runs_do_not_raise_the_expectation(seed):
    """E[factor] ≤ 1 holds even if a run's end depends on its side and its answer.

    The two laws meet the claim with equality.
    """
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(3), 2)
    ratio = max(float(np.max(p / q)), float(np.max(q / p)), 1.0)
    # the probability, on each side, that a run with this answer does not finish
    lost = rng.choice([0.0, 0.3, 1.0], (2, 3))
    table = Table(AtomBins(Whole(), {Whole().of(i): i for i in range(3)}, (0, 1, 2)))
    table.counts += rng.integers(0, 20, table.counts.shape)
    chosen = [(side, table.suggest(side, unfinished_counts_against=True)) for side in (0, 1)]
    total = 0.0
    for side, i, gone in itertools.product((0, 1), range(3), (False, True)):
        weight = 0.5 * (p, q)[side][i] * (lost[side, i] if gone else 1 - lost[side, i])
        views = [View([]), View([])]
        views[side] = View([LOST if gone else i])
        counts = table.count(*views)
        bet = Bet(
            np.concatenate([np.full(len(c.p), -math.log(len(c.p))) for _, c in chosen]),
            np.concatenate([c.p for _, c in chosen]),
            np.concatenate([c.q for _, c in chosen]),
            np.concatenate([np.full(len(c.p), 2 * c.past) for _, c in chosen]),
            np.concatenate([c.count(counts if turned == 0 else counts[::-1]) for turned, c in chosen]),
        )
        total += weight * math.exp(bet.log_growth(math.log(ratio), 0.0))
    assert total <= 1 + 1e-12


def test_a_kind_that_only_one_side_has_becomes_an_event():
    table, counts = counted([0.5] * 20, [None] * 20, Kind())
    table.counts += counts
    best = max(table.suggest(0, unfinished_counts_against=True).p)
    assert best > 0.9


@pytest.mark.parametrize("values", [[0.0, math.inf], [0.0, -math.inf], [-1e308, 1e308], [1.0, 1.0 + 2e-8]])
def test_neighbouring_values_have_separate_bins_without_a_warning(values):
    bins = learn_bins(Value(), [View(values * 3)])
    assert bins.find(View(values)).tolist() in ([0, 1], [1, 0])


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, size: rng.laplace(size=size),
        lambda rng, size: rng.standard_cauchy(size),
        lambda rng, size: rng.geometric(0.3, size).astype(float),
        lambda rng, size: np.where(rng.random(size) < 0.2, 0.0, rng.normal(size=size)),
        lambda rng, size: np.where(rng.random(size) < 0.1, np.inf, rng.normal(size=size)),
        lambda rng, size: np.where(rng.random(size) < 0.1, np.nan, 1e300 * rng.normal(size=size)),
    ],
    ids=["laplace", "cauchy", "geometric", "atom", "infinite", "huge"],
)
def test_many_values_fall_into_the_bins_that_a_sorted_search_finds(draw):
    rng = np.random.default_rng(0)
    edges = learn_edges(draw(rng, 30_000))
    beside = [np.nextafter(edges, way) for way in (-np.inf, np.inf)]
    values = np.concatenate(
        [draw(rng, 20_000), edges, *beside, [np.inf, -np.inf, np.nan, -0.0, 1e308, -1e308]]
    )
    wanted = np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="right"))
    assert (bins_of(values, edges) == wanted).all()
