"""Check that a subject is what it declares.

There is one check for each declaration. A check tests whether an audit can rely on the declaration. It does
not test whether the subject is private. Only declarations that the subject makes are checked. Runs are drawn
as in an audit.
"""

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import cloudpickle  # type: ignore[import-untyped]  # it has no stubs
import numpy as np

from audit.claims import check_claim, check_utility_claim
from audit.doors.declared import Declared
from audit.relations import Relation, check_relation, name_of
from audit.relations.relating import are_neighbours
from audit.sampling import CALLS, LAW, MutatedInput, Sampler
from audit.sampling.snapshots import Input, snapshot
from audit.values.brief import show
from audit.values.canonical import same
from audit.values.outcomes import Raised, Unfinished

SIGNIFICANCE = 1e-7
"""The chance that a subject which follows its declared law fails the check of that law."""

_CALLS = 24
"""Calls on each database. Suppose that `sample` follows the law of the calls and that k kinds of output
occur. Then the probability that calls and `sample` share no kind is at most 2^(k − 48): for each of the 2^k
sets of kinds, calls stay in the set and `sample` stays outside it with probability (s·(1 − s))^24 ≤ 2^−48,
where s is the probability of the set."""

_LAW_RUNS = 256
"""Runs on each database, both by calls and by `sample`, that are compared with the declared law."""


def check_subject(subject: Any) -> None:
    """Raise an AssertionError if a subject is not what it declares.

    Parameters
    ----------
    subject
        As for `audit_privacy` or `audit_utility`, or a catalogue `Entry`. It must declare databases or
        problems.

    Raises
    ------
    AssertionError
        The first check that fails, in one line.

    Examples
    --------
    >>> from audit import check_subject
    >>> class Count:
    ...     name, records, size = "count", [0, 1], 3
    ...     def __call__(self, database, rng):
    ...         return sum(database) + rng.integers(2)
    ...     def sample(self, database, size, rng):
    ...         return [self(database, rng)]
    >>> check_subject(Count())
    Traceback (most recent call last):
    AssertionError: count, sample: `sample(database, size, rng)` must return `size` outputs along its first
    axis; got list of length 1 for size 24.
    """
    case = Declared(subject)
    for check in _checks_of(case):
        check(subject)


def parametrize_with_checks(subjects: Iterable[Any]) -> Callable[[Any], Any]:
    """Return a decorator that runs a test once for each check of each subject.

    The test has the arguments ``subject`` and ``check``.

    Parameters
    ----------
    subjects
        As for `check_subject`.

    Examples
    --------
    >>> @parametrize_with_checks([len])
    ... def test_subject(subject, check):
    ...     check(subject)
    >>> [case.id for case in test_subject.pytestmark[0].args[1]]
    ['len-name', 'len-calls', 'len-input', 'len-copies']
    """
    import pytest

    checks = [check for subject in subjects for check in _checks_of(Declared(subject))]
    return pytest.mark.parametrize(
        ("subject", "check"), [pytest.param(check.case.given, check, id=str(check)) for check in checks]
    )


@dataclass(frozen=True, eq=False)
class _Check:
    """One check of one subject."""

    label: str
    check: Callable[[Declared], object]
    case: Declared

    def __call__(self, subject: Any) -> None:
        """Raise an AssertionError if the subject fails the check."""
        assert subject is self.case.given
        try:
            self.check(self.case)
        except Exception as error:  # noqa: BLE001  the user's code may raise anything
            fault = str(error) or type(error).__name__
            raise AssertionError(" ".join(f"{self.case.name}, {self.label}: {fault}".split())) from None

    def __str__(self) -> str:
        return f"{self.case.name}-{self.label}"


def _checks_of(case: Declared) -> list[_Check]:
    own, made = case.subject, case.made
    private = case.claim is not None or (case.entry is not None and case.entry.options is not None)
    applies: list[tuple[str, Callable[[Declared], object], bool]] = [
        ("name", _check_name, True),
        ("claim", lambda case: check_claim(case.claim), private),
        ("relation", lambda case: check_relation(case.relation), case.relation is not None),
        ("suggested-pairs", _check_suggested, own.suggested_pairs is not None),
        ("databases", _check_databases, case.has_domain),
        ("calls", _check_calls, True),
        ("sample", _check_sample, own.declared_sampler is not None),
        ("input", _check_input, True),
        ("seed", _check_seed, own.takes_rng),
        ("law", _check_law, own.distribution is not None),
        ("parameters", _check_parameters, getattr(made, "parameters", None) is not None),
        ("copies", _check_copies, True),
        ("utility", _check_utility, case.utility is not None),
        ("sample-size", _check_sample_size, case.utility is not None and _states_size(made)),
    ]
    return [_Check(label, check, case) for label, check, declared in applies if declared]


def _check_name(case: Declared) -> None:
    told = {"name": case.name, "reference": case.subject.reference}
    if case.entry is not None:
        told |= {"reference": case.entry.reference, "summary": case.entry.summary}
    for what, text in told.items():
        if text is not None and (not isinstance(text, str) or len(text.splitlines()) > 1):
            raise AssertionError(f"the `{what}` must be a text of one line; got {show(text)}")
    if not case.name.strip():
        raise AssertionError("the `name` must not be empty")


def _check_databases(case: Declared) -> None:
    if not case.pairs:
        raise AssertionError("no two databases of its domain are neighbours")


def _check_suggested(case: Declared) -> None:
    relation = check_relation(Relation.REPLACE_ONE if case.relation is None else case.relation)
    assert case.subject.suggested_pairs is not None
    for left, right in case.subject.suggested_pairs():
        if not are_neighbours(relation, left, right):
            both = f"{show(left, 40)} and {show(right, 40)}"
            raise AssertionError(
                f"the suggested databases {both} are not neighbours under {name_of(relation)}"
            )


def _check_calls(case: Declared) -> None:
    silent = [each for side in case.calls for each in side if isinstance(each, Raised | Unfinished)]
    if silent:
        raise AssertionError(f"a call on a database of its domain {silent[0]}")


def _check_input(case: Declared) -> None:
    case.outputs(1, CALLS, copied=False)
    if case.subject.declared_sampler is not None:
        case.outputs(2, CALLS, singly=False, copied=False)
    law_of, given = case.subject.distribution, Input(case.pairs[0][0])
    if law_of is not None:
        law_of(given())
        try:
            given.check()
        except MutatedInput:
            raise AssertionError("`distribution` changes the database that it is given.") from None


def _check_sample(case: Declared) -> None:
    ways = (case.outputs(_CALLS, LAW, singly=singly) for singly in (True, False))
    for called, drawn, database in zip(*ways, case.pairs[0], strict=True):
        kinds = [{_kind(each) for each in side} for side in (called, drawn)]
        if not kinds[0] & kinds[1]:
            few = [", ".join(sorted(some)) for some in kinds]
            raise AssertionError(
                f"on {show(database, 40)} `sample` returns {few[1]} where calls return {few[0]}"
            )


def _check_seed(case: Declared) -> None:
    for way, singly in case.ways:
        if not case.repeats(singly=singly):
            raise AssertionError(f"the outputs of {way} differ between runs with the same seed")


def _check_law(case: Declared) -> None:
    from audit.distributions.law import Law
    from audit.laws.law_check import law_log_e_value

    assert case.subject.distribution is not None
    laws = [case.subject.distribution(snapshot(database)) for database in case.pairs[0]]
    if all(law is None for law in laws):  # no law for these databases: an audit uses runs instead
        return
    if not all(isinstance(law, Law) for law in laws):
        raise AssertionError(f"`distribution` must return a law of `audit.distributions`; got {show(laws)}")
    limit = math.log(len(laws) * len(case.ways) / SIGNIFICANCE)
    for way, singly in case.ways:
        drawn = case.outputs(_LAW_RUNS, LAW, singly=singly)
        for law, outputs, database in zip(laws, drawn, case.pairs[0], strict=True):
            if law_log_e_value(law, outputs) >= limit:
                raise AssertionError(
                    f"outputs of {way} on {show(database, 40)} do not follow the law of `distribution`"
                )


def _check_parameters(case: Declared) -> None:
    told = dict(case.made.parameters)
    build = _by_keywords(type(case.made) if case.entry is None else case.entry.factory)
    known = inspect.signature(build).parameters
    open_ended = any(each.kind is each.VAR_KEYWORD for each in known.values())
    unknown = set() if open_ended else set(told) - set(known)
    parts = getattr(case.made, "__dict__", {}).values()
    if any(same(getattr(part, "parameters", None), told) for part in parts):
        return  # the parameters are those of a subject inside it
    if unknown and isinstance(getattr(build, "func", build), type):
        raise AssertionError(f"`parameters` has {show(min(unknown))}, which its class does not take")
    try:
        again = build(**{name: value for name, value in told.items() if name not in unknown})
    except TypeError:
        if open_ended:  # it passes its keywords on, and the receiver may refuse one
            return
        raise
    if case.subject.takes_rng and not case.repeats(subject=again):
        raise AssertionError("a subject built from its `parameters` gives different outputs")


def _by_keywords(factory: Any) -> Any:
    """Return a factory without positional arguments.

    The positional arguments of a `partial` become keywords.
    """
    if not isinstance(factory, partial) or not factory.args:
        return factory
    placed = inspect.signature(factory.func).bind_partial(*factory.args).arguments
    return partial(factory.func, **placed, **factory.keywords)


def _check_copies(case: Declared) -> None:
    try:
        again = cloudpickle.loads(cloudpickle.dumps(case.made))
    except Exception as error:  # noqa: BLE001  an object of the user's may refuse in any way
        raise AssertionError(f"it cannot be pickled: {type(error).__name__}: {error}") from None
    if case.subject.takes_rng and not case.repeats(subject=again):
        raise AssertionError("a pickled copy gives different outputs")


def _check_utility(case: Declared) -> None:
    from audit.utility.experiment import largest_error, measured

    assert case.utility is not None
    claim = check_utility_claim(case.utility.get("claim", getattr(case.made, "utility_claim", None)))
    sound = case.entry is None or not case.entry.flaws  # a flaw may be a wrong sample size
    least = case.made.sample_size() if sound and _states_size(case.made) else 0
    for problem in {id(each): each for each in (case.problems[0], case.problems[-1])}.values():
        database = problem.draw(np.random.default_rng(0))
        if least and len(database) < least:
            fewer = f"{len(database)} records, fewer than `sample_size()`, {least}"
            raise AssertionError(f"the problem {show(problem.name, 40)} has {fewer}")
        with Sampler(case.subject, seed=0) as sampler:
            sampler.copy_inputs = True
            [runs] = sampler.draw(database, database, 1, (CALLS, 1), singly=True)
        for output in (*runs.left, *runs.right):
            _, fault = measured(problem, output, database, most=largest_error(claim))
            if fault:
                raise AssertionError(f"the problem {show(problem.name, 40)} {fault}")


def _states_size(made: Any) -> bool:
    """Return whether a subject claims utility and states its sample size.

    Its `sample_size` must take `alpha` and `beta`.
    """
    asked = getattr(made, "sample_size", None)
    claims = getattr(made, "utility_claim", None) is not None
    return claims and callable(asked) and {"alpha", "beta"} <= set(inspect.signature(asked).parameters)


def _check_sample_size(case: Declared) -> None:
    assert case.utility is not None
    claim = check_utility_claim(case.utility.get("claim", getattr(case.made, "utility_claim", None)))
    stated = {f"{share:g} of its beta": share * claim.beta for share in (0.9, 0.8)}
    few, more = (case.made.sample_size(beta=beta) for beta in stated.values())
    if not all(isinstance(each, int) for each in (few, more)) or not 1 <= few <= more:
        raise AssertionError(
            f"`sample_size` must return a whole number ≥ 1 that falls in beta; got {few} and {more} "
            f"for {' and '.join(stated)}"
        )


def _kind(output: Any) -> str:
    """Return the kind of an output in a word. Numbers of every form and type are one kind."""
    from audit.distributions.forms import plain

    kinds = {int: "a number", float: "a number", complex: "a number", str: "text", tuple: "a sequence"}
    known = plain(output)
    return "None" if known is None else kinds.get(type(known), type(known).__name__)
