"""The perceptron by statistical queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.claims import PAC
from audit.errors import finite_number, positive_int
from learners.by_queries.both_models import in_both_models
from learners.by_queries.chunked_run import ChunkedRun
from learners.by_queries.chunks import ChunkNoise, Model
from learners.by_queries.separable import SeparableProblem, mistakes, random_separable, separable_problems
from learners.finite.problems import check_accuracy
from learners.formulas import parities
from mechanisms.queries import StatisticalQuery
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from learners.by_queries.many_chunks import ManyChunks
    from mechanisms.queries import SQOracle

__all__ = ["Perceptron", "PerceptronQueries", "mistakes"]

Weights = tuple[float, ...]


@dataclass(frozen=True)
class _Mistake:
    """The query that is 1 on misclassified records, else 0."""

    weights: Weights

    def many(self, records: Sequence[Any]) -> NDArray[np.bool_]:
        return mistakes(records, self.weights)[1]

    def __call__(self, record: Any) -> bool:
        return bool(self.many([record])[0])


@dataclass(frozen=True)
class _Push:
    """The query that is y·x_j on misclassified records, else 0."""

    weights: Weights
    place: int

    def many(self, records: Sequence[Any]) -> NDArray[np.float64]:
        signed, wrong = mistakes(records, self.weights)
        return np.where(wrong, signed[:, self.place], 0.0)

    def __call__(self, record: Any) -> float:
        return float(self.many([record])[0])


@dataclass(frozen=True)
class _Mistakes:
    """The values of `_Mistake` or `_Push` in many runs."""

    signed: NDArray[np.float64]
    weights: NDArray[np.float64]
    place: int | None = None

    def __call__(self, kinds: NDArray[np.intp]) -> NDArray[np.float64]:
        wrong = self.weights @ self.signed[kinds].T <= 0.0
        return wrong * (1.0 if self.place is None else self.signed[kinds, self.place])


@dataclass(frozen=True)
class PerceptronQueries:
    """The perceptron by statistical queries.

    Each round adds the mean mistake to the weights.

    Parameters
    ----------
    dimension
        d. Examples are (x, y), y = ±1, ‖x‖ ≤ 1.
    alpha
        The error allowed, in (0, 1/2).
    margin
        γ. Some unit vector u has y·⟨u, x⟩ ≥ γ on all examples.
    rounds
        The most rounds. None: as many as the guarantee asks for.

    Guarantee
    ---------
    With every valid oracle, the output is weights w of error at most alpha, after at most T = ⌊(4/γ + 1/2)²⌋
    + 1 rounds. A round asks d + 1 queries: the error with tolerance alpha/4, and d coordinates of v =
    E[y·x·1(mistake)] with tolerance tau = γ·alpha/(8·√d).

    If the answer for the error is at most 3·alpha/4, the run ends and the error is at most alpha. Otherwise
    the error e is at least alpha/2, and its answer ê > 3·alpha/4 has ρ = e/ê in [2/3, 4/3]. With the answers
    v̂ for v, the update is v̂/ê = ρ·v/e + noise. The noise has norm at most η = √d·tau/ê ≤ γ/6.

    ⟨v/e, u⟩ ≥ γ, so ⟨w, u⟩ grows by at least 2γ/3 − γ/6 = γ/2 in each round. ⟨v, w⟩ ≤ 0 and ‖v/e‖ ≤ 1, so
    ‖w‖² grows by at most 2η·‖w‖ + (4/3 + η)². By induction ‖w‖ ≤ η·t + (4/3 + η)·√t after t updates. The
    Cauchy-Schwarz inequality then gives γ·t/2 ≤ γ·t/6 + (4/3 + γ/6)·√t, that is √t ≤ 4/γ + 1/2.

    Examples
    --------
    >>> from mechanisms.queries import AdversarialOracle, Population
    >>> corners = [((a * 0.7, b * 0.7), a) for a in (-1, 1) for b in (-1, 1)]
    >>> learner = PerceptronQueries(2, alpha=0.1, margin=0.7)
    >>> oracle = AdversarialOracle(Population(corners), "up")
    >>> weights = learner.learn(oracle)
    >>> bool(mistakes(corners, weights)[1].any()), oracle.rounds <= 2 * learner.most_rounds
    (False, True)
    """

    dimension: int
    alpha: float = 0.2
    margin: float = 0.5
    rounds: int | None = None

    def __post_init__(self) -> None:
        owner = type(self).__name__
        positive_int(self.dimension, what=f"The `dimension` of `{owner}`")
        check_accuracy(self.alpha, 0.1, owner=owner)
        finite_number(self.margin, what=f"The `margin` of `{owner}`", above=0, maximum=1)
        if self.rounds is not None:
            positive_int(self.rounds, what=f"The `rounds` of `{owner}`")

    @property
    def most_rounds(self) -> int:
        """The most rounds of a run."""
        return math.floor((4.0 / self.margin + 0.5) ** 2) + 1 if self.rounds is None else self.rounds

    @property
    def most_queries(self) -> int:
        """The most queries that a run asks."""
        return self.most_rounds * (self.dimension + 1)

    def error_query(self, weights: Weights) -> StatisticalQuery:
        """Return the query for the error of the weights."""
        function = _Mistake(weights)
        return StatisticalQuery.fraction(function, tau=self.alpha / 4.0, vectorised=function.many)

    def push_queries(self, weights: Weights) -> list[StatisticalQuery]:
        """Return the queries for the mean mistake v."""
        tau = self.margin * self.alpha / (8.0 * math.sqrt(self.dimension))
        ask = partial(StatisticalQuery.bounded, bound=1.0, tau=tau)
        pushes = [_Push(weights, place) for place in range(self.dimension)]
        return [ask(push, vectorised=push.many) for push in pushes]

    def learn(self, oracle: SQOracle) -> Weights:
        """Return weights."""
        weights = np.zeros(self.dimension)
        for _ in range(self.most_rounds):
            current = tuple(weights.tolist())
            error = oracle.ask(self.error_query(current))
            if error <= 0.75 * self.alpha:
                break
            weights = weights + np.array(oracle.ask_all(self.push_queries(current))) / error
        return tuple(weights.tolist())

    def learn_many(self, oracle: ManyChunks) -> list[Weights]:
        """Return the weights of every run.

        Examples
        --------
        >>> from learners.by_queries.chunks import ChunkNoise
        >>> from learners.by_queries.many_chunks import ManyChunks
        >>> far = [((1.0,), 1)] * 300 + [((-1.0,), -1)] * 300
        >>> noise, rng = ChunkNoise("central", 10.0), np.random.default_rng(0)
        >>> learner = PerceptronQueries(1, rounds=2)
        >>> found = learner.learn_many(ManyChunks(far, queries=4, noise=noise, runs=2, rng=rng))
        >>> [round(weight, 1) for (weight,) in found]
        [1.0, 1.0]
        """
        origin = (0.0,) * self.dimension
        signed = mistakes(oracle.records, origin)[0]
        error_width, push_width = self.error_query(origin).width, self.push_queries(origin)[0].width
        weights, active = np.zeros((oracle.runs, self.dimension)), np.arange(oracle.runs)
        for _ in range(self.most_rounds):
            error = oracle.ask(_Mistakes(signed, weights[active]), width=error_width, active=active)
            goes_on = error > 0.75 * self.alpha
            active, error = active[goes_on], error[goes_on]
            if not active.size:
                break
            of = [_Mistakes(signed, weights[active], place) for place in range(self.dimension)]
            pushes = [oracle.ask(values, width=push_width, active=active) for values in of]
            weights[active] += np.column_stack(pushes) / error[:, None]
        return list(map(tuple, weights.tolist()))


@dataclass(frozen=True, kw_only=True)
class Perceptron(ChunkedRun, ClaimsItsEpsilon):
    """Run the perceptron privately by noisy queries.

    A database is a list of (x, y), x a tuple of d numbers of norm at most 1, y in {−1, 1}. The output is the
    weights, or "insufficient samples".

    Parameters
    ----------
    dimension, alpha, margin
        As in `PerceptronQueries`.
    epsilon
        The privacy claimed, > 0.
    beta
        Failure probability, in (0, 1/2).
    rounds
        The most rounds. None: as many as the guarantee of `PerceptronQueries` asks for.
    model
        ``"central"``: noise on the averages. ``"local"``: every record adds noise to its own report.
    records, size
        The records of audited databases and their number, by default one for each query.

    Raises
    ------
    InvalidValue
        A parameter is out of range, an x has another length or a norm above 1, or a y is not ±1.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced, and epsilon-local privacy in the local model. A
    query depends only on earlier answers, and each record affects only one answer (`ChunkNoise`). The claim
    does not depend on the number of rounds.

    With `sample_size` examples of margin γ, and `rounds` None, the error is at most alpha with probability 1
    − beta. All answers are then within tolerance.

    Examples
    --------
    >>> perceptron = Perceptron(dimension=1, rounds=2)
    >>> perceptron.size, len(perceptron([((1.0,), 1)] * 4, np.random.default_rng(0)))
    (4, 1)
    """

    dimension: int = 1
    epsilon: float = 1.0
    alpha: float = 0.2
    beta: float = 0.1
    margin: float = 0.5
    rounds: int | None = 2
    model: Model = "central"
    records: tuple[Any, ...] | None = None
    size: int | tuple[int, int] | None = None

    name: ClassVar[str] = "perceptron"

    def __post_init__(self) -> None:
        check_accuracy(self.alpha, self.beta, owner=type(self).__name__)
        positive_int(self.dimension, what=f"The `dimension` of `{type(self).__name__}`")
        ends = [(0.0,) * (self.dimension - 1) + (value,) for value in (-1.0, 0.5, 1.0)]
        self._settle(tuple((x, y) for x in ends for y in (-1, 1)))

    @property
    def algorithm(self) -> PerceptronQueries:
        """The SQ algorithm that is run."""
        return PerceptronQueries(self.dimension, self.alpha, self.margin, self.rounds)

    @property
    def _needed(self) -> int:
        """The number of examples that the utility claim needs."""
        origin = (0.0,) * self.dimension
        round_of = [self.algorithm.error_query(origin), *self.algorithm.push_queries(origin)]
        beta = self.beta / self.algorithm.most_rounds
        return self.algorithm.most_queries * ChunkNoise(self.model, self.epsilon).chunk_size(
            round_of, beta=beta
        )

    @property
    def utility_claim(self) -> PAC | None:
        """The accuracy claimed; None if `rounds` is given."""
        return PAC(self.alpha, self.beta) if self.rounds is None else None

    def problems(self) -> list[SeparableProblem]:
        """Return hard problems of `sample_size` examples."""
        return separable_problems(
            self.dimension, alpha=self.alpha, margin=self.margin, examples=self.sample_size()
        )

    def random(self, rng: np.random.Generator) -> SeparableProblem:
        """Return a random problem of `sample_size` examples."""
        return random_separable(self.dimension, margin=self.margin, examples=self.sample_size(), rng=rng)

    @property
    def _wanted(self) -> str:
        return f"(x, y), x of {self.dimension} numbers and norm ≤ 1, y −1 or 1"

    def _is_record(self, record: Any) -> bool:
        try:
            x, y = record
            return y in (-1, 1) and len(x) == self.dimension and math.hypot(*x) <= 1.0 + 1e-12
        except (TypeError, ValueError):
            return False


_AT_SIZE: dict[str, Any] = {
    "dimension": 2,
    "rounds": None,
    "margin": 0.9,
    "alpha": 0.45,
    "beta": 0.1,
    "calm": ((0.6, 0.8), 1),
    "odd": ((-0.8, -0.6), 1),
    "placed": {"audited": 75_000, "places": (1_500, 3_500), "labels": (1, -1)},
}
"""A chunk has 1,000 records. The pairs replace a record read by the first update or the next error query."""

entries = in_both_models(
    Perceptron,
    summaries=(
        "the perceptron by adaptive queries (no law)",
        "the perceptron by adaptive queries, local (no law)",
        "d = 2, margin 0.9, all its rounds",
    ),
    stated=_AT_SIZE,
    formulas=parities.perceptron,
    options={"budget": 20_000},
    runs=(30_000, 20_000),
)
