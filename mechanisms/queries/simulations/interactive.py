"""Interactive local algorithms simulated by adaptive queries (K11 Claim 5.10)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from audit.errors import InvalidValue, finite_number
from mechanisms.queries.simulations.densities import Simulated, check_randomizer
from mechanisms.queries.simulations.distances import events, worst_values
from mechanisms.queries.simulations.rejection import Access
from mechanisms.queries.simulations.simulation import LARGEST_EPSILON, check_budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mechanisms.queries.oracles.oracle import Oracle, SQOracle
    from mechanisms.queries.population import Population

__all__ = ["InteractiveSimulation"]

Choice: TypeAlias = "Callable[[tuple[Any, ...]], Simulated | None]"

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class InteractiveSimulation:
    """Simulates repeated questions to one entry by adaptive queries (K11 Claim 5.10).

    Parameters
    ----------
    choose
        A function of the outcomes so far that returns the next randomizer, or None to stop.
    base
        The record "0", an input of every randomizer.
    accesses
        The number t of accesses of the whole algorithm to all entries.
    beta
        Statistical distance allowed for the whole algorithm, in (0, 1].
    epsilon
        The loss allowed on an entry, for all randomizers of a run together.

    Raises
    ------
    InvalidValue
        A run spends more than `epsilon` or has more than `accesses` accesses.

    Guarantee
    ---------
    Against any valid oracle, even an adaptive one, the joint law of a run's outcomes is within beta/3 of the
    true law. (K11 Claim 5.10 states beta.) Conditioned on the past, the law of each outcome is within phi =
    beta/3t of the true conditional law (`Access`). A run has at most t accesses. The expected number of
    queries for an access is at most twice `Access.most_iterations`.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population, TableRandomizer
    >>> coin = TableRandomizer([0, 1], "ht", [[0.75, 0.25], [0.25, 0.75]])
    >>> twice = InteractiveSimulation(
    ...     choose=lambda past: coin if len(past) < 2 else None, base=0, accesses=2, beta=0.3, epsilon=2.2
    ... )
    >>> len(twice.run(ExactOracle(Population([1])), np.random.default_rng(1)))
    2
    >>> twice.worst_distance(Population([0, 1])) <= 0.3
    True
    """

    choose: Choice
    base: Any
    accesses: int
    beta: float
    epsilon: float

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_budget(self.accesses, self.beta, owner=owner)
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", minimum=0, maximum=LARGEST_EPSILON)

    def access(self, past: tuple[Any, ...]) -> Access | None:
        """Return the access that follows past outcomes, or None at the end.

        Outcomes are given as positions.
        """
        randomizers: list[Simulated] = []
        outcomes: tuple[Any, ...] = ()
        for place in past:
            randomizer = self.choose(outcomes)
            if randomizer is None:
                raise InvalidValue(f"A past must be one that a run can have; got {past!r:.60}.")
            randomizers.append(randomizer)
            outcomes = (*outcomes, randomizer.answer(place))
        following = self.choose(outcomes)
        if following is None:
            return None
        check_randomizer(following, owner="InteractiveSimulation")
        self._refuse_overspending([*randomizers, following])
        return Access(
            randomizer=following,
            past=tuple(zip(randomizers, past, strict=True)),
            base=self.base,
            epsilon=self.epsilon,
            phi=self.beta / (3.0 * self.accesses),
        )

    def run(self, oracle: SQOracle, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return the outcomes of one simulated run."""
        past: tuple[Any, ...] = ()
        outcomes: tuple[Any, ...] = ()
        while (access := self.access(past)) is not None:
            place, _ = access.run(oracle, rng)
            past, outcomes = (*past, place), (*outcomes, access.randomizer.answer(place))
        return outcomes

    def sample(self, oracle: Oracle, size: int, rng: np.random.Generator) -> dict[tuple[Any, ...], int]:
        """Return how often each sequence of outcomes occurs in `size` runs."""
        found: dict[tuple[Any, ...], int] = {}
        open_runs: list[tuple[tuple[Any, ...], tuple[Any, ...], int]] = [((), (), size)]
        while open_runs:
            past, outcomes, count = open_runs.pop()
            access = self.access(past)
            if access is None:
                found[outcomes] = found.get(outcomes, 0) + count
                continue
            for place, times in Counter(access.sample(oracle, count, rng)[0].tolist()).items():
                open_runs.append(((*past, place), (*outcomes, access.randomizer.answer(place)), times))
        return found

    def law(self, population: Population) -> dict[tuple[Any, ...], float]:
        """Return the true joint law of the outcomes on a random entry."""
        return {
            tuple(
                randomizer.answer(place)
                for randomizer, place in zip(self._randomizers(leaf), leaf, strict=True)
            ): float((population.weights * self._likelihood(leaf, population)).sum())
            for leaf in self._leaves(())
        }

    @property
    def distance_bound(self) -> float:
        """A bound beta/3 on the distance to the true law, for every valid oracle."""
        return self.beta / 3.0

    def worst_distance(self, population: Population) -> float:
        """Return the greatest distance of the simulated law from the true law.

        The value is exact for the worst valid oracle. There may be at most 16 possible runs.
        """
        leaves = self._leaves(())
        chosen = events(len(leaves))
        values = dict(zip(leaves, chosen.T, strict=True))
        truth = np.array([(population.weights * self._likelihood(leaf, population)).sum() for leaf in leaves])
        return float((self._value((), values, population) - chosen @ truth).max())

    def _value(
        self,
        past: tuple[Any, ...],
        values: dict[tuple[Any, ...], NDArray[np.float64]],
        population: Population,
    ) -> NDArray[np.float64]:
        access = self.access(past)
        if access is None:
            return values[past]
        possible = np.flatnonzero(access.proposal > 0.0).tolist()
        after = np.column_stack([self._value((*past, place), values, population) for place in possible])
        low, high = access.estimates(population)
        return worst_values(after, low=low[possible], high=high[possible])

    def _leaves(self, past: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        access = self.access(past)
        if access is None:
            return [past]
        places = np.flatnonzero(access.proposal > 0.0).tolist()
        return [leaf for place in places for leaf in self._leaves((*past, place))]

    def _randomizers(self, leaf: tuple[Any, ...]) -> list[Simulated]:
        accesses = [self.access(leaf[:count]) for count in range(len(leaf))]
        return [access.randomizer for access in accesses if access is not None]

    def _likelihood(self, leaf: tuple[Any, ...], population: Population) -> NDArray[np.float64]:
        likelihood = np.ones(len(population.points))
        for randomizer, place in zip(self._randomizers(leaf), leaf, strict=True):
            likelihood = likelihood * randomizer.likelihood(population.points, place)
        return likelihood

    def _refuse_overspending(self, randomizers: list[Simulated]) -> None:
        spent = math.fsum(randomizer.epsilon for randomizer in randomizers)
        if spent > self.epsilon * (1.0 + _ROUNDING) + _ROUNDING:
            raise InvalidValue(
                f"A run of `InteractiveSimulation` must spend at most {self.epsilon:g} on the entry; "
                f"its randomizers spend {spent:g}."
            )
        if len(randomizers) > self.accesses:
            raise InvalidValue(
                f"A run of `InteractiveSimulation` must have at most {self.accesses} accesses; "
                f"it has {len(randomizers)}."
            )
