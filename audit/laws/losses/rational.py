"""Compare laws with a claim exactly, if their probabilities are fractions."""

import math
from collections.abc import Hashable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import product

from audit.distributions import Finite, Law, Product

MOST = 4_096
"""Larger: slower, and exact more often. Products with more outcomes are not compared as fractions."""
_DIGITS, _FAR = 60, 1e5

Fractions = dict[Hashable, Fraction]


def fractions_of(law: Law) -> Fractions | None:
    """Return the probability of each outcome as a fraction, by key.

    Return None if the law was not given as fractions.

    Examples
    --------
    >>> law = Finite([0, 1], [Fraction(1, 3), Fraction(2, 3)])
    >>> fractions_of(law), len(fractions_of(Product([law, law])) or {})
    ({0: Fraction(1, 3), 1: Fraction(2, 3)}, 4)
    """
    if isinstance(law, Finite):
        if law.fractions is None or law.ambiguous:
            return None
        return dict(zip(law.keys, law.fractions, strict=True))
    if not isinstance(law, Product):
        return None
    parts = [fractions_of(factor) for factor in law.factors]
    given = [part for part in parts if part is not None]
    if len(given) < len(parts) or math.prod(map(len, given)) > MOST:
        return None
    rows = product(*(part.items() for part in given))
    return {
        tuple(key for key, _ in row): math.prod((share for _, share in row), start=Fraction(1))
        for row in rows
    }


def exceeds(
    p: Mapping[Hashable, Fraction], q: Mapping[Hashable, Fraction], *, epsilon: float, delta: float
) -> bool:
    """Return whether some event has p(E) > e^ε·q(E) + δ.

    **Guarantee.** The laws are not rounded. ε and δ are floats, rounded from the number that was meant. For
    example, ln 3 is not a float. So ε and δ are read as the next larger floats. Only 0 stays 0. e^ε is
    rounded up, within a factor 1 + 1e-58.

    Examples
    --------
    >>> third = {0: Fraction(3, 4)}, {0: Fraction(1, 4)}
    >>> exceeds(*third, epsilon=math.log(3.0), delta=0.0), exceeds(*third, epsilon=1.09, delta=0.0)
    (False, True)
    """
    allowed = Fraction(math.nextafter(delta, 1.0)) if delta else Fraction()
    ratio = _ratio(epsilon)
    if ratio is None:
        return sum((share for key, share in p.items() if not q.get(key)), Fraction()) > allowed
    terms = (share - ratio * q.get(key, 0) for key, share in p.items())
    return sum((term for term in terms if term > 0), Fraction()) > allowed


@cache
def _ratio(epsilon: float) -> Fraction | None:
    """Return e^ε, rounded up, or None if it is too large to matter."""
    if not epsilon:
        return Fraction(1)
    if epsilon > _FAR:
        return None
    above = Decimal(math.nextafter(epsilon, math.inf)).exp(Context(prec=_DIGITS))
    return Fraction(above) * (1 + Fraction(1, 10 ** (_DIGITS - 2)))
