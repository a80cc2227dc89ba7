"""Finite laws as rows of a matrix, to compare up to a million pairs at once."""

from collections.abc import Hashable, Sequence

import numpy as np

from audit.distributions.finite import Finite, keys_of, same_outcomes
from audit.distributions.law import Floats, Ints, Law
from audit.laws.losses import SLACK

MOST_ENTRIES = 2**24
BLOCK = 2**20


def stacked(laws: Sequence[Law]) -> Floats | None:
    """Return the laws' log-probabilities over the union of their outcomes.

    The shape is (laws, outcomes). Return None if a law is not finite, or if the matrix would have more than
    2**24 entries.

    Examples
    --------
    >>> stacked([Finite("ab", [0.5, 0.5]), Finite("bc", [0.5, 0.5])]).shape
    (2, 3)
    """
    finite = [law for law in laws if isinstance(law, Finite)]
    if len(finite) < len(laws) or sum(len(law.outcomes) for law in finite) > MOST_ENTRIES:
        return None
    if all(same_outcomes(law, finite[0]) for law in finite[1:]):
        return np.stack([law.log_probabilities for law in finite])
    return _united(finite)


def losses_of(table: Floats, p: Ints, q: Ints) -> Floats:
    """Return log p/q for rows p and q of a table, shape (pairs, outcomes).

    It is −∞ where p has no mass.

    Examples
    --------
    >>> losses_of(np.log([[0.5, 0.5], [1.0, 1e-300]]), np.array([0]), np.array([1])).round(3).tolist()
    [[-0.693, 690.082]]
    """
    left = table[p]
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(left), -np.inf, left - table[q])


def excesses(table: Floats, p: Ints, *, losses: Floats, epsilon: float) -> Floats:
    """Return δ(ε) of every pair, shape (pairs,).

    Examples
    --------
    >>> table = np.log([[0.75, 0.25], [0.25, 0.75]])
    >>> p, q = np.array([0]), np.array([1])
    >>> excesses(table, p, losses=losses_of(table, p, q), epsilon=0.0).round(12).tolist()
    [0.5]
    """
    over = np.where(losses > epsilon + SLACK, -np.expm1(np.minimum(epsilon - losses, 0.0)), 0.0)
    return np.asarray(np.einsum("ij,ij->i", np.exp(table[p]), over))


def epsilons(table: Floats, p: Ints, *, losses: Floats, delta: float) -> Floats:
    """Return the smallest ε ≥ 0 with δ(ε) ≤ delta of every pair, shape (pairs,).

    For an event E the claim holds if ε ≥ log((p(E) − δ)/q(E)). The worst event consists of the k outcomes of
    largest loss, for some k. All k are tried.

    Examples
    --------
    >>> table = np.log([[0.75, 0.25], [0.25, 0.75]])
    >>> p, q = np.array([0]), np.array([1])
    >>> epsilons(table, p, losses=losses_of(table, p, q), delta=0.5).tolist()
    [0.0]
    """
    if delta == 0.0:
        return np.asarray(np.maximum(losses.max(axis=1), 0.0))
    order = np.argsort(-losses, axis=1)
    losses = np.take_along_axis(losses, order, axis=1)
    masses = np.exp(np.take_along_axis(table[p], order, axis=1))
    others = np.cumsum(masses * np.exp(-np.maximum(losses, -700.0)), axis=1)
    gains = np.cumsum(masses, axis=1) - delta * (1.0 + SLACK)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(gains > 0, np.log(gains) - np.log(others), -np.inf)
    return np.asarray(np.maximum(needed.max(axis=1), 0.0))


def blocks(rows: int, columns: int) -> list[slice]:
    """Return slices of the rows, each with about 2**20 entries of the table.

    A slice has at least one row.

    Examples
    --------
    >>> blocks(3, 2**20)
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    size = max(1, BLOCK // max(columns, 1))
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


def _united(laws: Sequence[Finite]) -> Floats | None:
    columns: dict[Hashable, int] = {}
    places: list[Ints] = [
        np.array([columns.setdefault(key, len(columns)) for key in keys], dtype=np.intp)
        for keys in keys_of(laws)
    ]
    if len(laws) * len(columns) > MOST_ENTRIES:
        return None
    table = np.full((len(laws), len(columns)), -np.inf)
    for row, (law, place) in enumerate(zip(laws, places, strict=True)):
        table[row, place] = law.log_probabilities
    return table
