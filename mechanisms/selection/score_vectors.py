"""The choosing mechanism on vectors of scores instead of databases.

An exact audit of it covers every score of bounded growth.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.errors import InvalidValue, finite_number, positive_int
from mechanisms.formulas import selection
from mechanisms.selection.choosing import ChoosingMechanism
from mechanisms.selection.scoring import whole_scores
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from audit.claims import ApproximateDP
    from audit.distributions import Finite
    from mechanisms.subjects.neighbours import Pair

__all__ = ["BoundedGrowth", "ChoosingScores"]


@dataclass(frozen=True)
class BoundedGrowth:
    """The relation between score vectors of neighbouring databases.

    Replacing a record lowers at most `growth` scores by 1, and raises at most `growth` others by 1.

    Parameters
    ----------
    growth
        The number k ≥ 1 of bounded growth.

    Examples
    --------
    >>> relation = BoundedGrowth(1)
    >>> relation.are_neighbours([3, 0, 0], [2, 1, 0]), relation.are_neighbours([3, 0, 0], [2, 1, 1])
    (True, False)
    >>> list(relation.neighbours([0, 1], range(3)))
    [[0, 0], [0, 2], [1, 0], [1, 1]]
    """

    growth: int

    name: ClassVar[str] = "bounded-growth"

    def __post_init__(self) -> None:
        what = "The `growth` of `BoundedGrowth`"
        finite_number(positive_int(self.growth, what=what, maximum=None), what=what)

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Return whether two vectors of scores can occur on neighbouring databases."""
        if len(left) != len(right):
            return False
        return self._allows(tuple(b - a for a, b in zip(left, right, strict=True)))

    def neighbours(
        self, database: Sequence[Any], records: Sequence[Any], rng: Any = None
    ) -> Iterator[list[Any]]:
        """Yield all neighbours with scores among `records`, or random ones with `rng`.

        The random stream has no end.
        """
        allowed = set(records)
        choices = [[step for step in (-1, 0, 1) if score + step in allowed] for score in database]
        if rng is None:
            steps: Iterator[tuple[int, ...]] = product(*choices)
            yield from (_moved(database, step) for step in steps if self._allows(step))
            return
        while any(len(choice) > 1 or choice[0] for choice in choices if choice):
            step = tuple(choice[int(rng.integers(len(choice)))] for choice in choices)
            if self._allows(step):
                yield _moved(database, step)

    def _allows(self, step: tuple[Any, ...]) -> bool:
        up, down = step.count(1), step.count(-1)
        return 0 < up + down == len(step) - step.count(0) and max(up, down) <= self.growth


def _moved(database: Sequence[Any], step: tuple[int, ...]) -> list[Any]:
    return [score + change for score, change in zip(database, step, strict=True)]


@dataclass(frozen=True, kw_only=True)
class ChoosingScores(PlainParameters):
    """The choosing mechanism on all pairs of score vectors of bounded growth.

    Parameters
    ----------
    epsilon, delta, alpha, beta, growth
        As in `ChoosingMechanism`.
    solutions
        How many solutions there are, at least 1.
    records_count
        The number m of records, which the scores cannot exceed. Default: the least allowed.

    Raises
    ------
    InvalidValue
        As in `ChoosingMechanism`.

    Guarantee
    ---------
    What holds for all pairs of these vectors holds for every score of this growth over this many solutions,
    on every pair of databases of this size. The law depends on the scores alone, which lie in 0 … m.
    Replacing a record changes them as `BoundedGrowth` allows.

    Examples
    --------
    >>> subject = ChoosingScores(epsilon=8.0, delta=0.1, alpha=1.0, beta=0.5, growth=1)
    >>> subject.records, subject.size, round(subject.distribution([9, 0, 0]).pmf(0), 6)
    (range(0, 10), 3, 0.999938)
    """

    epsilon: float = 8.0
    delta: float = 0.1
    alpha: float = 1.0
    beta: float = 0.5
    growth: int = 2
    solutions: int = 3
    records_count: int | None = None

    name: ClassVar[str] = "choosing-scores"
    reference: ClassVar[str] = "BNS Lemma 4, all scores of bounded growth"
    aligned: ClassVar[bool] = True
    family: ClassVar[str] = "every score of this growth on all databases of this size"

    _kind: ClassVar[type[ChoosingMechanism]] = ChoosingMechanism

    def __post_init__(self) -> None:
        positive_int(self.solutions, what=f"The `solutions` of `{type(self).__name__}`")
        _ = self.mechanism

    @property
    def mechanism(self) -> ChoosingMechanism:
        """The mechanism itself, which takes scores."""
        return self._kind(
            epsilon=self.epsilon,
            delta=self.delta,
            alpha=self.alpha,
            beta=self.beta,
            growth=self.growth,
            solutions=range(self.solutions),
            size=self.records_count,
        )

    @property
    def claim(self) -> ApproximateDP:
        """The privacy claimed."""
        return self.mechanism.claim

    @property
    def relation(self) -> BoundedGrowth:
        """The relation between the score vectors of neighbouring databases."""
        return BoundedGrowth(self.growth)

    @property
    def records(self) -> range:
        """All scores that a solution can have."""
        size = self.mechanism.size
        assert size is not None  # a mechanism knows its size
        return range(size + 1)

    @property
    def size(self) -> int:
        """Length of a vector."""
        return self.solutions

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> Any:
        """Return the index of the chosen solution, or "⊥"."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Sequence[int], size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` answers."""
        return self.mechanism.choose(self._scores(database), size=size, rng=rng)

    def distribution(self, database: Sequence[int]) -> Finite:
        """Return the exact law of the answer."""
        return self.mechanism.law(self._scores(database))

    def suggested_pairs(self) -> list[Pair]:
        """Return two pairs of neighbours, or none for one solution.

        In one pair a solution that is not the best loses its only vote. In one pair the only vote moves.
        """
        rest = [0] * (self.solutions - 2)
        half = (len(self.records) - 1) // 2
        return (
            [([half, 1, *rest], [half, 0, *rest]), ([1, 0, *rest], [0, 1, *rest])]
            if self.solutions > 1
            else []
        )

    def _scores(self, database: Sequence[int]) -> NDArray[np.float64]:
        if len(database) != self.solutions:
            raise InvalidValue(
                f"A database of `{type(self).__name__}` must hold {self.solutions} scores; "
                f"got {len(database)}."
            )
        return whole_scores(database, owner=type(self.mechanism).__name__)


entry = Entry(
    ChoosingScores.name,
    ChoosingScores,
    reference=ChoosingScores.reference,
    summary="the choosing mechanism on all scores of bounded growth",
    formulas=selection.choosing_scores,
)
