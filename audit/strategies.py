"""Hypothesis strategies for any `@given`.

They make databases, neighbouring pairs and utility problems. The module is public. All strategies are
composed of Hypothesis's own, so a failing example shrinks to fewer and simpler records. A pair of neighbours
shrinks to a pair that differs in the first record. Records from a finite list shrink to the first in the
list.
"""

import hashlib
from collections.abc import Callable
from itertools import islice
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from audit.databases.domain import RECORDS, SIZE, listed_records, refuse_all_alike, sizes_of
from audit.databases.strategies import is_strategy
from audit.errors import InvalidKind, Parameter, must_be
from audit.problems import FixedProblem
from audit.relations import Relation, check_relation
from audit.relations.answers import within_one
from audit.relations.records import labelled, relabelled, removed, replaced
from audit.relations.relating import are_neighbours, neighbours_of
from audit.values.brief import show
from audit.values.canonical import key, same

__all__ = ["databases", "neighbours", "problems"]

Pair = tuple[list[Any], list[Any]]

#: `_POOL`: maximum number of records that a custom relation gets in addition to the database's own.
#: `_LISTED`: maximum number of neighbours that a custom relation is asked for.
_POOL, _LISTED = 4, 256
#: Largest minimum size of a list: Hypothesis cannot generate lists that must be much longer.
_LONGEST = 2_000
#: Query answers lie within this distance of 0 if `records` is not given.
_ANSWERS = 1_000.0


def databases(
    *, records: Any, size: int | tuple[int, int], valid: Callable[[list[Any]], bool] | None = None
) -> SearchStrategy[list[Any]]:
    """Return a strategy for databases, which are lists of records.

    Parameters
    ----------
    records
        What one record can be: a finite list, or a Hypothesis strategy.
    size
        The number of records: n, or (least, greatest).
    valid
        A function that returns whether a database may occur.

    Raises
    ------
    InvalidKind, InvalidValue
        An argument cannot be used.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(databases(records=[0, 1, 5], size=(1, 9)), lambda database: sum(database) > 3)
    [5]
    """
    sizes = _sizes(None, size)
    made = st.lists(_record(records), min_size=sizes[0], max_size=sizes[1])
    return made if valid is None else made.filter(valid)


def neighbours(
    relation: Any = Relation.REPLACE_ONE,
    *,
    records: Any = None,
    size: int | tuple[int, int] | None = None,
    valid: Callable[[list[Any]], bool] | None = None,
) -> SearchStrategy[Pair]:
    """Return a strategy for neighbouring pairs, left and right.

    Parameters
    ----------
    relation
        Which databases are neighbours: a `Relation`, its name, or a custom relation. A custom one lists the
        neighbours of a database by its `neighbours(database, records)`.
    records
        What one record can be: a finite list, or a Hypothesis strategy. Under replace-label the new label is
        that of another record. Under query-answers a finite list holds all possible answers. Without a list,
        an answer of the neighbour is within 1 of that in the first database.
    size
        The number of records of either database: n, or (least, greatest); under local it is 1. Under
        add-or-remove-one n stands for (n − 1, n).
    valid
        A function that returns whether a database may occur; it must accept both databases of a pair.

    Raises
    ------
    InvalidKind, InvalidValue
        An argument cannot be used. Also when an example is drawn, if a custom relation lists something that
        is not a neighbour.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(neighbours(records=[0, 1, 5], size=(1, 9)), lambda pair: sum(pair[1]) > 3)
    ([0], [5])
    """
    meant = check_relation(relation)
    answers = meant is Relation.QUERY_ANSWERS
    if records is None and not answers:
        raise RECORDS.wrong("are missing: give a list of records, or a strategy for one.")
    sizes = _sizes(meant, size)
    finite = None if records is None or is_strategy(records) else listed_records(records)
    if finite is not None:
        refuse_all_alike(meant, finite)
    record = st.floats(-_ANSWERS, _ANSWERS) if records is None else _record(records)
    low, high = max(sizes[0], getattr(meant, "smallest_size", 0)), sizes[1]
    if meant is Relation.ADD_OR_REMOVE_ONE:
        made = _one_more(st.lists(record, min_size=max(low + 1, 1), max_size=high))
    else:
        rows = st.lists(record, min_size=low, max_size=high)
        if answers:
            moves = st.lists(_moved(record, finite), min_size=low, max_size=high)
            made = moves.map(lambda moved: ([old for old, _ in moved], [new for _, new in moved]))
        elif isinstance(meant, Relation):
            made = _replaced(rows, record, finite, labels=meant is Relation.REPLACE_LABEL)
        else:
            made = _listed(rows, record, meant, finite)

    def belongs(pair: Pair) -> bool:
        fit = all(low <= len(each) <= high and (valid is None or valid(each)) for each in pair)
        return fit and are_neighbours(meant, *pair)

    return made.filter(belongs)


def problems(
    measure: Callable[[Any, Any], float],
    *,
    databases: SearchStrategy[Any],
    tail: Callable[[Any, float, Any], float] | None = None,
) -> SearchStrategy[FixedProblem]:
    """Return a strategy for utility problems. Each problem has one database, which its name shows.

    Parameters
    ----------
    measure
        The error of an output as a function (output, database) -> float.
    databases
        A strategy for the database.
    tail
        Optionally a function (law, alpha, database) -> Pr[error > alpha] under a law of the output.

    Raises
    ------
    InvalidKind
        `measure` is no function, or `databases` no strategy.

    Examples
    --------
    >>> from hypothesis import find
    >>> bits = databases(records=[0, 1], size=2)
    >>> sums = problems(lambda output, rows: abs(output - sum(rows)), databases=bits)
    >>> find(sums, lambda problem: problem.error(0, problem.draw(None)) > 1).name
    'on [1, 1]'
    """
    if not callable(measure):
        raise must_be(InvalidKind, Parameter("measure"), "a function (output, database) -> float", measure)
    if not is_strategy(databases):
        raise must_be(InvalidKind, Parameter("databases"), "a Hypothesis strategy", databases)
    return databases.map(lambda database: FixedProblem(_name(database), database, measure, tail))


def _name(database: Any) -> str:
    """Return the name of the problem on a database. Different databases get different names."""
    said = show(database)
    digest = hashlib.sha256(repr(key(database)).encode()).hexdigest()[:8]
    return f"on {said}" + (f" ({digest})" if said.endswith("…") or "�" in said else "")


def _sizes(relation: Any, size: Any) -> tuple[int, int]:
    sizes = sizes_of(relation, size)
    if sizes is None:
        raise SIZE.wrong("is missing: give the number of records, or (least, greatest).")
    if sizes[0] > _LONGEST:
        least = f"must begin at {_LONGEST:,} at most: Hypothesis makes no longer lists"
        raise SIZE.wrong(f"{least}; got {show(size)}.")
    return sizes


def _record(records: Any) -> SearchStrategy[Any]:
    return records if is_strategy(records) else st.sampled_from(listed_records(records))


@st.composite
def _one_more(draw: DrawFn, longer: SearchStrategy[list[Any]]) -> Pair:
    """Draw a database, and the same database without one of its records. The order is random."""
    rows = draw(longer)
    fewer = removed(rows, draw(st.sampled_from(range(len(rows)))))
    return (rows, fewer) if draw(st.booleans()) else (fewer, rows)


@st.composite
def _replaced(
    draw: DrawFn,
    databases: SearchStrategy[list[Any]],
    record: SearchStrategy[Any],
    finite: tuple[Any, ...] | None,
    *,
    labels: bool,
) -> Pair:
    """Draw a database, and a neighbour that differs in one record or label."""
    rows = draw(databases)
    place = draw(st.sampled_from(range(len(rows))))

    def differs(other: Any) -> bool:
        if labels:
            return not same(labelled(other)[1], labelled(rows[place])[1])
        return not same(other, rows[place])

    if finite is None:
        other = draw(record.filter(differs))
    else:
        other = draw(st.sampled_from([each for each in finite if differs(each)]))
    new = relabelled(labelled(rows[place]), labelled(other)[1]) if labels else other
    return rows, replaced(rows, place, new)


@st.composite
def _moved(draw: DrawFn, record: SearchStrategy[Any], finite: tuple[Any, ...] | None) -> tuple[Any, Any]:
    """Draw an answer, and another answer that differs from it by at most 1."""
    answer = draw(record)
    if finite is not None:
        near = [answer, *(each for each in finite if within_one(answer, each))]
        return answer, draw(st.sampled_from(near))
    return answer, answer + draw(st.integers(-1, 1) if isinstance(answer, int) else st.floats(-1, 1))


@st.composite
def _listed(
    draw: DrawFn,
    databases: SearchStrategy[list[Any]],
    record: SearchStrategy[Any],
    relation: Any,
    finite: tuple[Any, ...] | None,
) -> Pair:
    """Draw a database, and a neighbour that a custom relation lists for it. The order is random."""
    rows = draw(databases)
    pool = [*rows, *draw(st.lists(record, min_size=1, max_size=_POOL))] if finite is None else [*finite]
    others = list(islice(neighbours_of(relation, rows, pool), _LISTED))
    other = draw(st.sampled_from(others) if others else st.nothing())
    return (rows, other) if draw(st.booleans()) else (other, rows)
