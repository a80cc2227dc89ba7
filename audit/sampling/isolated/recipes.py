"""How a process that never saw a subject makes it anew: by import, by its constructor, or from its code.

A copy of a subject has whatever was drawn when the subject was made: noise kept in an attribute, in a closure
or in a global of its module. What is made anew draws its own, so only such a subject shows, run for run, what
the claim is about. What can be made anew in no way is told apart from that here, and never guessed at.
"""

import functools
import inspect
import pickle
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final

from audit.sampling.remake.holdings import keeps_data, slots_of
from audit.sampling.remake.modules import is_importable, users_modules
from audit.sampling.remake.places import Place, find_place
from audit.sampling.shipping import pack
from audit.subject.signatures import Calling
from audit.subject.subject import Around, Renewed

_PLAIN: Final = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_PLAIN_MODULES: Final = ("fractions", "decimal", "numpy")
_CODE: Final = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, type)
_MISSING: Final = object()


@dataclass(frozen=True)
class Recipe:
    """A subject as a process makes it that never saw it.

    Parameters
    ----------
    text
        The packed maker.
    calling
        How the subject gets its generator.
    by_value
        Names of the modules that could not be imported there.
    """

    text: bytes
    calling: Calling
    by_value: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Constructed:
    """An object by the class and the arguments that it is constructed with."""

    kind: Any
    arguments: Mapping[str, Any]

    def make(self) -> Any:
        return made(self.kind)(**{name: made(maker) for name, maker in self.arguments.items()})


@dataclass(frozen=True)
class _Member:
    """A method, or another part, of something made anew."""

    owner: Any
    name: str

    def make(self) -> Any:
        return getattr(made(self.owner), self.name)


@dataclass(frozen=True)
class _Partial:
    """A function made anew, with arguments that its user gave."""

    function: Any
    positional: tuple[Any, ...]
    keywords: Mapping[str, Any]

    def make(self) -> Any:
        return functools.partial(made(self.function), *self.positional, **self.keywords)


@dataclass(frozen=True)
class _Renewing:
    """A subject whose every run has a new one from a factory."""

    factory: Any
    calling: Calling

    def make(self) -> Any:
        return Renewed(made(self.factory), self.calling)


@dataclass(frozen=True)
class _Surrounding:
    """Code of ours around a subject made anew."""

    shell: Around
    inner: Any

    def make(self) -> Any:
        return replace(self.shell, inner=made(self.inner))


@dataclass(frozen=True)
class _AsItIs:
    """A function that holds no data, by its code; or what the user says makes a new subject."""

    value: Any

    def make(self) -> Any:
        return self.value


def made(maker: Any) -> Any:
    """Return what an unpacked maker makes, in the process that wants it.

    Examples
    --------
    >>> made(_AsItIs(len)) is len
    True
    """
    return maker.load() if isinstance(maker, Place) else maker.make()


def recipe_of(subject: Any, calling: Calling, *, at_first: Any = None) -> Recipe | None:
    """Return how a subject is made anew, or None where it cannot be.

    Parameters
    ----------
    subject
        The user's object.
    calling
        How it gets its generator.
    at_first
        A copy of it as it was before its first run, where its attributes are read.

    Examples
    --------
    >>> recipe_of(lambda database, rng: sum(database), Calling(takes_rng=True)) is None
    False
    >>> noise = 1.25
    >>> recipe_of(lambda database, rng: sum(database) + noise, Calling(takes_rng=True)) is None
    True
    """
    maker = _maker(subject, subject if at_first is None else at_first)
    if maker is None:
        return None
    by_code = isinstance(maker.inner if isinstance(maker, _Surrounding) else maker, _AsItIs)
    by_value = tuple(m.__name__ for m in users_modules() if by_code or not is_importable(m))
    try:
        return Recipe(pack(maker, by_value=by_value), calling, by_value)
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return None


def _maker(value: Any, at_first: Any = None) -> Any:
    if isinstance(value, Around):
        return _surrounding(value, at_first)
    if isinstance(value, Renewed):
        return _Renewing(_maker(value.factory) or _AsItIs(value.factory), value.calling)
    if isinstance(value, functools.partial):
        inner = _maker(value.func)
        plain = all(map(_is_plain, (*value.args, *value.keywords.values())))
        return _Partial(inner, value.args, value.keywords) if inner is not None and plain else None
    if isinstance(value, types.MethodType):
        return _method(value, at_first)
    if isinstance(value, types.FunctionType | type | types.BuiltinFunctionType):
        # By its code, where that is all there is: no module need be imported, and a script may have audited
        # before it came to define this.
        by_name = not isinstance(value, types.BuiltinFunctionType) and keeps_data(value)
        return _named(value) if by_name else _AsItIs(value)
    return find_place(value) or _constructed(value, value if at_first is None else at_first)


def _surrounding(value: Around, at_first: Any) -> Any:
    inner = _maker(value.inner, getattr(at_first, "inner", None))
    return None if inner is None else _Surrounding(value.shell(), inner)


def _method(value: types.MethodType, at_first: Any) -> Any:
    owner = _maker(value.__self__, getattr(at_first, "__self__", None))
    return None if owner is None else _Member(owner, value.__func__.__name__)


def _named(value: Any) -> Any:
    """Return how a function or class is imported by its name, or None."""
    module = sys.modules.get(value.__module__)
    file = getattr(module, "__file__", None)
    if module is None or file is None or "<" in value.__qualname__:
        return None
    found: Any = module
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is not value:
        return None
    first, *rest = value.__qualname__.split(".")
    maker: Any = Place(module.__name__, file, first)
    for name in rest:
        maker = _Member(maker, name)
    return maker


def _constructed(value: Any, at_first: Any) -> Any:
    """Return how an object is constructed anew: from its attributes named as its constructor's parameters.

    The new object must be as the old one was, or differ from a second new one: a constructor that draws. What
    keeps its arguments in another form cannot be made anew from them.
    """
    own = type(value)
    kind, arguments = _maker(own), _arguments(value, at_first)
    if kind is None or arguments is None:
        return None
    try:
        first, second = own(**arguments), own(**arguments)
        texts = [pickle.dumps(_state(each)) for each in (at_first, first, second)]
    except Exception:  # noqa: BLE001  a constructor of the user's may do anything
        return None
    if texts[0] != texts[1] and texts[1] == texts[2]:
        return None
    makers = {
        name: _maker(held) if isinstance(held, _CODE) else _AsItIs(held) for name, held in arguments.items()
    }
    return None if None in makers.values() else _Constructed(kind, makers)


def draws_when_made(value: Any, times: int) -> bool:
    """Whether so many objects constructed as this one was differ; False where that cannot be told.

    **Guarantee.** If a constructor gives some states with probability p, and others else, that goes unseen
    with probability at most p^times + (1 − p)^times.

    Examples
    --------
    >>> import random
    >>> class Lucky:
    ...     def __init__(self):
    ...         self.luck = random.random() < 0.5
    >>> draws_when_made(Lucky(), 40), draws_when_made(len, 40)
    (True, False)
    """
    arguments = None if isinstance(value, _CODE) else _arguments(value, value)
    if arguments is None:
        return False
    try:
        texts = (pickle.dumps(_state(type(value)(**arguments))) for _ in range(times))
        return len(set(texts)) > 1
    except Exception:  # noqa: BLE001  a constructor of the user's may do anything
        return False


def _state(value: Any) -> Any:
    own = {name: getattr(value, name, None) for kind in type(value).__mro__ for name in slots_of(kind)}
    own |= getattr(value, "__dict__", {})
    return {name: held for name, held in own.items() if not callable(held)}


def _arguments(value: Any, at_first: Any) -> dict[str, Any] | None:
    """Return what an object was constructed with, data as it was at first, code as it is; None if unknown."""
    if is_dataclass(value):
        names = [each.name for each in fields(value) if each.init]
    else:
        try:
            parameters = list(inspect.signature(type(value)).parameters.values())
        except (TypeError, ValueError):
            return None
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters):
            return None
        names = [p.name for p in parameters if p.default is p.empty or hasattr(value, p.name)]
    found = {}
    for name in names:
        held = getattr(value, name, _MISSING)
        found[name] = held if isinstance(held, _CODE) else getattr(at_first, name, _MISSING)
        if not isinstance(held, _CODE) and not _is_plain(found[name]):
            return None
    return found


def _is_plain(value: Any) -> bool:
    """Whether a value may be handed to a constructor again: plain data, or a frozen value of such."""
    if isinstance(value, tuple | list | frozenset | set):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(held) for key, held in value.items())
    parameters = getattr(type(value), "__dataclass_params__", None)
    if parameters is not None and parameters.frozen:
        return all(_is_plain(getattr(value, each.name)) for each in fields(value) if each.init)
    return type(value) in _PLAIN or type(value).__module__ in _PLAIN_MODULES
