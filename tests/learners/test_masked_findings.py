"""Findings about MASKED-PARITY match derivations that do not use the code."""

import math

import pytest

from learners.findings import findings


def finding(name):
    return findings()[name]()


def test_e7_interaction_helps_and_not_the_reverse():
    e7 = finding("E7")
    assert e7.judgement == "typo"
    assert [row[3] for row in e7.tables[0].rows] == [0.0, 0.5]


def test_e13_the_ratio_is_a_quarter_of_the_printed_one():
    e13 = finding("E13")
    assert e13.ratio == pytest.approx(0.25)
    for _, printed, share, reached in e13.tables[0].rows:
        assert reached <= share < printed


def test_n1_has_the_counts_of_the_errata():
    n1 = finding("N1")
    assert (n1.judgement, n1.claimed, n1.found) == ("false", 255.0, 9.0)
    rows = n1.tables[0].rows
    assert sum(row[4] for row in rows if row[0] == 8 and row[2] in ("up", "down")) == 1024
    assert sum(row[4] for row in rows if row[0] == 16 and row[2] in ("up", "down")) == 1600
    assert rows[0][1] == pytest.approx(0.0248, abs=5e-5)
    assert all(row[4] * 2 == row[5] for row in rows if row[2] == "K11's oracle")
    assert "0.5 and 0.5" in n1.shown


def test_n19_a_constant_is_wrong_by_a_quarter_except_at_r_zero():
    rows = finding("N19").tables[0].rows
    assert rows[0][1:] == (0.0, 0.5, 0.25, 0.25)
    assert rows[1][1:] == (0.25, 0.25, 0.25, 0.25)


def test_n23_the_mean_of_a_bits_query_is_one_over_twice_d():
    rows = finding("N23").tables[0].rows
    assert [row[2] for row in rows] == [1 / (2 * row[0]) for row in rows]
    assert [row[0] for row in rows if row[1] != row[2]] == [4, 8, 16]
    assert finding("N23").claimed == pytest.approx(0.0039, abs=1e-4)


def test_n24_the_proof_gives_a_larger_bound_than_the_theorem_and_the_learner_exceeds_both():
    for _, _, printed, proved, found in finding("N24").tables[0].rows:
        assert printed < proved <= found


def test_figure_2_has_an_experiment_for_each_strict_inclusion():
    figure = finding("K11 Figure 2")
    rows = {(row[0], row[2]): row[3] for row in figure.tables[0].rows}
    shares = {step: sorted(it for (name, _), it in rows.items() if name == step) for step, _ in rows}
    assert shares["LNI ⊊ LI"] == [0.5, 1.0]
    low, *private = shares["LI ⊊ PPAC"]
    assert low == pytest.approx(2.0**-9)
    assert len(private) == 2  # the exact law of the generic learner, and A*, which runs in polynomial time
    assert min(private) > 0.95
    [efficient] = [it for (_, learned), it in rows.items() if "polynomial time" in learned]
    # A* in the form "retry" refuses with probability q^3 and is otherwise rarely wrong: 1 − q^3 = 0.974
    p = math.tanh(1.0 / 6.0)
    assert efficient < 1.0 - ((1.0 - p) / (3.0 - p)) ** 3 + 0.02


def test_theorem_5_16_holds_and_its_range_begins_at_d_32():
    theorem = finding("K11 Theorem 5.16")
    outcome, scope = theorem.tables
    for _, name, queries, rounds, exact, quarter in outcome.rows:
        adaptive = name.startswith("adaptive")
        assert (rounds, exact, quarter) == ((2, 1.0, 0.0) if adaptive else (1, 0.5, 0.5)), queries
    assert [row[0] for row in scope.rows if row[3] == "yes"] == [32, 64]
