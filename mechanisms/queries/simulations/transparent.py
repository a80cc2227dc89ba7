"""Local randomizers with finitely many answers, as probability tables."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.claims import PureDP
from audit.errors import InvalidKind, InvalidValue, finite_number
from audit.relations import Relation
from mechanisms.subjects.answers import floats
from mechanisms.subjects.draws import ChecksDraws

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from mechanisms.local.randomizers import Transparent
    from mechanisms.subjects.neighbours import Pair

__all__ = ["TableRandomizer"]


@dataclass(frozen=True, eq=False)
class TableRandomizer(ChecksDraws):
    """A local randomizer with finitely many inputs and outcomes, as a table.

    Parameters
    ----------
    records
        The inputs, hashable and distinct.
    outcomes
        The possible outcomes.
    table
        The probability Pr[R(record) = outcome], of shape (records, outcomes). Every row sums to 1.
    claimed
        The epsilon that is claimed for the audit. Default: the exact loss of the table.
    name, reference, parameters
        The name in reports, the statement that it implements, and the parameters it was made with.

    Raises
    ------
    InvalidValue
        The shape is wrong, a row is no distribution, records repeat, or an outcome is possible for only some
        records (K11 Definition 5.1). In a run: the database does not have exactly one record, or this record
        is not an input.

    Guarantee
    ---------
    `epsilon` is the greatest |ln Pr[R(u) = w]/Pr[R(u′) = w]| of the table. Events have sums of these
    probabilities, so the randomizer is epsilon-local for this value and for no smaller one.

    Examples
    --------
    >>> coin = TableRandomizer([0, 1], "ht", [[0.75, 0.25], [0.25, 0.75]])
    >>> round(float(np.exp(coin.epsilon)), 12)
    3.0
    >>> coin([1], np.random.default_rng(0)) in {"h", "t"}, round(coin.distribution([1]).pmf("t"), 12)
    (True, 0.75)
    """

    records: Sequence[Hashable]
    outcomes: Sequence[Any]
    table: Sequence[Sequence[float]] | NDArray[np.float64]
    claimed: float | None = field(default=None, kw_only=True)
    name: str = field(default="table-randomizer", kw_only=True)
    reference: str = field(default="K11 Definitions 5.1 and 5.13", kw_only=True)
    parameters: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    relation: ClassVar[Relation] = Relation.LOCAL
    size: ClassVar[int] = 1
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.claimed is not None:
            finite_number(self.claimed, what="The `claimed` of `TableRandomizer`", minimum=0)
        if isinstance(self.records, str):
            object.__setattr__(self, "records", tuple(self.records))
        for name in ("records", "outcomes"):
            if not isinstance(getattr(self, name), Collection):
                raise InvalidKind(
                    f"The `{name}` of `TableRandomizer` must be listed; got {getattr(self, name)!r:.40}."
                )
        table = floats(self.table, what="The `table` of `TableRandomizer`").copy()
        shape = len(self.records), len(self.outcomes)
        if table.shape != shape or 0 in shape:
            raise InvalidValue(
                f"The `table` of `TableRandomizer` must have shape {shape}, a row a record and a column an "
                f"outcome; got shape {table.shape}."
            )
        if not (table >= 0.0).all() or not (np.abs(table.sum(axis=1) - 1.0) <= _ROUNDING).all():
            raise InvalidValue("Each row of the `table` of `TableRandomizer` must be ≥ 0 and sum to 1.")
        if len(self._rows) != len(self.records):
            raise InvalidValue("The `records` of `TableRandomizer` must be distinct.")
        if ((table == 0.0).any(axis=0) != (table == 0.0).all(axis=0)).any():
            raise InvalidValue(
                "An outcome of `TableRandomizer` must be possible for every record or for none; "
                "no epsilon is private otherwise."
            )
        table.setflags(write=False)
        object.__setattr__(self, "table", table)

    @classmethod
    def of(cls, law: Callable[[Any], Finite], records: Sequence[Hashable], **about: Any) -> TableRandomizer:
        """Return the table of a function from a record to a finite law.

        `about` holds other parameters, such as `claimed` and `name`.

        Examples
        --------
        >>> from mechanisms.responses.kary import KaryRandomizedResponse
        >>> response = KaryRandomizedResponse(epsilon=1.0, categories=4)
        >>> round(TableRandomizer.of(lambda record: response.distribution([record]), range(4)).epsilon, 12)
        1.0
        """
        laws = [law(record) for record in records]
        outcomes = list(dict.fromkeys(outcome for one in laws for outcome in list(one.support())))
        table = np.array([[one.pmf(outcome) for outcome in outcomes] for one in laws])
        return cls(list(records), outcomes, table, **about)

    @classmethod
    def from_subject(cls, randomizer: Transparent, records: Sequence[Hashable]) -> TableRandomizer:
        """Return the table of a transparent randomizer, with its claim.

        Examples
        --------
        >>> from mechanisms import RandomizedResponse
        >>> round(float(np.exp(TableRandomizer.from_subject(RandomizedResponse(), [0, 1]).epsilon)), 12)
        2.0
        """
        from mechanisms.local.randomizers import transition_matrix

        claim = getattr(randomizer, "claim", None)
        claimed = claim.epsilon if isinstance(claim, PureDP) else None
        return cls(list(records), *transition_matrix(randomizer, records), claimed=claimed)

    @classmethod
    def jointly(cls, tables: Sequence[TableRandomizer]) -> TableRandomizer:
        """Return the table whose outcome is the tuple of several tables' outcomes.

        The outcomes are independent. The loss is at most the sum of the tables' losses.

        Examples
        --------
        >>> coin = TableRandomizer([0, 1], "ht", [[0.75, 0.25], [0.25, 0.75]])
        >>> both = TableRandomizer.jointly([coin, coin])
        >>> both.outcomes[1], both.row(0).tolist(), round(both.epsilon / coin.epsilon, 12)
        (('h', 't'), [0.5625, 0.1875, 0.1875, 0.0625], 2.0)
        """
        if not tables:
            raise InvalidValue("`TableRandomizer.jointly` must be given at least one randomizer.")
        records = list(tables[0].records)
        joint = np.ones((len(records), 1))
        for table in tables:
            rows = table.probabilities[table.places(records)]
            joint = (joint[:, :, None] * rows[:, None, :]).reshape(len(records), -1)
        return cls(records, list(product(*(table.outcomes for table in tables))), joint)

    @cached_property
    def epsilon(self) -> float:
        """The exact loss, the greatest |ln Pr[R(u) = w]/Pr[R(u′) = w]|."""
        possible = self.probabilities[:, self.probabilities.min(axis=0) > 0.0]
        spread = float((np.log(possible.max(axis=0)) - np.log(possible.min(axis=0))).max())
        return spread if spread > _ROUNDING else 0.0

    @property
    def claim(self) -> PureDP:
        """The privacy claimed."""
        return PureDP(self.epsilon if self.claimed is None else self.claimed)

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one outcome of the only record."""
        return self.outcomes[self.draw(self._record(database), 1, rng)[0]]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the outcomes of `size` runs, as an array if they are numbers.

        The random number of run i does not depend on the record.
        """
        places = self.draw(self._record(database), size, rng)
        outcomes = self._numbers
        return [self.outcomes[place] for place in places] if outcomes is None else outcomes[places]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the outcome for a database of one record."""
        from audit.distributions import Finite

        return Finite(self.outcomes, self.row(self._record(database)))

    def suggested_pairs(self) -> list[Pair]:
        """Return the two records with the largest probability ratio at any outcome."""
        if len(self.records) < 2:
            return []
        logs = np.log(self.probabilities[:, self.probabilities.min(axis=0) > 0.0])
        worst = logs[:, np.argmax(np.ptp(logs, axis=0))]
        high = int(np.argmax(worst))
        low = int(np.argmin(np.delete(worst, high)))
        return [([self.records[high]], [self.records[low + (low >= high)]])]

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The table as an array."""
        return np.asarray(self.table, dtype=np.float64)

    def places(self, records: Any) -> NDArray[np.intp]:
        """Return the row index of each record.

        Raises
        ------
        InvalidValue
            A record is not an input.

        Examples
        --------
        >>> TableRandomizer("ab", [0], [[1.0], [1.0]]).places("ba")
        array([1, 0])
        """
        try:
            return np.array([self._rows[record] for record in records], dtype=np.intp)
        except (KeyError, TypeError) as error:
            raise InvalidValue(f"A record must be an input of the randomizer; {error} is none.") from None

    def row(self, record: Any) -> NDArray[np.float64]:
        """Return the law of the outcome for one record, of shape (outcomes,).

        Examples
        --------
        >>> TableRandomizer("ab", [0, 1], [[1.0, 0.0], [1.0, 0.0]]).row("b")
        array([1., 0.])
        """
        found: NDArray[np.float64] = self.probabilities[self.places([record])[0]]
        return found

    def draw(self, record: Any, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return `size` outcomes of a record, as positions.

        Examples
        --------
        >>> TableRandomizer("ab", [0, 1], [[1.0, 0.0], [1.0, 0.0]]).draw("b", 2, np.random.default_rng(0))
        array([0, 0])
        """
        cumulative = np.cumsum(self.row(record))
        draws = rng.random(size) * cumulative[-1]
        places: NDArray[np.intp] = np.searchsorted(cumulative, draws, side="right")
        return places

    def likelihood(self, records: Any, place: int) -> NDArray[np.float64]:
        """Return the probability of one outcome for each record, of shape (records,)."""
        found: NDArray[np.float64] = self.probabilities[:, place][self.places(records)]
        return found

    def answer(self, place: int) -> Any:
        """Return the outcome at a position."""
        return self.outcomes[place]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without cached values."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def _record(self, database: Any) -> Any:
        from mechanisms.local.laplace import only_record

        if not hasattr(database, "__len__"):
            raise InvalidValue(
                f"A database of `TableRandomizer` must be a list of one record; got {database!r:.60}."
            )
        return only_record(database, owner="TableRandomizer")

    @cached_property
    def _numbers(self) -> NDArray[Any] | None:
        plain = all(isinstance(outcome, int | float) for outcome in self.outcomes)
        return np.array(list(self.outcomes)) if plain else None

    @cached_property
    def _rows(self) -> dict[Hashable, int]:
        return {record: place for place, record in enumerate(self.records)}


_ROUNDING = 1e-12
