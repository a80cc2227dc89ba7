"""The LR oracle, through which entries answer within their privacy budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind, InvalidValue, finite_number
from mechanisms.composition.budget import OverspentError
from mechanisms.local.grouping import Grouped
from mechanisms.local.questions import Query, checked_queries, places_of
from mechanisms.local.randomizers import cost_of, drawn_for
from mechanisms.subjects.answers import floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["LROracle"]

_ROUNDING = 1e-12
"""Relative rounding allowance for sums that reach the budget."""


class LROracle:
    """Answers local randomizers on the entries of a database, within their budgets.

    LR_z(i, R) of K11 is an answer of the randomizer R on entry i of the database z.

    Parameters
    ----------
    database
        The entries z, a sequence or an array.
    epsilon
        The budget, as one number for all entries or an array with one number for each.
    rng
        The generator of all answers.

    Raises
    ------
    InvalidValue, InvalidKind
        The budget is not a number > 0 or one such number per entry, or the database is no sequence.

    Guarantee
    ---------
    For any questions, adaptive or not, the answers together are epsilon-differentially private for each entry
    (K11 Definition 5.3). The randomizers must keep their claims. The density of all answers is a product of
    conditional densities. If entry i is replaced, only the densities of its own answers change. The j-th
    changes by a factor of at most e^ε_j, and Σ ε_j is within the budget of entry i. (K11 refers to Claim 2.2,
    which composes mechanisms fixed in advance. This is its adaptive form for pure privacy.)

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> oracle = LROracle([1, 0, 1], epsilon=1.0, rng=np.random.default_rng(0))
    >>> len(oracle.ask(oracle.everyone, RandomizedResponse(epsilon=0.75)))
    3
    >>> oracle.ask(2, RandomizedResponse(epsilon=0.5))
    Traceback (most recent call last):
    mechanisms.composition.budget.OverspentError: Entry 2 has spent 0.75 of its epsilon of 1;
    `RandomizedResponse` would bring it to 1.25.
    >>> oracle.spent.tolist()
    [0.75, 0.75, 0.75]
    """

    def __init__(
        self,
        database: Sequence[Any] | NDArray[Any] | Grouped,
        *,
        epsilon: float | NDArray[np.float64],
        rng: np.random.Generator,
    ) -> None:
        if not isinstance(rng, np.random.Generator):
            raise InvalidKind(f"The `rng` of `LROracle` must be a numpy generator; got {rng!r:.60}.")
        self._entries = database if isinstance(database, Grouped) else Grouped(database)
        self._limit = _budget(epsilon, len(self._entries))
        self._spent = np.zeros(len(self._entries))
        self._rng = rng

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def everyone(self) -> range:
        """The indices of all entries."""
        return range(len(self._entries))

    @property
    def spent(self) -> NDArray[np.float64]:
        """The epsilon that each entry has spent, as a copy."""
        return self._spent.copy()

    def ask(self, entries: int | Sequence[int] | NDArray[np.integer[Any]], randomizer: Any) -> Any:
        """Return one independent answer for each of the given entries.

        Parameters
        ----------
        entries
            An index from 0, or several in a sequence, range or array. An index that occurs k times pays k
            times.
        randomizer
            A local randomizer; see `cost_of`.

        Returns
        -------
        Any
            One answer, or the answers in the order of the indices. Numbers and vectors come as an array.

        Raises
        ------
        OverspentError
            An entry's budget would be exceeded. Nothing was drawn or spent.
        InvalidValue, InvalidKind
            An index is out of range or no whole number, or `randomizer` is no local randomizer. Nothing was
            drawn or spent. If the randomizer itself refuses an entry, the cost stays booked.
        """
        return self.ask_all([(entries, randomizer)])[0]

    def ask_all(self, queries: Sequence[Query]) -> list[Any]:
        """Return the answers to several questions, or refuse all.

        Examples
        --------
        >>> from mechanisms import RandomizedResponse
        >>> oracle = LROracle([1, 0], epsilon=1.0, rng=np.random.default_rng(0))
        >>> oracle.ask_all([(0, RandomizedResponse(epsilon=0.75)), ([1, 0], RandomizedResponse(epsilon=0.5))])
        Traceback (most recent call last):
        mechanisms.composition.budget.OverspentError: Entry 0 has spent 0.75 of its epsilon of 1;
        `RandomizedResponse` would bring it to 1.25.
        >>> oracle.spent.tolist()
        [0.0, 0.0]
        """
        queries = checked_queries(queries)
        told = [(places_of(entries, len(self)), cost_of(randomizer)) for entries, randomizer in queries]
        booked: list[tuple[Any, NDArray[np.float64]]] = []
        try:
            for (places, cost), (_, randomizer) in zip(told, queries, strict=True):
                booked.append(self._book(places, cost, randomizer))
        except OverspentError:
            for touched, before in reversed(booked):
                self._spent[touched] = before
            raise
        return [
            self._answer(places, randomizer)
            for (places, _), (_, randomizer) in zip(told, queries, strict=True)
        ]

    def _book(self, places: Any, cost: float, randomizer: Any) -> tuple[Any, NDArray[np.float64]]:
        """Book the cost of a question, and return its entries."""
        touched, times = _counted(places)
        before = np.copy(self._spent[touched])
        after = before + times * cost
        over = after > self._limit[touched] * (1.0 + _ROUNDING)
        if over.any():
            place = int(np.argmax(over))
            index = np.arange(len(self))[touched].ravel()[place]
            raise OverspentError(
                f"Entry {index} has spent {before.ravel()[place]:.12g} of its epsilon of "
                f"{self._limit[index]:.12g}; `{type(randomizer).__name__}` "
                f"would bring it to {after.ravel()[place]:.12g}."
            )
        self._spent[touched] = after
        return touched, before

    def _answer(self, places: Any, randomizer: Any) -> Any:
        if isinstance(places, int):
            answer = drawn_for(randomizer, self._entries.at(np.array([places])), rng=self._rng)[0]
            return answer.item() if isinstance(answer, np.generic) else answer
        whole = isinstance(places, slice) and places == slice(0, len(self))
        entries = self._entries if whole else self._entries.at(places)
        return drawn_for(randomizer, entries, rng=self._rng)


def _budget(epsilon: Any, size: int) -> NDArray[np.float64]:
    what = "The `epsilon` of `LROracle`"
    if np.ndim(epsilon) == 0:
        return np.broadcast_to(finite_number(epsilon, what=what, above=0), size)
    limits = floats(epsilon, what=what)
    if limits.shape != (size,) or not (np.isfinite(limits) & (limits >= 0.0)).all():
        raise InvalidValue(
            f"{what} must be one finite number > 0, or {size}, one an entry; got {epsilon!r:.40}."
        )
    return limits


def _counted(places: Any) -> tuple[Any, Any]:
    """Return the distinct entries of a question with their counts."""
    if isinstance(places, slice):
        return places, 1
    return np.unique(places, return_counts=True)
