"""A numpy generator that records its draws, and the tape with the records."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

#: The methods whose arguments are recorded by name, with their positional arguments and defaults.
_LOCATED: Final = {"loc": 0.0, "scale": 1.0, "size": None}
_SIZED: Final = {"size": None}
_NORMAL: Final = {"mu": 0.0, "sigma": 1.0}
_SIGNATURES: Final[Mapping[str, Mapping[str, Any]]] = {
    **dict.fromkeys(("laplace", "normal", "logistic", "gumbel"), _LOCATED),
    "exponential": {"scale": 1.0, "size": None},
    **dict.fromkeys(("standard_normal", "standard_exponential", "random"), _SIZED),
    **dict.fromkeys(("gauss", "normalvariate"), _NORMAL),
    "expovariate": {"lambd": 1.0},
    "geometric": {"p": None, "size": None},
    "uniform": {"low": 0.0, "high": 1.0, "size": None},
    "integers": {"low": 0, "high": None, "size": None},
    "choice": {"a": None, "size": None, "replace": True, "p": None},
}
_NO_DRAWS: Final = frozenset({"bit_generator", "spawn", "seed", "get_state", "set_state", "state"})


@dataclass(frozen=True, eq=False)
class Draw:
    """One call that drew from a generator.

    Parameters
    ----------
    method
        The name of the method: ``"laplace"``.
    parameters
        The arguments of the call without the size, by name if the method is in `_SIGNATURES`.
    values
        The value drawn, before any edit: an array, a number, or any other value.
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


Taken = tuple[str, tuple[Any, ...], dict[str, Any], Any, bool]
"""A draw as it was recorded: method, positional and named arguments, values, and `Draw.own`."""

Edit = Callable[[int, Draw], Any]
"""A function of a place on the tape and its draw; it returns the value that the subject gets instead."""


class Tape:
    """The draws of one run, in their order.

    Parameters
    ----------
    edit
        Replaces the values that the subject gets. The generator's stream does not change.

    Attributes
    ----------
    busy
        Whether a recorded method is running. If this method calls other methods that draw, their draws are
        not recorded separately.
    taken
        The draws as recorded; `draws` holds the same draws with named parameters.

    Examples
    --------
    >>> tape = Tape(edit=lambda place, draw: draw.values + 1)
    >>> rng = RecordingGenerator(np.random.PCG64(0), tape)
    >>> float(rng.laplace(0.0, 2.0)) == 1 + float(np.random.default_rng(0).laplace(0.0, 2.0))
    True
    >>> tape.draws[0].method, dict(tape.draws[0].parameters)
    ('laplace', {'loc': 0.0, 'scale': 2.0})
    """

    def __init__(self, edit: Edit | None = None) -> None:
        self.busy = False
        self.edit = edit
        self.taken: list[Taken] = []

    @property
    def draws(self) -> list[Draw]:
        """The draws so far, with named parameters."""
        return [draw_of(each) for each in self.taken]

    def record(
        self, method: str, call: Callable[..., Any], args: Any, named: Any, *, own: bool = False
    ) -> Any:
        """Return what the subject gets from a call that draws. The values of the call are recorded."""
        if self.busy:
            return call(*args, **named)
        self.busy = True
        try:
            values = call(*args, **named)
        finally:
            self.busy = False
        return self.keep(method, args, named, values, own=own)

    def keep(self, method: str, args: Any, named: Any, values: Any, *, own: bool) -> Any:
        """Record the values of a call, and return the values that the subject gets."""
        if any(type(each) in _MUTABLE for each in args):
            args = tuple(map(_copied, args))
        if named:
            named = {name: _copied(value) for name, value in named.items()}
        in_place = method == "shuffle"  # its argument is recorded, and no edit changes it
        kept = (args[0] if args else None) if in_place else _copied(values)
        self.taken.append((method, args, named, kept, own))
        if self.edit is None or in_place:
            return values
        edited = self.edit(len(self.taken) - 1, Draw(method, _parameters(method, args, named), kept, own))
        if edited is kept:
            return values
        if isinstance(values, np.ndarray):  # the array may be the caller's `out`
            values[...] = edited
            return values
        return type(values)(edited) if isinstance(values, float | int | np.generic) else edited


_MUTABLE: Final = (np.ndarray, list)


def draw_of(taken: Taken) -> Draw:
    """Return the draw that was recorded, with named parameters."""
    method, args, named, values, own = taken
    return Draw(method, _parameters(method, args, named), values, own)


def _parameters(method: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Mapping[str, Any]:
    known = _SIGNATURES.get(method)
    if known is None:
        return {**{f"argument {i}": value for i, value in enumerate(args)}, **named}
    given = {**known, **dict(zip(known, args, strict=False)), **named}
    return {name: value for name, value in given.items() if name != "size"}


def _copied(value: Any) -> Any:
    return value.copy() if type(value) in _MUTABLE else value


class RecordingGenerator(np.random.Generator):
    """A numpy generator whose draws are recorded.

    **Guarantee.** If the tape has no edit, the stream and the values of each method are those of
    ``numpy.random.Generator`` on the same bit generator.

    Parameters
    ----------
    bit_generator
        The source of the random bits.
    tape
        The tape on which the draws are recorded.
    own
        Whether the subject seeded the generator itself.

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
        return [type(self)(bits, self.tape, own=self.own) for bits in self.bit_generator.spawn(n_children)]


def _recording(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain, assigned=("__name__",))
    def method(self: RecordingGenerator, *args: Any, **named: Any) -> Any:
        tape = self.tape
        if tape.busy:
            return plain(self, *args, **named)
        tape.busy = True
        try:
            values = plain(self, *args, **named)
        finally:
            tape.busy = False
        if type(values) is float and tape.edit is None and not named:  # a number cannot change later
            tape.taken.append((name, args, named, values, self.own))
            return values
        return tape.keep(name, args, named, values, own=self.own)

    return method


def drawing_methods(kind: type) -> dict[str, Callable[..., Any]]:
    """Return the methods of a class that draw random numbers, by name.

    Examples
    --------
    >>> "laplace" in drawing_methods(np.random.Generator), "spawn" in drawing_methods(np.random.Generator)
    (True, False)
    """
    names = [name for name in dir(kind) if not name.startswith("_") and name not in _NO_DRAWS]
    return {name: getattr(kind, name) for name in names if callable(getattr(kind, name))}


for _name, _plain in drawing_methods(np.random.Generator).items():
    setattr(RecordingGenerator, _name, _recording(_name, _plain))
