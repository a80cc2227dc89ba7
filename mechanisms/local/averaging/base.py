"""The common part of local averages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.claims import Accuracy
from audit.errors import InvalidValue, finite_number, flag, positive_int, probability
from audit.relations import Relation
from mechanisms.local.averaging.problems import MeanProblem, library, varied
from mechanisms.subjects.claimed import ClaimsItsEpsilon
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mechanisms.subjects.neighbours import Pair

__all__ = ["LocalAverage"]

_CHUNK = 2**17
"""Number of entries that a run answers and holds at once."""


@dataclass(frozen=True, kw_only=True)
class LocalAverage(StatedSize, ClaimsItsEpsilon):
    """Estimates a mean from the sum of one answer of every entry."""

    epsilon: float = 1.0
    query: Callable[[Any], Any] | None = None
    vectorised: bool = False
    tolerance: float | None = None
    beta: float = 0.05
    size: int | None = None

    reference: ClassVar[str] = "K11 §5.1.1 (A_g) and Lemma 5.6"
    accuracy: ClassVar[str] = "tolerance"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    def __post_init__(self) -> None:
        owner = type(self).__name__
        flag(self.vectorised, what=f"The `vectorised` of `{owner}`")
        _ = self.randomizer.claim
        probability(self.beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        if self.tolerance is not None:
            what = f"The `tolerance` of `{owner}`"
            finite_number(self.tolerance, what=what, above=0, maximum=2.0 * self.largest)
        if self.size is None:
            object.__setattr__(self, "size", 2 if self.tolerance is None else self.sample_size())
        positive_int(self.size, what=f"The `size` of `{owner}`")
        if self.tolerance is not None and self._n < self.sample_size():
            raise InvalidValue(
                f"The `size` of `{owner}` must be at least {self.sample_size()} for an answer within "
                f"{self.tolerance:g} with probability {1 - self.beta:g}; got {self._n}."
            )

    @property
    def randomizer(self) -> Any:
        """The local randomizer that every entry answers through."""
        raise NotImplementedError

    @property
    def largest(self) -> float:
        """The largest absolute value that the query can take."""
        return 1.0

    @property
    def _needed(self) -> int:
        if self.tolerance is None:
            owner = type(self).__name__
            raise InvalidValue(f"The `sample_size` of `{owner}` needs an `alpha`, as it has no `tolerance`.")
        return self._entries(self.tolerance)

    def _entries(self, tolerance: float) -> int:
        """Return the least number of entries for an answer within a tolerance."""
        raise NotImplementedError

    @property
    def utility_claim(self) -> Accuracy | None:
        """The claim that the answer is within the tolerance, or None."""
        return None if self.tolerance is None else Accuracy(self.tolerance, self.beta)

    @property
    def _n(self) -> int:
        assert self.size is not None  # set when the subject was made
        return self.size

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the average answer of one run, an array for a vector query."""
        self._sized(len(database))
        return self.stream((database[i : i + _CHUNK] for i in range(0, self._n, _CHUNK)), rng)

    def stream(self, chunks: Iterable[Any], rng: np.random.Generator) -> Any:
        """Return the average answer on a database that comes in chunks.

        Parameters
        ----------
        chunks
            Sequences or arrays of entries, `size` of them in all.
        rng
            The generator of all answers.

        Raises
        ------
        InvalidValue
            There are more or fewer entries than `size`, or a value lies outside the bound.

        Examples
        --------
        >>> from mechanisms.local import LaplaceAverage
        >>> average = LaplaceAverage(size=300_000, epsilon=800.0)
        >>> chunks = (np.full(100_000, value) for value in (-1.0, 0.0, 1.0))
        >>> abs(average.stream(chunks, np.random.default_rng(0))) < 1e-3
        True
        """
        sums: list[Any] = []
        count = 0
        for entries in _cut(chunks):
            count += len(entries)
            if count > self._n:  # checked here, because a stream may never end
                raise InvalidValue(
                    f"A database of `{type(self).__name__}` must hold {self._n} entries; got {count} or more."
                )
            sums.append(self.randomizer.respond(entries, rng).sum(axis=0))
        self._sized(count)
        return self._estimate(_total(sums))

    def _estimate(self, total: Any) -> Any:
        raise NotImplementedError

    def problems(self) -> list[MeanProblem]:
        """Return distributions of the entries that make the mean hard to estimate.

        Examples
        --------
        >>> from mechanisms.local import SignAverage
        >>> [problem.name for problem in SignAverage(tolerance=0.5).problems()]
        ['all lowest', 'all highest', 'half lowest, half highest', 'one in ten highest']
        """
        return library(self.randomizer, size=self._n)

    def vary(self, problem: MeanProblem, rng: np.random.Generator) -> MeanProblem:
        """Return a problem with other frequencies of the same entries."""
        return varied(problem, rng)

    def suggested_pairs(self) -> list[Pair]:
        """Return pairs of databases that differ in one entry."""
        pairs = self.randomizer.suggested_pairs()
        rest = self._n - 1
        return [([*left] * (rest + 1), [*right, *(list(left) * rest)]) for left, right in pairs]

    def _sized(self, count: int) -> None:
        if count != self._n:
            raise InvalidValue(
                f"A database of `{type(self).__name__}` must hold {self._n} entries; got {count}."
            )


def _cut(chunks: Iterable[Any]) -> Iterator[Any]:
    for chunk in chunks:
        yield from (chunk[i : i + _CHUNK] for i in range(0, len(chunk), _CHUNK))


def _total(sums: list[Any]) -> Any:
    if not sums:
        return 0.0
    if np.ndim(sums[0]):
        return np.array([math.fsum(column) for column in np.stack(sums).T.tolist()])
    plain = [value.item() for value in sums]
    return sum(plain) if isinstance(plain[0], int) else math.fsum(plain)
