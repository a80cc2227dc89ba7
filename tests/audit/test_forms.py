"""A law, a sample and a call agree if their outputs differ in form only."""

import math

import numpy as np
import pytest

from audit import PureDP, Relation, Verdict, audit_privacy
from audit.distributions import Countable, Density, Finite, Mixture, Product
from audit.distributions.forms import form_key
from audit.laws.divergence import epsilon_at
from audit.laws.exact import compare_pairs
from audit.laws.law_check import law_log_e_value

KEEP = math.e / (1.0 + math.e)
THIRD = 0.1 + 0.1 + 0.1
NIL = 0.1 + 0.2 - 0.3


class Response:
    """Randomized response, whose code writes the outcomes in another form than the law."""

    claim = PureDP(1.0)
    relation = Relation.LOCAL
    records = (0, 1)
    size = 1

    def __init__(self, said, returned):
        self.said, self.returned = said, returned

    def __call__(self, database, rng):
        return self.returned[database[0] if rng.random() < KEEP else 1 - database[0]]

    def distribution(self, database):
        return Finite(self.said, [KEEP, 1.0 - KEEP] if database[0] == 0 else [1.0 - KEEP, KEEP])


FORMS = {
    "a sum": ([0.3, 0.7], [THIRD, 0.7]),
    "a sum that should be 0": ([0.0, 0.5], [NIL, 0.5]),
    "a sum in a tuple": ([(0.3, "a"), (0.0, "b")], [(THIRD, "a"), (NIL, "b")]),
    "an edge of rounding": ([(2.0**-15, 1), (1.5, 1)], [(2.0**-15 * (1 - 2.0**-52), 1), (1.5, 1)]),
    "an array for a tuple": ([(0, 1), (1, 0)], [np.array([0, 1]), np.array([1, 0])]),
    "a list for a tuple": ([(0, 1), (1, 0)], [[0, 1], [1, 0]]),
    "a tuple for an array": ([np.array([0.5, 1.0]), np.array([1.0, 0.5])], [(0.5, 1), (1, 0.5)]),
    "truth for ints": ([0, 1], [False, np.True_]),
    "ints for truth": ([False, True], [0, 1]),
    "truth inside": ([(0, 1), (1, 0)], [(False, True), np.array([True, False])]),
    "ints inside a dict": ([{"a": 1}, {"a": 0}], [{"a": True}, {"a": np.float64(0.0)}]),
    "single precision": ([0.1, 0.7], [np.float32(0.1), np.float32(0.7)]),
    "single precision inside": ([(0.1, 0.7), (0.7, 0.1)], [np.float32([0.1, 0.7]), np.float32([0.7, 0.1])]),
}


@pytest.mark.parametrize("name", FORMS)
def test_outcomes_in_another_form_do_not_speak_against_the_law(name):
    """If the law is right, an e-value passes 2e7 with probability at most 5e-8.

    There are 400 draws of each side.
    """
    response, rng = Response(*FORMS[name]), np.random.default_rng(8)
    for database in ([0], [1]):
        outputs = [response(database, rng) for _ in range(400)]
        assert law_log_e_value(response.distribution(database), outputs) < math.log(2e7)


@pytest.mark.parametrize("name", ["a sum in a tuple", "truth inside", "single precision"])
def test_code_that_writes_its_outcomes_in_another_form_is_proved(name):
    result = audit_privacy(Response(*FORMS[name]), budget=8_000)
    assert result.verdict is Verdict.PROVED, result.reason


STRAY = {
    "another number": ([0.3, 0.7], [0.3001, 0.7]),
    "another number inside": ([(0.3, 1), (0.7, 1)], [(0.3001, 1), (0.7, 1)]),
    "another length": ([(0, 1), (1, 0)], [(0, 1, 0), (1, 0)]),
    "text": ([0, 1], ["0", 1]),
    "one of a pair of close numbers": ([0.0, 1e-13], [5e-14, 1e-13]),
}


@pytest.mark.parametrize("name", STRAY)
def test_an_outcome_that_the_law_rules_out_is_an_error_that_names_the_outcome(name):
    said, returned = STRAY[name]
    result = audit_privacy(Response(said, returned), budget=8_000)
    assert result.verdict is Verdict.ERROR
    assert f"gave {returned[0]!r}, which the law says cannot occur" in result.reason


def test_outcomes_of_one_law_that_differ_in_form_only_stay_distinct():
    law = Finite([(1, 2), [1, 2], True, 1, "x"], [0.2] * 5)
    assert law.locate([(1, 2), [1, 2], True, 1]).tolist() == [0, 1, 2, 3]
    close = Finite([0.3, THIRD], [0.5, 0.5])
    assert close.locate([0.3, THIRD]).tolist() == [0, 1]


def test_a_law_with_two_outcomes_of_one_form_is_not_compared_by_form():
    """A comparison by form would merge the two outcomes of the first law.

    They have the same form as one outcome of the second law.
    """
    both, one = Finite([(1, 2), [1, 2]], [0.5, 0.5]), Finite([[1, 2], "x"], [0.5, 0.5])
    assert math.isinf(epsilon_at(both, one))
    assert math.isinf(epsilon_at(one, both))
    found = compare_pairs([(0, 1)], [both, one].__getitem__, PureDP(9.0))
    assert found.over
    assert found.by_epsilon.epsilon == math.inf
    third = Finite([[1, 2], (1, 2)], [0.5, 0.5])
    assert compare_pairs([(0, 1)], [both, third].__getitem__, PureDP(0.0)).within


def test_laws_that_write_an_outcome_in_two_forms_are_compared_as_one():
    laws = [
        Finite([0.3, 0.7], [0.5, 0.5]),
        Finite([THIRD, 0.7], [0.5, 0.5]),
        Finite([(1, 0.3), (2, 0.7)], [0.5, 0.5]),
        Finite([np.array([1, THIRD]), np.array([2, 0.7])], [0.5, 0.5]),
    ]
    claim = PureDP(0.0)
    assert compare_pairs([(0, 1)], laws.__getitem__, claim).within
    assert compare_pairs([(2, 3)], laws.__getitem__, claim).within
    products = [Product([law]) for law in laws[:2]]
    assert compare_pairs([(0, 1)], products.__getitem__, claim).within


@pytest.mark.parametrize(
    ("law", "convert"),
    [
        (Density.uniform(0.1, 0.3), np.float32),
        (Mixture.from_clamped(Density.laplace(0.2, 0.1), 0.1, 0.3), np.float32),
        (Countable.geometric(0, 2.0), lambda k: k * 0.1 / 0.1),
        (Product([Density.uniform(0.1, 0.3), Countable.geometric(0, 2.0)]), np.float32),
    ],
    ids=["density", "clamped", "integers", "vector"],
)
def test_outputs_of_few_digits_do_not_speak_against_a_law(law, convert):
    outputs = law.sample(4_000, np.random.default_rng(3))
    assert law_log_e_value(law, convert(outputs)) < math.log(1e6)
    ends = convert(np.array([0.1, 0.3])) if isinstance(law, Density | Mixture) else []
    assert not any(len(ends) and (each.locate(ends) < 0).any() for each in law.partitions())


class Single:
    """A subject that samples in single precision and calls in double."""

    claim = PureDP(1.0)
    records = (0, 1)
    size = 1

    def __call__(self, database, rng):
        return (database[0] + rng.geometric(0.5) - rng.geometric(0.5)) / 3.0

    def sample(self, database, size, rng):
        return ((database[0] + rng.geometric(0.5, size) - rng.geometric(0.5, size)) / 3.0).astype(np.float32)


def test_a_sample_in_single_precision_beside_calls_in_double_is_no_disagreement():
    """The outputs are thirds of integers.

    The two precisions differ on all outputs that are not integers. No third lies on the border between
    two rounded decimals.
    """
    result = audit_privacy(Single(), budget=20_000)
    assert result.verdict is Verdict.NOT_REFUTED


@pytest.mark.parametrize("value", [2.0**-15, 0.12345678905, 1.0, 1e300, 1e-12, 12345.6789012345])
def test_a_number_and_its_neighbouring_floats_have_one_form(value):
    near = [value, *(value * (1.0 + k * 2.0**-52) for k in (-4, -1, 1, 4))]
    assert len({form_key((x,)) for x in near}) == 1
    assert form_key((value,)) != form_key((value * (1.0 + 1e-9),))
