"""What a subject holds, and the data that its code refers to."""

import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from audit.sampling.remake.modules import is_users
from audit.subject.subject import Around
from audit.values.brief import slots_of
from audit.values.canonical import content_of

_INNOCENT: Final = (type(None), bool, str, bytes, type(Ellipsis), types.ModuleType)


def keeps_data(value: Any) -> bool:
    """Return whether code refers to data that may have been drawn.

    The code is a user's function or class. Data are numbers and objects, but not strings, booleans, modules
    and installed code. The search follows closures, defaults, attributes and named globals through the user's
    own functions and classes.

    Examples
    --------
    >>> noise = 1.25
    >>> keeps_data(lambda database: noise), keeps_data(lambda database: len(database))
    (True, False)
    """
    value = value.inner if isinstance(value, Around) else value
    seen = {id(value)}
    waiting = list(_parts(value))
    while waiting:
        held = waiting.pop()
        if id(held) in seen or isinstance(held, _INNOCENT):
            continue
        seen.add(id(held))
        if isinstance(held, types.FunctionType | type) and not _is_own(held):
            continue
        if isinstance(held, tuple(_OPENED)):
            waiting.extend(_parts(held))
        elif not callable(held) or is_users(sys.modules.get(type(held).__module__)) or not _is_shared(held):
            return True
    return False


def _parts(value: Any) -> Iterable[Any]:
    for kind, parts in _OPENED.items():
        if isinstance(value, kind):
            return parts(value)
    return [type(value), *getattr(value, "__dict__", {}).values()]


def _is_own(value: Any) -> bool:
    if value.__module__ == "__main__" or "<locals>" in value.__qualname__:
        return True
    module = sys.modules.get(value.__module__)
    return module is None or is_users(module)


def _is_shared(value: Any) -> bool:
    """Return whether a callable, such as a ufunc, is in an installed module."""
    name, module = getattr(value, "__name__", None), getattr(type(value), "__module__", "")
    return isinstance(name, str) and getattr(sys.modules.get(module.partition(".")[0]), name, None) is value


def _members(kind: type) -> Iterator[Any]:
    skipped = {"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"}
    skipped |= {"__dataclass_fields__", "__dataclass_params__", "__match_args__", "__firstlineno__"}
    skipped |= {"__slotnames__"}  # pickling an object adds this to its class
    slots = {getattr(kind, name, None).__class__ for name in slots_of(kind)}
    for name, held in vars(kind).items():
        if name not in skipped and type(held) not in slots:
            yield held
    yield from (base for base in kind.__bases__ if base is not object)


def _reached(function: types.FunctionType) -> Iterator[Any]:
    yield from map(content_of, function.__closure__ or ())
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from vars(function).values()
    for name in names_in(function.__code__):
        if name in function.__globals__:
            yield function.__globals__[name]


def names_in(code: types.CodeType) -> set[str]:
    """Return the names that a code object and its inner functions use.

    Examples
    --------
    >>> sorted(names_in((lambda: (len, lambda: sum)).__code__))
    ['len', 'sum']
    """
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return {*code.co_names}.union(*map(names_in, inner))


#: Maps each type to a function that opens a value of this type, to look for data inside.
_OPENED: Final[dict[type, Callable[[Any], Iterable[Any]]]] = {
    types.FunctionType: _reached,
    # for example the generator of a bound `laplace`
    types.BuiltinFunctionType: lambda value: [value.__self__],
    types.MethodType: lambda value: [value.__self__, value.__func__],
    type: _members,
    staticmethod: lambda value: [value.__func__],
    classmethod: lambda value: [value.__func__],
    property: lambda value: [value.fget, value.fset],
    functools.partial: lambda value: [value.func, *value.args, *value.keywords.values()],
}
