"""Whole local protocols, in which entries answer through randomizers."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import PureDP
from audit.errors import InvalidKind, InvalidValue, finite_number, flag, positive_int
from audit.relations import Relation
from mechanisms.composition.budget import OverspentError
from mechanisms.composition.processing import Undeclared
from mechanisms.formulas import responses
from mechanisms.local.algorithms import mean_then_share, poll_twice
from mechanisms.local.grouping import Grouped
from mechanisms.local.laplace import LocalLaplace
from mechanisms.local.oracle import LROracle
from mechanisms.local.paths import answered_often, sampled_paths
from mechanisms.local.questions import Query, checked_queries, checked_query
from mechanisms.local.transcripts import flattened, product_law, spending, transcript_law
from mechanisms.responses.binary import RandomizedResponse
from mechanisms.responses.kary import KaryRandomizedResponse
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from audit.distributions import Finite, Law
    from mechanisms.subjects.neighbours import Pair

__all__ = ["InteractiveProtocol", "NonInteractiveProtocol"]

_BLOCK = 2**20
"""Answers drawn at once when a protocol is sampled."""


@dataclass(frozen=True, kw_only=True)
class _Protocol(PlainParameters):
    """The common part of interactive and non-interactive protocols."""

    epsilon: float | None = None
    size: int = 2
    records: Sequence[Any] = (0, 1)

    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    def __post_init__(self) -> None:
        owner = type(self).__name__
        positive_int(self.size, what=f"The `size` of `{owner}`")
        if self.epsilon is not None:
            finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)

    @property
    def claim(self) -> PureDP:
        """The privacy claimed, which is the budget of an entry."""
        assert self.epsilon is not None  # set when the subject was made
        return PureDP(self.epsilon)

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run."""
        return self._run(Grouped(self._sized(database)), rng)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the outputs of `size` runs."""
        entries = Grouped(self._sized(database))
        return [self._run(entries, rng) for _ in range(size)]

    def suggested_pairs(self) -> list[Pair]:
        """Return, for each entry, a pair of databases that differ there."""
        first, last = self.records[0], self.records[-1]
        base = [first] * self.size
        return [(base, [*base[:i], last, *base[i + 1 :]]) for i in range(min(self.size, 8))]

    def _oracle(self, entries: Grouped, rng: np.random.Generator) -> LROracle:
        return LROracle(entries, epsilon=self.claim.epsilon, rng=rng)

    def _sized(self, database: Any) -> Any:
        if len(database) != self.size:
            raise InvalidValue(
                f"A database of `{type(self).__name__}` must hold {self.size} entries; got {len(database)}."
            )
        return database

    def answered_by(self, oracle: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run that asks this oracle.

        Parameters
        ----------
        oracle
            An `LROracle`, or an object with the same methods (`mechanisms.queries.SimulatedEntries`).
        rng
            The generator of the algorithm's own coins.
        """
        raise NotImplementedError

    def _run(self, entries: Grouped, rng: np.random.Generator) -> Any:
        return self.answered_by(self._oracle(entries, rng), rng)


@dataclass(frozen=True, kw_only=True)
class NonInteractiveProtocol(_Protocol):
    """A local algorithm that asks all its questions at once.

    Parameters
    ----------
    queries
        A list of questions (entries, randomizer), where `entries` is one index or several. Or a function
        (size, coins) that returns such a list. It is called once for each run, with a generator of its own.
    conclude
        A function of the list of questions and the list of their answers that returns the output. Default:
        the output is a tuple of all answers.
    epsilon
        The budget of every entry. Default: the most that the listed questions cost an entry.
    size
        Number of entries.
    records
        The possible entries, for the audit.

    Raises
    ------
    OverspentError
        The listed questions cost an entry more than its budget.
    InvalidValue, InvalidKind
        An index is out of range, a randomizer is not local, or `queries` is a function and `epsilon` is None.

    Guarantee
    ---------
    epsilon-differential privacy when one entry is replaced (K11 Definition 5.3, "noninteractive"). The
    answers of an entry are independent. The density of the j-th changes by a factor of at most e^ε_j, and Σ
    ε_j ≤ epsilon. All questions exist before any answer is drawn, so none can depend on an answer. If
    `queries` is a function, its generator is seeded from the run's, so that it cannot predict an answer.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> both = [(range(2), RandomizedResponse(epsilon=0.5)), (0, RandomizedResponse(epsilon=0.25))]
    >>> protocol = NonInteractiveProtocol(queries=both)
    >>> print(protocol.claim, len(protocol([1, 0], np.random.default_rng(0))))
    PureDP(epsilon=0.75) 3
    """

    queries: Sequence[Query] | Callable[[int, np.random.Generator], Sequence[Query]] = ()
    conclude: Callable[[Sequence[Query], list[Any]], Any] | None = None

    name: ClassVar[str] = "local-noninteractive"
    reference: ClassVar[str] = "K11 Definitions 5.2 and 5.3"

    def __post_init__(self) -> None:
        super().__post_init__()
        if callable(self.queries):
            if self.epsilon is None:
                raise InvalidValue(
                    "The `epsilon` of `NonInteractiveProtocol` must be given where `queries` is a function."
                )
            return
        object.__setattr__(self, "queries", checked_queries(self.queries))
        most = spending(self.queries, self.size)
        if self.epsilon is None:
            finite_number(most, what="The cost of the `queries` of `NonInteractiveProtocol`", above=0)
            object.__setattr__(self, "epsilon", most)
        elif most > self.epsilon * (1.0 + 1e-12):
            raise OverspentError(f"The questions cost an entry {most:g} of its epsilon of {self.epsilon:g}.")

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the outputs of `size` runs."""
        if callable(self.queries):
            return super().sample(database, size, rng)
        entries = Grouped(self._sized(database))
        blocks = [self._block(entries, runs, rng) for runs in self._blocks(size)]
        if all(isinstance(block, np.ndarray) for block in blocks):
            return np.concatenate(blocks)
        return [output for block in blocks for output in block]

    def distribution(self, database: Any) -> Law | None:
        """Return the exact law of the output, or None if it cannot be computed."""
        if callable(self.queries):
            return None
        entries = Grouped(self._sized(database))
        if self.conclude is None:
            return product_law(self.queries, entries)
        return transcript_law(self.rounds, entries)

    def rounds(self) -> Generator[Query, Any, Any]:
        """Start a run and return it as a generator.

        The generator yields questions, is sent their answers, and returns the output.
        """
        if callable(self.queries):
            raise InvalidValue("The `queries` of `NonInteractiveProtocol` must be listed to be followed.")
        answers: list[Any] = []
        for query in self.queries:
            answer = yield query
            answers.append(answer)
        return self._concluded(answers)

    def answered_by(self, oracle: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run that asks this oracle."""
        queries = self.queries
        if callable(queries):
            coins = np.random.default_rng(rng.integers(0, 2**63, 4))
            queries = checked_queries(queries(self.size, coins))
        return self._concluded(oracle.ask_all(queries), queries)

    def _concluded(self, answers: list[Any], queries: Sequence[Query] | None = None) -> Any:
        if self.conclude is None:
            return flattened(answers)
        told = self.queries if queries is None else queries
        assert not callable(told)
        return self.conclude(told, answers)

    def _block(self, entries: Grouped, runs: int, rng: np.random.Generator) -> Any:
        """Return the outputs of several runs."""
        assert not callable(self.queries)
        drawn = [answered_often(query, entries, runs, rng=rng) for query in self.queries]
        if self.conclude is None and all(isinstance(answers, np.ndarray) for answers in drawn):
            return np.column_stack([answers.reshape(runs, -1) for answers in drawn])
        return [self._concluded([answers[run] for answers in drawn]) for run in range(runs)]

    def _blocks(self, size: int) -> Iterator[int]:
        assert not callable(self.queries)
        width = sum(np.size(entries) for entries, _ in self.queries)
        block = max(1, _BLOCK // max(1, width))
        return (min(block, size - start) for start in range(0, size, block))


@dataclass(frozen=True, kw_only=True)
class InteractiveProtocol(_Protocol):
    """A local algorithm whose questions may depend on earlier answers.

    Parameters
    ----------
    algorithm
        A generator function (size) that yields questions (entries, randomizer), is sent the answer to each,
        and returns the output. A randomised algorithm takes (size, coins).
    coins
        Whether `algorithm` takes a generator of its own. If so, there is no exact law.
    epsilon
        The budget of every entry, > 0, over all rounds.
    size
        Number of entries.
    records
        The possible entries, for the audit.

    Raises
    ------
    InvalidKind
        `algorithm` is no function, or what it returns is no generator.
    InvalidValue
        A parameter is out of range.
    OverspentError
        The questions of a run overspend an entry. This depends on earlier answers only, so the error is an
        output like any other.

    Guarantee
    ---------
    epsilon-differential privacy when one entry is replaced (K11 Definition 5.3), because `LROracle` has it
    for any questions. The output is a function of the answers and of the algorithm's own coins.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> def twice(size):
    ...     first = yield range(size), RandomizedResponse(epsilon=0.5)
    ...     return (yield int(first.argmax()), RandomizedResponse(epsilon=0.5))
    >>> protocol = InteractiveProtocol(algorithm=twice, epsilon=1.0)
    >>> print(protocol.claim, protocol([1, 0], np.random.default_rng(0)) in (0, 1))
    PureDP(epsilon=1) True
    """

    algorithm: Callable[..., Generator[Query, Any, Any]]
    coins: bool = False

    name: ClassVar[str] = "local-interactive"
    reference: ClassVar[str] = "K11 Definitions 5.2 and 5.3"

    def __post_init__(self) -> None:
        super().__post_init__()
        flag(self.coins, what=f"The `coins` of `{type(self).__name__}`")
        self._begun(np.random.default_rng(0))  # runs none of the algorithm's code yet
        if self.epsilon is None:
            raise InvalidValue(
                "The `epsilon` of `InteractiveProtocol` must be given: the budget of an entry."
            )

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law of the output, or None if it cannot be computed.

        The law needs `coins` = False, answers with finite laws, not too many sequences of answers, and none
        that overspends an entry.
        """
        if self.coins:
            return None
        entries = Grouped(self._sized(database))
        return transcript_law(self.rounds, entries, budget=self._allowed)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the outputs of `size` runs."""
        if self.coins:
            return super().sample(database, size, rng)
        entries = Grouped(self._sized(database))
        together = sampled_paths(self.rounds, entries, size, budget=self._allowed, rng=rng)
        return super().sample(database, size, rng) if together is None else together

    def rounds(self) -> Generator[Query, Any, Any]:
        """Start a run and return it as a generator.

        The generator yields questions, is sent their answers, and returns the output.
        """
        if self.coins:
            raise InvalidValue(
                "An `algorithm` with `coins` must be run: its questions are not its answers' alone."
            )
        return self._begun(None)

    def _begun(self, coins: np.random.Generator | None) -> Generator[Query, Any, Any]:
        told = (self.size, coins) if self.coins else (self.size,)
        begun = self.algorithm(*told) if callable(self.algorithm) else self.algorithm
        if not callable(self.algorithm) or not isinstance(begun, Generator):
            raise InvalidKind(
                f"The `algorithm` of `{type(self).__name__}` must be a generator function; got "
                f"{f'one that returns {begun!r:.40}' if callable(self.algorithm) else repr(begun)[:60]}."
            )
        return begun

    @property
    def _allowed(self) -> float:
        return self.claim.epsilon * (1.0 + 1e-12)

    def answered_by(self, oracle: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run that asks this oracle."""
        rounds = self._begun(np.random.default_rng(rng.integers(0, 2**63, 4)) if self.coins else None)
        answer: Any = None
        while True:
            try:
                query = rounds.send(answer)
            except StopIteration as end:
                return end.value
            answer = oracle.ask(*checked_query(query))


def _centred(bit: int) -> int:
    return 2 * bit - 1


_QUESTIONS = (
    (range(2), RandomizedResponse(epsilon=0.25)),
    (0, KaryRandomizedResponse(epsilon=0.5, categories=3)),
    ([1, 0], LocalLaplace(epsilon=0.25, query=_centred, records=(0, 1))),
)

entries = (
    Entry(
        "local-noninteractive",
        partial(NonInteractiveProtocol, queries=_QUESTIONS),
        reference=NonInteractiveProtocol.reference,
        summary="three questions handed over before any answer",
        formulas=responses.noninteractive,
    ),
    Entry(
        "local-interactive",
        partial(InteractiveProtocol, algorithm=poll_twice, epsilon=1.0),
        reference=InteractiveProtocol.reference,
        summary="two rounds, the second in view of the first",
        formulas=responses.poll,
    ),
    Entry(
        "local-interactive-by-runs",
        partial(Undeclared, part=InteractiveProtocol(algorithm=poll_twice, epsilon=1.0)),
        options={"budget": 30_000},
        reference=InteractiveProtocol.reference,
        summary="the same two rounds (no law)",
    ),
    Entry(
        "local-mean-then-share",
        partial(InteractiveProtocol, algorithm=mean_then_share, epsilon=1.0, records=(-1, 0, 1), size=3),
        options={"budget": 10_000},
        reference=InteractiveProtocol.reference,
        summary="the mean, then the share of entries above it (no law)",
    ),
)
