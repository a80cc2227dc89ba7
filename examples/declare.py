"""Write on a function what it claims and where to look, so that its name is all that an audit needs.

An auditor reads `claim`, `relation`, `suggested_pairs`, `reference` and `expected` from whatever it is
handed; an ordinary function can carry them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from audit import Relation

Function = Any  # a function whose attributes are set


def declare(
    *,
    claim: object,
    relation: Relation,
    pairs: Sequence[tuple[Any, Any]],
    expected: str = "not refuted",
    reference: str = "",
    budget: int = 100_000,
) -> Callable[[Function], Function]:
    """Return a decorator that writes the declaration on a mechanism.

    Parameters
    ----------
    claim
        What the library promises.
    relation
        The library's own neighbouring relation.
    pairs
        The neighbouring databases to compare.
    expected
        What was found with the version named in docs/libraries.md: "refuted" or "not refuted".
    reference
        Where the library promises it, or where a fault is known.
    budget
        Runs that take well under a minute; `libraries.py` audits with it.

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
