"""The base class of output laws."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audit.errors import InvalidValue

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Flags: TypeAlias = NDArray[np.bool_]
Outputs: TypeAlias = NDArray[Any] | Sequence[Any]

ROUNDING = 1e-9
"""Larger: sums further from 1 are accepted. The probabilities of a law must sum to 1 within this."""

OUTSIDE = -1
"""The cell that `Partition.locate` returns for an output of probability 0."""


@dataclass(frozen=True)
class Partition:
    """Cells that cover a law's outputs, with the probability of each.

    Parameters
    ----------
    log_probabilities
        Natural logarithms of the cells' probabilities, shape (cells,).
    locate
        Function from outputs to the cell of each, or `OUTSIDE` if it is in no cell.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> halves = Density.laplace(0.0, 1.0).bins(2)
    >>> halves.locate([-3.0, 0.5, "refused"]).tolist()
    [0, 1, -1]
    """

    log_probabilities: Floats
    locate: Callable[[Outputs], Ints]


class Law(ABC):
    """The probability law of one output.

    Methods have the names of scipy.stats and take scalars or arrays. Laws never change, and equal laws
    compare equal.
    """

    @abstractmethod
    def support(self) -> Any:
        """Return the possible outcomes, or the smallest interval that holds them."""

    @abstractmethod
    def sample(self, size: int, rng: np.random.Generator) -> Outputs:
        """Return `size` independent outputs, as an array if they are numbers."""

    @abstractmethod
    def bins(self, k: int) -> Partition:
        """Return a partition of the outputs into about `k` cells.

        Cells have similar probabilities. Atoms may be further cells.
        """

    def extreme(self, sign: int) -> "Law":  # noqa: ARG002 - most laws are accurate to their last digits
        """Return the law with probabilities at one end of their rounding error.

        For −1 it is the lower end, for +1 the upper end.
        """
        return self

    def partitions(self) -> list[Partition]:
        """Return the partitions in which outputs are compared with this law."""
        return [self.bins(k) for k in (2, 8, 32)]


class Ordered(Law):
    """A law of numbers, with a cdf that is accurate in both tails."""

    @abstractmethod
    def _tails(self, x: Any) -> tuple[Any, Any]:
        """Return log Pr[output ≤ x] and log Pr[output > x]. The smaller number is accurate."""

    def cdf(self, x: Any) -> Any:
        """Return Pr[output ≤ x] of a law of numbers."""
        return scalar_or_array(np.exp(self.logcdf(x)), x)

    def logcdf(self, x: Any) -> Any:
        """Return log Pr[output ≤ x], accurate deep in both tails."""
        left, right = self._tails(x)
        return scalar_or_array(np.where(right < left, log_complement(right), left), x)

    def sf(self, x: Any) -> Any:
        """Return Pr[output > x] of a law of numbers."""
        return scalar_or_array(np.exp(self.logsf(x)), x)

    def logsf(self, x: Any) -> Any:
        """Return log Pr[output > x], accurate deep in both tails."""
        left, right = self._tails(x)
        return scalar_or_array(np.where(left < right, log_complement(left), right), x)


def as_numbers(outputs: Outputs) -> tuple[Floats, NDArray[np.bool_]]:
    """Return outputs as floats, and whether each is a number. Truth values and NaN are no numbers."""
    if isinstance(outputs, range):
        outputs = np.arange(outputs.start, outputs.stop, outputs.step)
    if isinstance(outputs, np.ndarray) and outputs.ndim == 1 and outputs.dtype.kind in "iuf":
        values = outputs.astype(np.float64)
        return values, ~np.isnan(values)
    values = np.array([_as_number(output) for output in outputs], dtype=np.float64)
    return values, ~np.isnan(values)


def _as_number(output: Any) -> float:
    if isinstance(output, np.ndarray) and output.ndim == 0:
        output = output.item()
    if not isinstance(output, Real) or isinstance(output, (bool, np.bool_)):
        return np.nan
    try:
        return float(output)
    except OverflowError:
        huge: Any = output
        return np.inf if huge > 0 else -np.inf


def log_add(terms: Floats) -> Any:
    """Return log Σ exp over the first axis."""
    top = np.max(terms, axis=0, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(np.isfinite(top), shift + np.log(np.sum(np.exp(terms - shift), axis=0)), top)


def log_complement(log_probability: Any) -> Any:
    """Return log(1 − exp(`log_probability`)) without cancellation."""
    x = np.minimum(log_probability, 0.0)
    with np.errstate(divide="ignore"):
        return np.where(x > -np.log(2.0), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def refuse_unless_whole(total: float, *, what: str) -> None:
    """Raise `InvalidValue` if probabilities do not sum to 1, up to rounding.

    `what` names the probabilities.
    """
    if not abs(total - 1.0) <= ROUNDING:
        raise InvalidValue(f"{what} must sum to 1 within {ROUNDING}; got {total!r}.")


def scalar_or_array(values: Any, like: Any) -> Any:
    """Return `values`, as a Python float if `like` is a scalar."""
    return float(values) if np.ndim(like) == 0 else values
