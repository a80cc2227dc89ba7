"""Studies of learners that ask statistical queries.

They draw the averages over chunks instead of the records. The law of the output is the same.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.claims import PAC
from audit.studies import Curve, Study
from learners.by_queries.chunks import ChunkNoise, Model
from learners.by_queries.conjunctions import ConjunctionLearner
from learners.masked import BentLearner, MaskedParityLearner
from learners.studies.means import (
    conjunction_family,
    conjunction_problem,
    masked_family,
    needed_variables,
)
from mechanisms.queries import Oracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.studies.families import SearchedProblems
    from learners.studies.means import ChunkMeans, OneZeroMeans
    from mechanisms.queries import StatisticalQuery

__all__ = ["BentOnMeans", "ConjunctionOnMeans", "MaskedOnMeans", "conjunction_failure"]

_EPSILON = 1.0


# --- conjunctions


@dataclass(frozen=True, kw_only=True)
class ConjunctionOnMeans(ConjunctionLearner):
    """`ConjunctionLearner` on averages over chunks instead of records."""

    @property
    def records(self) -> tuple[Any, ...]:
        """No records; the problems draw the databases."""
        return ()

    def means(self, database: Any) -> NDArray[np.float64] | None:
        """Return the averages."""
        means: NDArray[np.float64] = database.means
        return means

    def _chunk(self, database: Any) -> int:
        return int(database.chunk)

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a conjunction."""
        return self.sample(database, 1, rng)[0]


def conjunctions(*, alpha: float = 0.2, beta: float = 0.1) -> Study:
    """Return the study of private conjunctions (B Theorems 5 and 7, K11 §5.1)."""
    return Study(
        "conjunctions",
        "Monotone conjunctions: what the local model costs.",
        PAC(alpha, beta),
        "d",
        (2, 4, 8, 16, 32),
        (
            _conjunction_curve("central", alpha, beta, source="B Theorems 5 and 7, constants derived"),
            _conjunction_curve("local", alpha, beta, source="K11 §5.1, exact exponent"),
        ),
        whole=True,
        fixed=f"ε = {_EPSILON:g}; all variables in the target, of which ⌊1/(1.05·α)⌋, or all, are 0 on "
        "1.05·α of the examples each, one at a time",
        source="B Theorems 5 and 7; K11 §5.1",
        largest=10**10,
        resolution=1.02,
        steps=50,
    )


def _conjunction_curve(model: Model, alpha: float, beta: float, *, source: str) -> Curve:
    """Return the curve of the learner in one model."""

    def learner(d: float) -> ConjunctionOnMeans:
        return ConjunctionOnMeans(dimension=int(d), epsilon=_EPSILON, alpha=alpha, beta=beta, model=model)

    def problems(d: float, size: int) -> list[OneZeroMeans]:
        return [conjunction_problem(int(d), alpha=alpha, chunk=size // int(d))]

    def family(d: float, size: int) -> SearchedProblems:
        return conjunction_family(int(d), alpha=alpha, chunk=size // int(d))

    return Curve(
        model,
        lambda d, _: learner(d),
        problems,
        bound=lambda d: learner(d).sample_size(),
        source=source,
        failure=lambda d, size: conjunction_failure(learner(d), size // int(d)),
        family=family,
        least=int,
        expected="grows",
        compared=10**12,
    )


def conjunction_failure(learner: ConjunctionLearner, chunk: int) -> float:
    """Return the failure probability on `conjunction_problem`.

    Guarantee
    ---------
    Exact: all averages are 0, so a variable is dropped if its noise is above alpha/2d, independently of the
    other variables.

    Examples
    --------
    >>> round(conjunction_failure(ConjunctionLearner(dimension=2, alpha=0.4), 10), 6)
    0.334046
    """
    noise = ChunkNoise(learner.model, learner.epsilon).law(chunk, width=1.0)
    kept = float(noise.logcdf(learner.algorithm.tau))
    return -math.expm1(needed_variables(learner.dimension, learner.alpha) * kept)


# --- MASKED-PARITY


@dataclass(frozen=True, kw_only=True)
class MaskedOnMeans(MaskedParityLearner):
    """`MaskedParityLearner` on averages over chunks instead of records."""

    @property
    def records(self) -> tuple[Any, ...]:
        """No records; the problems draw the databases."""
        return ()

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a concept."""
        return self.sample(database, 1, rng)[0]

    def _read(self, database: Any) -> Any:
        return database

    def _chunk(self, database: Any) -> int:
        return int(database.chunk)

    def _bit_means(self, read: Any, chunk: int) -> NDArray[np.float64]:
        del chunk
        means: NDArray[np.float64] = read.means[:-1]
        return means

    def _mask_means(self, read: Any, chunk: int) -> NDArray[np.float64]:
        del chunk
        return np.broadcast_to(read.means[-1], 2**self.dimension)


@dataclass(frozen=True)
class BentOnMeans:
    """`BentLearner` on noisy averages over chunks.

    Parameters
    ----------
    dimension
        d.
    noise
        The model and epsilon.

    Guarantee
    ---------
    epsilon-differential privacy by `ChunkNoise`. In the local model the protocol is non-interactive: no
    record's report depends on another's.
    """

    dimension: int
    noise: ChunkNoise

    @property
    def algorithm(self) -> BentLearner:
        """The SQ learner that is run."""
        return BentLearner(self.dimension)

    def sample_size(self, beta: float) -> int:
        """Return how many records make the failure probability at most beta."""
        queries = self.algorithm.queries()
        return len(queries) * self.noise.chunk_size(queries, beta=beta)

    def __call__(self, database: ChunkMeans, rng: np.random.Generator) -> Any:
        """Return a concept."""
        widths = [query.width for query in self.algorithm.queries()]
        noises = [self.noise.law(database.chunk, width=width).sample(1, rng)[0] for width in widths]
        return self.algorithm.learn(_Answered(database.means + np.array(noises)))


class _Answered(Oracle):
    """An oracle that gives known answers in order."""

    def __init__(self, answers: Any) -> None:
        super().__init__()
        self._left = deque(float(answer) for answer in answers)

    def _answer(self, query: StatisticalQuery) -> float:
        del query
        return self._left.popleft()


def masked(*, beta: float = 0.1) -> Study:
    """Return the study of local MASKED-PARITY in two rounds or one (K11 §5)."""
    return Study(
        "masked-parity",
        "MASKED-PARITY in the local model: what a single round costs.",
        PAC(0.0, beta),
        "d",
        (2, 4, 8, 16),
        _masked_curves(beta),
        whole=True,
        fixed=f"ε = {_EPSILON:g}, uniform examples; searched from r = 0, a = 0 and r = 1…1, a = 1, "
        "by random concepts and a climb",
        source="K11 Theorem 5.7, §5.3",
        largest=10**12,
        budget=20_000,
        resolution=1.2,
    )


def _masked_curves(beta: float) -> tuple[Curve, ...]:
    """Return the curves of the learners with two rounds and with one."""

    def interactive(d: float) -> MaskedOnMeans:
        return MaskedOnMeans(dimension=int(d), epsilon=_EPSILON, beta=beta, model="local")

    def at_once(d: float) -> BentOnMeans:
        return BentOnMeans(int(d), ChunkNoise("local", _EPSILON))

    def problems(d: float, size: int, *, bent: bool) -> SearchedProblems:
        return masked_family(int(d), chunk=size // (int(d) + 1), bent=bent)

    return (
        Curve(
            "interactive: two rounds",
            lambda d, _: interactive(d),
            lambda d, size: problems(d, size, bent=False),
            bound=lambda d: interactive(d).sample_size(),
            source="K11 Proposition 5.18, exact exponent",
            least=lambda d: int(d) + 1,
            expected="grows",
            law=False,
        ),
        Curve(
            "non-interactive: bent queries",
            lambda d, _: at_once(d),
            lambda d, size: problems(d, size, bent=True),
            bound=lambda d: at_once(d).sample_size(beta),
            source="d + 1 queries of tolerance below 2^(−d/2 − 1)",
            least=lambda d: int(d) + 1,
            expected="grows",
            law=False,
            shape="exponential",
        ),
    )
