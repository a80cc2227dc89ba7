"""Option values as texts, and the Python values that they stand for."""

import math
from types import SimpleNamespace

import pytest

from audit.claims import PAC, Accuracy, ApproximateDP, PureDP
from audit.doors.cli.reading import (
    read_claim,
    read_literal,
    read_options,
    read_parameters,
    read_utility_claim,
)
from audit.errors import AuditError, InvalidValue
from audit.relations import Relation


def test_options_that_are_not_given_are_left_out():
    assert read_options({"seed": None, "pair": (), "budget": 5, "jobs": 0}) == {"budget": 5, "jobs": 0}


def test_records_are_a_literal_list():
    assert read_options({"records": "[(0, 1), 'a']"}) == {"records": [(0, 1), "a"]}
    assert read_options({"records": "(0, 1)"}) == {"records": [0, 1]}


def test_records_may_name_a_strategy():
    assert read_options({"records": "string:digits"}) == {"records": "0123456789"}


def test_pairs_are_literals_with_nan_and_inf():
    [(left, right)] = read_options({"pair": (("[nan, -inf]", "[1, 2e3]"),)})["pairs"]
    assert math.isnan(left[0])
    assert left[1] == -math.inf
    assert right == [1, 2000.0]


@pytest.mark.parametrize(
    "text",
    ["[nan, inf, -inf]", "[NaN, Infinity, -Infinity]", "[float('nan'), float('inf'), -float('inf')]"],
)
def test_records_hold_nan_and_infinity_as_python_and_json_write_them(text):
    first, second, third = read_options({"records": text})["records"]
    assert math.isnan(first)
    assert (second, third) == (math.inf, -math.inf)


@pytest.mark.parametrize("text", ["[float()]", "[float('x')]", "[float([1])]", "[int('1')]", "[float(x=1)]"])
def test_calls_other_than_float_of_a_number_are_refused(text):
    with pytest.raises(AuditError, match="must be a Python list or module:strategy; got"):
        read_options({"records": text})


@pytest.mark.parametrize("name", ["replace-one", "REPLACE_ONE"])
def test_a_relation_is_found_by_its_name(name):
    assert read_options({"relation": name})["relation"] is Relation.REPLACE_ONE


def test_a_relation_may_be_an_object_of_a_module():
    assert read_options({"relation": "audit.relations:Relation.LOCAL"})["relation"] is Relation.LOCAL


def test_convert_and_databases_name_objects():
    assert read_options({"convert": "builtins:tuple"})["convert"] is tuple
    assert read_options({"valid": "builtins:all"})["valid"] is all


@pytest.mark.parametrize(("text", "size"), [("3", 3), ("2:5", (2, 5))])
def test_a_size_is_a_number_or_a_range(text, size):
    assert read_options({"size": text}) == {"size": size}


def test_numbers_are_read_as_a_privacy_claim():
    assert read_claim(None, None) is None
    assert read_claim(0.5, None) == PureDP(0.5)
    assert read_claim(0.5, 1e-6) == ApproximateDP(0.5, 1e-6)


def test_a_utility_claim_is_an_accuracy_if_the_subject_has_none():
    """A PAC claim takes no alpha above 1, but the error of a count may be 30."""
    assert read_utility_claim(30.0, 0.05) == Accuracy(30.0, 0.05)
    assert read_utility_claim(0.2, None, own=PAC(0.1, 0.05)) == PAC(0.2, 0.05)
    assert read_utility_claim(None, 0.2, own=Accuracy(3, 0.05)) == Accuracy(3, 0.2)
    other = SimpleNamespace(alpha=3.0, beta=0.05)  # a claim of the user's own class
    assert read_utility_claim(None, 0.2, own=other) == Accuracy(3.0, 0.2)


@pytest.mark.parametrize("text", ["[float(1{})]", "[-float(1{})]", "float(1{})", "[1, float(1{}), one]"])
def test_a_number_beyond_floats_is_not_a_literal(text):
    with pytest.raises(InvalidValue, match="`--records` must be a Python list"):
        read_options({"records": text.format("0" * 400)})
    with pytest.raises(InvalidValue, match="is not a Python literal"):
        read_literal(text.format("0" * 400))


def test_parameters_are_literals_or_text():
    read = read_parameters(["a=1", "b=[1, 2]", "c=plain words", "d=None", "e=x=y", "f="])
    assert read == {"a": 1, "b": [1, 2], "c": "plain words", "d": None, "e": "x=y", "f": ""}


def test_flags_are_read_as_python_and_as_others_write_them():
    read = read_parameters(["a=true", "b=false", "c=True", "d=False", "e=falsely"])
    assert read == {"a": True, "b": False, "c": True, "d": False, "e": "falsely"}


def test_a_literal_runs_nothing():
    with pytest.raises(AuditError, match="is not a Python literal"):
        read_literal("__import__('os').getcwd()")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"records": "[0, 1"}, "or module:strategy; got `[0, 1`: '[' was never closed."),
        ({"records": "[0, one]"}, "or module:strategy; got `[0, one]`: `one` is a name, not a literal."),
        ({"pair": (("[0]", "[1"),)}, "must be Python literals; got `[1`: '[' was never closed."),
        ({"records": "3"}, "The `--records` must be a Python list or module:strategy; got `3`."),
        ({"records": "nowhere_at_all:x"}, "cannot be imported: ModuleNotFoundError"),
        ({"size": "small"}, "The `--size` must be a whole number or MIN:MAX; got `small`."),
        ({"size": "1:2:3"}, "The `--size` must be a whole number or MIN:MAX; got `1:2:3`."),
        ({"pair": (("[0]", "x"),)}, "The databases of `--pair` must be Python literals; got `x`."),
        ({"databases": "[[0]]"}, "The `--databases` must be module:strategy; got `[[0]]`."),
        ({"relation": "friends"}, "'friends'"),
    ],
)
def test_wrong_text_is_explained_in_one_line(given, words):
    with pytest.raises(AuditError) as caught:
        read_options(given)
    assert words in str(caught.value)


@pytest.mark.parametrize("setting", ["epsilon", "=1", "a b=1"])
def test_a_parameter_without_a_name_is_refused(setting):
    with pytest.raises(AuditError, match="must be `name=value`"):
        read_parameters([setting])
