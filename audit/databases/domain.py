"""Check the arguments about databases, and make a `Databases` of them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from audit.databases.chosen import MOST_PAIRS, SOME_PAIRS, Databases, Pair
from audit.databases.membership import says
from audit.databases.plain_records import PlainRecords
from audit.databases.recombination import is_recombined, labels_cross
from audit.databases.strategies import examples, is_strategy
from audit.databases.support import Support
from audit.databases.variations import simplicity
from audit.errors import InvalidKind, InvalidValue, Parameter
from audit.relations import Relation, check_pair, name_of
from audit.relations.records import distinct, is_frame, kind_of, labelled, records_of
from audit.values import canonical
from audit.values.brief import show

#: Larger `_DRAWN`: more examples of a strategy for one record are drawn, so rarer extremes are found. Larger
#: `_KEPT`: more of them are kept (extremes, the simplest, some between).
_DRAWN = 400
_KEPT = 40


ONE_PAIR = Parameter("pairs", example="pairs=[(left, right)]")
PAIRS, RECORDS, SIZE, DATABASES, VALID = map(Parameter, ("pairs", "records", "size", "databases", "valid"))
STRATEGY = ("The strategy ", DATABASES)


def describe(
    relation: Any,
    *,
    pairs: Iterable[Pair] | None,
    records: Any,
    size: Any,
    databases: Any,
    suggested: Iterable[Pair] = (),
    valid: Any = None,
) -> Databases:
    """Return the domain that an audit's arguments describe.

    Parameters
    ----------
    relation
        The relation that says which databases are neighbours.
    pairs
        Explicit neighbouring pairs. If nothing else is given, they are the only pairs.
    records
        A finite list of records, or a Hypothesis strategy for one.
    size
        The number of records, or (least, greatest). If the relation allows only one size, None is enough.
    databases
        A Hypothesis strategy for a whole database.
    suggested
        Pairs that the subject suggests.
    valid
        A function that returns whether a database belongs to the domain. If None, `records` or `databases`
        decide.

    Raises
    ------
    InvalidValue, InvalidKind
        An argument is wrong.
    """
    given = _allowed(valid, _checked(relation, () if pairs is None else pairs))
    nothing = records is None and databases is None and size is None
    if pairs is not None and nothing:
        if not given:
            raise PAIRS.wrong("are empty; give at least one pair (left, right) of neighbouring databases.")
        return Databases(relation, given, valid=valid)
    given = (*given, *(pair for pair in _checked(relation, suggested) if _are_valid(valid, pair)))
    if databases is not None and (records is not None or size is not None):
        raise InvalidValue("Give either ", DATABASES, ", or ", RECORDS, " and ", SIZE, "; got both.")
    if databases is not None:
        return _from_whole(relation, given, databases, valid)
    sizes = sizes_of(relation, size)
    needs_records = getattr(relation, "name", "") != "query-answers"
    if records is None:
        if sizes is None or needs_records:
            if given:
                return Databases(relation, given, valid=valid)
            raise InvalidValue(
                "The audit has no databases: give ",
                ONE_PAIR,
                *(", or ", RECORDS, " and ", SIZE, ", or ", DATABASES, "."),
            )
        return Databases(relation, given, sizes=sizes, whole=tuple(_answers(sizes)), valid=valid)
    finite = not is_strategy(records)
    values = listed_records(records) if finite else _telling(examples(records, "records", _DRAWN))
    if sizes is None:
        raise RECORDS.wrong("need a ", SIZE, ": the number of records, or (least, greatest).")
    if not given:
        refuse_all_alike(relation, values)
    crossed = not finite and labels_cross(records)
    return Databases(
        relation,
        given,
        records=values,
        finite=finite,
        sizes=sizes,
        valid=valid,
        crossed=crossed,
        plain=None if finite else PlainRecords(records),
        support=None if finite or _is_enough(relation, crossed=crossed) else Support(_lists(records, *sizes)),
    )


def _lists(records: Any, low: int, high: int) -> Any:
    from hypothesis import strategies

    return strategies.lists(records, min_size=low, max_size=high)


def _is_enough(relation: Any, *, crossed: bool) -> bool:
    """Return whether recombining records surely finds neighbours."""
    return isinstance(relation, Relation) and (relation is not Relation.REPLACE_LABEL or crossed)


def _from_whole(relation: Any, given: tuple[Pair, ...], strategy: Any, valid: Any) -> Databases:
    """Return the domain of a strategy for whole databases."""
    whole = tuple(examples(strategy, "databases", SOME_PAIRS))
    for database in whole:
        if kind_of(database) is None:
            raise InvalidKind(
                *STRATEGY,
                " must generate sequences of records (lists, tuples, strings, arrays); "
                f"it generated {show(database)}.",
            )
    whole = tuple(database for database in whole if valid is None or says(valid, database))
    if not whole:
        raise VALID.wrong("allows none of the databases that the strategy ", DATABASES, " generates.")
    lengths = [len(database) for database in whole]
    pool = _pool(whole)
    if not pool:
        raise InvalidValue(
            *STRATEGY,
            " generates only empty databases; make it generate records, for example with "
            "`st.lists(…, min_size=1)`.",
        )
    if not given:
        refuse_all_alike(relation, pool, what=("The records of the strategy ", DATABASES))
    sizes = sizes_of(relation, (min(lengths), max(lengths)))
    recombined = is_recombined(strategy)
    crossed = labels_cross(strategy)
    enough = recombined and _is_enough(relation, crossed=crossed)
    return Databases(
        relation,
        given,
        records=pool,
        sizes=sizes,
        whole=whole,
        valid=valid,
        recombined=recombined,
        crossed=crossed,
        plain=PlainRecords(strategy, whole=True) if recombined else None,
        support=None if enough else Support(strategy, whole),
    )


def refuse_all_alike(
    relation: Any, records: Sequence[Any], *, what: tuple[object, ...] = ("The ", RECORDS)
) -> None:
    """Raise an error if all records have the same value or label. Then there is nothing to replace."""
    name = getattr(relation, "name", "")
    if name in {"replace-one", "local"} and len(records) == 1:
        raise InvalidValue(
            *what,
            f" have only one value, {show(records[0])}: neighbours under {name} must differ in a "
            "record, so give at least two values.",
        )
    if name == "replace-label":
        labels = {canonical.key(labelled(record)[1]) for record in records}
        if len(labels) == 1:
            raise InvalidValue(
                *what,
                f" have only one label, {show(labelled(records[0])[1])}: neighbours under {name} must "
                "differ in a label, so give records with at least two labels.",
            )


def _checked(relation: Any, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    if not hasattr(pairs, "__iter__"):
        raise PAIRS.wrong(f"must be a list of pairs (left, right); got {show(pairs)}.", kind=InvalidKind)
    listed = list(pairs)
    for pair in listed:
        try:
            _check_pair(relation, pair)
        except InvalidValue:
            if len(listed) == 2 and isinstance(relation, Relation) and relation.are_neighbours(*listed):
                raise PAIRS.wrong("must be a list; for one pair write ", ONE_PAIR, ".") from None
            raise
    return tuple((left, right) for left, right in listed)


def _check_pair(relation: Any, pair: Any) -> None:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InvalidValue(f"A pair must be (left, right), two neighbouring databases; got {show(pair)}.")
    check_pair(relation, *pair)


def _are_valid(valid: Any, pair: Pair) -> bool:
    return valid is None or all(says(valid, database) for database in pair)


def _allowed(valid: Any, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Return the pairs after a check that `valid` allows them."""
    if valid is not None and not callable(valid):
        raise VALID.wrong(f"must be a function of one database; got {show(valid)}.", kind=InvalidKind)
    for pair in pairs:
        if not _are_valid(valid, pair):
            raise VALID.wrong(f"excludes a database of the given pair {show(pair)}.")
    return pairs


def sizes_of(relation: Any, size: Any) -> tuple[int, int] | None:
    """Return the least and the greatest number of records.

    If `size` is None, return the only size that the relation allows. If the relation allows several sizes,
    return None.

    Raises
    ------
    InvalidKind, InvalidValue
        `size` is not a size, or no database of that size has a neighbour.

    Examples
    --------
    >>> sizes_of(Relation.REPLACE_ONE, 3), sizes_of(Relation.ADD_OR_REMOVE_ONE, 3)
    ((3, 3), (2, 3))
    """
    least, most = getattr(relation, "smallest_size", 0), getattr(relation, "largest_size", None)
    if size is None:
        return None if least != most else (least, least)  # the only possible size need not be given
    bounds = (size, size) if _is_whole(size) else size
    if not (isinstance(bounds, (tuple, list)) and len(bounds) == 2 and all(map(_is_whole, bounds))):
        raise SIZE.wrong(f"must be a whole number or (least, greatest); got {show(size)}.", kind=InvalidKind)
    low, high = int(bounds[0]), int(bounds[1])
    if low < 0 or high < low:
        raise SIZE.wrong(f"must be n ≥ 0 or (least, greatest) with 0 ≤ least ≤ greatest; got {show(size)}.")
    alone = low == high and getattr(relation, "name", "") == "add-or-remove-one"
    least = max(least, int(alone))
    if high < least:
        raise SIZE.wrong(f"must be at least {least} for {name_of(relation)} neighbours to exist; got {high}.")
    if most is not None and low > most:
        raise SIZE.wrong(f"must be at most {most} under the {name_of(relation)} relation; got {low}.")
    if alone:
        low = high - 1  # databases of one size are no add-or-remove neighbours
    return low, high if most is None else min(high, most)


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def listed_records(records: Any) -> tuple[Any, ...]:
    """Return the distinct records of a finite list, in order.

    Raises
    ------
    InvalidKind, InvalidValue
        `records` is not a list of records, or is empty.

    Examples
    --------
    >>> listed_records([0, 1, 1.0])
    (0, 1)
    """
    if isinstance(records, (str, bytes)) or not hasattr(records, "__iter__"):
        call = f"; call it: `{records.__name__}()`" if hasattr(records, "__name__") else ""
        said = f"must be a list of records or a Hypothesis strategy; got {show(records)}{call}."
        raise RECORDS.wrong(said, kind=InvalidKind)
    if is_frame(records):
        rows = Parameter("records", example='records=frame.to_dict("records")')
        raise RECORDS.wrong("must be a list of records, not a frame: give ", rows, ".", kind=InvalidKind)
    values = tuple(record for _, record in distinct(records, like=()))
    if not values:
        raise RECORDS.wrong("are empty; give the list of values that one record can take.")
    return values


def _telling(records: list[Any]) -> tuple[Any, ...]:
    """Return extreme records, the simplest records, and some between."""
    try:
        ordered = sorted(records)
    except (TypeError, ValueError):
        ordered = list(records)
    places = {round(k * (len(ordered) - 1) / (_KEPT // 2)) for k in range(_KEPT // 2 + 1)}
    chosen = [ordered[i] for i in sorted(places)] + sorted(records, key=simplicity)[: _KEPT // 2]
    strange = [record for record in records if isinstance(record, float) and not np.isfinite(record)]
    return tuple({canonical.key(record): record for record in chosen + strange[:3]}.values())


def _pool(whole: Sequence[Any]) -> tuple[Any, ...]:
    """Return at most 64 distinct records of whole databases."""
    found = distinct(chain.from_iterable(map(records_of, whole)), like=())
    return tuple(record for _, record in found[:64])


def _answers(sizes: tuple[int, int]) -> Iterator[list[float]]:
    """Yield vectors of answers, all equal or one half above the other half."""
    for size in dict.fromkeys(sizes):
        half = size // 2
        yield [1.0] * size
        yield [1.0] * half + [0.0] * (size - half)
        yield [0.0] * half + [1.0] * (size - half)
        yield [0.0] * size


def no_neighbours(databases: Databases) -> InvalidValue:
    """Return the error for a domain without neighbours. The domain has none, or none were found."""
    if databases.valid is not None and not databases.at_most(MOST_PAIRS):
        return InvalidValue(
            *("No two neighbours that ", VALID, " allows were found among random databases; give "),
            *(DATABASES, ", a strategy that builds databases that it allows, or ", PAIRS, "."),
        )
    return InvalidValue(
        "No two databases of this domain are neighbours; check ",
        *(RECORDS, ", ", SIZE, " and ", Parameter("relation"), "."),
    )
