"""How to call a mechanism, with or without a generator."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from audit.errors import SubjectError, blamed
from audit.values.brief import show

GENERATOR_NAMES: Final = ("rng", "random_state", "generator")
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Calling:
    """How a subject gets its generator.

    Parameters
    ----------
    takes_rng
        Whether the subject takes a generator.
    keyword
        The keyword parameter for the generator. If None, the generator is the second positional argument.

    Examples
    --------
    >>> Calling(takes_rng=True).bind(lambda database, rng: (database, rng))([1], "generator")
    ([1], 'generator')
    """

    takes_rng: bool
    keyword: str | None = None

    def bind(self, mechanism: Callable[..., Any]) -> Callable[[Any, Any], Any]:
        """Return a mechanism as a function of a database and a generator.

        Examples
        --------
        >>> Calling(takes_rng=False).bind(len)([7, 8], None)
        2
        """
        if not self.takes_rng:
            return lambda database, _rng: mechanism(database)
        if self.keyword is None:
            return mechanism
        keyword = self.keyword
        return lambda database, rng: mechanism(database, **{keyword: rng})


def read_calling(mechanism: Any) -> Calling:
    """Return how to call a mechanism, read from its signature.

    The first of these rules that applies decides. (i) The second positional parameter is named rng,
    random_state or generator: the generator is passed there. (ii) A later parameter has one of these names:
    the generator is passed by keyword. (iii) The mechanism requires a second positional argument: it is the
    generator. (iv) The mechanism gets the database alone.

    Raises
    ------
    SubjectError
        `mechanism` is a class, or cannot be called with a database and a generator.

    Examples
    --------
    >>> read_calling(lambda data, random_state=None: 0)
    Calling(takes_rng=True, keyword=None)
    >>> read_calling(lambda data, epsilon=1.0, rng=None: 0)
    Calling(takes_rng=True, keyword='rng')
    >>> read_calling(lambda data, epsilon=1.0: 0)
    Calling(takes_rng=False, keyword=None)
    >>> read_calling(lambda data, epsilon, rng: 0)
    Traceback (most recent call last):
    audit.errors.SubjectError: The mechanism `<lambda>` needs more than a database and a generator (data,
    epsilon, rng). Write: mechanism = lambda database, rng: f(database, epsilon=..., rng=rng) — and audit
    `mechanism`.
    """
    _refuse_what_is_no_mechanism(mechanism)
    if isinstance(mechanism, np.ufunc):  # whether ufuncs have signatures depends on numpy's version
        parameters = [inspect.Parameter(f"x{i}", _POSITIONAL[0]) for i in range(1, mechanism.nin + 1)]
        if len(parameters) > 1:
            raise _needs_more(mechanism, parameters)
        return Calling(takes_rng=False)
    found = parameters_of(mechanism)
    if found is None:
        said = f"The signature of `{spoken_name(mechanism)}` cannot be read."
        raise refusal(said, write="lambda database, rng: f(database, ...)")
    parameters = list(found.values())
    positional = [p for p in parameters if p.kind in _POSITIONAL]
    only_keyword = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    if not positional and not any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        said = f"The mechanism `{spoken_name(mechanism)}` takes no database as its first argument."
        raise refusal(said, write="lambda database, rng: f(...)")
    by_name = [p for p in [*positional[2:], *only_keyword] if p.kind is not inspect.Parameter.POSITIONAL_ONLY]
    keyword = next((p.name for p in by_name if p.name in GENERATOR_NAMES), None)
    second = positional[1] if len(positional) > 1 else None
    named = second is not None and second.name in GENERATOR_NAMES
    by_position = named or (second is not None and _required(second) and keyword is None)
    surplus = [*positional[2 if by_position else 1 :], *only_keyword]
    if any(_required(p) and (by_position or p.name != keyword) for p in surplus):
        raise _needs_more(mechanism, parameters)
    if by_position:
        return Calling(takes_rng=True)
    return Calling(takes_rng=keyword is not None, keyword=keyword)


def refusal(said: str, *, write: str) -> SubjectError:
    """Return an error that says what is wrong and what to audit instead.

    Examples
    --------
    >>> print(refusal("It takes no database.", write="lambda database: f()"))
    It takes no database. Write: mechanism = lambda database: f() — and audit `mechanism`.
    """
    return SubjectError(f"{said} Write: mechanism = {write} — and audit `mechanism`.")


def spoken_name(mechanism: Any) -> str:
    """Return the name of a mechanism.

    It is its `name`, else its qualified name, else the name of its class.

    Examples
    --------
    >>> spoken_name(len), spoken_name(functools.partial(sorted, reverse=True)), spoken_name(3.5)
    ('len', 'sorted', 'float')
    """
    name = getattr(mechanism, "name", None)
    if isinstance(name, str) and name:
        return name
    if isinstance(mechanism, functools.partial):
        return spoken_name(mechanism.func)
    name = getattr(mechanism, "__qualname__", None) or getattr(mechanism, "__name__", None)
    return name if isinstance(name, str) and name else type(mechanism).__qualname__


def instance_of(mechanism: Any) -> Any:
    """Return an instance of a class of mechanisms without arguments.

    Anything else is returned unchanged.

    Examples
    --------
    >>> class Count:
    ...     def __call__(self, database):
    ...         return len(database)
    >>> instance_of(Count)([1, 2]), instance_of(len) is len
    (2, True)
    """
    if not inspect.isclass(mechanism) or not _has_calls(mechanism) or hasattr(mechanism, "fit"):
        return mechanism
    if any(map(_required, (parameters_of(mechanism) or {}).values())):
        return mechanism
    with blamed(f"`{mechanism.__name__}` cannot be built"):
        return mechanism()


def _has_calls(kind: type) -> bool:
    return any("__call__" in vars(each) for each in kind.__mro__)


def parameters_of(function: Any) -> dict[str, inspect.Parameter] | None:
    """Return the parameters of a callable by name. If it has no readable signature, return None."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def _refuse_what_is_no_mechanism(mechanism: Any) -> None:
    name = spoken_name(mechanism)
    fits = callable(getattr(mechanism, "fit", None))
    if fits and (inspect.isclass(mechanism) or not callable(mechanism)):
        built = mechanism.__name__ if inspect.isclass(mechanism) else f"{type(mechanism).__name__}(...)"
        raise SubjectError(
            f"`{name}` is an estimator; audit what it releases after its `fit`: "
            f'`audit.adapters.sklearn({built}, attributes=["..."])`.'
        )
    kind = mechanism if inspect.isclass(mechanism) else type(mechanism)
    if inspect.isclass(mechanism) and _has_calls(kind):
        raise SubjectError(f"`{name}` is a class; audit an instance of it: `{mechanism.__name__}(...)`.")
    if inspect.isclass(mechanism) or not callable(mechanism):
        said = f"A mechanism must be a callable (database, rng) -> output; got {show(mechanism)}."
        if kind.__module__ != "builtins":
            said += (
                f" Make a new `{kind.__name__}` in a function that returns all it releases of the database."
            )
        raise refusal(said, write="lambda database, rng: ...")
    body = mechanism if inspect.isroutine(mechanism) else getattr(type(mechanism), "__call__", None)  # noqa: B004  its kind is what is asked
    if inspect.iscoroutinefunction(body) or inspect.isasyncgenfunction(body):
        said = f"The mechanism `{name}` is a coroutine function."
        raise refusal(said, write="lambda database, rng: asyncio.run(f(database, rng))")
    if inspect.isgeneratorfunction(body):
        said = f"The mechanism `{name}` is a generator function; its output would be the generator."
        raise refusal(said, write="lambda database, rng: list(f(database, rng))")


def _required(parameter: inspect.Parameter) -> bool:
    variadic = parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.default is inspect.Parameter.empty and not variadic


def _needs_more(mechanism: Any, parameters: Sequence[inspect.Parameter]) -> SubjectError:
    required = [p for p in parameters if _required(p) or p.name in GENERATOR_NAMES]
    names, passed = ", ".join(p.name for p in required), ", ".join(_argument(p) for p in required[1:])
    said = f"The mechanism `{spoken_name(mechanism)}` needs more than a database and a generator ({names})."
    return refusal(said, write=f"lambda database, rng: f(database, {passed})")


def _argument(parameter: inspect.Parameter) -> str:
    value = "rng" if parameter.name in GENERATOR_NAMES else "..."
    return value if parameter.kind is inspect.Parameter.POSITIONAL_ONLY else f"{parameter.name}={value}"
