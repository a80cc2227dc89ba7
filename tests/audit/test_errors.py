"""Every error is one line, and the checks refuse what they should."""

import math
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from audit.errors import (
    AuditError,
    InvalidKind,
    InvalidValue,
    SubjectError,
    finite_number,
    flag,
    positive_int,
    probability,
)
from audit.values.brief import show
from audit.values.outcomes import Raised


def test_every_error_is_an_audit_error_and_the_builtin_of_its_kind():
    assert issubclass(InvalidValue, AuditError)
    assert issubclass(InvalidValue, ValueError)
    assert issubclass(InvalidKind, AuditError)
    assert issubclass(InvalidKind, TypeError)
    assert issubclass(SubjectError, AuditError)


@pytest.mark.parametrize("kind", [AuditError, InvalidValue, InvalidKind, SubjectError])
def test_the_text_of_an_error_is_one_line_and_survives_pickling(kind):
    error = kind("two\n   lines\r\nof text")
    assert str(error) == "two lines of text"
    assert str(pickle.loads(pickle.dumps(error))) == "two lines of text"


@pytest.mark.parametrize("value", [0, 1.5, np.float32(0.5), np.int64(3), Fraction(1, 4)])
def test_a_finite_number_comes_back_as_a_float(value):
    number = finite_number(value, what="The `x`", minimum=0)
    assert type(number) is float
    assert number == value


@pytest.mark.parametrize("value", [True, np.True_, "1", None, 1j, [1.0], np.array([1.0]), Decimal(1)])
def test_a_value_that_is_not_a_number_is_of_the_wrong_kind(value):
    with pytest.raises(InvalidKind, match=r"^The `x` must be a finite number; got "):
        finite_number(value, what="The `x`")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, np.float64("nan")])
def test_a_number_that_is_not_finite_is_refused(value):
    with pytest.raises(InvalidValue, match=r"^The `x` must be a finite number; got "):
        finite_number(value, what="The `x`")


@pytest.mark.parametrize(
    ("bounds", "value", "words"),
    [
        ({"minimum": 0}, -1, "≥ 0; got -1."),
        ({"maximum": 2}, 2.5, "≤ 2; got 2.5."),
        ({"above": 0}, 0, "> 0; got 0."),
        ({"below": 1}, 1.0, "< 1; got 1.0."),
        ({"minimum": 0, "below": 1}, 7, "≥ 0 and < 1; got 7."),
    ],
)
def test_the_message_has_each_bound(bounds, value, words):
    with pytest.raises(InvalidValue) as caught:
        finite_number(value, what="The `x`", **bounds)
    assert str(caught.value) == f"The `x` must be a finite number {words}"


def test_the_ends_of_a_closed_interval_are_accepted():
    assert finite_number(0, what="The `x`", minimum=0, maximum=0) == 0.0
    assert probability(0, what="The `x`") == 0.0
    assert probability(1, what="The `x`") == 1.0


@pytest.mark.parametrize(
    ("ends", "value", "interval"),
    [
        ({}, -0.1, "[0, 1]"),
        ({"zero": False}, 0, "(0, 1]"),
        ({"one": False}, 1, "[0, 1)"),
        ({}, math.nan, "[0, 1]"),
    ],
)
def test_a_probability_outside_its_interval_is_refused(ends, value, interval):
    with pytest.raises(InvalidValue) as caught:
        probability(value, what="The `x`", **ends)
    assert str(caught.value) == f"The `x` must be a number in {interval}; got {show(value)}."


@pytest.mark.parametrize("value", [1.0, True, "3", None])
def test_a_whole_number_must_be_an_integer_by_type(value):
    with pytest.raises(InvalidKind, match=r"must be a whole number ≥ 1"):
        positive_int(value, what="The `size`")


def test_a_whole_number_out_of_bounds_is_refused():
    with pytest.raises(InvalidValue, match=r"≥ 1 and ≤ 9; got 10\.$"):
        positive_int(10, what="The `size`", maximum=9)
    with pytest.raises(InvalidValue, match=r"≥ 0; got -1\.$"):
        positive_int(-1, what="The `size`", minimum=0)
    assert type(positive_int(np.int8(3), what="The `size`")) is int


def test_errors_and_claims_need_no_numpy():
    script = "import sys, audit.claims; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


class Rude:
    def __repr__(self):
        raise RuntimeError("no")


class Plain:
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.5), "0.5"),
        (np.array([[1, 2], [3, 4]]), "array([[1, 2], [3, 4]])"),
        (np.array(2.5), "2.5"),
        ((1,), "(1,)"),
        ({"a": np.int8(1)}, "{'a': 1}"),
        (frozenset({10, 9}), "frozenset({9, 10})"),
        ({"b", "a"}, "{'a', 'b'}"),
        (set(), "set()"),
        ("two\nlines", r"'two\nlines'"),
        (Rude(), "<Rude>"),
        pytest.param(10**5000, "<int>", id="huge"),
    ],
)
def test_values_are_shown_as_people_write_them(value, text):
    assert show(value) == text


def test_what_is_shown_has_no_address_no_control_character_and_no_second_line():
    assert " at 0x" not in show(Plain())
    unruly = type("Unruly", (), {"__repr__": lambda self: "a\x1b[31m\n  b"})()
    assert show(unruly) == "a�[31m b"


def test_what_is_shown_is_cut_at_the_limit():
    assert show("x" * 100, limit=10) == "'xxxxxxxx…"
    assert len(show(list(range(10**6)))) == 60
    loop = []
    loop.append(loop)
    assert show(loop) == "[[[[[[…]]]]]]"


def test_an_exception_with_an_unreadable_text_is_still_an_outcome():
    class RudeError(Exception):
        def __str__(self):
            raise RuntimeError("no")

    assert Raised.of(RudeError()) == Raised("RudeError", "(its text cannot be read: RuntimeError)")


def test_two_exceptions_about_two_objects_of_a_class_are_one_outcome():
    outcomes = {Raised.of(ValueError(f"cannot use {Plain()!r}")) for _ in range(3)}
    assert len(outcomes) == 1


@pytest.mark.parametrize("value", [0, 1, 1.0, "True", "false", None, np.True_])
def test_a_flag_must_be_a_bool(value):
    with pytest.raises(InvalidKind, match=r"^The `tight` must be True or False; got .*[.]$"):
        flag(value, what="The `tight`")


@pytest.mark.parametrize("value", [False, True])
def test_a_flag_is_kept(value):
    assert flag(value, what="The `tight`") is value
