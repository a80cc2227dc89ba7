"""The privacy loss of a pair of declared laws of any kind."""

import math
from typing import NamedTuple

import numpy as np

from audit.distributions import Countable, Density, Finite, Law, Mixture, Product
from audit.distributions.law import as_numbers
from audit.distributions.line import LineLaw
from audit.distributions.pieces import Piece
from audit.errors import InvalidKind
from audit.laws.losses.atoms import AtomLoss
from audit.laws.losses.line import LineLoss
from audit.laws.losses.loss import JoinedLoss, ScalarLoss
from audit.laws.losses.vector import VectorLoss


def loss_of(p: Law, q: Law) -> ScalarLoss | VectorLoss:
    """Return the privacy loss log p/q of outputs from p.

    Raises
    ------
    InvalidKind
        If the laws differ in kind and cannot be compared, for example a vector and a number.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> loss_of(Density.laplace(0.0), Density.laplace(2.0)).supremum()
    2.0
    """
    if isinstance(p, Product) and isinstance(q, Product):
        return _product_loss(list(p.factors), list(q.factors))
    if isinstance(p, Product) or isinstance(q, Product):
        raise InvalidKind(
            "A `Product` can be compared only with a `Product`; give both databases the same form."
        )
    return _scalar_loss(p, q)


def merged_normals(p: list[Law], q: list[Law]) -> tuple[list[Law], list[Law]]:
    """Return factors in which pairs of normals of equal scale are merged.

    All such pairs become one pair. The loss of N(a, s²) against N(b, s²) is normal with mean μ²/2 and
    variance μ², μ = |a − b|/s. A sum of independent losses of this form has the same form, with μ² = Σμᵢ².

    Examples
    --------
    >>> from audit.distributions import Density
    >>> p, q = [Density.normal(0.0)] * 2, [Density.normal(3.0), Density.normal(4.0)]
    >>> merged_normals(p, q)[1] == [Density.normal(5.0)]
    True
    """
    shifts = [_normal_shift(a, b) for a, b in zip(p, q, strict=True)]
    left, right = ([law for law, shift in zip(side, shifts, strict=True) if shift is None] for side in (p, q))
    if len(left) < len(p):
        left.append(Density.normal(0.0))
        right.append(Density.normal(math.hypot(*(shift for shift in shifts if shift is not None))))
    return left, right


def _product_loss(p: list[Law], q: list[Law]) -> AtomLoss | VectorLoss:
    if len(p) != len(q):
        return AtomLoss(Finite(["a vector of another length"], [1.0]), None)
    differing = [index for index, (a, b) in enumerate(zip(p, q, strict=True)) if a != b]
    # coordinates with the same two laws share one loss object, which sums compute once
    known = {pair: _scalar_loss(*pair) for pair in dict.fromkeys((p[index], q[index]) for index in differing)}
    losses = {index: known[p[index], q[index]] for index in differing}
    left, right = merged_normals([p[index] for index in differing], [q[index] for index in differing])
    if len(left) == len(differing):
        return VectorLoss(losses)
    return VectorLoss(losses, summands=[_scalar_loss(a, b) for a, b in zip(left, right, strict=True)])


class _Shares(NamedTuple):
    """The atoms of a law and its part on the line, with the logs of their masses."""

    atoms: Finite | None
    log_atoms: float
    line: LineLaw | None
    log_line: float


def _scalar_loss(p: Law, q: Law) -> ScalarLoss:
    if isinstance(p, Finite) and isinstance(q, (Finite, Countable)):
        return AtomLoss(p, q)
    if isinstance(p, Countable) and isinstance(q, (Finite, Countable)):
        return LineLoss(p, q if isinstance(q, Countable) else _on_integers(q))
    if isinstance(p, LineLaw) and type(p) is type(q):
        return LineLoss(p, q)
    return _joined(_shares(p), _shares(q))


def _joined(p: _Shares, q: _Shares) -> JoinedLoss:
    parts: list[ScalarLoss] = []
    if p.atoms is not None:
        parts.append(AtomLoss(p.atoms, q.atoms, log_p=p.log_atoms, log_q=q.log_atoms, alone=False))
    if p.line is not None and math.isfinite(p.log_line):
        q_line = q.line if math.isfinite(q.log_line) else None
        parts.append(LineLoss(p.line, q_line, log_p=p.log_line, log_q=q.log_line))
    laws = [law for law in (p.atoms, q.atoms) if law is not None]
    atoms = {key: law.outcome(k) for law in laws for k, key in enumerate(law.exact_keys)}
    return JoinedLoss(parts, list(atoms.values()))


def _shares(law: Law) -> _Shares:
    if isinstance(law, Finite):
        return _Shares(law, 0.0, None, -math.inf)
    if isinstance(law, Density):
        return _Shares(None, -math.inf, law, 0.0)
    if isinstance(law, Mixture):
        return _Shares(law.atoms, law.log_atoms, law.density, law.log_weight)
    raise InvalidKind(
        f"The two laws of a pair differ in kind and cannot be compared: one is a `{type(law).__name__}`."
    )


def _on_integers(law: Finite) -> Countable:
    """Return the integers of a finite law as single points on the line."""
    values, real = as_numbers(law.outcomes)
    kept = np.flatnonzero(real & (values == np.floor(values)) & np.isfinite(law.log_probabilities))
    order = kept[np.argsort(values[kept])]
    points = zip(values[order].tolist(), law.log_probabilities[order].tolist(), strict=True)
    return Countable(tuple(Piece(k, k, k, log) for k, log in points), whole=False)


def _normal_shift(a: Law, b: Law) -> float | None:
    if not (isinstance(a, Density) and isinstance(b, Density) and len(a.pieces) == len(b.pieces) == 1):
        return None
    (x,), (y,) = a.pieces, b.pieces
    whole = a.support() == b.support() == (-math.inf, math.inf)
    if not (whole and isinstance(x, Piece) and isinstance(y, Piece)):
        return None
    if x.slope or y.slope or not x.curvature or x.curvature != y.curvature:
        return None
    return abs(x.centre - y.centre) * math.sqrt(-2.0 * x.curvature)
