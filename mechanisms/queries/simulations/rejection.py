"""Rejection sampling of one answer of an entry, with statistical queries only.

The notation is that of K11 Claims 5.9 and 5.10. An entry z ~ D has given the answers a_1 … a_(k−1) to the
randomizers R_1 … R_(k−1). The next answer w must have probability p(w) = Pr[R_k(z) = w | those answers].

*Ratios.* Let "0" be any fixed record, and q(w) = Pr[R_k(0) = w]. Put r(z) = Π_j Pr[R_j(z) = a_j]/Pr[R_j(0) =
a_j] and s(z, w) = Pr[R_k(z) = w]/q(w). With the means x = E[r·s] and y = E[r] over z ~ D, p(w)/q(w) = x/y.
All losses together are at most epsilon. So r, r·s and their means lie between e^(−epsilon) and e^epsilon.

*Queries.* Put c = e^epsilon − e^(−epsilon). The query g_1 = (r·s − 1)/c estimates x, and g_2 = (r − 1)/c
estimates y. Their values lie in [−1, 1], and their tolerance is tau = phi·e^(−2·epsilon). An answer v gives
the estimate 1 + v·c. Its error is at most tau·c = phi·(e^(−epsilon) − e^(−3·epsilon)), which is at most phi·x
(or phi·y). So the estimate x̃/ỹ is x/y times a factor between (1 − phi)/(1 + phi) and (1 + phi)/(1 − phi).
Without earlier answers y = 1, g_2 is not asked, and the factor lies between 1 − phi and 1 + phi.

*Acceptance.* A proposal w ~ q is accepted with probability (x̃/ỹ)/ceiling. Let `own` be the loss of R_k
alone. p is an average of the laws R_k(z), so p ≤ e^(own)·q. The ceiling is (1 + phi)/(1 − phi)·e^(own), or (1
+ phi)·e^(own) without earlier answers. So the acceptance probability is at most 1 for all answers of a valid
oracle. (K11 step 4 has the ceiling (1 + phi)·e^epsilon in Claim 5.10 too, which an estimate can exceed.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue
from mechanisms.queries.oracles.oracle import check_generator, check_oracle
from mechanisms.queries.simulations.densities import DensityRandomizer
from mechanisms.queries.statistical import StatisticalQuery
from mechanisms.subjects.answers import floats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mechanisms.queries.oracles.oracle import Oracle, SQOracle
    from mechanisms.queries.population import Population
    from mechanisms.queries.simulations.densities import Simulated

__all__ = ["Access"]

Answers = tuple[float, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Access:
    """One access to an entry, simulated against an SQ oracle.

    Parameters
    ----------
    randomizer
        The randomizer R_k of this access.
    past
        The randomizers that the entry has answered, each with the answer. The answer is its position among
        the outcomes of a table, or itself if answers have densities.
    base
        The record "0".
    epsilon
        A bound on the loss of all randomizers of this entry together.
    phi
        Relative accuracy of an estimate, in (0, 1).

    Guarantee
    ---------
    Let p be the true law of the answer (see the module). Take any valid oracle, even one whose answers depend
    on everything before. An answer w is then returned with a probability proportional to p(w) times a weight.
    No weight is more than ρ times another, with ρ = ((1 + phi)/(1 − phi))², or (1 + phi)/(1 − phi) if `past`
    is empty. So the statistical distance from p is at most (√ρ − 1)/(√ρ + 1). This is phi, or (1 − √(1 −
    phi²))/phi, about phi/2, if `past` is empty.

    Derivation: the probability of an event A rises most if one weight holds on A and another off it. The rise
    is p(A)·ρ/(p(A)·ρ + 1 − p(A)) − p(A), which is largest at p(A) = 1/(1 + √ρ). A mixture over iterations
    cannot be further off.

    The expected number of iterations is at most `most_iterations`.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population, TableRandomizer
    >>> coin = TableRandomizer([0, 1], "ht", [[0.75, 0.25], [0.25, 0.75]])
    >>> access = Access(randomizer=coin, past=(), base=0, epsilon=coin.epsilon, phi=0.1)
    >>> places, iterations = access.sample(ExactOracle(Population([1])), 1000, np.random.default_rng(0))
    >>> bool(abs(places.mean() - 0.75) < 0.1), bool(iterations.mean() < access.most_iterations)
    (True, True)
    """

    randomizer: Simulated
    past: tuple[tuple[Simulated, Any], ...]
    base: Any
    epsilon: float
    phi: float

    @cached_property
    def proposal(self) -> NDArray[np.float64]:
        """The law q of R_k(0), of shape (outcomes,)."""
        return self.randomizer.row(self.base)

    @property
    def spread(self) -> float:
        """The divisor c of the queries."""
        return 2.0 * math.sinh(self.epsilon)

    @property
    def tau(self) -> float:
        """Tolerance of the queries: phi·e^(−2·epsilon)."""
        return self.phi * math.exp(-2.0 * self.epsilon)

    @property
    def blunt(self) -> bool:
        """Whether R_k ignores its input, so that nothing has to be asked."""
        return self.randomizer.epsilon == 0.0

    @property
    def ceiling(self) -> float:
        """The divisor that turns an estimate of p/q into an acceptance probability."""
        below = 1.0 - self.phi if self.past else 1.0
        return (1.0 + self.phi) / below * math.exp(self.randomizer.epsilon)

    @property
    def distance_bound(self) -> float:
        """A bound on the distance to the true law, for every valid oracle."""
        if self.blunt:
            return 0.0
        return self.phi if self.past else self.phi / (1.0 + math.sqrt(1.0 - self.phi**2))

    @property
    def most_iterations(self) -> float:
        """A bound on the expected number of iterations.

        Let `own` be the loss of this randomizer alone. The bound is e^own·(1 + phi)/(1 − phi) for an entry's
        first answer, and e^own·((1 + phi)/(1 − phi))² later.
        """
        factor = (1.0 + self.phi) / (1.0 - self.phi)
        return factor ** (2 if self.past else 1) * math.exp(self.randomizer.epsilon)

    def past_ratio(self, records: Any) -> NDArray[np.float64]:
        """Return the ratio r of past answers for every record."""
        ratio = np.ones(len(records))
        for randomizer, answer in self.past:
            ratio = ratio * self._ratio(randomizer, records, answer)
        return ratio

    def _ratio(self, randomizer: Simulated, records: Any, place: Any) -> NDArray[np.float64]:
        """Return, for every record, an answer's probability ÷ its probability under "0"."""
        likely = randomizer.likelihood(records, place)
        base = float(randomizer.likelihood([self.base], place)[0])
        return likely / base if base > 0.0 else np.ones_like(likely)

    def ratio(self, records: Any, place: Any) -> NDArray[np.float64]:
        """Return the ratio r·s of one proposal for every record, of shape (records,)."""
        return self._ratio(self.randomizer, records, place) * self.past_ratio(records)

    def ratios(self, records: Any) -> NDArray[np.float64]:
        """Return `ratio` for all proposals of a table, of shape (records, outcomes)."""
        return np.column_stack([self.ratio(records, place) for place in range(len(self.proposal))])

    def queries(self, place: Any) -> list[StatisticalQuery]:
        """Return the queries g_1 and g_2 for a proposal.

        If the entry has not answered before, there is no g_2.
        """
        if not isinstance(place, int):  # proposals from a density never repeat
            return self._queries(place)
        if place not in self._made:
            self._made[place] = self._queries(place)
        return self._made[place]

    @cached_property
    def _made(self) -> dict[int, list[StatisticalQuery]]:
        """The queries made so far, by proposal."""
        return {}

    def _queries(self, place: Any) -> list[StatisticalQuery]:
        def joint(records: Any) -> NDArray[np.float64]:
            return _inside((self.ratio(records, place) - 1.0) / self.spread)

        def before(records: Any) -> NDArray[np.float64]:
            return _inside((self.past_ratio(records) - 1.0) / self.spread)

        wanted = [joint, before] if self.past else [joint]
        return [_scaled(values, self.tau) for values in wanted]

    def acceptance(self, answers: Sequence[NDArray[np.float64] | float]) -> Any:
        """Return the probability of accepting a proposal, given answers to its `queries`.

        The probability is clipped to [0, 1]. An answer that is not a finite number raises an error.
        """
        values = [_finite(answer) for answer in answers]
        joint = 1.0 + values[0] * self.spread
        before = 1.0 + values[1] * self.spread if self.past else 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(np.clip(joint / before / self.ceiling, 0.0, 1.0))

    def run(self, oracle: SQOracle, rng: np.random.Generator) -> tuple[Any, int]:
        """Return one simulated answer and its number of iterations."""
        check_oracle(oracle, owner="Access", method="ask")
        check_generator(rng, owner="Access")
        iterations = 0
        while True:
            iterations = self._counted(iterations)
            (place,) = self.randomizer.draw(self.base, 1, rng).tolist()
            if self.blunt:
                return place, iterations
            answers = [oracle.ask(query) for query in self.queries(place)]
            if rng.random() < self.acceptance(answers):
                return place, iterations

    def sample(
        self, oracle: Oracle, size: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return `size` simulated answers and their numbers of iterations."""
        check_oracle(oracle, owner="Access", method="ask_repeatedly")
        check_generator(rng, owner="Access")
        dense = isinstance(self.randomizer, DensityRandomizer)
        found: NDArray[Any] = np.empty(size, dtype=object if dense else np.intp)
        iterations = np.zeros(size, dtype=np.int64)
        waiting = np.arange(size)
        while waiting.size:
            iterations[waiting] = self._counted(int(iterations[waiting[0]]))
            places = self.randomizer.draw(self.base, waiting.size, rng)
            accepted = rng.random(waiting.size) < self._chances(oracle, places)
            found[waiting[accepted]] = places[accepted]
            waiting = waiting[~accepted]
        return found, iterations

    def _counted(self, iterations: int) -> int:
        """Return the number of the next iteration.

        If it is far more than a valid oracle needs, raise an error. With a valid oracle this has probability
        below e^(−100).
        """
        if iterations >= 100.0 * self.most_iterations:
            raise InvalidValue(
                f"An oracle must answer within its tolerances; this one had {iterations} proposals refused."
            )
        return iterations + 1

    def _chances(self, oracle: Oracle, places: NDArray[Any]) -> NDArray[np.float64]:
        """Return the probabilities of accepting proposals."""
        chances = np.ones(len(places))
        if self.blunt:
            return chances
        for place, these in _alike(places):
            answers = [oracle.ask_repeatedly(query, len(these)) for query in self.queries(place)]
            chances[these] = self.acceptance(answers)
        return chances

    def truth(self, population: Population) -> NDArray[np.float64]:
        """Return the true law p, of shape (outcomes,)."""
        joint, before = self._means(population)
        return self.proposal * joint / before

    def estimates(self, population: Population) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least and greatest estimates of p that valid oracles can cause."""
        joint, before = self._means(population)
        if self.blunt:
            return self.proposal, self.proposal
        slack = self.tau * self.spread
        loose = slack if self.past else 0.0
        low = self.proposal * (joint - slack) / (before + loose)
        return low, self.proposal * (joint + slack) / (before - loose)

    def iterations(self, population: Population) -> float:
        """Return the expected number of iterations with the exact oracle."""
        return 1.0 if self.blunt else float(self.ceiling / self.truth(population).sum())

    def _means(self, population: Population) -> tuple[NDArray[np.float64], float]:
        weights = population.weights
        joint = (weights[:, None] * self.ratios(population.points)).sum(axis=0)
        return joint, float((weights * self.past_ratio(population.points)).sum())


def _alike(places: NDArray[Any]) -> list[tuple[Any, Any]]:
    """Return each distinct proposal with its indices in `places`."""
    if places.dtype == object:
        return [(place, [run]) for run, place in enumerate(places.tolist())]
    return [(place, np.flatnonzero(places == place)) for place in np.unique(places).tolist()]


def _finite(answers: Any) -> NDArray[np.float64]:
    values = floats(answers, what="An oracle's answers")
    if not np.isfinite(values).all():
        raise InvalidValue(
            f"An oracle's answer must be a finite number; got {values[~np.isfinite(values)].flat[0]}."
        )
    return values


def _scaled(values: Callable[[Any], NDArray[np.float64]], tau: float) -> StatisticalQuery:
    return StatisticalQuery(lambda record: float(values([record])[0]), tau, vectorised=values)


def _inside(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values with rounding errors beyond [−1, 1] clipped."""
    return np.where(np.abs(values) <= 1.0 + _ROUNDING, np.clip(values, -1.0, 1.0), values)


_ROUNDING = 1e-12
