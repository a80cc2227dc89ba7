"""A digest of code and of the values that it holds. An audit continues a result only if the digests agree."""

import functools
import hashlib
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from audit.sampling.remake.holdings import names_in
from audit.sampling.remake.sources import Look, as_now, digest
from audit.values.canonical import content_of
from audit.values.outcomes import without_addresses

_NAMES = (type, types.BuiltinFunctionType, np.ufunc)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


_HOLDERS: tuple[tuple[Any, Callable[[Any], Iterable[Any]]], ...] = (
    (functools.partial, lambda value: (value.func, value.args, value.keywords)),
    (types.MethodType, lambda value: (value.__func__, value.__self__)),
    (types.CodeType, lambda value: (value.co_code, value.co_names, *value.co_consts)),
    (dict, lambda value: (*value.keys(), *value.values())),
    ((list, tuple), tuple),
)
"""Maps a type of values to a function that returns the contents of such a value."""


def digest_of(*values: Any, engine: str, look: Look | None = None) -> str:
    """Return a digest of functions and objects with their values and modules.

    Parameters
    ----------
    values
        Functions, objects or None.
    engine
        Our module that runs the functions or objects. The digest covers it too.
    look
        The reader of modules (`sources.as_now`), which many digests can share. If None, a new one is made.

    Returns
    -------
    str
        16 hexadecimal digits.

    Notes
    -----
    The digest covers source code. This is the code of the engine, of the functions, of the objects that the
    functions name, and of everything that these modules import.

    The digest also covers the values that the functions hold in closures, defaults, partials and attributes.
    Values that a module computes when it is imported are covered only by its source.

    Examples
    --------
    >>> of = lambda rate: digest_of(lambda value, m: rate, engine="audit.claims")
    >>> of(1) == of(1), of(1) == of(2)
    (True, False)
    """
    held = _Held()
    for value in values:
        held.add(value)
    sources = digest({engine, *held.modules}, look=look or as_now())
    return hashlib.sha256((held.text() + sources).encode()).hexdigest()[:16]


class _Held:
    """A digest of the values that are added to it. `modules` names the modules that they come from."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self._whole = hashlib.sha256()
        self._seen: dict[int, tuple[int, Any]] = {}

    def text(self) -> str:
        return self._whole.hexdigest()

    def add(self, value: Any) -> None:
        if isinstance(value, _PLAIN):
            return self._say(type(value).__name__, repr(value))
        known = self._seen.get(id(value))
        if known is not None:
            return self._say("again", str(known[0]))
        self._seen[id(value)] = len(self._seen), value  # keeps the id reserved
        for part in self._parts(value):
            self.add(part)
        return self._say("end")

    def _say(self, *words: str) -> None:
        self._whole.update("\0".join(words).encode("utf-8", "surrogatepass") + b"\1")

    def _named(self, value: Any) -> None:
        module = getattr(value, "__module__", None) or type(value).__module__
        self.modules.add(str(module))
        self._say(type(value).__name__, str(getattr(value, "__qualname__", None) or value.__name__))

    def _parts(self, value: Any) -> Iterator[Any]:
        """Yield the identity of a value, then its contents."""
        opened = next((parts for kind, parts in _HOLDERS if isinstance(value, kind)), None)
        if isinstance(value, types.ModuleType):
            self.modules.add(value.__name__)
        elif isinstance(value, _NAMES):
            self._named(value)
        elif isinstance(value, types.FunctionType):
            self._named(value)
            yield from _function(value)
        elif isinstance(value, (set, frozenset)):
            self._say("set", *sorted(self._alone(item) for item in value))
        elif opened is not None:
            yield type(value)
            yield from opened(value)
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self._say(value.dtype.str, str(value.shape), value.tobytes().hex())
        else:
            yield type(value)
            yield _state(value)

    def _alone(self, item: Any) -> str:
        inner = _Held()
        inner.add(item)
        self.modules |= inner.modules
        return inner.text()


def _function(function: types.FunctionType) -> Iterator[Any]:
    yield function.__code__
    yield function.__defaults__
    yield function.__kwdefaults__
    yield from map(content_of, function.__closure__ or ())
    for name in sorted(names_in(function.__code__)):
        named = function.__globals__.get(name)
        if isinstance(named, (types.ModuleType, types.FunctionType, type)):
            yield inspect.getmodule(named)


def _state(value: Any) -> Any:
    """Return the state of an object, or its `repr` if it shows no state."""
    try:
        state = value.__getstate__()
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        state = None
    if state is not None:
        return state
    try:
        return without_addresses(repr(value))
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return None
