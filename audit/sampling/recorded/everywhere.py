"""Record the draws of code that takes no `rng`.

They come from global generators, and from generators that the code makes.

Recording replaces functions and classes inside modules, so use it only in a process that ends afterwards.
"""

import contextlib
import functools
import gc
import random
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from audit.sampling.recorded.generator import RecordingGenerator, Tape, drawing_methods

_SEED_NUMPY: Final = np.random.seed
_GENERATOR: Final = np.random.Generator
#: The global generators are seeded with a run's seed plus this number. So if the code itself seeds a
#: generator with the run's seed, this generator differs from the global ones.
_APART: Final = 0x5EED_0000


@dataclass(eq=False)
class Reel:
    """Records runs. It holds the tape and the seed of the current run, and the number of runs so far."""

    tape: Tape = field(default_factory=Tape)
    seed: int = 0
    runs: int = 0

    @functools.cached_property
    def entropy(self) -> np.random.Generator:
        """The source of seeds for generators that the code makes without a seed."""
        return _GENERATOR(np.random.PCG64(self.seed))

    def start(self, tape: Tape, seed: int) -> None:
        """Start a run that records on this tape. `seed` seeds the generators that the code does not seed."""
        self.tape, self.seed = tape, seed
        self.runs += 1
        vars(self).pop("entropy", None)  # it is made anew for the seed
        _SEED_NUMPY(_APART + seed)
        random.seed(_APART + seed)


#: Packages whose own references are not replaced. `tempfile` is listed because it draws the names of files.
_THEMSELVES: Final = frozenset({"audit", "numpy", "random", "secrets", "tempfile"})


@contextlib.contextmanager
def recorded_everywhere() -> Iterator[Reel]:
    """Record draws from numpy.random, `RandomState`, random and secrets while the context is open.

    Three kinds of draws are not recorded. They come from bit generators called directly, from generators of
    other libraries, and from generators made before the context was opened. If a subject holds such a
    generator, `Twins` replaces it in a copy of the subject.

    Examples
    --------
    >>> with recorded_everywhere() as reel:
    ...     tape = Tape()
    ...     reel.start(tape, seed=1)
    ...     _ = np.random.default_rng(0).laplace(), np.random.normal(), random.random(), secrets.randbelow(9)
    >>> [(draw.method, draw.own) for draw in tape.draws]
    [('laplace', True), ('normal', False), ('random', False), ('randbelow', False)]
    """
    reel = Reel()
    replaced = [(holder, name, getattr(holder, name), new) for holder, name, new in _replacements(reel)]
    places = [*_holding({id(old): (old, new) for _, _, old, new in replaced})]
    with contextlib.ExitStack() as undo:
        for holder, name, old, new in replaced:
            undo.callback(setattr, holder, name, old)
            setattr(holder, name, new)
        for space, name, old, new in places:
            undo.callback(space.__setitem__, name, old)
            space[name] = new
        yield reel


def _holding(news: Mapping[int, tuple[Any, Any]]) -> Iterator[tuple[dict[str, Any], str, Any, Any]]:
    """Yield module globals as (dict, name, replaced object, new object)."""
    for space in gc.get_referrers(*(old for old, _ in news.values())):
        if not (isinstance(space, dict) and "__name__" in space and "__builtins__" in space):
            continue  # these are not the globals of a module
        if str(space["__name__"]).partition(".")[0] not in _THEMSELVES:
            held = [(name, value) for name, value in space.items() if id(value) in news]
            yield from ((space, name, *news[id(value)]) for name, value in held)


_Replacement = tuple[Any, str, Any]
"""The module or class that holds a replaced object, the name of that object, and its replacement."""


def _replacements(reel: Reel) -> Iterator[_Replacement]:
    yield from _of_generators(reel)
    of_numpy = drawing_methods(np.random.RandomState)
    for name in of_numpy:
        if hasattr(np.random, name):
            yield np.random, name, _function(reel, name, getattr(np.random, name))
    yield np.random, "RandomState", _seeded(reel, np.random.RandomState, of_numpy, seeds=2**32)
    for name in _OF_RANDOM:
        yield random, name, _function(reel, name, getattr(random, name))
    methods = {name: getattr(random.Random, name) for name in _OF_RANDOM}
    yield random, "Random", _seeded(reel, random.Random, methods, seeds=2**63)
    for name in ("random", "getrandbits"):
        yield random.SystemRandom, name, staticmethod(_secret(reel, name))
    for name in ("randbelow", "choice", "randbits", "token_bytes"):
        yield secrets, name, _secret(reel, name)


def _of_generators(reel: Reel) -> Iterator[_Replacement]:
    """Yield replacements of `Generator` and `default_rng`."""
    default = np.random.default_rng

    class Own(RecordingGenerator, metaclass=_alike(_GENERATOR)):  # type: ignore[metaclass]
        def __init__(self, bit_generator: Any, tape: Any = None, *, own: bool = True) -> None:
            super().__init__(bit_generator, tape, own=own)

        tape = property(lambda _: reel.tape, lambda *_: None)  # the current run's tape

    def default_rng(seed: Any = None) -> np.random.Generator:
        if isinstance(seed, _GENERATOR):
            return seed
        if seed is None:
            return Own(np.random.PCG64(int(reel.entropy.integers(2**63))), own=False)
        return Own(default(seed).bit_generator)

    yield np.random, "Generator", Own
    yield np.random, "default_rng", default_rng


def _alike(kind: type) -> type:
    """Return a metaclass whose classes count instances of `kind` as theirs."""
    return type("Alike", (type,), {"__instancecheck__": lambda _, value: isinstance(value, kind)})


#: The functions of the module `random` that draw; `random.Random` has methods of the same names.
_OF_RANDOM: Final = tuple(
    name
    for name in random.__all__
    if name not in {"seed", "getstate", "setstate"} and not isinstance(getattr(random, name), type)
)


def _seeded(reel: Reel, kind: Any, methods: Mapping[str, Callable[..., Any]], *, seeds: int) -> type:
    """Return a class like `kind` that records the draws of `methods`.

    If the code gives no seed, the reel's source draws one below `seeds`.
    """

    class Own(kind, metaclass=_alike(kind)):  # type: ignore[metaclass, misc]
        def __init__(self, seed: Any = None) -> None:
            super().__init__(int(reel.entropy.integers(seeds)) if seed is None else seed)
            self.own = seed is not None

    for name, plain in methods.items():
        setattr(Own, name, _method(reel, name, plain))
    return Own


def _method(reel: Reel, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **named: Any) -> Any:
        return reel.tape.record(name, functools.partial(plain, self), args, named, own=self.own)

    return method


def _function(reel: Reel, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **named: Any) -> Any:
        return reel.tape.record(name, plain, args, named)

    return function


def _secret(reel: Reel, name: str) -> Callable[..., Any]:
    """Return a function for `secrets` that draws from the run's seed."""

    def function(*args: Any) -> Any:
        fresh = random.Random(int(reel.entropy.integers(2**63)))  # noqa: S311  it stands for the system's
        drawn: dict[str, Callable[..., Any]] = {
            "random": fresh.random,
            "getrandbits": fresh.getrandbits,
            "randbelow": fresh.randrange,
            "choice": fresh.choice,
            "randbits": fresh.getrandbits,
            "token_bytes": lambda count=32: fresh.randbytes(32 if count is None else count),
        }
        return reel.tape.record(name, drawn[name], args, {})

    return function
