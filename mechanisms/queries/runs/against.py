"""SQ algorithms as mechanisms whose database is a valid oracle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC, Accuracy
from audit.errors import InvalidKind
from audit.problems import FixedProblem
from audit.values.brief import show
from mechanisms.queries.oracles.adversarial import POLICIES, AdversarialOracle, Greedy
from mechanisms.queries.oracles.cases import OracleCase, Reweighted, Watched, moved_offset
from mechanisms.subjects.draws import ChecksDraws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from audit.distributions import Finite
    from mechanisms.queries.runs.algorithms import SQAlgorithm
    from mechanisms.queries.statistical import StatisticalQuery

    Objective: TypeAlias = "Callable[[StatisticalQuery, float, float], float]"

__all__ = ["OracleRun", "oracle_entry"]

_SEEDS = (0, 1)
_LOOKED_BACK = 24
"""Number of queries whose offsets are tried one by one."""
_STEPS = 20
_ENDS = (0.0, 1.0, -1.0)
_REWEIGHTED = Reweighted()
_BUDGET = 600
"""Runs in the audit of a catalogue entry."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OracleRun(ChecksDraws):
    """An SQ algorithm as a mechanism on oracles.

    Parameters
    ----------
    make
        A function that returns the `SQAlgorithm`. It must be picklable, so it is defined in a module or is a
        `functools.partial` of such a function. The algorithm's output must be a function of the answers.
    objectives
        What greedy adversaries maximise, as in `mechanisms.queries.Greedy`.
    laws
        How populations are proposed, and for which of them the algorithm makes a promise.
    accuracy
        `PAC`, or `Accuracy` for errors that are not probabilities.
    name, reference
        The name in reports, and the statement that it implements.

    Raises
    ------
    InvalidKind
        `make` does not return an `SQAlgorithm`, or a database is no `OracleCase`.

    Guarantee
    ---------
    No privacy is claimed. *Utility*: the algorithm's own promise, with every valid oracle, so with beta = 0.
    Its exact law has one output, so an audit decides each problem exactly.

    Every problem is deterministic. Its adversary is a name, a seed or a list of offsets, which the problem's
    name states.

    Examples
    --------
    >>> from mechanisms.queries import mean_and_spread
    >>> run = OracleRun(make=partial(mean_and_spread, tau=0.25))
    >>> print(run.utility_claim, run.problems()[0].name, sep="; ")
    Accuracy(alpha=0.25, beta=0); half lowest, half highest, answers up
    """

    make: Callable[[], SQAlgorithm]
    objectives: tuple[Objective, ...] = ()
    laws: Reweighted = _REWEIGHTED
    accuracy: type[PAC | Accuracy] = Accuracy
    name: str = "sq-algorithm"
    reference: str = "K11 Definitions 5.4 and 5.5"

    def __post_init__(self) -> None:
        if not any(self.accuracy is kind for kind in (PAC, Accuracy)):
            raise InvalidKind(
                f"The `accuracy` of `OracleRun` must be `PAC` or `Accuracy`; got {show(self.accuracy, 40)}."
            )
        _ = self.algorithm  # anything that is not an algorithm is refused here, not by an audit

    @cached_property
    def algorithm(self) -> SQAlgorithm:
        """The algorithm that is run."""
        from mechanisms.queries.runs.algorithms import SQAlgorithm

        made = self.make() if callable(self.make) else self.make
        if not isinstance(made, SQAlgorithm):
            raise InvalidKind(f"The `make` of `OracleRun` must return an `SQAlgorithm`; got {made!r:.60}.")
        return made

    @property
    def utility_claim(self) -> PAC | Accuracy:
        """The algorithm's promise, with beta = 0."""
        return self.accuracy(self.algorithm.alpha, 0.0)

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments that the algorithm was made with."""
        return dict(self.make.keywords) if isinstance(self.make, partial) else {}

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run against a fresh oracle of the case."""
        del rng  # only the oracle may be random, by its own seed
        if not isinstance(database, OracleCase):
            raise InvalidKind(f"A database of `OracleRun` must be an `OracleCase`; got {database!r:.40}.")
        return self.algorithm.answered(database.oracle())

    def distribution(self, database: OracleCase) -> Finite:
        """Return the exact law, in which one output has probability 1."""
        from audit.distributions import Finite

        return Finite([self(database, np.random.default_rng(0))], [1.0])

    def problems(self) -> list[FixedProblem]:
        """Return every pair of a hard population and an adversary, the worst first.

        Adversaries are the exact and a random oracle, all `POLICIES`, and a greedy one for each objective.
        Another adversary has offsets chosen in turn for the largest error.
        """
        cases = {
            str(case): case  # two objectives may choose the same offsets
            for label, population in self.algorithm.populations.items()
            for case in self._cases(label, population)
        }
        return [self._problem(case) for case in sorted(cases.values(), key=self._error, reverse=True)]

    def vary(self, problem: FixedProblem, rng: np.random.Generator) -> FixedProblem:
        """Return the problem that a short search for a larger error reaches.

        A step moves an offset or the weights, and is taken unless the error falls. If it falls in every step,
        the result is the last problem tried.
        """
        best, tried = problem.database, problem.database
        error = self._error(best)
        for _ in range(_STEPS):
            tried = self._near(best, rng)
            if self._error(tried) >= error:
                best, error = tried, self._error(tried)
        return self._problem(tried if best is problem.database else best)

    def random(self, rng: np.random.Generator) -> FixedProblem:
        """Return the problem of a random population with random offsets."""
        label, population = self.laws.fresh(self.algorithm.populations, rng)
        size = self.algorithm.queries
        drawn = rng.choice(_ENDS, size) if rng.random() < 0.5 else rng.uniform(-1.0, 1.0, size).round(2)
        case = OracleCase(label, population, drawn.tolist())
        return self._problem(replace(case, adversary=self._offsets(case)))

    def _cases(self, label: str, population: Any) -> Iterator[OracleCase]:
        names: tuple[str | int, ...] = ("exact", *_SEEDS, *POLICIES)
        for adversary in names:
            yield OracleCase(label, population, adversary)
        for objective in self.objectives:
            greedy = Watched(AdversarialOracle(population, Greedy(objective)), population)
            self.algorithm.answered(greedy)
            yield OracleCase(label, population, greedy.offsets)
        yield self._one_by_one(OracleCase(label, population, ()))

    def _one_by_one(self, case: OracleCase) -> OracleCase:
        """Return the case with offsets chosen in turn for the largest error."""
        chosen: tuple[float, ...] = ()
        while len(chosen) < min(_LOOKED_BACK, len(self._offsets(replace(case, adversary=chosen)))):
            cases = [replace(case, adversary=(*chosen, end)) for end in _ENDS]
            chosen = max(cases, key=self._error).adversary  # type: ignore[assignment]  # as just built
        return replace(case, adversary=chosen)

    def _near(self, case: OracleCase, rng: np.random.Generator) -> OracleCase:
        offsets = self._offsets(case)
        if offsets and rng.random() < 0.5:
            return replace(case, adversary=moved_offset(offsets, rng))
        label, population = self.laws.near(case.label, case.population, rng)
        return OracleCase(label, population, offsets)

    def _offsets(self, case: OracleCase) -> tuple[float, ...]:
        """Return the offsets of the answers that a run gets."""
        watched = case.watched()
        self.algorithm.answered(watched)
        return tuple(watched.offsets)

    def _error(self, case: OracleCase) -> float:
        return float(self.algorithm.error(self.algorithm.answered(case.oracle()), case.population))

    def _problem(self, case: OracleCase) -> FixedProblem:
        return FixedProblem(str(case), case, self.measure)

    def measure(self, output: Any, database: OracleCase) -> float:
        """Return the error of an output on the population of a case."""
        return float(self.algorithm.error(output, database.population))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the algorithm."""
        return {name: value for name, value in vars(self).items() if name != "algorithm"}


def oracle_entry(
    factory: Callable[[], OracleRun],
    summary: str,
    expected: Literal["refuted", "not refuted"] = "not refuted",
) -> Entry:
    """Return the catalogue entry of a run against oracles, for utility only.

    Examples
    --------
    >>> from mechanisms.queries.runs.deviations import spread_run
    >>> entry = oracle_entry(spread_run, "a mean and a spread")
    >>> entry.name, entry.options, entry.utility_expected
    ('sq-mean-and-spread', None, 'not refuted')
    """
    run = factory()
    return Entry(
        run.name,
        factory,
        options=None,
        utility={"budget": _BUDGET},
        utility_expected=expected,
        reference=run.reference,
        summary=summary,
    )
