"""A generator of numpy's that records its draws, bit for bit the ordinary one; a tape that may shift them."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

#: Arguments that can be given by position, with their defaults, of the methods that are understood.
_LOCATED: Final = {"loc": 0.0, "scale": 1.0, "size": None}
_SIGNATURES: Final[Mapping[str, Mapping[str, Any]]] = {
    "laplace": _LOCATED,
    "normal": _LOCATED,
    "logistic": _LOCATED,
    "gumbel": _LOCATED,
    "exponential": {"scale": 1.0, "size": None},
    "standard_normal": {"size": None},
    "standard_exponential": {"size": None},
    "random": {"size": None},
    "gauss": {"mu": 0.0, "sigma": 1.0},
    "normalvariate": {"mu": 0.0, "sigma": 1.0},
    "expovariate": {"lambd": 1.0},
    "geometric": {"p": None, "size": None},
    "uniform": {"low": 0.0, "high": 1.0, "size": None},
    "integers": {"low": 0, "high": None, "size": None},
    "choice": {"a": None, "size": None, "replace": True, "p": None},
}
#: What a method changes in place is its argument; it is recorded, and no edit reaches it.
_IN_PLACE: Final = frozenset({"shuffle"})
_NO_DRAWS: Final = frozenset({"bit_generator", "spawn", "seed", "get_state", "set_state", "state"})


@dataclass(frozen=True, eq=False)
class Draw:
    """One call that drew from a generator.

    Parameters
    ----------
    method
        The name of the method: ``"laplace"``.
    parameters
        What it was called with, by name where the method is one that is understood; the size is left out.
    values
        What it gave, before any edit: an array, a number, or any value.
    own
        Whether the subject seeded the generator itself.
    """

    method: str
    parameters: Mapping[str, Any]
    values: Any
    own: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return np.shape(self.values)


Edit = Callable[[int, Draw], Any]
"""(place on the tape, draw) -> what the subject gets instead of the draw's values."""


@dataclass(eq=False)
class Tape:
    """The draws of one run, in their order.

    Parameters
    ----------
    edit
        Gives the subject other values than those drawn; the stream goes on as if it did not.

    Examples
    --------
    >>> tape = Tape(edit=lambda place, draw: draw.values + 1)
    >>> rng = RecordingGenerator(np.random.PCG64(0), tape)
    >>> float(rng.laplace(0.0, 2.0)) == 1 + float(np.random.default_rng(0).laplace(0.0, 2.0))
    True
    >>> tape.draws[0].method, dict(tape.draws[0].parameters)
    ('laplace', {'loc': 0.0, 'scale': 2.0})
    """

    edit: Edit | None = None
    draws: list[Draw] = field(default_factory=list)
    _inside: bool = False

    def record(
        self, method: str, call: Callable[..., Any], args: Any, named: Any, *, own: bool = False
    ) -> Any:
        """Call a method of a generator and record what it draws; what it calls itself is part of that."""
        if self._inside:
            return call(*args, **named)
        self._inside = True
        try:
            values = call(*args, **named)
        finally:
            self._inside = False
        given = args[0] if method in _IN_PLACE and args else values
        draw = Draw(method, _parameters(method, args, named), _copied(given), own)
        self.draws.append(draw)
        if self.edit is None or method in _IN_PLACE:
            return values
        edited = self.edit(len(self.draws) - 1, draw)
        if edited is draw.values:
            return values
        if isinstance(values, np.ndarray):  # also where it was given as `out`
            values[...] = edited
            return values
        return type(values)(edited) if isinstance(values, float | int | np.generic) else edited


def _parameters(method: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Mapping[str, Any]:
    known = _SIGNATURES.get(method)
    if known is None:
        return {**{f"argument {i}": _copied(value) for i, value in enumerate(args)}, **named}
    given = {**known, **dict(zip(known, args, strict=False)), **named}
    return {name: _copied(value) for name, value in given.items() if name != "size"}


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray | list) else value


class RecordingGenerator(np.random.Generator):
    """A generator whose draws are recorded.

    **Guarantee.** Its stream, and what each method returns, are those of ``numpy.random.Generator`` on the
    same bit generator, if the tape has no edit.

    Parameters
    ----------
    bit_generator
        Where the bits come from.
    tape
        Where the draws are recorded.
    own
        Whether the subject seeded it itself.

    Examples
    --------
    >>> rng = RecordingGenerator(np.random.PCG64(0))
    >>> isinstance(rng, np.random.Generator), float(rng.normal()) == float(np.random.default_rng(0).normal())
    (True, True)
    >>> [draw.method for draw in rng.tape.draws]
    ['normal']
    """

    tape: Tape
    own: bool

    def __init__(self, bit_generator: Any, tape: Tape | None = None, *, own: bool = False) -> None:
        super().__init__(bit_generator)
        self.tape = Tape() if tape is None else tape
        self.own = own

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Return new generators that record on the same tape."""
        seeds = self.bit_generator.seed_seq.spawn(n_children)  # type: ignore[attr-defined]
        return [type(self)(type(self.bit_generator)(seed), self.tape, own=self.own) for seed in seeds]


def _recording(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain, assigned=("__name__",))
    def method(self: RecordingGenerator, *args: Any, **named: Any) -> Any:
        return self.tape.record(name, functools.partial(plain, self), args, named, own=self.own)

    return method


def drawing_methods(kind: type) -> dict[str, Callable[..., Any]]:
    """Return the methods of a kind of generator that draw, by name.

    Examples
    --------
    >>> "laplace" in drawing_methods(np.random.Generator), "spawn" in drawing_methods(np.random.Generator)
    (True, False)
    """
    names = [name for name in dir(kind) if not name.startswith("_") and name not in _NO_DRAWS]
    return {name: getattr(kind, name) for name in names if callable(getattr(kind, name))}


for _name, _plain in drawing_methods(np.random.Generator).items():
    setattr(RecordingGenerator, _name, _recording(_name, _plain))
