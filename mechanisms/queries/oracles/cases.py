"""An SQ oracle as a value, made of a population and an adversary."""

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
"""Number of decimal digits of weights and offsets that a search finds."""
_WEIGHTED = ", weights "


@dataclass(frozen=True)
class OracleCase:
    """An oracle for statistical queries as plain data.

    Parameters
    ----------
    label
        The population in words.
    population
        The distribution: a `Population`, or an object with `expectation(query)`.
    adversary
        ``"exact"``, a name of `mechanisms.queries.oracles.adversarial.POLICIES`, a sequence of offsets with
        one for each query (and 0 after the last), or a whole number. The number is the seed of random answers
        within the tolerance.

    Raises
    ------
    InvalidValue
        There is no such policy, an offset lies outside [−1, 1], or a seed is negative.
    InvalidKind
        The adversary is of another kind, such as a function.

    Guarantee
    ---------
    `oracle` is a valid SQ oracle (K11 Definition 5.4). Every run of a deterministic algorithm against a valid
    oracle equals its run against the case with the same offsets.

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
        """Return a fresh oracle."""
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
    """Passes on another oracle's answers and records their offsets.

    An offset is (answer − mean) ÷ tolerance.

    Parameters
    ----------
    oracle
        The oracle that answers.
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
        """The recorded offsets, clamped to [−1, 1] and rounded."""

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        answers = self._oracle.ask_all(queries)
        for query, answer in zip(queries, answers, strict=True):
            off = (answer - self._population.expectation(query)) / query.tau
            self.offsets.append(min(max(round(off, _DIGITS), -1.0), 1.0) + 0.0)
        return answers

    def _answer(self, query: StatisticalQuery) -> float:
        return self._answers([query])[0]


def moved_offset(offsets: Sequence[float], rng: np.random.Generator) -> tuple[float, ...]:
    """Return the offsets with one of them moved within [−1, 1].

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
    """Return a reweighted population and a name that states the weights.

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
    """Populations for a search, with new weights of known points.

    A subclass may define `keeps`, or propose others.

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
        """Return a name and a population with changed weights, if allowed."""
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
        """Return the first proposal that `keeps` accepts, else the given population."""
        for _ in range(_TRIES):
            found = reweighted(label, population, propose())
            if self.keeps(found[1]):
                return found
        return label, population


_TRIES = 10


def _shifted(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the weights with weight moved from one point to another point."""
    shifted = weights.copy()
    held = np.flatnonzero(shifted)
    giver, taker = int(rng.choice(held)), int(rng.integers(len(shifted)))
    part = shifted[giver] * float(rng.choice([0.1, 0.5, 1.0]) if rng.random() < 0.5 else rng.random())
    shifted[giver] -= part
    shifted[taker] += part
    return shifted
