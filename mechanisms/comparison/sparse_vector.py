"""The sparse vector technique, which reports which answers are above a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import finite_number, positive_int
from mechanisms.comparison.laplace_integrals import above, below, density, quadrature
from mechanisms.comparison.query_answers import OnQueryAnswers
from mechanisms.formulas.losses import resampled, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from mechanisms.subjects.neighbours import Pair

__all__ = ["NoisyThreshold", "ResamplingSparseVector", "SparseVector"]


@dataclass(frozen=True, kw_only=True)
class NoisyThreshold(OnQueryAnswers):
    """Compares noisy answers with one noisy threshold until `limit` are above it.

    The output has one mark per query: 1 for above, 0 for below, −1 if the answer was no longer compared.
    Subclasses set the noise scales, so this base class has no guarantee.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    size
        Number of queries of audited databases.
    records
        The possible answers, or None for any number.
    threshold
        The number with which answers are compared.
    limit
        The comparisons stop after this many answers above the threshold.

    Examples
    --------
    >>> marks = SparseVector(size=3)([-90.0, 90.0, 0.0], np.random.default_rng(0))
    >>> marks.tolist()
    [0, 1, -1]
    """

    threshold: float = 1.0
    limit: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        finite_number(self.threshold, what=f"The `threshold` of `{owner}`")
        what = f"The `limit` of `{owner}`"
        finite_number(positive_int(self.limit, what=what, maximum=None), what=what)
        finite_number(self.threshold_scale, what=f"The threshold's noise scale of `{owner}`", above=0)
        finite_number(self.query_scale, what=f"The queries' noise scale of `{owner}`", minimum=0)

    @property
    def threshold_scale(self) -> float:
        """Scale of the threshold's noise: 2/epsilon."""
        return 2.0 / self.epsilon

    @property
    def query_scale(self) -> float:
        """Scale of the queries' noise: 4·limit/epsilon."""
        return 4.0 * self.limit / self.epsilon

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return the marks of `size` runs, shape (size, queries)."""
        bar, noisy = self.noisy(database, size, rng)
        return self.marks(noisy >= bar)

    def noisy(
        self, database: Any, size: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the noisy threshold and the noisy answers, one row per run."""
        answers = self.answers(database)
        bar = self.threshold + rng.laplace(0.0, self.threshold_scale, (size, 1))
        return bar, answers + rng.laplace(0.0, self.query_scale, (size, answers.size))

    def marks(self, hits: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the marks of answers above (1), below (0), and after `limit` hits (−1)."""
        before: NDArray[np.int64] = np.cumsum(hits, axis=1) - hits
        return np.where(before < self.limit, hits.astype(np.int64), -1)


@dataclass(frozen=True, kw_only=True)
class SparseVector(NoisyThreshold):
    """Compares noisy answers with one noisy threshold until `limit` are above it.

    The Laplace noise has scale 2/epsilon for the threshold and 4·limit/epsilon for each answer.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    size
        Number of queries of audited databases.
    records
        The possible answers, or None for any number.
    threshold, limit
        As in `NoisyThreshold`.

    Guarantee
    ---------
    epsilon-differential privacy (Lyu, Su and Li 2017, Theorem 2). Write the probability of a vector of marks
    as an integral over the threshold's noise r, and shift r by 1 on the neighbour. The density of r changes
    by a factor of at most e^(1/threshold_scale) = e^(epsilon/2). Every answer that was below stays below.
    Each of the `limit` answers above needs noise that is larger by at most 2. This costs a factor of
    e^(2/query_scale) for each of them, and e^(epsilon/2) for all. The loss approaches the bound if many
    answers are all far below the threshold.

    Examples
    --------
    >>> law = SparseVector(size=2).distribution([1.0, 1.0])
    >>> round(law.pmf(np.array([1, -1])), 12)
    0.5
    """

    records: Sequence[float] | None = (0, 1, 2)

    name: ClassVar[str] = "sparse-vector"
    reference: ClassVar[str] = "Lyu, Su and Li 2017, Algorithm 1"

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the marks."""
        from audit.distributions import Finite  # runs do not need it

        outcomes = list(self._outcomes(len(self.answers(database))))
        masses = np.array([self._probability(database, marks) for marks in outcomes])
        return Finite([np.array(marks) for marks in outcomes], masses)

    def suggested_pairs(self) -> list[Pair]:
        """Return two pairs in which one answer moves against the others."""
        level, others = [1.0] * self.size, self.size - 1
        return [(level, [*([2.0] * others), 0.0]), (level, [*([0.0] * others), 2.0])]

    def _outcomes(self, length: int) -> Iterator[tuple[int, ...]]:
        """Yield every vector of marks that can occur."""
        for count in range(min(self.limit, length) + 1):
            for places in combinations(range(length), count):
                hits = np.isin(np.arange(length), places)
                yield tuple(self.marks(hits[None])[0].tolist())

    def _probability(self, database: Any, marks: tuple[int, ...]) -> float:
        return self._one_threshold(self.answers(database), marks)

    def _one_threshold(self, answers: NDArray[np.float64], marks: Sequence[int]) -> float:
        """Return the probability of these marks, with one threshold for all answers."""
        knots = (answers - self.threshold).tolist()
        rate = 1.0 / self.threshold_scale + len(knots) / self.query_scale
        points, weights = quadrature([0.0, *knots], scale=self.threshold_scale, rate=rate)
        value = weights * density(points, self.threshold_scale)
        for knot, mark in zip(knots, marks, strict=True):
            if mark >= 0:
                value = value * (above if mark else below)(points - knot, self.query_scale)
        return float(value.sum())


@dataclass(frozen=True, kw_only=True)
class ResamplingSparseVector(SparseVector):
    """The sparse vector technique with a new threshold after each hit.

    The Laplace noise has scale 2·limit/epsilon for thresholds and 4·limit/epsilon for answers.

    Parameters
    ----------
    epsilon, size, records, threshold, limit
        As in `SparseVector`.

    Guarantee
    ---------
    epsilon-differential privacy (Lyu, Su and Li 2017, Algorithm 2, after Dwork and Roth). Each threshold,
    with the answers up to the first one above it, is a `SparseVector` with limit 1, privacy epsilon/limit and
    independent noise. There are at most `limit` of these.

    Examples
    --------
    >>> ResamplingSparseVector(limit=2).threshold_scale
    4.0
    """

    size: int = 4
    limit: int = 2

    name: ClassVar[str] = "sparse-vector-resampling"
    reference: ClassVar[str] = "Lyu, Su and Li 2017, Algorithm 2; Dwork and Roth 2014, Algorithm 2"

    @property
    def threshold_scale(self) -> float:
        """Scale of a threshold's noise: 2·limit/epsilon."""
        return 2.0 * self.limit / self.epsilon

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return the marks of `size` runs."""
        answers = self.answers(database)
        bars = self.threshold + rng.laplace(0.0, self.threshold_scale, (size, self.limit + 1))
        noisy = answers + rng.laplace(0.0, self.query_scale, (size, answers.size))
        hits, runs, count = np.zeros(noisy.shape, dtype=bool), np.arange(size), np.zeros(size, dtype=int)
        for place in range(answers.size):
            hits[:, place] = (noisy[:, place] >= bars[runs, count]) & (count < self.limit)
            count += hits[:, place]
        return self.marks(hits)

    def _probability(self, database: Any, marks: tuple[int, ...]) -> float:
        answers, total, start = self.answers(database), 1.0, 0
        ends = [place + 1 for place, mark in enumerate(marks) if mark == 1]
        for end in [*ends, len(marks)]:
            if end > start:
                total *= self._one_threshold(answers[start:end], marks[start:end])
            start = end
        return total


_LOUD, _QUIET = ([9.0] * 4 + [0.0], [8.0] * 4 + [1.0]), ([16.0, -16.0] * 2, [15.0, -15.0] * 2)

entries = (
    Entry(
        SparseVector.name,
        SparseVector,
        options={"pairs": [_LOUD], "records": (0, 1, 2), "size": 5},
        reference=SparseVector.reference,
        summary="the first of five answers above a threshold",
        formulas=whole,
    ),
    Entry(
        ResamplingSparseVector.name,
        ResamplingSparseVector,
        options={"pairs": [_QUIET], "records": (0, 1, 2), "size": 4},
        reference=ResamplingSparseVector.reference,
        summary="the first two of four answers above fresh thresholds",
        formulas=resampled,
    ),
)
