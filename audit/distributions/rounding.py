"""The rounding error of a declared probability.

A probability given as a float has an absolute error. Computing 1 − (sum of the others) rounds at the size of
1, however small the result is. A probability given as a logarithm is accurate to its last digits. A
`Fraction` is exact.
"""

import math
from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple

import numpy as np

from audit.distributions.law import Floats
from audit.errors import InvalidValue

UNIT = 2.0**-53
"""The largest rounding error of a double near 1."""


class Given(NamedTuple):
    """Declared probabilities.

    They are logarithms, with the largest rounding error. `fractions` holds the probabilities if they were
    given as fractions.

    Examples
    --------
    >>> read([Fraction(1, 3), Fraction(2, 3)], None, owner="Finite").rounding
    0.0
    """

    logs: Floats
    rounding: float
    fractions: tuple[Fraction, ...] | None = None


def rounding(count: int) -> float:
    """Return a bound on the rounding error of `count` float probabilities.

    It is (count + 2)·2⁻⁵³, and bounds the error of their sums too.

    **Guarantee.** Suppose that all probabilities but the last have relative errors of at most 2·2⁻⁵³ (a few
    roundings each). They are added one by one, and the last is computed as 1 − (their sum). The errors of the
    summands add up to at most 2·2⁻⁵³. Each addition, and the subtraction, rounds a number ≤ 1 by at most
    2⁻⁵⁴. The whole error is at most (2 + count/2)·2⁻⁵³. A difference of two values of a cdf has a smaller
    error. If the last probability is divided into shares, its error is divided in the same way.

    Examples
    --------
    >>> p = math.exp(20.0) / (1.0 + math.exp(20.0))
    >>> abs((1.0 - p) - 1.0 / (1.0 + math.exp(20.0))) <= rounding(2) < 1e-15
    True
    """
    return (count + 2) * UNIT


def read(probabilities: Any, log_probabilities: Any, *, owner: str, whole: bool = True) -> Given:
    """Return the probabilities given by one of the two arguments.

    Parameters
    ----------
    probabilities, log_probabilities
        One of them is None.
    owner
        The class of the law, for messages.
    whole
        Whether fractions must sum to 1.

    Raises
    ------
    InvalidValue
        If both or none are given, one is negative or NaN, or fractions do not sum to 1.

    Examples
    --------
    >>> read([0.5, 0.5], None, owner="Finite").logs.round(3).tolist()
    [-0.693, -0.693]
    """
    if (probabilities is None) == (log_probabilities is None):
        raise InvalidValue(
            f"`{owner}` needs either `probabilities` or `log_probabilities`; got both or none."
        )
    if log_probabilities is not None:
        return Given(np.array(log_probabilities, dtype=np.float64), 0.0)
    fractions = _fractions(probabilities)
    if fractions is None:
        logs = logarithms(probabilities)
        return Given(logs, rounding(logs.size))
    if whole and sum(fractions) != 1:
        raise InvalidValue(f"Probabilities given as fractions must sum to 1; got {sum(fractions)}.")
    return Given(np.array([_log(each) for each in fractions]), 0.0, fractions)


def logarithms(probabilities: Any) -> Floats:
    """Return the logarithms of float probabilities.

    Examples
    --------
    >>> logarithms([1.0, 0.0]).tolist()
    [0.0, -inf]
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if not (values >= 0.0).all():
        raise InvalidValue("The probabilities of a law must be numbers ≥ 0; one is negative or NaN.")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def moved_logs(logs: Any, by: float) -> Any:
    """Return log max(0, probability + `by`) for each of the probabilities.

    Examples
    --------
    >>> moved_logs(np.log([0.5, 1e-17]), -1e-16).round(6).tolist()
    [-0.693147, -inf]
    """
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(np.exp(logs) + by, 0.0))


def _fractions(probabilities: Any) -> tuple[Fraction, ...] | None:
    """Return probabilities as fractions, or None if some are not rational numbers."""
    if isinstance(probabilities, np.ndarray) and probabilities.dtype != object:
        return None
    values = list(probabilities)
    if not values or not all(isinstance(value, Rational) for value in values):
        return None
    if any(value < 0 for value in values):
        raise InvalidValue("The probabilities of a law must be numbers ≥ 0; one is negative.")
    return tuple(Fraction(value) for value in values)


def _log(value: Fraction) -> float:
    """Return the logarithm of a fraction, however small or close to 1 it is."""
    if not value:
        return -math.inf
    if 2 * value > 1:
        return math.log1p(float(value - 1))
    return math.log(value.numerator) - math.log(value.denominator)
