"""The same for code that draws its own noise: generators that a process makes or has record too.

It replaces what modules hold, so it belongs into a process that ends afterwards.
"""

import contextlib
import gc
import random
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from audit.sampling.recorded.generator import RecordingGenerator, Tape, drawing_methods


@dataclass(eq=False)
class Reel:
    """The tape of the run that is under way, and the seed of what has none of its own."""

    tape: Tape = field(default_factory=Tape)
    entropy: np.random.Generator = field(default_factory=lambda: _GENERATOR(np.random.PCG64(0)))

    def start(self, tape: Tape, seed: int) -> None:
        """Let a new run record on this tape, the global generators and those without a seed at this one."""
        self.tape = tape
        self.entropy = _GENERATOR(np.random.PCG64(seed))
        first = int(self.entropy.integers(2**32))
        _SEED_NUMPY(first)
        random.seed(first)


_SEED_NUMPY, _GENERATOR = np.random.seed, np.random.Generator
#: Packages that hold what is replaced for themselves.
_THEMSELVES: Final = frozenset({"audit", "numpy", "random", "secrets"})


@contextlib.contextmanager
def recorded_everywhere() -> Iterator[Reel]:
    """Record what is drawn through numpy.random, `RandomState`, random and secrets while the context is open.

    Not seen are generators that exist already, bit generators asked directly, and other libraries' own.

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
    try:
        for holder, name, _, new in replaced:
            setattr(holder, name, new)
        for space, name, _, new in places:
            space[name] = new
        yield reel
    finally:
        for holder, name, old, _ in replaced:
            setattr(holder, name, old)
        for space, name, old, _ in places:
            space[name] = old


def _holding(news: Mapping[int, tuple[Any, Any]]) -> Iterator[tuple[dict[str, Any], str, Any, Any]]:
    """Yield where modules that imported something by its name hold it, and what is to stand there."""
    for space in gc.get_referrers(*(old for old, _ in news.values())):
        if isinstance(space, dict) and "__name__" in space and "__builtins__" in space:
            if str(space["__name__"]).partition(".")[0] not in _THEMSELVES:
                for name, value in [*space.items()]:
                    if id(value) in news:
                        yield space, name, *news[id(value)]


def _replacements(reel: Reel) -> Iterator[tuple[Any, str, Any]]:
    """Yield what is replaced: who holds it, under which name, and by what."""
    generator, state, default = np.random.Generator, np.random.RandomState, np.random.default_rng

    class AsGenerator(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, generator)

    class Own(RecordingGenerator, metaclass=AsGenerator):
        def __init__(self, bit_generator: Any) -> None:
            super().__init__(bit_generator, reel.tape, own=True)

    class AsState(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, state)

    class OwnState(state, metaclass=AsState):  # type: ignore[misc, valid-type]
        def __init__(self, seed: Any = None) -> None:
            super().__init__(int(reel.entropy.integers(2**32)) if seed is None else seed)
            self.own = seed is not None

    for name, plain in drawing_methods(state).items():
        setattr(OwnState, name, _method(reel, name, plain))

    def default_rng(seed: Any = None) -> np.random.Generator:
        if isinstance(seed, generator):
            return seed
        if seed is None:
            bits = np.random.PCG64(int(reel.entropy.integers(2**63)))
            return RecordingGenerator(bits, reel.tape)
        return RecordingGenerator(default(seed).bit_generator, reel.tape, own=True)

    yield np.random, "Generator", Own
    yield np.random, "RandomState", OwnState
    yield np.random, "default_rng", default_rng
    for name in drawing_methods(state):
        if hasattr(np.random, name):
            yield np.random, name, _function(reel, name, getattr(np.random, name))
    for name in random.__all__:
        held = getattr(random, name)
        if name not in {"seed", "getstate", "setstate"} and not isinstance(held, type):
            yield random, name, _function(reel, name, held)
    for name in ("random", "getrandbits"):
        yield random.SystemRandom, name, _from_system(reel, name)
    for name in ("randbelow", "choice", "randbits", "token_bytes"):
        yield secrets, name, _secret(reel, name, getattr(secrets, name))


def _method(reel: Reel, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **named: Any) -> Any:
        return reel.tape.record(name, lambda *a, **k: plain(self, *a, **k), args, named, own=self.own)

    return method


def _function(reel: Reel, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **named: Any) -> Any:
        return reel.tape.record(name, plain, args, named)

    return function


def _from_system(reel: Reel, name: str) -> Callable[..., Any]:
    """Return a method of `random.SystemRandom` that draws from the run's seed instead of the system."""

    def method(_: Any, *args: Any) -> Any:
        fresh = random.Random(int(reel.entropy.integers(2**63)))  # noqa: S311  it stands for the system's
        return reel.tape.record(name, getattr(fresh, name), args, {})

    return method


def _secret(reel: Reel, name: str, _: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        fresh = random.Random(int(reel.entropy.integers(2**63)))  # noqa: S311  it stands for the system's
        drawn = {
            "randbelow": fresh.randrange,
            "choice": fresh.choice,
            "randbits": fresh.getrandbits,
            "token_bytes": lambda count=32: fresh.randbytes(32 if count is None else count),
        }
        return reel.tape.record(name, drawn[name], args, {})

    return function
