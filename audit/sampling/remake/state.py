"""The state of a subject before its first run, and fresh copies of it."""

import functools
import io
import pickle
import sys
import threading
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import cloudpickle  # type: ignore[import-untyped]

from audit.sampling.remake.modules import class_named, is_users, taken_by_value, users_modules
from audit.sampling.remake.reseeding import ORDINARY, Reseeding, Sources, StandIn
from audit.subject.subject import Around
from audit.values.compat import class_by_value

# Handles of the process cannot be copied and affect no output, so all copies share them.
_HANDLES = (type(threading.Lock()), type(threading.RLock()), io.IOBase)


class Pristine:
    """The state of a subject before its first run.

    Fresh copies are made from it. The class of the subject is copied by value, and so are the functions of
    the user's modules. The globals that they use are copied too, so a counter in a module is part of the
    state.

    Copies share installed packages and all other classes. So records stay instances of the classes that the
    mechanism knows. Generators inside are not state. Every copy has new generators.

    Parameters
    ----------
    mechanism
        The user's object, before its first run.

    Attributes
    ----------
    complete
        Whether the stored state includes that of the user's modules.
    sources
        The generators inside the subject.

    Examples
    --------
    >>> calls = []
    >>> pristine = Pristine(calls)
    >>> calls.append(1)
    >>> pristine.differs_from(calls), pristine.copy(Reseeding(0, ()))
    (True, [])
    """

    def __init__(self, mechanism: Any) -> None:
        self.complete = True
        self._text, met = _dumps(mechanism, by_value=True)
        self.sources = met.sources  # if pickling failed, only those found before the failure
        if self._text is None:
            self.complete = False
            self._text, met = _dumps(mechanism, by_value=False)
        self._shared = met.shared

    @property
    def copies(self) -> bool:
        """Whether the subject can be copied."""
        return self._text is not None

    def differs_from(self, mechanism: Any) -> bool | None:
        """Return whether the state of a mechanism differs from the stored one.

        If that is unknown, return None.
        """
        if self._text is None:
            return None
        differs = _dumps(mechanism, by_value=self.complete)[0] != self._text
        return differs if differs or self.complete else None

    def copy(self, reseeding: Reseeding) -> Any:
        """Return a fresh copy, with the generators that `reseeding` makes.

        Raises
        ------
        ValueError
            The subject cannot be copied.
        """
        if self._text is None:
            raise ValueError("the subject cannot be copied")
        return Reader(self._text, reseeding, self._shared).load()


_MACHINERY = frozenset({"__builtins__", "__cached__", "__loader__", "__spec__"})


class Writer(cloudpickle.Pickler):  # type: ignore[misc]  # cloudpickle has no types
    """Writes one pickle. Generators become placeholders, and classes are named in full.

    Parameters
    ----------
    tracked
        Whether two pickles of the same class load as one class (`class_by_value`).

    Examples
    --------
    >>> pickle.loads(Writer().write([1]))
    [1]
    """

    def __init__(self, *, tracked: bool = False) -> None:
        self._file = io.BytesIO()
        super().__init__(self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self.sources = Sources()
        self._tracked = tracked

    def write(self, value: Any) -> bytes:
        """Return the pickle of a value."""
        self.dump(value)
        return self._file.getvalue()

    def persistent_id(self, value: Any) -> Any:
        """Return the placeholder of a generator, or None if the value is not a generator."""
        return self.sources.stand_in(value)

    def reducer_override(self, value: Any) -> Any:
        """Return cloudpickle's reduction, with classes named in full.

        The reduction of a user's module leaves out `__loader__` and the like.
        """
        if isinstance(value, ModuleType) and value.__name__ in cloudpickle.list_registry_pickle_by_value():
            # The importer of a module is not state of the subject; under pytest it is pytest itself.
            state = {name: held for name, held in vars(value).items() if name not in _MACHINERY}
            return _module, (value.__name__, state)
        return class_by_value(value, super().reducer_override(value), tracked=self._tracked)


class _Copier(Writer):
    def __init__(self, owned: frozenset[type]) -> None:
        super().__init__()
        self._owned = owned
        self.shared: list[Any] = []

    def persistent_id(self, value: Any) -> Any:
        """Return the placeholder of a generator, a shared class or a handle.

        Return None for any other value: it is pickled as usual.
        """
        if type(value) in ORDINARY:
            return None
        is_class = isinstance(value, type) and value not in self._owned
        if is_class and value.__module__ == "builtins":
            return None
        if is_class or isinstance(value, _HANDLES):
            self.shared.append(value)
            return len(self.shared) - 1
        return super().persistent_id(value)

    def reducer_override(self, value: Any) -> Any:
        """Return the base class's reduction; in a copy, a user's cached function has an empty cache."""
        if isinstance(value, functools._lru_cache_wrapper) and is_users(sys.modules.get(value.__module__)):  # noqa: SLF001  the class has no public name
            return _cached, (value.__wrapped__, value.cache_parameters(), tuple(value.cache_info()))
        return super().reducer_override(value)


class Reader(pickle.Unpickler):
    """Reads a pickle that has placeholders for generators, shared objects and classes."""

    def __init__(self, text: bytes, reseeding: Reseeding, shared: Sequence[Any] = ()) -> None:
        super().__init__(io.BytesIO(text))
        self._reseeding = reseeding
        self._shared = shared

    def persistent_load(self, name: Any) -> Any:
        """Return what a placeholder stands for."""
        if isinstance(name, StandIn):
            return self._reseeding.make(name)
        return self._shared[name] if isinstance(name, int) else class_named(*name)


def _cached(function: Any, parameters: dict[str, Any], _info: tuple[Any, ...]) -> Any:
    """Return `function` with an empty cache. `_info` makes a pickle change once the cache has been used."""
    return functools.lru_cache(**parameters)(function)


def _module(name: str, state: dict[str, Any]) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(state)
    return module


def _dumps(mechanism: Any, *, by_value: bool) -> tuple[bytes | None, _Copier]:
    copier = _Copier(_owned_classes(mechanism) if by_value else frozenset())
    try:
        with taken_by_value([m.__name__ for m in users_modules()] if by_value else []):
            return copier.write(mechanism), copier
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return None, copier


def _owned_classes(mechanism: Any) -> frozenset[type]:
    """Return the classes whose attributes and methods belong to the subject."""
    while isinstance(mechanism, Around | functools.partial):
        mechanism = mechanism.inner if isinstance(mechanism, Around) else mechanism.func
    owner = getattr(mechanism, "__self__", mechanism)
    kind = owner if isinstance(owner, type) else type(owner)
    return frozenset(
        c for c in kind.__mro__ if c.__module__ == "__main__" or is_users(sys.modules.get(c.__module__))
    )
