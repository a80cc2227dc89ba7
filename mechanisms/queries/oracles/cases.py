"""An oracle as a value: a population and an adversary. Asking does not change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind, positive_int
from mechanisms.queries.oracles.adversarial import AdversarialOracle
from mechanisms.queries.oracles.ideal import ExactOracle, RandomOracle
from mechanisms.queries.oracles.oracle import Oracle
from mechanisms.queries.population import Population

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mechanisms.queries.statistical import StatisticalQuery

__all__ = ["OracleCase", "Reweighted", "Watched", "moved_offset", "reweighted"]

_DIGITS = 4
"""Decimal digits of weights and offsets found by search, few enough for a name to state them exactly."""
_WEIGHTED = ", weights "


@dataclass(frozen=True)
class OracleCase:
    """An oracle for an SQ algorithm as plain data: each run gets a fresh oracle made from it.

    Parameters
    ----------
    label
        The population in words.
    population
        The distribution: a `Population`, or an object with `expectation(query)`.
    adversary
        ``"exact"``; a name of `mechanisms.queries.oracles.adversarial.POLICIES`; a sequence of offsets, one
        for each query and 0 after the last; or a whole number, the seed of random answers within the
        tolerance.

    Raises
    ------
    InvalidValue
        There is no such policy, an offset lies outside [−1, 1], or a seed is negative.
    InvalidKind
        The adversary is none of these: a function cannot be saved.

    Guarantee
    ---------
    `oracle` is a valid SQ oracle (K11 Definition 5.4). Every run of a deterministic algorithm against a valid
    oracle equals its run against one of these cases: the case whose offsets are those of the oracle's
    answers.

    Examples
    --------
    >>> from mechanisms.queries import StatisticalQuery
    >>> case = OracleCase("coin", Population([0, 1]), (1.0,))
    >>> str(case), case.oracle().ask(StatisticalQuery.fraction(bool, tau=0.125))
    ('coin, answers off by tau times 1 and 0 thereafter', 0.625)
    """

    label: str
    population: Any
    adversary: str | int | Sequence[float] = "exact"

    def __post_init__(self) -> None:
        if callable(self.adversary):
            raise InvalidKind(
                "The `adversary` of `OracleCase` must be plain data, a name, offsets or a seed; "
                f"got {self.adversary!r:.60}."
            )
        if hasattr(self.adversary, "__iter__") and not isinstance(self.adversary, str):
            object.__setattr__(self, "adversary", tuple(self.adversary))
        self.oracle()  # refuses anything that is not an adversary

    def oracle(self) -> Oracle:
        """Return a fresh oracle, because oracles count queries and adversaries use up their offsets."""
        if self.adversary == "exact":
            return ExactOracle(self.population)
        if isinstance(self.adversary, int):
            seed = positive_int(self.adversary, what="The seed of `OracleCase`", minimum=0, maximum=None)
            return RandomOracle(self.population, rng=np.random.default_rng(seed))
        return AdversarialOracle(self.population, self.adversary)

    def watched(self) -> Watched:
        """Return a fresh oracle that keeps the offsets of its answers."""
        return Watched(self.oracle(), self.population)

    def __str__(self) -> str:
        return f"{self.label}, answers {self._how()}"

    def _how(self) -> str:
        if isinstance(self.adversary, str):
            return self.adversary
        if isinstance(self.adversary, int):
            return f"random with seed {self.adversary}"
        return f"off by tau times {' '.join(f'{one:g}' for one in self.adversary) or '0'} and 0 thereafter"


class Watched(Oracle):
    """Passes on another oracle's answers, and records how far each was off, in units of its tolerance.

    Parameters
    ----------
    oracle
        Where the answers come from.
    population
        The distribution that the answers are about.

    Examples
    --------
    >>> from mechanisms.queries import StatisticalQuery
    >>> watched = OracleCase("coin", Population([0, 1]), "alternating").watched()
    >>> _ = watched.ask_all([StatisticalQuery.fraction(bool, tau=0.125)] * 3)
    >>> watched.offsets
    [1.0, -1.0, 1.0]
    """

    def __init__(self, oracle: Oracle, population: Any) -> None:
        super().__init__()
        self._oracle, self._population = oracle, population
        self.offsets: list[float] = []
        """(answer − mean) ÷ tau, clamped to [−1, 1] and rounded to the digits that a name states."""

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        answers = self._oracle.ask_all(queries)
        for query, answer in zip(queries, answers, strict=True):
            off = (answer - self._population.expectation(query)) / query.tau
            self.offsets.append(min(max(round(off, _DIGITS), -1.0), 1.0) + 0.0)
        return answers

    def _answer(self, query: StatisticalQuery) -> float:
        return self._answers([query])[0]


def moved_offset(offsets: Sequence[float], rng: np.random.Generator) -> tuple[float, ...]:
    """Return the offsets with one of them moved: to an end of the tolerance, to 0, or anywhere between.

    Examples
    --------
    >>> sum(old != new for old, new in zip((0.5, 0.5), moved_offset((0.5, 0.5), np.random.default_rng(0))))
    1
    """
    moved = list(offsets)
    place = int(rng.integers(len(moved)))
    ends = [end for end in (-1.0, 0.0, 1.0) if end != moved[place]]
    anywhere = round(float(rng.uniform(-1.0, 1.0)), 2)
    moved[place] = float(rng.choice([*ends, anywhere]))
    return tuple(moved)


def reweighted(label: str, population: Population, weights: NDArray[np.float64]) -> tuple[str, Population]:
    """Return a name that states the weights, and the population with these weights, rounded as in the name.

    Examples
    --------
    >>> name, found = reweighted("coin", Population([0, 1]), np.array([0.7, 0.3]))
    >>> name, found.weights.tolist()
    ('coin, weights 0.7 0.3', [0.7, 0.3])
    """
    tens = 10**_DIGITS
    parts = np.floor(weights * tens).astype(np.int64)
    parts[int(np.argmax(parts))] += tens - int(parts.sum())
    exact = (parts / tens).tolist()
    stem, said = label.split(_WEIGHTED, maxsplit=1)[0], " ".join(f"{one:g}" for one in exact)
    return f"{stem}{_WEIGHTED}{said}", Population(population.points, exact)


@dataclass(frozen=True)
class Reweighted:
    """Populations for a search to try: the points of a known population with other weights.

    A subclass may define for which populations the algorithm makes a promise (`keeps`). It may also propose
    other populations.

    Examples
    --------
    >>> coin = {"coin": Population([0, 1])}
    >>> Reweighted().fresh(coin, np.random.default_rng(0))[0]
    'coin, weights 0.981 0.019'
    """

    def keeps(self, population: Any) -> bool:
        """Return whether the algorithm makes a promise for this population."""
        del population
        return True

    def near(self, label: str, population: Any, rng: np.random.Generator) -> tuple[str, Any]:
        """Return a name and a population with changed weights; the given ones if `keeps` rejects them."""
        return self._first(label, population, lambda: _shifted(population.weights, rng))

    def fresh(self, populations: Mapping[str, Any], rng: np.random.Generator) -> tuple[str, Any]:
        """Return a random population and its name."""
        label = list(populations)[int(rng.integers(len(populations)))]
        population = populations[label]
        alike = np.full(len(population.weights), float(rng.choice([0.3, 1.0])))
        return self._first(label, population, lambda: rng.dirichlet(alike))

    def _first(
        self, label: str, population: Any, propose: Callable[[], NDArray[np.float64]]
    ) -> tuple[str, Any]:
        """Return the first of some proposals that `keeps` accepts, else the given label and population."""
        for _ in range(_TRIES):
            found = reweighted(label, population, propose())
            if self.keeps(found[1]):
                return found
        return label, population


_TRIES = 10


def _shifted(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the weights with some or all of one point's weight moved to another point."""
    shifted = weights.copy()
    held = np.flatnonzero(shifted)
    giver, taker = int(rng.choice(held)), int(rng.integers(len(shifted)))
    part = shifted[giver] * float(rng.choice([0.1, 0.5, 1.0]) if rng.random() < 0.5 else rng.random())
    shifted[giver] -= part
    shifted[taker] += part
    return shifted
