"""SQ algorithms as mechanisms in the local and in the central model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from audit.catalogue import Entry
from audit.claims import Accuracy
from audit.errors import (
    AuditError,
    InvalidKind,
    InvalidValue,
    blamed,
    check_word,
    finite_number,
    positive_int,
    probability,
)
from audit.relations import Relation
from mechanisms.formulas import answers
from mechanisms.queries.oracles.local_answers import LaplaceEntries, TranscribedOracle, local_sample_size
from mechanisms.queries.oracles.private import PrivateOracle, private_sample_size
from mechanisms.queries.runs.algorithms import SQAlgorithm, mean_and_spread
from mechanisms.subjects.claimed import ClaimsPure
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from audit.claims import PAC
    from mechanisms.queries.oracles.local_answers import Estimator
    from mechanisms.queries.population import Population
    from mechanisms.subjects.neighbours import Pair

__all__ = ["CentralRun", "LocalRun", "RunProblem", "SQRun"]

View: TypeAlias = Literal["output", "transcript"]
"""What a run may return."""


@dataclass(frozen=True, eq=False)
class RunProblem:
    """A distribution on which an algorithm must keep its promise.

    Parameters
    ----------
    name
        The name in reports.
    population
        The distribution.
    algorithm
        The algorithm whose error counts.
    size
        Number of records drawn for one run.

    Examples
    --------
    >>> import numpy as np
    >>> from mechanisms.queries import Population
    >>> problem = RunProblem("ones", Population([1]), mean_and_spread(), 3)
    >>> problem.draw(np.random.default_rng(0)), problem.error((0.75, 0.5), None)
    ([1, 1, 1], 0.25)
    """

    name: str
    population: Population
    algorithm: SQAlgorithm
    size: int

    def draw(self, rng: np.random.Generator) -> list[Any]:
        """Return a fresh sample."""
        return self.population.sample(self.size, rng)

    def error(self, output: Any, database: Any) -> float:
        """Return the error of the output on the *distribution*."""
        del database
        return self.algorithm.error(output, self.population)


@dataclass(frozen=True, kw_only=True)
class SQRun(StatedSize, ClaimsPure):
    """The common part of private runs of SQ algorithms.

    A subclass defines `_oracle`.

    Parameters
    ----------
    epsilon, tau, beta, size, records, make, view
        As in `LocalRun`.

    Examples
    --------
    >>> issubclass(LocalRun, SQRun), issubclass(CentralRun, SQRun)
    (True, True)
    """

    epsilon: float = 4.0
    tau: float = 0.5
    beta: float = 0.05
    size: int | None = None
    records: Sequence[Any] = (-1, 0, 1)
    make: Callable[..., SQAlgorithm] = mean_and_spread
    view: View = "output"

    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    accuracy: ClassVar[str] = "tau"

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        check_word(self.view, View, what=f"The `view` of `{owner}`")
        finite_number(self.tau, what=f"The `tau` of `{owner}`", above=0)
        probability(self.beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        if self.size is None:
            object.__setattr__(self, "size", self.sample_size())
        if positive_int(self.size, what=f"The `size` of `{owner}`") < self.sample_size():
            raise InvalidValue(
                f"The `size` of `{owner}` must be at least {self.sample_size()} for {self.algorithm.queries} "
                f"queries within {self.algorithm.hardest.tau:g} with probability {1 - self.beta:g}; "
                f"got {self.size}."
            )

    @cached_property
    def algorithm(self) -> SQAlgorithm:
        """The algorithm that is run."""
        with blamed(f"The `make` of `{type(self).__name__}` failed", passing=(AuditError,)):
            made = self.make(tau=self.tau) if callable(self.make) else self.make
        if not isinstance(made, SQAlgorithm):
            raise InvalidKind(
                f"The `make` of `{type(self).__name__}` must return an `SQAlgorithm`; got {made!r:.60}."
            )
        return made

    @property
    def utility_claim(self) -> Accuracy | PAC | None:
        """The algorithm's own promise, which fails with probability at most beta.

        For a transcript it is None. An error may exceed 1, because the noise is not bounded.
        """
        if self.view == "transcript":
            return None
        return Accuracy(self.algorithm.alpha, self.beta)

    def _oracle(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the oracle that the algorithm asks."""
        raise NotImplementedError

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run, or its transcript."""
        self._check(database)
        oracle = self._oracle(database, rng)
        output = self.algorithm.answered(oracle)
        return output if self.view == "output" else self._transcript(oracle)

    def _transcript(self, oracle: Any) -> tuple[Any, ...]:
        said: tuple[Any, ...] = oracle.transcript
        return said

    def _check(self, database: Any) -> None:
        if not hasattr(database, "__len__"):
            raise InvalidKind(
                f"A database of `{type(self).__name__}` must be a list of records; got {database!r:.60}."
            )
        if len(database) != self.size:
            raise InvalidValue(
                f"A database of `{type(self).__name__}` must hold {self.size} records; got {len(database)}."
            )

    def problems(self) -> Sequence[RunProblem]:
        """Return the algorithm's hard distributions."""
        algorithm = self.algorithm
        return [
            RunProblem(name, population, algorithm, self.size or 0)
            for name, population in algorithm.populations.items()
        ]

    def suggested_pairs(self) -> list[Pair]:
        """Return, for each query, databases that differ in a record that it uses."""
        first, last = self.records[0], self.records[-1]
        base = [first] * (self.size or 0)
        return [(base, [*base[:place], last, *base[place + 1 :]]) for place in self._places()]

    def _places(self) -> Sequence[int]:
        """Return the index of the first record of each query's chunk."""
        step = (self.size or 0) // self.algorithm.queries
        return range(0, step * self.algorithm.queries, step)


@dataclass(frozen=True, kw_only=True)
class LocalRun(SQRun):
    """An SQ algorithm run in the local model (K11 Theorem 5.7).

    Parameters
    ----------
    epsilon
        The budget of every entry, > 0.
    tau
        The argument of `make`, such as the tolerance of the queries or the error of the output.
    beta
        The allowed probability that at least one answer misses its tolerance.
    size
        Number of entries. Default: as many as `local_sample_size` says for the `hardest` query.
    records
        The possible entries, for the audit.
    make
        A function of `tau` that returns the `SQAlgorithm`.
    estimator
        A function of epsilon that returns the local algorithm for one query.
    view
        What a run returns. ``"output"`` is the algorithm's output. ``"transcript"`` is every entry's report
        and the answers, without a utility claim.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or `size` is too small. A database has another size, or a value lies
        outside the range of its query.

    Guarantee
    ---------
    *Privacy*: the transcript is epsilon-differentially private when one entry is replaced, even if later
    queries depend on earlier answers (`LocalOracle`). So is the output, which is a function of the
    transcript. *Utility*: with probability 1 − beta all answers are within their tolerances, and then the
    algorithm keeps its promise. This is K11 Theorem 5.7 with t·`laplace_size` entries at beta/t for t
    queries. The theorem prints 1/ε² in place of max{1, 1/ε²}. *Rounds*: if the algorithm is not `adaptive`,
    its run is a non-interactive local algorithm.

    Examples
    --------
    >>> run = LocalRun(epsilon=4.0)
    >>> print(run.size, run.claim, run.utility_claim)
    106 PureDP(epsilon=4) Accuracy(alpha=0.5, beta=0.05)
    """

    estimator: Callable[[float], Estimator] = LaplaceEntries

    name: ClassVar[str] = "local-sq-algorithm"
    reference: ClassVar[str] = "K11 Theorem 5.7"

    def __post_init__(self) -> None:
        if not callable(self.estimator):
            raise InvalidKind(
                f"The `estimator` of `{type(self).__name__}` must take epsilon; got {self.estimator!r:.60}."
            )
        super().__post_init__()

    @property
    def _needed(self) -> int:
        told = self.algorithm
        return local_sample_size(
            told.hardest, estimator=self.estimator(self.epsilon), queries=told.queries, beta=self.beta
        )

    def _oracle(self, database: Any, rng: np.random.Generator) -> TranscribedOracle:
        return TranscribedOracle(
            database,
            estimator=self.estimator(self.epsilon),
            queries=self.algorithm.queries,
            beta=self.beta,
            rng=rng,
        )


@dataclass(frozen=True, kw_only=True)
class CentralRun(SQRun):
    """An SQ algorithm run on private answers from disjoint chunks.

    This is B Theorem 7 and C Theorem 1 with the corrected noise.

    Parameters
    ----------
    epsilon, tau, beta, size, records, make
        As in `LocalRun`, but the default size is that of `private_sample_size`.
    view
        As in `LocalRun`. The transcript is all the private answers.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced (`PrivateOracle`). With probability 1 − beta the
    algorithm keeps its promise.

    Examples
    --------
    >>> run = CentralRun(epsilon=1.0)
    >>> run.size < LocalRun(epsilon=1.0).size
    True
    """

    name: ClassVar[str] = "private-sq-algorithm"
    reference: ClassVar[str] = "B Theorem 7, C Theorem 1, with noise of scale 1/(ε|S_i|)"

    @property
    def _needed(self) -> int:
        told = self.algorithm
        return private_sample_size(
            told.queries,
            tau=told.hardest.tau,
            beta=self.beta,
            epsilon=self.epsilon,
            width=told.hardest.width,
        )

    def _oracle(self, database: Any, rng: np.random.Generator) -> PrivateOracle:
        return PrivateOracle(
            database, epsilon=self.epsilon, queries=self.algorithm.queries, beta=self.beta, rng=rng
        )


entries = (
    Entry(
        LocalRun.name,
        LocalRun,
        options={"budget": 7_000},  # with fewer runs no true ε could be shown to exceed 4
        utility={},
        reference=LocalRun.reference,
        summary="two statistical queries, the second in view of the first, by local reports (no law)",
    ),
    Entry(
        f"{LocalRun.name}-transcript",
        partial(LocalRun, view="transcript"),
        options={"budget": 10_000},
        reference=LocalRun.reference,
        summary="what the same run makes public: every report (no law)",
    ),
    Entry(
        CentralRun.name,
        CentralRun,
        options={"budget": 10_000},
        utility={},
        reference=CentralRun.reference,
        summary="the same two on private answers (no law)",
        formulas=answers.central_run,
    ),
)
