"""Mechanisms with true ε, laws and best events in closed form.

Each mechanism comes with one pair of databases.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.self_audit.subjects.limits import Events

Draw = Callable[[Any, int, np.random.Generator], NDArray[Any]]


@dataclass(frozen=True)
class Drawn:
    """A mechanism that can draw many runs in one call.

    Parameters
    ----------
    name
        The name in audits.
    sample
        Returns the outputs for a database, a number of runs and a generator.

    Examples
    --------
    >>> Drawn("echo", lambda database, size, rng: np.full(size, database[0]))([7], np.random.default_rng(0))
    np.int64(7)
    """

    name: str
    sample: Draw

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run."""
        return self.sample(database, 1, rng)[0]


@dataclass(frozen=True)
class Law:
    """A finite law. `outcomes` and `probabilities` have shape (outcomes,)."""

    outcomes: NDArray[Any]
    probabilities: NDArray[np.float64]

    def of(self, event: Any) -> float:
        """Return the probability of an event.

        Examples
        --------
        >>> from audit.events.event import Event, NumberIn
        >>> from audit.events.features.numbers import Value
        >>> event = Event((NumberIn(Value(), ((1.5, math.inf),)),))
        >>> Law(np.array([1, 2]), np.array([0.25, 0.75])).of(event)
        0.75
        """
        total = float(self.probabilities[event.members(self.outcomes)].sum())
        return min(1.0, total)  # the rounded sum of all probabilities may exceed 1


@dataclass(frozen=True)
class Setting:
    """A mechanism on a pair of databases, with the true ε and laws.

    Parameters
    ----------
    mechanism, pair
        The audited mechanism and pair.
    epsilon
        The true ε on this pair, at `delta`.
    delta
        The δ of the true ε.
    events
        A few events. Against every claim, one of them is the best of all events. Empty if unknown.
    laws
        The law of the outputs on each database; None if the laws are not finite.
    """

    mechanism: Drawn
    pair: tuple[Any, Any]
    epsilon: float
    delta: float = 0.0
    events: Events = ()
    laws: tuple[Law, Law] | None = None

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.mechanism.name


def laplace() -> Setting:
    """Return the Laplace mechanism of scale 1 on the values 0 and 1. The best events are half-lines."""
    events = tuple((_laplace_below(end), _laplace_below(end - 1)) for end in np.linspace(-4.0, 4.0, 1601))
    drawn = Drawn("laplace", lambda database, size, rng: database[0] + rng.laplace(size=size))
    return Setting(drawn, ([0], [1]), 1.0, events=events)


def geometric() -> Setting:
    """Return two-sided geometric noise with ε = 1. Outputs beyond ±60 have probability below 1e-25."""
    ratio = math.exp(-1.0)
    outcomes = np.arange(-60, 61)
    laws = [(1 - ratio) / (1 + ratio) * ratio ** np.abs(outcomes - answer) for answer in (0, 1)]

    def draw(database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        return np.asarray(database[0] + rng.geometric(1 - ratio, size) - rng.geometric(1 - ratio, size))

    return _finite(Drawn("geometric", draw), ([0], [1]), outcomes, laws)


def randomized_response() -> Setting:
    """Return randomized response with ε = 1. It gives the true bit with probability e/(1 + e)."""
    keep = math.e / (1 + math.e)

    def draw(database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        return np.asarray(np.where(rng.random(size) < keep, database[0], 1 - database[0]))

    laws = [np.array([keep, 1 - keep]), np.array([1 - keep, keep])]
    return _finite(Drawn("randomized response", draw), ([0], [1]), np.array([0, 1]), laws)


def noisy_max() -> Setting:
    """Return the mechanism "report noisy max" on five answers.

    The noise is Laplace of scale 2. The laws come from quadrature.
    """
    pair = ([1.0, 1, 1, 1, 1], [2.0, 0, 0, 0, 0])

    def draw(database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        return np.asarray((np.array(database) + rng.laplace(scale=2.0, size=(size, 5))).argmax(axis=1))

    laws = [_law_of_maximum(answers) for answers in pair]
    return _finite(Drawn("noisy max", draw), pair, np.arange(5), laws)


def gaussian(epsilon: float, delta: float) -> Setting:
    """Return the Gaussian mechanism on the values 0 and 1. Its true ε at this δ is `epsilon`."""
    from scipy.optimize import brentq

    sigma = brentq(lambda s: gaussian_delta(epsilon, s) - delta, 1e-2, 1e3, xtol=1e-14)
    drawn = Drawn("gaussian", lambda database, size, rng: rng.normal(database[0], sigma, size))
    return Setting(drawn, ([0], [1]), epsilon, delta)


def gaussian_delta(epsilon: float, sigma: float) -> float:
    """Return δ(ε) of N(0, σ²) against N(1, σ²). Source: Balle and Wang 2018, Theorem 8.

    Examples
    --------
    >>> round(gaussian_delta(1.0, 1.0), 4)
    0.1269
    """
    from scipy.special import ndtr

    upper, lower = ndtr(0.5 / sigma - epsilon * sigma), ndtr(-0.5 / sigma - epsilon * sigma)
    return float(upper - math.exp(epsilon) * lower)


def coin(p: float, q: float) -> Drawn:
    """Return a mechanism that answers 1 with probability p on [0] and q on [1].

    Its other answer is 0.

    Examples
    --------
    >>> coin(1.0, 0.0).sample([0], 2, np.random.default_rng(0)).tolist()
    [1, 1]
    """
    return Drawn(
        "coin", lambda database, size, rng: (rng.random(size) < (q if database[0] else p)).astype(np.int64)
    )


def _finite(drawn: Drawn, pair: tuple[Any, Any], outcomes: NDArray[Any], laws: Any) -> Setting:
    """Return a setting with finite laws.

    The best event has the form "likelihood ratio above a level".
    """
    left, right = laws
    events: Events = ()
    for p, q in ((left, right), (right, left)):
        order = np.argsort(-p / q, kind="stable")
        sums = np.minimum(1.0, [np.cumsum(p[order]), np.cumsum(q[order])])
        events += tuple(zip(*sums.tolist(), strict=True))
    true = float(np.abs(np.log(left / right)).max())
    return Setting(drawn, pair, true, events=events, laws=(Law(outcomes, left), Law(outcomes, right)))


def _laplace_below(x: float) -> float:
    """Return Pr[Laplace noise of scale 1 ≤ x]."""
    return 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x)


def _law_of_maximum(answers: list[float]) -> NDArray[np.float64]:
    from scipy.integrate import quad

    def density(x: float, best: int) -> float:
        others = math.prod(_laplace_below((x - other) / 2) for k, other in enumerate(answers) if k != best)
        return 0.25 * math.exp(-abs(x - answers[best]) / 2) * others

    knots = [-80.0, *sorted(set(answers)), 80.0]
    pieces = list(itertools.pairwise(knots))
    law = [sum(quad(density, a, b, args=(k,))[0] for a, b in pieces) for k in range(len(answers))]
    assert abs(sum(law) - 1) < 1e-9
    return np.array(law)
