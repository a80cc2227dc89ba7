"""How a mechanism is read: its signature, its name and its declarations."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

from audit import PureDP, Verdict, audit_privacy
from audit.errors import InvalidKind, SubjectError
from audit.subject.subject import adapt


class Object:
    claim = "a claim"
    aligned = True

    def __call__(self, database, rng):
        return (database, rng)

    def sample(self, database, size, rng):
        return [(database, rng)] * size

    def distribution(self, database):
        return ("law", database)

    def method(self, database, generator=None):
        return (database, generator)


def required_second(database, anything):
    return (database, anything)


def named_second(database, random_state=None):
    return (database, random_state)


def named_keyword(database, *, epsilon=1.0, generator=None):
    return (database, generator)


def variadic(*databases, **options):
    return (*databases, options.get("rng", "no generator"))


def epsilon_second(database, epsilon=1.0, rng="no generator"):
    return (database, rng)


def epsilon_required(database, epsilon, rng):
    return (database, rng)


def epsilon_required_and_rng_not(database, epsilon, rng=None):
    return (database, rng)


@pytest.mark.parametrize(
    "mechanism",
    [
        required_second,
        named_second,
        named_keyword,
        epsilon_second,
        Object(),
        Object().method,
        functools.partial(epsilon_required, epsilon=1.0),
        functools.partial(named_second, random_state="bound by the user"),
    ],
)
def test_a_generator_is_passed_if_the_signature_has_room_for_one(mechanism):
    subject = adapt(mechanism)
    assert subject.takes_rng
    assert subject.call([1], "generator") == ([1], "generator")


@pytest.mark.parametrize("mechanism", [variadic, lambda database: (database, "no generator")])
def test_only_the_database_is_passed_otherwise(mechanism):
    subject = adapt(mechanism)
    assert not subject.takes_rng
    assert subject.call([1], "generator") == ([1], "no generator")


@pytest.mark.parametrize(
    ("mechanism", "expected"), [(len, 2), (sum, 3), (np.exp, pytest.approx(np.exp([1, 2])))]
)
def test_builtins_and_ufuncs_of_one_argument_are_mechanisms(mechanism, expected):
    assert adapt(mechanism).call([1, 2], None) == expected


def three(database, epsilon, delta, /, *, scale):
    raise AssertionError


async def coroutine(database, rng):
    raise AssertionError


def generating(database, rng):
    yield database


class Fed:
    """A stream counter that takes one record at a time."""

    def add(self, record):
        return record


class Needy(Object):
    def __init__(self, epsilon):
        self.epsilon = epsilon


def test_a_class_that_is_built_without_arguments_is_its_instance():
    assert adapt(Object).call([1], "rng") == ([1], "rng")
    assert (adapt(Object).name, adapt(Object).claim) == (adapt(Object()).name, "a claim")


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (three, r"lambda database, rng: f\(database, \.\.\., \.\.\., scale=\.\.\.\)"),
        (epsilon_required, r"lambda database, rng: f\(database, epsilon=\.\.\., rng=rng\)"),
        (epsilon_required_and_rng_not, r"lambda database, rng: f\(database, epsilon=\.\.\., rng=rng\)"),
        (lambda: 0, "takes no database"),
        (lambda *, data: 0, "takes no database"),
        (lambda data, *, epsilon: 0, r"f\(database, epsilon=\.\.\.\)"),
        (np.add, "needs more than a database"),
        (max, "signature of `max` cannot be read"),
        (Needy, r"is a class; audit an instance of it: `Needy\(\.\.\.\)`"),
        (3.5, r"\(database, rng\) -> output; got 3\.5\. Write"),
        (Fed, "Make a new `Fed` in a function that returns all it releases of the database"),
        (Fed(), "Make a new `Fed` in a function that returns all it releases of the database"),
        (coroutine, "coroutine"),
        (generating, "generator function"),
    ],
)
def test_a_subject_that_cannot_be_called_is_refused_in_one_line_with_what_to_write(mechanism, words):
    with pytest.raises(SubjectError, match=words) as caught:
        adapt(mechanism)
    assert "\n" not in str(caught.value)


def test_the_lambda_that_the_refusal_suggests_is_accepted():
    assert adapt(lambda database, rng: epsilon_required(database, epsilon=1.0, rng=rng)).takes_rng


class Named(Object):
    name = "Laplace, flawed"


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        (Named(), "Laplace, flawed"),
        (Object(), "Object"),
        (Object().method, "Object.method"),
        (required_second, "required_second"),
        (functools.partial(required_second), "required_second"),
        (len, "len"),
    ],
)
def test_a_subject_is_called_by_its_name_or_that_of_its_function_or_class(mechanism, name):
    assert adapt(mechanism).name == name


def test_declarations_of_an_object_are_kept():
    subject = adapt(Object())
    assert (subject.claim, subject.relation, subject.aligned) == ("a claim", None, True)
    assert subject.declared_sampler([1], 2, "rng") == [([1], "rng")] * 2
    assert subject.distribution([1]) == ("law", [1])
    assert adapt(subject) is subject


def test_a_declaration_that_cannot_be_read_is_named():
    class Broken(Object):
        @property
        def records(self):
            raise LookupError("no such file")

    with pytest.raises(
        SubjectError, match=r"`records` of `.*Broken` cannot be read: LookupError: no such file"
    ):
        adapt(Broken())


def test_convert_is_applied_to_every_database():
    subject = adapt(Object(), convert=tuple)
    assert subject.call([1], "rng") == ((1,), "rng")
    assert subject.declared_sampler(subject.prepare([1]), 1, "rng") == [((1,), "rng")]
    assert subject.distribution([1]) == ("law", (1,))


def test_a_failing_convert_is_reported_with_its_own_message():
    with pytest.raises(SubjectError, match="`convert` failed on a database: ValueError: bad row"):
        adapt(len, convert=_bad).call([1], None)


def _bad(_database):
    raise ValueError("bad row")


def test_parameters_are_the_fields_of_a_dataclass_or_the_keywords_of_a_partial():
    @dataclass(frozen=True)
    class Noisy:
        scale: float = 2.0

        def __call__(self, database, rng):
            raise AssertionError

    assert adapt(Noisy()).parameters == {"scale": 2.0}
    assert adapt(functools.partial(epsilon_required, epsilon=1.0)).parameters == {"epsilon": 1.0}


class Half:
    def __call__(self, database, rng):
        return 0

    def sample(self, database, size, rng):
        return [0] * size


class Replaced(Half):
    def __call__(self, database, rng):
        return database[0]


class Further(Replaced):
    pass


class Both(Half):
    def __call__(self, database, rng):
        return 1

    def sample(self, database, size, rng):
        return [1] * size


class Sampling:
    def sample(self, database, size, rng):
        return [self(database, rng) for _ in range(size)]


class Mixed(Sampling):
    def __call__(self, database, rng):
        return 2


@pytest.mark.parametrize(
    ("kind", "kept"), [(Half, True), (Replaced, False), (Further, False), (Both, True), (Mixed, True)]
)
def test_an_inherited_sampler_is_not_used_for_an_overridden_call(kind, kept):
    assert (adapt(kind()).declared_sampler is not None) == kept


def test_a_leak_in_an_overridden_call_is_refuted_although_the_inherited_sampler_is_clean():
    result = audit_privacy(Replaced(), PureDP(1.0), records=[0, 1], size=2)
    assert result.verdict is Verdict.REFUTED


def test_an_audit_of_many_runs_at_once_says_that_single_calls_were_not_tested():
    said = audit_privacy(Both(), PureDP(1.0), records=[0, 1], size=2, budget=2_000).not_tested
    assert [line for line in said if "came from its `sample`" in line]
    said = audit_privacy(Replaced(), PureDP(1.0), records=[0, 1], size=2).not_tested
    assert not [line for line in said if "came from its `sample`" in line]


def test_a_name_given_to_an_audit_is_what_results_call_the_mechanism():
    from audit import Accuracy, audit_utility
    from audit.problems import FixedProblem

    result = audit_privacy(lambda rows: 0, PureDP(1.0), records=[0, 1], size=2, budget=400, name="no answer")
    assert result.subject == "no answer"
    assert str(result).splitlines()[0].startswith("NOT_REFUTED  no answer")
    problem = FixedProblem("one", [1], lambda output, database: 0.0)
    assert audit_utility(sum, Accuracy(1, 0.5), problems=[problem], name="total").subject == "total"


@pytest.mark.parametrize("name", ["", " ", 3])
def test_an_invalid_name_is_refused(name):
    with pytest.raises(InvalidKind, match="The `name` must be a text; got"):
        adapt(len, name=name)
