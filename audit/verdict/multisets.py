"""All databases of a size, up to the order of records.

They are for subjects whose law does not depend on the order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

from audit.claims import PureDP
from audit.databases.chosen import MOST_PAIRS, Databases
from audit.errors import SubjectError
from audit.laws.exact import ExactFinding, PairFinding, compare_pairs
from audit.relations import Relation
from audit.results.result import AuditResult
from audit.subject.subject import Subject
from audit.values.brief import show
from audit.values.said import Says

Multiset = tuple[int, ...]

#: Domains with at most this many multisets are enumerated. Each needs one law; at a millisecond each, this
#: takes under a minute.
MOST_MULTISETS = 40_000
#: On this many multisets the law is compared with the law of the reversed records. A larger number finds a
#: false `symmetric` more reliably.
_TURNED = 64


@dataclass(frozen=True)
class InOrder:
    """Turns a multiset into a list of records.

    The multiset is given as the sorted indices of its records.

    Parameters
    ----------
    records
        The possible records.

    Examples
    --------
    >>> InOrder(("a", "b"))((0, 1, 1))
    ['a', 'b', 'b']
    """

    records: tuple[Any, ...]

    def __call__(self, members: Multiset | list[Any]) -> list[Any]:
        """Return the records in the order of their indices. A list is returned unchanged."""
        return members if isinstance(members, list) else [self.records[place] for place in members]


def multiset_pairs(databases: Databases) -> list[tuple[Multiset, Multiset]] | None:
    """Return all pairs of multisets of the domain that differ in one record.

    If they cannot be listed, return None. The relation must be replace-one on a finite list of records. There
    may be at most 40,000 multisets and at most a million pairs.

    Guarantee
    ---------
    Any two lists that differ in one place are one of these pairs, up to order: both consist of a shared
    multiset and one more record, in which they differ. If the law does not depend on the order, a bound on
    these pairs holds for all neighbouring lists.

    Examples
    --------
    >>> from audit.databases.chosen import Databases
    >>> multiset_pairs(Databases(Relation.REPLACE_ONE, records=("a", "b"), finite=True, sizes=(2, 2)))
    [((0, 0), (0, 1)), ((0, 1), (1, 1))]
    """
    if databases.relation is not Relation.REPLACE_ONE or databases.valid is not None or not databases.finite:
        return None
    if databases.records is None or databases.sizes is None:
        return None
    kinds, (low, high) = len(databases.records), databases.sizes
    sizes = range(max(low, 1), high + 1)
    count = sum(comb(kinds + size - 1, size) for size in sizes)
    pairs = sum(comb(kinds + size - 2, size - 1) * comb(kinds, 2) for size in sizes)
    if count > MOST_MULTISETS or pairs > MOST_PAIRS:
        return None
    return [pair for size in sizes for pair in _pairs(kinds, size)]


def on_multisets(subject: Subject, databases: Databases) -> tuple[Subject, list[tuple[Multiset, Multiset]]]:
    """Return the subject on multisets, and the pairs of multisets.

    If the subject is not `symmetric`, return the subject itself and no pairs.

    Raises
    ------
    SubjectError
        The subject declares `symmetric`, but its law depends on the order of the records.
    """
    records = databases.records or ()
    pairs = multiset_pairs(databases) if subject.symmetric and subject.convert is None else None
    if not pairs or not _is_symmetric(subject, pairs, records):
        return subject, []
    return replace(subject, convert=InOrder(records)), pairs


def in_lists(finding: ExactFinding, subject: Subject) -> ExactFinding:
    """Return a finding with its worst pairs as lists of records."""

    def told(pair: PairFinding) -> PairFinding:
        return replace(pair, left=subject.prepare(pair.left), right=subject.prepare(pair.right))

    return replace(finding, by_epsilon=told(finding.by_epsilon), by_delta=told(finding.by_delta))


def in_another_order(subject: Subject, *, seed: tuple[int, ...]) -> Callable[[Any], list[Any]]:
    """Return a function that turns a multiset into a list in random order.

    Multisets are sorted. Runs on sorted lists alone would not reveal code that depends on the order.

    Examples
    --------
    >>> from audit.subject.subject import adapt
    >>> sorted(in_another_order(adapt(len, convert=InOrder(("a", "b"))), seed=(0, 0))((0, 1, 1)))
    ['a', 'b', 'b']
    """
    rng = np.random.default_rng(seed)

    def reordered(members: Any) -> list[Any]:
        database = subject.prepare(members)
        return [database[place] for place in rng.permutation(len(database)).tolist()]

    return reordered


def up_to_order(result: AuditResult) -> AuditResult:
    """Return a result found on multisets as a result on lists.

    It has the additional assumption of symmetry.
    """
    if result.family is None:  # this is already a result on lists
        return result
    family = f"{result.family}, up to the order of the records"
    return replace(result, family=family, assumptions=(*result.assumptions, Says.SYMMETRIC()))


def _is_symmetric(subject: Subject, pairs: list[tuple[Multiset, Multiset]], records: tuple[Any, ...]) -> bool:
    """Return whether the subject has laws, and check that these ignore order.

    The check raises an error if reversing the records changes a law.
    """
    law_of, told = subject.distribution, InOrder(records)
    if law_of is None or law_of(told(pairs[0][0])) is None:
        return False
    for left, _ in pairs[:: max(1, len(pairs) // _TURNED)]:
        database = told(left)
        if compare_pairs([(database, database[::-1])], law_of, PureDP(0.0)).over:
            raise SubjectError(
                f"{subject.name} is declared `symmetric`, but its law on {show(database, 40)} changes when "
                "the records are reversed."
            )
    return True


def _pairs(kinds: int, size: int) -> Iterator[tuple[Multiset, Multiset]]:
    """Yield each pair of multisets that differ in one record."""
    for shared in combinations_with_replacement(range(kinds), size - 1):
        with_one = [tuple(sorted((*shared, place))) for place in range(kinds)]
        yield from combinations(with_one, 2)
