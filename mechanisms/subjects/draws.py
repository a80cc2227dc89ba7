"""Checks of the generator, the number of runs and the database."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import wraps
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind, positive_int
from audit.values.brief import show

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ChecksDraws"]

_DRAWS = ("random", "laplace", "integers", "binomial", "standard_gamma")
"""The drawing methods of a generator, of which a stand-in has at least one."""

_SURE: dict[str, tuple[type, ...]] = {
    "database": (list, tuple, np.ndarray),
    "size": (),
    "rng": (np.random.Generator,),
}
"""Types that need no check, which saves time in audits."""


class ChecksDraws:
    """Checks `database`, `size` and `rng` before a run, in every subclass.

    Raises
    ------
    InvalidKind, InvalidValue
        `rng` is not a generator of numpy, `size` is not a whole number ≥ 0, or `database` is None, a number
        or a mapping.

    Examples
    --------
    >>> from mechanisms.noise.laplace import LaplaceMechanism
    >>> LaplaceMechanism()([0, 1, 1], 3)
    Traceback (most recent call last):
    audit.errors.InvalidKind: The `rng` of `LaplaceMechanism` must be a numpy.random.Generator, such as
    `numpy.random.default_rng(3)`; got 3.
    """

    def __init_subclass__(cls, **told: Any) -> None:
        super().__init_subclass__(**told)
        for name in ("__call__", "sample", "distribution"):
            own = cls.__dict__.get(name)
            if inspect.isfunction(own) and not hasattr(own, "__wrapped__"):
                setattr(cls, name, _checked(own))


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method with checks of its arguments `database`, `size` and `rng`."""
    _, *names = inspect.signature(method).parameters
    places = [(name, names.index(name), _SURE[name]) for name in _SURE if name in names]

    @wraps(method)
    def checked(self: Any, *given: Any, **named: Any) -> Any:
        for name, place, sure in places:
            if name in named or place < len(given):  # else Python says which argument is missing
                value = named[name] if name in named else given[place]
                if type(value) not in sure:
                    _check(self, name, value)
        return method(self, *given, **named)

    return checked


def _check(subject: Any, name: str, value: Any) -> None:
    owner = type(subject).__name__
    if name == "size":
        positive_int(value, what=f"The `size` of a sample of `{owner}`", minimum=0)
    elif name == "database":
        if value is None or isinstance(value, Number | Mapping):
            raise InvalidKind(f"A database of `{owner}` must be a list or an array; got {show(value, 40)}.")
    elif not any(hasattr(value, draws) for draws in _DRAWS):
        seed = value if isinstance(value, int) else 0
        raise InvalidKind(
            f"The `rng` of `{owner}` must be a numpy.random.Generator, such as "
            f"`numpy.random.default_rng({seed})`; got {show(value, 40)}."
        )
