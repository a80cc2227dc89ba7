"""Which databases are neighbours, by five relations or custom ones."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from audit.errors import InvalidKind, InvalidValue, Parameter
from audit.relations.answers import chosen, is_answer, moved, within_one
from audit.relations.records import (
    distinct,
    inserted,
    is_frame,
    is_labelled,
    kind_of,
    labelled,
    records_of,
    relabelled,
    removed,
    replaced,
)
from audit.values.brief import show
from audit.values.canonical import key, same
from audit.values.outcomes import Raised

_FOR_FRAMES = "; give lists of records, and audit `audit.adapters.pandas(function, columns=[...])`"


@runtime_checkable
class NeighbourRelation(Protocol):
    """The methods of a relation. A custom relation needs these methods and inherits nothing.

    Examples
    --------
    >>> isinstance(Relation.REPLACE_ONE, NeighbourRelation)
    True
    """

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Return whether two databases are neighbours, in either order."""

    def neighbours(self, database: Any, records: Any, rng: Any = None) -> Iterator[Any]:
        """Yield all neighbours of `database` or, with `rng`, random ones endlessly."""


class Relation(ABC):
    """A neighbour relation of the toolkit.

    The five relations are attributes of this class. Equal databases are never neighbours. Neighbours are of
    the same kind, such as lists, tuples, texts or arrays. The records of an array are its rows.
    `audit.values.canonical.same` compares records.

    Attributes
    ----------
    REPLACE_ONE
        The lengths are equal, and exactly one record differs.
    ADD_OR_REMOVE_ONE
        Deleting one record turns one database into the other.
    REPLACE_LABEL
        Lists of pairs (x, y), in which exactly one y differs.
    LOCAL
        Any two different databases of one record.
    QUERY_ANSWERS
        Vectors of answers to queries of sensitivity 1. Every coordinate differs by at most 1, up to rounding.

    Examples
    --------
    >>> Relation.ADD_OR_REMOVE_ONE.are_neighbours([1, 2, 3], [1, 3])
    True
    >>> list(Relation.REPLACE_ONE.neighbours([0, 0], [0, 1]))
    [[1, 0], [0, 1]]
    """

    REPLACE_ONE: ClassVar["Relation"]
    ADD_OR_REMOVE_ONE: ClassVar["Relation"]
    REPLACE_LABEL: ClassVar["Relation"]
    LOCAL: ClassVar["Relation"]
    QUERY_ANSWERS: ClassVar["Relation"]

    name: ClassVar[str]
    smallest_size: ClassVar[int] = 1
    largest_size: ClassVar[int | None] = None

    @staticmethod
    def from_name(name: str) -> "Relation":
        """Return the relation called `name`, as in ``replace-one`` or ``REPLACE_ONE``.

        Raises
        ------
        InvalidValue
            No relation has this name.

        Examples
        --------
        >>> Relation.from_name("replace-one") is Relation.from_name("REPLACE_ONE") is Relation.REPLACE_ONE
        True
        """
        wanted, named = str(name).lower().replace("_", "-"), {each.name: each for each in _ALL}
        if wanted in named:
            return named[wanted]
        raise Parameter("relation").wrong(f"must be one of {', '.join(named)}; got {show(name)}.")

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Return whether two databases are neighbours.

        Examples
        --------
        >>> Relation.REPLACE_ONE.are_neighbours([1, 2], [1.0, 2.0])
        False
        """
        return self.objection(left, right) is None

    def objection(self, left: Any, right: Any) -> str | None:
        """Return why two databases are not neighbours, or None if they are.

        Examples
        --------
        >>> Relation.LOCAL.objection([1], [2, 3])
        'each must hold one record, but they hold 1 and 2'
        """
        kinds = kind_of(left), kind_of(right)
        for side, database, kind in zip(("left", "right"), (left, right), kinds, strict=True):
            if kind is None:
                instead = _FOR_FRAMES if is_frame(database) else ""
                return f"the {side} one is not a sequence of records: {show(database)}{instead}"
        if kinds[0] != kinds[1]:
            return f"they have different kinds, {kinds[0]} and {kinds[1]}"
        first, second = records_of(left), records_of(right)
        if len(first) == len(second) and not _differing(first, second):
            return "they are equal"
        return self._objection(first, second)

    @abstractmethod
    def _objection(self, left: list[Any], right: list[Any]) -> str | None:
        """Return why two different lists of records are not neighbours, or None."""

    @abstractmethod
    def neighbours(self, database: Any, records: Sequence[Any] | None, rng: Any = None) -> Iterator[Any]:
        """Yield neighbours of `database`, of the same kind of sequence.

        Parameters
        ----------
        database
            A sequence or an array.
        records
            The possible records. For QUERY_ANSWERS the possible answers, or None for any number.
        rng
            If it is None, every neighbour comes once, in a fixed order. With a `numpy.random.Generator`,
            random neighbours come endlessly. Without a neighbour, nothing comes.

        Examples
        --------
        >>> list(Relation.ADD_OR_REMOVE_ONE.neighbours([0, 0], [0]))
        [[0], [0, 0, 0]]
        """

    def __repr__(self) -> str:
        return f"Relation.{self.name.upper().replace('-', '_')}"

    def __reduce__(self) -> Any:
        return Relation.from_name, (self.name,)


class _ReplaceOne(Relation):
    name = "replace-one"

    def _objection(self, left: list[Any], right: list[Any]) -> str | None:
        if len(left) != len(right):
            return _lengths(left, right)
        return _one_only(_differing(left, right))

    def neighbours(self, database: Any, records: Sequence[Any] | None, rng: Any = None) -> Iterator[Any]:
        choices = distinct(() if records is None else records, like=database)
        places = [key(record) for record in records_of(database)]
        return (replaced(database, place, record) for place, record in _replacements(places, choices, rng))


class _AddOrRemoveOne(Relation):
    name = "add-or-remove-one"
    smallest_size = 0

    def _objection(self, left: list[Any], right: list[Any]) -> str | None:
        short, long = sorted((left, right), key=len)
        if len(long) != len(short) + 1:
            return f"{_lengths(left, right)}, but must differ by one"
        differing = _differing(short, long)
        place = differing[0] if differing else len(short)
        if not _differing(short[place:], long[place + 1 :]):
            return None
        return "deleting one record does not turn the longer one into the shorter one"

    def neighbours(self, database: Any, records: Sequence[Any] | None, rng: Any = None) -> Iterator[Any]:
        choices = distinct(() if records is None else records, like=database)
        if rng is not None:
            return self._random(database, choices, rng)
        return self._every(database, [key(record) for record in records_of(database)], choices)

    @staticmethod
    def _every(database: Any, places: list[Any], choices: list[tuple[Any, Any]]) -> Iterator[Any]:
        # If equal records stand in a row, all deletions among them give the same database. So do all
        # insertions of the same record there. Only the first place is used.
        for place, here in enumerate(places):
            if place == 0 or places[place - 1] != here:
                yield removed(database, place)
        for place in range(len(places) + 1):
            for name, record in choices:
                if place == 0 or places[place - 1] != name:
                    yield inserted(database, place, record)

    @staticmethod
    def _random(database: Any, choices: list[tuple[Any, Any]], rng: Any) -> Iterator[Any]:
        size = len(database)
        while size or choices:
            if size and not (choices and rng.integers(2)):
                yield removed(database, int(rng.integers(size)))
            else:
                record = choices[int(rng.integers(len(choices)))][1]
                yield inserted(database, int(rng.integers(size + 1)), record)


class _ReplaceLabel(Relation):
    name = "replace-label"

    def _objection(self, left: list[Any], right: list[Any]) -> str | None:
        if strange := _strange(left, right, is_labelled):
            return "record {} of the {} one is not an (x, y) pair: {}".format(*strange)
        if len(left) != len(right):
            return _lengths(left, right)
        differing = _differing([x for x, _ in left], [x for x, _ in right])
        if differing:
            return f"the x differs at {_places(differing)}, but only one y may differ"
        return _one_only(_differing(left, right))

    def neighbours(self, database: Any, records: Sequence[Any] | None, rng: Any = None) -> Iterator[Any]:
        labels = [labelled(record)[1] for record in (() if records is None else records)]
        choices = distinct(labels, like=())
        pairs = [labelled(record) for record in records_of(database)]
        places = [key(label) for _, label in pairs]
        changes = _replacements(places, choices, rng)
        return (replaced(database, place, relabelled(pairs[place], label)) for place, label in changes)


class _Local(Relation):
    name = "local"
    largest_size = 1

    def _objection(self, left: list[Any], right: list[Any]) -> str | None:
        if len(left) == len(right) == 1:
            return None
        return f"each must hold one record, but they hold {len(left)} and {len(right)}"

    def neighbours(self, database: Any, records: Sequence[Any] | None, rng: Any = None) -> Iterator[Any]:
        is_local = len(records_of(database)) == 1
        return Relation.REPLACE_ONE.neighbours(database, records, rng) if is_local else iter(())


class _QueryAnswers(Relation):
    name = "query-answers"

    def _objection(self, left: list[Any], right: list[Any]) -> str | None:
        if strange := _strange(left, right, is_answer):
            return "answer {} of the {} one is not a number: {}".format(*strange)
        if len(left) != len(right):
            return _lengths(left, right)
        far = [place for place, (a, b) in enumerate(zip(left, right, strict=True)) if not within_one(a, b)]
        return f"the answers differ by more than 1 at {_places(far)}" if far else None

    def neighbours(self, database: Any, records: Sequence[Any] | None, rng: Any = None) -> Iterator[Any]:
        for place, answer in enumerate(records_of(database)):
            if not is_answer(answer):
                raise InvalidValue(
                    f"The answers of a database must be numbers; got {show(answer)} at position {place}."
                )
        if rng is not None and next(self._within_one(database, records, None), None) is None:
            return iter(())  # else the search for random steps never ends
        return self._within_one(database, records, rng)

    def _within_one(self, database: Any, records: Sequence[Any] | None, rng: Any) -> Iterator[Any]:
        found = moved(database, rng) if records is None else chosen(database, records, rng)
        # rounding of a large number may undo a step, and the dtype of an array may not hold the result
        return (other for other in found if self.are_neighbours(database, other))


def _strange(left: list[Any], right: list[Any], fits: Callable[[Any], bool]) -> tuple[int, str, str] | None:
    """Return the place, side and text of the first record that does not fit."""
    places = ((i, side, x) for side, rows in (("left", left), ("right", right)) for i, x in enumerate(rows))
    return next(((i, side, show(record)) for i, side, record in places if not fits(record)), None)


def _replacements(places: list[Any], choices: list[tuple[Any, Any]], rng: Any) -> Iterator[tuple[int, Any]]:
    """Yield places, and records other than the present record there."""
    if rng is None:
        for place, here in enumerate(places):
            yield from ((place, record) for name, record in choices if name != here)
        return
    free = [place for place, here in enumerate(places) if any(name != here for name, _ in choices)]
    while free:
        place = free[int(rng.integers(len(free)))]
        name, record = choices[int(rng.integers(len(choices)))]
        if name != places[place]:
            yield place, record


def _differing(left: list[Any], right: list[Any]) -> list[int]:
    return [place for place, (a, b) in enumerate(zip(left, right, strict=False)) if not same(a, b)]


def _one_only(differing: list[int]) -> str | None:
    return None if len(differing) == 1 else f"they differ at {_places(differing)}"


def _places(places: list[int]) -> str:
    if len(places) == 1:
        return f"position {places[0]}"
    if len(places) > 5:
        return f"{len(places)} positions ({', '.join(map(str, places[:5]))}, …)"
    return f"{len(places)} positions ({', '.join(map(str, places[:-1]))} and {places[-1]})"


def _lengths(left: list[Any], right: list[Any]) -> str:
    return f"their lengths are {len(left)} and {len(right)}"


def check_relation(relation: Any) -> NeighbourRelation:
    """Return the given relation, or the relation of the given name.

    Raises
    ------
    InvalidKind
        `relation` has no methods `are_neighbours` and `neighbours`.
    InvalidValue
        `relation` is a text, but no relation has this name.

    Examples
    --------
    >>> check_relation("local")
    Relation.LOCAL
    """
    if isinstance(relation, str):
        return Relation.from_name(relation)
    if isinstance(relation, type) or not isinstance(relation, NeighbourRelation):
        raise Parameter("relation").wrong(
            "must be a Relation, or an object with the methods are_neighbours(left, right) "
            f"and neighbours(database, records, rng); got {show(relation)}.",
            kind=InvalidKind,
        )
    return relation


def name_of(relation: Any) -> str:
    """Return the name of a relation in reports.

    It is the `name`, or the name of the class.

    Examples
    --------
    >>> name_of(Relation.QUERY_ANSWERS)
    'query-answers'
    """
    name = getattr(relation, "name", None)
    return name if isinstance(name, str) and name else type(relation).__name__


def check_pair(relation: Any, left: Any, right: Any) -> None:
    """Raise an error that says why two databases are not neighbours.

    Raises
    ------
    InvalidValue
        They are not neighbours, or a custom relation failed.

    Examples
    --------
    >>> check_pair(Relation.LOCAL, [1], [1])
    Traceback (most recent call last):
    audit.errors.InvalidValue: These databases are not neighbours under local: they are equal.
    """
    meant = check_relation(relation)
    why = objection(meant, left, right)
    if why is not None:
        raise InvalidValue(f"These databases are not neighbours under {name_of(meant)}: {why}.")


def objection(relation: NeighbourRelation, left: Any, right: Any) -> str | None:
    """Return why two databases are not neighbours, or None if they are."""
    if isinstance(relation, Relation):
        return relation.objection(left, right)
    if same(left, right):
        return "they are equal"
    try:
        neighbours = bool(relation.are_neighbours(left, right))
    except Exception as error:  # noqa: BLE001  the user's own code
        return f"its `are_neighbours` {Raised.of(error)}"
    return None if neighbours else f"its `are_neighbours` returns False for {show(left)} and {show(right)}"


_ALL = (_ReplaceOne(), _AddOrRemoveOne(), _ReplaceLabel(), _Local(), _QueryAnswers())
for _each in _ALL:
    setattr(Relation, _each.name.upper().replace("-", "_"), _each)
