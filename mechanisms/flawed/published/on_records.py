"""The common part of flawed mechanisms on lists of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from audit.relations import Relation
from mechanisms.subjects.claimed import ClaimsPure

__all__ = ["OnRecords"]


@dataclass(frozen=True, kw_only=True)
class OnRecords(ClaimsPure):
    """The base class of flawed mechanisms on lists of records.

    The claim is epsilon if one record is replaced, unless a subclass names another relation.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    size
        Least and greatest length of audited databases.

    Examples
    --------
    >>> OnRecords(epsilon=0.5, size=3).relation
    Relation.REPLACE_ONE
    """

    size: int | tuple[int, int] = (1, 4)

    relation: ClassVar[Relation] = Relation.REPLACE_ONE
