"""Recipes that make a subject anew in a fresh process.

A recipe uses an import, the subject's constructor, or its code.

If a subject drew noise when it was made, a copy keeps that noise. A subject made anew draws its own noise. So
its runs are independent trials of the claim. If it is not certain how to make a subject anew, no recipe is
returned.
"""

import functools
import inspect
import pickle
import sys
import types
from dataclasses import fields, is_dataclass, replace
from operator import attrgetter
from typing import Any, Final

from audit.sampling.remake.holdings import keeps_data
from audit.sampling.remake.modules import Made, Place, find_place, is_importable, users_modules
from audit.sampling.shipping import Parcel, pack
from audit.subject.signatures import Calling
from audit.subject.subject import Around, Renewed
from audit.values.brief import attributes_of

_PLAIN: Final = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_PLAIN_MODULES: Final = ("fractions", "decimal", "numpy")
_CODE: Final = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, type)
_MISSING: Final = object()


def recipe_of(subject: Any, calling: Calling, *, seed: int, at_first: Any = None) -> Parcel | None:
    """Return the recipe to make a subject anew in a fresh process.

    If that is impossible, return None.

    Parameters
    ----------
    subject
        The user's object.
    calling
        How the subject gets its generator.
    seed
        The root of the seed tree.
    at_first
        A copy of the object from before its first run. The attributes are read from this copy.

    Examples
    --------
    >>> recipe_of(lambda database, rng: sum(database), Calling(takes_rng=True), seed=0) is None
    False
    >>> noise = 1.25
    >>> recipe_of(lambda database, rng: sum(database) + noise, Calling(takes_rng=True), seed=0) is None
    True
    """
    try:
        maker = _maker(subject, subject if at_first is None else at_first)
        core = maker.keywords["inner"] if isinstance(subject, Around) else maker
        by_code = not isinstance(core, Place | Made)
        by_value = tuple(m.__name__ for m in users_modules() if by_code or not is_importable(m))
        return Parcel(pack(maker, by_value=by_value), calling, seed, by_value)
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return None


def _maker(value: Any, at_first: Any = None) -> Any:
    """Return what `made` needs to make the object anew.

    If the object cannot be made anew, raise LookupError or the constructor's own error.
    """
    if isinstance(value, Around):
        inner = _maker(value.inner, getattr(at_first, "inner", None))
        return Made(replace, (replace(value, inner=None),), {"inner": inner})
    if isinstance(value, Renewed):
        try:
            factory = _maker(value.factory)
        except Exception:  # noqa: BLE001  it is what the user says makes a new subject
            factory = value.factory
        return Made(Renewed, (factory, value.calling))
    if isinstance(value, functools.partial):
        if not all(map(_is_plain, (*value.args, *value.keywords.values()))):
            raise LookupError("a partial with arguments that are not plain data")
        return Made(functools.partial, (_maker(value.func), *value.args), value.keywords)
    if isinstance(value, types.MethodType):
        owner = _maker(value.__self__, getattr(at_first, "__self__", None))
        return Made(getattr, (owner, value.__func__.__name__))
    if isinstance(value, types.FunctionType | type | types.BuiltinFunctionType):
        # A function without data is sent as code. No import is needed then, so this works even if a script
        # started the audit before it defined the function.
        by_name = not isinstance(value, types.BuiltinFunctionType) and keeps_data(value)
        return _named(value) if by_name else value
    return find_place(value) or _constructed(value, value if at_first is None else at_first)


def _named(value: Any) -> Place:
    """Return the place from which a function or class can be imported."""
    module = sys.modules.get(value.__module__)
    file = getattr(module, "__file__", None)
    if module is None or file is None or "<" in value.__qualname__:
        raise LookupError("not a global of a module with a file")
    if attrgetter(value.__qualname__)(module) is not value:
        raise LookupError("another value has its name")
    return Place(module.__name__, file, value.__qualname__)


def _constructed(value: Any, at_first: Any) -> Any:
    """Return the constructor call that makes an object anew.

    The arguments are the attributes of the same names. The new object must equal the old object before its
    first run. If two new objects differ from each other, the constructor draws, and this need not hold.

    An object that stores its arguments in another form cannot be made anew.
    """
    own = type(value)
    kind, arguments = _maker(own), _arguments(value, at_first)
    first, second = own(**arguments), own(**arguments)
    texts = [pickle.dumps(_state(each)) for each in (at_first, first, second)]
    if texts[0] != texts[1] and texts[1] == texts[2]:
        raise LookupError("its constructor makes another")
    makers = {name: _maker(held) if isinstance(held, _CODE) else held for name, held in arguments.items()}
    return Made(kind, (), makers)


def draws_when_made(value: Any, times: int) -> bool:
    """Return whether `times` objects constructed like this one differ.

    If that is unknown, return False.

    **Guarantee.** Take any set that contains the state of a constructed object with probability p. The chance
    that all states are equal is at most p^times + (1 − p)^times.

    Examples
    --------
    >>> import random
    >>> class Lucky:
    ...     def __init__(self):
    ...         self.luck = random.random() < 0.5
    >>> draws_when_made(Lucky(), 40), draws_when_made(len, 40)
    (True, False)
    """
    if isinstance(value, _CODE):
        return False
    try:
        arguments = _arguments(value, value)
        texts = (pickle.dumps(_state(type(value)(**arguments))) for _ in range(times))
        return len(set(texts)) > 1
    except Exception:  # noqa: BLE001  a constructor of the user's may do anything
        return False


def _state(value: Any) -> Any:
    return {name: held for name, held in attributes_of(value).items() if not callable(held)}


def _arguments(value: Any, at_first: Any) -> dict[str, Any]:
    """Return the arguments for the constructor, read from attributes.

    Functions and classes are read from the present object. Data are read from its state before the first run.
    """
    if is_dataclass(value):
        names = [each.name for each in fields(value) if each.init]
    else:
        parameters = list(inspect.signature(type(value)).parameters.values())
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters):
            raise LookupError("arguments without names")
        names = [p.name for p in parameters if p.default is p.empty or hasattr(value, p.name)]
    found = {}
    for name in names:
        held = getattr(value, name, _MISSING)
        found[name] = held if isinstance(held, _CODE) else getattr(at_first, name, _MISSING)
        if not isinstance(held, _CODE) and not _is_plain(found[name]):
            raise LookupError("an argument that is not plain data")
    return found


def _is_plain(value: Any) -> bool:
    """Return whether a value is plain data that a constructor may get again."""
    if isinstance(value, tuple | list | frozenset | set):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(held) for key, held in value.items())
    parameters = getattr(type(value), "__dataclass_params__", None)
    if parameters is not None and parameters.frozen:
        return all(_is_plain(getattr(value, each.name)) for each in fields(value) if each.init)
    return type(value) in _PLAIN or type(value).__module__ in _PLAIN_MODULES
