"""Non-interactive local algorithms simulated by statistical queries.

This is K11 Claim 5.9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from audit.errors import InvalidKind, InvalidValue, finite_number, positive_int
from mechanisms.queries.oracles.oracle import check_generator, check_oracle, finite_answers
from mechanisms.queries.simulations.densities import check_randomizer
from mechanisms.queries.simulations.distances import events, worst_distance
from mechanisms.queries.simulations.rejection import Access

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mechanisms.queries.oracles.oracle import NonAdaptive, Oracle, SQOracle
    from mechanisms.queries.population import Population
    from mechanisms.queries.simulations.densities import Simulated

__all__ = ["LARGEST_EPSILON", "FixedRoundsSimulation", "RandomizerSimulation", "check_budget"]

LARGEST_EPSILON: Final = 300.0
"""Largest epsilon for which e^(2·epsilon) and the tolerance fit into floats."""

_ROUNDING = 1e-9


def check_budget(accesses: Any, beta: Any, *, owner: str) -> None:
    """Raise an error unless accesses and distance are valid.

    Examples
    --------
    >>> check_budget(0, 0.5, owner="RandomizerSimulation")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `accesses` of `RandomizerSimulation` must be a whole number ≥ 1; got 0.
    """
    positive_int(accesses, what=f"The `accesses` of `{owner}`")
    finite_number(beta, what=f"The `beta` of `{owner}`", above=0, maximum=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomizerSimulation:
    """Simulates outcomes of a randomizer on fresh entries by statistical queries.

    This is B_(R,epsilon) of K11 Claim 5.9.

    Parameters
    ----------
    randomizer
        The randomizer R, as a table or by densities.
    base
        The record "0", any input of R.
    accesses
        The number t of accesses of the local algorithm.
    beta
        Statistical distance allowed for all accesses together, in (0, 1].
    epsilon
        A bound on the loss of R, at least its exact loss, which is the default.

    Raises
    ------
    InvalidValue
        `epsilon` is less than the loss of R, or another parameter is out of range.

    Guarantee
    ---------
    Against any valid oracle, the outcome's law is within beta/t of the law of R on a random entry (K11 Claim
    5.9). In fact it is within about phi/2 = beta/6t (`Access`). The expected number of iterations, one query
    each, is at most e^epsilon·(1 + phi)/(1 − phi) ≤ 2·e^epsilon. For the exact oracle it is (1 +
    phi)·e^epsilon. With epsilon = 0 nothing is asked.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population, TableRandomizer
    >>> coin = TableRandomizer([0, 1], "ht", [[0.75, 0.25], [0.25, 0.75]])
    >>> simulation = RandomizerSimulation(randomizer=coin, base=0, accesses=1, beta=0.3)
    >>> simulation.run(ExactOracle(Population([0, 1])), np.random.default_rng(0)) in "ht"
    True
    >>> simulation.worst_distance(Population([0, 1])) < 0.05 + 0.001
    True
    """

    randomizer: Simulated
    base: Any
    accesses: int
    beta: float
    epsilon: float | None = None

    def __post_init__(self) -> None:
        check_randomizer(self.randomizer, owner=type(self).__name__)
        check_budget(self.accesses, self.beta, owner=type(self).__name__)
        if self.epsilon is not None:
            what = "The `epsilon` of `RandomizerSimulation`, no less than the randomizer's loss,"
            least = self.randomizer.epsilon * (1.0 - _ROUNDING)
            finite_number(self.epsilon, what=what, minimum=least, maximum=LARGEST_EPSILON)

    @property
    def access(self) -> Access:
        """The rejection sampling of one access."""
        epsilon = self.randomizer.epsilon if self.epsilon is None else self.epsilon
        phi = self.beta / (3.0 * self.accesses)
        return Access(randomizer=self.randomizer, past=(), base=self.base, epsilon=epsilon, phi=phi)

    def run(self, oracle: SQOracle, rng: np.random.Generator) -> Any:
        """Return one simulated outcome."""
        return self.randomizer.answer(self.access.run(oracle, rng)[0])

    def sample(self, oracle: Oracle, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return `size` simulated outcomes, for a table by their positions."""
        return self.access.sample(oracle, size, rng)[0]

    @property
    def distance_bound(self) -> float:
        """A bound of about beta/6t on the distance to the true law."""
        return self.access.distance_bound

    def worst_distance(self, population: Population) -> float:
        """Return the greatest distance to the law of R on a random entry.

        The value is exact for the worst valid oracle. At most 16 outcomes are allowed.
        """
        access = self.access
        low, high = access.estimates(population)
        return worst_distance(access.truth(population), low=low, high=high)


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedRoundsSimulation:
    """Simulates a non-interactive local algorithm by non-adaptive queries.

    All proposals are drawn at once, and all queries go out in one `ask_all`. (In K11 Claim 5.9 the number of
    queries depends on the answers.) The outcome of a randomizer is its first accepted proposal, or a fresh
    draw from R(0) if none was accepted.

    Parameters
    ----------
    randomizers
        One randomizer for each access. Every access is to a different entry.
    base
        The record "0", an input of every randomizer.
    beta
        Statistical distance allowed for all outcomes together, in (0, 1].
    leftover
        The part β″ of `beta` that is allowed for running out of rounds, in (0, beta). Default: half.

    Guarantee
    ---------
    The joint law of the outcomes is within beta of the true law. This holds for any valid oracle, even one
    that sees all proposals before it answers. There are N = ⌈((1 + phi)/(1 − phi))·e^epsilon·ln(t/β″)⌉ rounds
    for each of t randomizers, with phi = (beta − β″)/3t. These are ln(t/β″) times as many queries as Claim
    5.9 expects.

    Let p be the true law, q the law of proposals, b(w) = p(w)/(q(w)·e^epsilon) and c = (1 − phi)/(1 + phi). A
    proposal w is accepted with probability at least c·b(w) and at most b(w). So over the N rounds the outcome
    w has at least the probability Σ_i (1 − e^(−epsilon))^(i−1)·q(w)·c·b(w) = c·p(w)·(1 − (1 −
    e^(−epsilon))^N). All this holds given the other proposals, so the bounds multiply over randomizers. The
    distance is the mass of p that these bounds do not cover. For each randomizer it is at most 2·phi + (1 −
    e^(−epsilon))^N ≤ 2(beta − β″)/3t + β″/t.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population, TableRandomizer
    >>> coin = TableRandomizer([0, 1], "ht", [[0.75, 0.25], [0.25, 0.75]])
    >>> simulation = FixedRoundsSimulation(randomizers=[coin, coin], base=0, beta=0.2)
    >>> session = ExactOracle(Population([0, 1])).nonadaptive()
    >>> len(simulation.run(session, np.random.default_rng(0))), [simulation.rounds(one) for one in (0, 1)]
    (2, [10, 10])
    """

    randomizers: Sequence[Simulated]
    base: Any
    beta: float
    leftover: float | None = None

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if not hasattr(self.randomizers, "__len__"):
            raise InvalidKind(f"The `randomizers` of `{owner}` must be a list; got {self.randomizers!r:.60}.")
        for randomizer in self.randomizers:
            check_randomizer(randomizer, owner=owner)
        check_budget(len(self.randomizers), self.beta, owner=owner)
        if self.leftover is not None:
            finite_number(self.leftover, what=f"The `leftover` of `{owner}`", above=0, below=self.beta)

    @property
    def spare(self) -> float:
        """The part β″ of `beta` that is allowed for running out of rounds."""
        return self.beta / 2.0 if self.leftover is None else self.leftover

    def access(self, index: int) -> Access:
        """Return the rejection sampling of one access."""
        randomizer = self.randomizers[index]
        phi = (self.beta - self.spare) / (3.0 * len(self.randomizers))
        return Access(randomizer=randomizer, past=(), base=self.base, epsilon=randomizer.epsilon, phi=phi)

    def rounds(self, index: int) -> int:
        """Return the number N of rounds for one randomizer.

        If the randomizer ignores its input, N is 0.
        """
        access = self.access(index)
        if access.blunt:
            return 0
        return math.ceil(access.most_iterations * math.log(len(self.randomizers) / self.spare))

    def run(self, oracle: SQOracle | NonAdaptive, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return one outcome of each randomizer, after one round of queries."""
        check_oracle(oracle, owner=type(self).__name__)
        check_generator(rng, owner=type(self).__name__)
        accesses = [self.access(index) for index in range(len(self.randomizers))]
        drawn = [_drawn(access, self.rounds(index), rng) for index, access in enumerate(accesses)]
        asked = [
            access.queries(place)[0]
            for access, places in zip(accesses, drawn, strict=True)
            for place in places[:-1]
        ]
        found = finite_answers(oracle.ask_all(asked))
        if len(found) != len(asked):
            raise InvalidValue(
                f"An oracle must give {len(asked)} answers, one a query of the round; got {len(found)}."
            )
        answers = iter(found)
        return tuple(
            access.randomizer.answer(_first(access, places, [next(answers) for _ in places[:-1]], rng))
            for access, places in zip(accesses, drawn, strict=True)
        )

    def law(self, index: int, *, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the law of one outcome for given estimates.

        `weights` has the estimate for each proposal. If a round accepts with probability A, round i is
        reached with probability (1 − A)^(i−1). Over N rounds these add up to (1 − (1 − A)^N)/A.
        """
        access = self.access(index)
        accepted = weights / access.ceiling
        total = float(accepted.sum())
        missed = (1.0 - total) ** self.rounds(index)
        return accepted * (1.0 - missed) / total + missed * access.proposal

    def worst_distance(self, index: int, population: Population) -> float:
        """Return the greatest distance of one outcome's law from the true law.

        The value is exact for the worst valid oracle, even one that sees all proposals before it answers. The
        worst answers accept most proposals in an event and fewest outside. At most 16 outcomes are allowed.
        """
        access = self.access(index)
        truth = access.truth(population)
        low, high = access.estimates(population)
        if access.blunt:
            return 0.0
        gains = [
            float(event @ (self.law(index, weights=np.where(event > 0.0, high, low)) - truth))
            for event in events(len(truth))
        ]
        return max(gains)


def _drawn(access: Access, rounds: int, rng: np.random.Generator) -> list[Any]:
    """Return one proposal for each round, and one more as the fallback."""
    places: list[Any] = access.randomizer.draw(access.base, rounds + 1, rng).tolist()
    return places


def _first(access: Access, places: list[Any], answers: list[float], rng: np.random.Generator) -> Any:
    """Return the accepted proposal of the earliest round, or the fallback."""
    coins = rng.random(len(answers)).tolist()
    for place, answer, coin in zip(places, answers, coins, strict=False):
        if coin < access.acceptance([answer]):
            return place
    return places[-1]
