"""SQ algorithms on noisy labels as mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC
from audit.errors import InvalidKind, check_word, finite_number
from mechanisms.queries.oracles.classification_noise import (
    NoisyLabelOracle,
    noisy_labels,
    once_each,
    rate,
    split_query,
)
from mechanisms.queries.oracles.local_answers import LaplaceEntries, LocalOracle, TranscribedOracle
from mechanisms.queries.oracles.private import PrivateOracle, private_chunk_size
from mechanisms.queries.runs.noisy_algorithms import SQLearner, direction_and_error, one_variable
from mechanisms.queries.runs.sq_runs import RunProblem, SQRun
from mechanisms.queries.runs.unknown_rate import candidate_rates, learn_from_noisy_labels
from mechanisms.queries.statistical import StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mechanisms.queries.oracles.chunks import ChunkOracle
    from mechanisms.queries.oracles.oracle import SQOracle
    from mechanisms.queries.population import Population
    from mechanisms.queries.runs.algorithms import SQAlgorithm

__all__ = ["BoundedNoiseRun", "NoisyProblem", "NoisyRun"]

Model = Literal["central", "local"]


@dataclass(frozen=True, eq=False)
class NoisyProblem(RunProblem):
    """A distribution of clean examples whose samples have noisy labels.

    Parameters
    ----------
    name, population, algorithm, size
        As in `RunProblem`. The population is the clean one.
    eta
        The probability with which each label is flipped.

    Examples
    --------
    >>> from mechanisms.queries import Population
    >>> import numpy as np
    >>> problem = NoisyProblem("x", Population([(0, -1)]), one_variable(), 3, eta=0.0)
    >>> problem.draw(np.random.default_rng(0)), problem.error(0, None)
    ([(0, -1), (0, -1), (0, -1)], 1.0)
    """

    eta: float = 0.0

    @cached_property
    def _noisy(self) -> Population:
        return noisy_labels(self.population, self.eta)

    def draw(self, rng: np.random.Generator) -> list[Any]:
        """Return a fresh sample of examples with noisy labels."""
        return self._noisy.sample(self.size, rng)


@dataclass(frozen=True, kw_only=True)
class NoisyRun(SQRun):
    """An SQ algorithm for clean examples, run privately on noisy examples.

    Parameters
    ----------
    epsilon, tau, beta, size, make
        As in `LocalRun`. The algorithm's records are examples (x, y), y in {−1, 1}.
    records
        The possible noisy examples, for the audit.
    eta
        The known rate, in [0, 1/2), at which the labels of the sample were flipped.
    view
        As in `LocalRun`. The transcript of the central model is all the private answers.
    model
        ``"central"`` for answers of `PrivateOracle`, ``"local"`` for answers of `LocalOracle`.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or `size` is too small. A database has another size, a label is neither
        −1 nor 1, or a value lies outside the range of its query.

    Guarantee
    ---------
    This is B Theorem 8. *Privacy*: each of M queries becomes two (`NoisyLabelOracle`). An epsilon-private
    oracle answers each of these 2M from its own chunk. The rest is post-processing. *Utility*: with
    probability 1 − beta all 2M answers are within their tolerances. Then the M answers about the *clean*
    distribution are too, and the algorithm keeps its promise. Each query needs a chunk for the label term at
    tolerance (1 − 2·eta)·tau/2, and one for the other term at tau/2. Both have the query's width and failure
    probability beta/2M.

    Examples
    --------
    >>> run = NoisyRun()
    >>> print(run.size, run.claim, run.utility_claim)
    6926 PureDP(epsilon=1) Accuracy(alpha=0.45, beta=0.2)
    """

    epsilon: float = 1.0
    tau: float = 0.45
    beta: float = 0.2
    records: Sequence[Any] = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    make: Callable[..., SQAlgorithm] = direction_and_error
    eta: float = 0.25
    model: Model = "central"

    name: ClassVar[str] = "noisy-labels-sq-algorithm"
    reference: ClassVar[str] = "B Theorem 8 through Theorem 7, or K11 Theorem 5.7"

    def __post_init__(self) -> None:
        owner = type(self).__name__
        rate(self.eta, what=f"The `eta` of `{owner}`")
        check_word(self.model, Model, what=f"The `model` of `{owner}`")
        super().__post_init__()

    @property
    def _needed(self) -> int:
        return self.algorithm.queries * sum(self._chunks)

    @cached_property
    def _chunks(self) -> tuple[int, ...]:
        """Numbers of examples for the two terms of the hardest query."""
        return tuple(map(self._chunk, split_query(self.algorithm.hardest, eta=self.eta)))

    def _chunk(self, part: StatisticalQuery) -> int:
        asked = 2 * self.algorithm.queries
        if self.model == "local":
            return LaplaceEntries(self.epsilon).entries(part, beta=self.beta / asked)
        return private_chunk_size(asked, tau=part.tau, beta=self.beta, epsilon=self.epsilon, width=part.width)

    def _oracle(self, database: Any, rng: np.random.Generator) -> NoisyLabelOracle:
        return NoisyLabelOracle(self._private(database, rng), eta=self.eta)

    def _private(self, database: Any, rng: np.random.Generator) -> ChunkOracle:
        asked = 2 * self.algorithm.queries
        if self.model == "local":
            kind = LocalOracle if self.view == "output" else TranscribedOracle
            estimator = LaplaceEntries(self.epsilon)
            return kind(database, estimator=estimator, queries=asked, beta=self.beta, rng=rng)
        return PrivateOracle(database, epsilon=self.epsilon, queries=asked, beta=self.beta, rng=rng)

    def _transcript(self, oracle: Any) -> tuple[Any, ...]:
        return super()._transcript(oracle.oracle)

    def problems(self) -> list[NoisyProblem]:
        """Return the algorithm's hard distributions with labels flipped at rate `eta`."""
        told, count = self.algorithm, self.size or 0
        return [
            NoisyProblem(name, population, told, count, eta=self.eta)
            for name, population in told.populations.items()
        ]

    def _places(self) -> Sequence[int]:
        label, plain = self._chunks
        return [*range(0, self.algorithm.queries * (label + plain), label + plain), label]


@dataclass(frozen=True, kw_only=True)
class BoundedNoiseRun(SQRun):
    """A private learner for a bounded, unknown rate of label noise.

    The learner tries several rates and tests the results.

    Parameters
    ----------
    epsilon, tau, beta, size, records
        As in `NoisyRun`.
    make
        A function of `tau` that returns the `SQLearner`.
    bound
        The largest possible noise rate, in [0, 1/2).
    excess
        The error that the choice among the rates may add, > 0.
    view
        What a run returns. ``"output"`` is the output for the chosen rate. ``"transcript"`` is all private
        answers for all rates, without a utility claim.

    Raises
    ------
    InvalidValue, InvalidKind
        As in `NoisyRun`, or `make` does not return an `SQLearner`.

    Guarantee
    ---------
    *Privacy*: all N·(2M + 1) queries, for N rates and M queries each, go to one `PrivateOracle`. It answers
    each from its own chunk, so the loss is at most epsilon when one example is replaced. *Utility*: for every
    rate up to `bound`, the error is at most the learner's alpha + excess with probability 1 − beta.
    Derivation: with that probability all answers are within tolerance. For one candidate rate the learner's
    oracle is valid (`candidate_rates`), and its predictor has error at most alpha. A predictor of error e
    disagrees with the noisy labels with probability eta + (1 − 2·eta)·e. This probability is estimated within
    s = excess·(1 − 2·bound)/2. So the predictor with the least estimate has error at most alpha + 2s/(1 −
    2·eta) ≤ alpha + excess. B Theorem 8 tries one rate only, and fails if this is not the true rate.

    Examples
    --------
    >>> run = BoundedNoiseRun()
    >>> len(run.rates), str(run.utility_claim)
    (3, 'PAC(alpha=0.49, beta=0.3)')
    """

    epsilon: float = 0.25
    tau: float = 0.17
    beta: float = 0.3
    records: Sequence[Any] = ((0, -1), (1, -1), (1, 1), (0, 1))
    make: Callable[..., SQLearner] = one_variable
    bound: float = 0.2
    excess: float = 0.15

    name: ClassVar[str] = "bounded-noise-sq-learner"
    reference: ClassVar[str] = "B Theorem 8 with a grid of rates and a test, through Theorem 7"

    def __post_init__(self) -> None:
        owner = type(self).__name__
        rate(self.bound, what=f"The `bound` of `{owner}`")
        finite_number(self.excess, what=f"The `excess` of `{owner}`", above=0)
        super().__post_init__()

    @cached_property
    def algorithm(self) -> SQLearner:
        """The learner that is run for every candidate rate."""
        made = super().algorithm
        if not isinstance(made, SQLearner):
            raise InvalidKind(
                f"The `make` of `{type(self).__name__}` must return an `SQLearner`; got {made!r:.60}."
            )
        return made

    @cached_property
    def rates(self) -> tuple[float, ...]:
        """The candidate noise rates for the hardest query."""
        hardest = self.algorithm.hardest
        return candidate_rates(self.bound, tau=hardest.tau, width=hardest.width)

    @property
    def utility_claim(self) -> PAC | None:
        """The claim that the error is at most min(learner's alpha + `excess`, 1).

        For a transcript it is None.
        """
        if self.view == "transcript":
            return None
        return PAC(alpha=min(self.algorithm.alpha + self.excess, 1.0), beta=self.beta)

    @property
    def _needed(self) -> int:
        """The least number of noisy examples for the promise."""
        return sum(map(self._examples, self.candidates))

    @property
    def candidates(self) -> tuple[float, ...]:
        """The rates that this run tries."""
        return self.rates

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output that fits the noisy labels best, or the transcript."""
        self._check(database)
        oracle = self._oracle(database, rng)
        found = learn_from_noisy_labels(
            self._learn,
            lambda: self._for_a_rate(oracle),
            rates=self.candidates,
            test=lambda predictor: oracle.ask(self._wrong(predictor)),
        )
        best: Any = found[0].predictor
        return best.output if self.view == "output" else self._transcript(oracle)

    def _oracle(self, database: Any, rng: np.random.Generator) -> PrivateOracle:
        return PrivateOracle(database, epsilon=self.epsilon, queries=self._asked, beta=self.beta, rng=rng)

    def _for_a_rate(self, oracle: PrivateOracle) -> PrivateOracle:
        """Return the oracle for the next rate."""
        return oracle

    def problems(self) -> list[NoisyProblem]:
        """Return the learner's hard distributions at three noise rates up to `bound`."""
        told, count = self.algorithm, self.size or 0
        return [
            NoisyProblem(f"{name}, flipped with {eta:g}", population, told, count, eta=eta)
            for eta in (self.bound, self.bound / 2.0, 0.0)
            for name, population in told.populations.items()
        ]

    @property
    def _asked(self) -> int:
        return len(self.candidates) * (2 * self.algorithm.queries + 1)

    def _examples(self, eta: float) -> int:
        """Return how many examples one candidate rate needs, with its test."""
        told = self.algorithm
        parts = split_query(told.hardest, eta=eta, label_share=0.25)
        return told.queries * sum(map(self._chunk, parts)) + self._chunk(self._wrong(None))

    def _chunk(self, query: StatisticalQuery) -> int:
        return private_chunk_size(
            self._asked, tau=query.tau, beta=self.beta, epsilon=self.epsilon, width=query.width
        )

    def _learn(self, oracle: SQOracle) -> _Predictor:
        return _Predictor(self.algorithm, self.algorithm.answered(oracle))

    def _wrong(self, predictor: Callable[[Any], int] | None) -> StatisticalQuery:
        """Return the query for how often a predictor disagrees with the noisy labels."""
        within = self.excess * (1.0 - 2.0 * self.bound) / 2.0
        disagrees = _Disagrees(predictor)
        return StatisticalQuery.fraction(disagrees, tau=within, vectorised=disagrees.many)


@dataclass(frozen=True)
class _Predictor:
    """The predictions of a learner's output."""

    learner: SQLearner
    output: Any

    def __call__(self, x: Any) -> int:
        return self.learner.predict(self.output, x)


@dataclass(frozen=True)
class _Disagrees:
    """Maps an example to whether the predictor contradicts its label."""

    predictor: Callable[[Any], int] | None

    def __call__(self, example: Any) -> bool:
        x, y = example
        return self.predictor is None or self.predictor(x) != y

    def many(self, examples: Any) -> NDArray[np.float64]:
        """Return the values for many examples."""
        return once_each(lambda some: np.array(list(map(self, some))), examples)


#: Parameters with which a run tries two rates on a few hundred examples.
COARSE: dict[str, Any] = {"tau": 1.0, "beta": 0.9, "bound": 0.34, "excess": 2.0, "view": "transcript"}
_COARSE = partial(BoundedNoiseRun, epsilon=2.0, **COARSE)

entries = (
    Entry(
        f"{NoisyRun.name}-coarse",
        partial(NoisyRun, epsilon=4.0, eta=0.1, tau=1.0),
        options={"budget": 7_000},  # with fewer runs no true ε could be shown to exceed 4
        reference=NoisyRun.reference,
        summary="two queries about clean labels, at a tolerance that few examples keep (no law)",
    ),
    Entry(
        NoisyRun.name,
        NoisyRun,
        options=None,
        utility={"budget": 600},
        reference=NoisyRun.reference,
        summary=f"two queries about clean labels; privacy: {NoisyRun.name}-coarse",
    ),
    Entry(
        f"{NoisyRun.name}-local",
        partial(NoisyRun, model="local", epsilon=2.0),
        options=None,
        utility={"budget": 600},
        reference=NoisyRun.reference,
        summary=f"the same locally; privacy: {NoisyRun.name}-local-coarse",
    ),
    Entry(
        BoundedNoiseRun.name,
        BoundedNoiseRun,
        options=None,
        utility={"budget": 600},
        reference=BoundedNoiseRun.reference,
        summary=f"a learner for noise of any rate up to 0.2; privacy: {BoundedNoiseRun.name}-coarse",
    ),
    Entry(
        f"{BoundedNoiseRun.name}-coarse",
        _COARSE,
        options={"budget": 2_000, "confirm_budget": 500, "pairs": _COARSE().suggested_pairs()[:1]},
        reference=BoundedNoiseRun.reference,
        summary="all answers for two candidate rates, at a tolerance that few examples keep (no law)",
    ),
)
