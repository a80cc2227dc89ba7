"""Attach a claim and pairs to a function, so that an audit needs only its name.

The auditor reads the attributes `claim`, `relation`, `suggested_pairs`, `reference` and `expected`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from audit import Relation

Function = Any  # typed as Any because attributes are set on functions


def declare(
    *,
    claim: object,
    relation: Relation,
    pairs: Sequence[tuple[Any, Any]],
    expected: str = "not refuted",
    reference: str = "",
    budget: int = 100_000,
) -> Callable[[Function], Function]:
    """Return a decorator that attaches the declaration to a mechanism.

    Parameters
    ----------
    claim
        The privacy claim that the library makes.
    relation
        The library's own neighbouring relation.
    pairs
        The neighbouring databases to compare.
    expected
        The verdict on the library version that docs/libraries.md names: "refuted" or "not refuted".
    reference
        Where the library makes the claim, or where a known fault is reported.
    budget
        The number of runs that `libraries.py` uses; it should take well under a minute.

    Examples
    --------
    >>> from audit import PureDP, Relation
    >>> @declare(claim=PureDP(1.0), relation=Relation.REPLACE_ONE, pairs=[([0], [1])])
    ... def constant(database):
    ...     return 0
    >>> constant.suggested_pairs()
    [([0], [1])]
    """

    def written(mechanism: Function) -> Function:
        mechanism.claim = claim
        mechanism.relation = relation
        mechanism.suggested_pairs = lambda: list(pairs)
        mechanism.expected = expected
        mechanism.reference = reference
        mechanism.budget = budget
        return mechanism

    return written
