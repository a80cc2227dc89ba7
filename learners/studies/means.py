"""Problems that draw averages over chunks instead of records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from learners.masked import MaskedPopulation
from learners.masked.hypothesis import masked_error
from learners.masked.queries import BentQuery
from learners.studies.families import SearchedProblems

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "ChunkMeans",
    "ConceptMeans",
    "MeansProblem",
    "OneZeroMeans",
    "conjunction_family",
    "conjunction_problem",
    "masked_family",
    "needed_variables",
]

_ABOVE = 1.05
"""Each needed variable is 0 on a share of 1.05·alpha of the examples."""


@dataclass(frozen=True, eq=False)
class ChunkMeans:
    """The average of each query over its chunk.

    Parameters
    ----------
    means
        Shape (queries,).
    chunk
        The number of records in a chunk.
    """

    means: NDArray[np.float64]
    chunk: int

    def __len__(self) -> int:
        return len(self.means) * self.chunk


@dataclass(frozen=True)
class MeansProblem:
    """A law of records, given by the probabilities of the queries' values.

    Parameters
    ----------
    name
        The problem in words.
    shares
        For each query the probability that it has its high value on a record.
    spans
        For each query its low and its high value.
    chunk
        The number of records in a chunk.
    measure
        Takes an output and returns its error.

    Examples
    --------
    >>> problem = MeansProblem("a coin", (0.5,), ((-1.0, 1.0),), chunk=1, measure=float)
    >>> abs(float(problem.draw(np.random.default_rng(0)).means[0]))
    1.0
    """

    name: str
    shares: tuple[float, ...]
    spans: tuple[tuple[float, float], ...]
    chunk: int
    measure: Callable[[Any], float]

    def draw(self, rng: np.random.Generator) -> ChunkMeans:
        """Return the averages over fresh records."""
        low, high = np.array(self.spans).T
        share = rng.binomial(self.chunk, self.shares) / self.chunk
        return ChunkMeans(low + (high - low) * share, self.chunk)

    def error(self, output: Any, database: Any) -> float:
        """Return the error of an output."""
        del database
        return self.measure(output)


# --- conjunctions


@dataclass(frozen=True)
class OneZeroMeans(MeansProblem):
    """The problem of a conjunction on examples with at most one 0.

    Parameters
    ----------
    name, shares, spans, chunk, measure
        As in `MeansProblem`.
    target
        Whether each variable is in the target.
    masses
        For each variable, the probability of an example with its 0 there. The other examples have no 0.

    Guarantee
    ---------
    The output errs on an example if and only if the example has its 0 at a variable that is in the target or
    in the output, but not in both. `measure` is the exact sum of the masses of these variables. A positive
    example has no 0 in the target.
    """

    target: tuple[bool, ...] = ()
    masses: tuple[float, ...] = ()

    @classmethod
    def of(
        cls, name: str, target: tuple[bool, ...], masses: tuple[float, ...], *, chunk: int
    ) -> OneZeroMeans:
        """Return the problem with this target and these masses.

        Examples
        --------
        >>> problem = OneZeroMeans.of("half", (True, False), (0.25, 0.5), chunk=4)
        >>> problem.shares, problem.error((1, 1), None), problem.error((0, 0), None)
        ((0.0, 0.5), 0.5, 0.25)
        """
        shares = tuple(0.0 if held else mass for held, mass in zip(target, masses, strict=True))
        measure = partial(_differing, target=target, masses=masses)
        return cls(name, shares, ((0.0, 1.0),) * len(target), chunk, measure, target, masses)

    def varied(self, rng: np.random.Generator) -> OneZeroMeans:
        """Return a problem near this one."""
        stem = self.name.split(", varied")[0]
        target, masses = list(self.target), list(self.masses)
        here, there = rng.integers(0, len(target), 2).tolist()
        if rng.random() < 0.4:
            target[here] = not target[here]
            return OneZeroMeans.of(f"{stem}, varied target", (*target,), self.masses, chunk=self.chunk)
        moved = masses[here] * float(rng.uniform(0.0, 1.0))
        masses[here] -= moved
        masses[there] += moved
        return OneZeroMeans.of(f"{stem}, varied masses", self.target, (*masses,), chunk=self.chunk)


def _differing(kept: Any, *, target: tuple[bool, ...], masses: tuple[float, ...]) -> float:
    told = zip(kept, target, masses, strict=True)
    return sum(mass for held, wanted, mass in told if bool(held) != wanted)


def needed_variables(dimension: int, alpha: float) -> int:
    """Return how many variables a problem can make necessary.

    Each is the only 0 in a share of 1.05·alpha of the examples.
    """
    return min(dimension, int(1.0 / (_ABOVE * alpha)))


def conjunction_problem(dimension: int, *, alpha: float, chunk: int) -> OneZeroMeans:
    """Return a problem in which the target contains every variable.

    Guarantee
    ---------
    Each of the first `needed_variables` variables is the only 0 in a share of 1.05·alpha of the examples. No
    positive example has a 0, so all averages are 0. Leaving one of these variables out of the output adds
    1.05·alpha to its error.
    """
    return _heavy("all variables needed", (True,) * dimension, alpha=alpha, chunk=chunk)


def conjunction_family(dimension: int, *, alpha: float, chunk: int) -> SearchedProblems:
    """Return problems about conjunctions with many, few or random variables.

    Examples
    --------
    >>> [problem.name for problem in conjunction_family(4, alpha=0.2, chunk=9).problems()]
    ['all variables needed', 'no variable needed', 'every other variable needed']
    """
    every_other = tuple(place % 2 == 0 for place in range(dimension))
    library = [
        conjunction_problem(dimension, alpha=alpha, chunk=chunk),
        _heavy("no variable needed", (False,) * dimension, alpha=alpha, chunk=chunk),
        _heavy("every other variable needed", every_other, alpha=alpha, chunk=chunk),
    ]
    any_one = partial(_random_zeros, dimension=dimension, alpha=alpha, chunk=chunk)
    return SearchedProblems(library, _varied, any_one)


def _heavy(name: str, target: tuple[bool, ...], *, alpha: float, chunk: int) -> OneZeroMeans:
    needed = needed_variables(len(target), alpha)
    masses = (_ABOVE * alpha,) * needed + (0.0,) * (len(target) - needed)
    return OneZeroMeans.of(name, target, masses, chunk=chunk)


def _random_zeros(rng: np.random.Generator, *, dimension: int, alpha: float, chunk: int) -> OneZeroMeans:
    """Return a problem with a random target and random masses."""
    total = min(1.0, alpha * float(rng.uniform(0.8, 3.0))) if rng.random() < 0.5 else 1.0
    masses = total * rng.dirichlet(np.full(dimension, float(rng.choice([0.1, 1.0]))))
    target = tuple((rng.random(dimension) < 0.5).tolist())
    return OneZeroMeans.of("random masses", target, tuple((masses * (1.0 - 1e-12)).tolist()), chunk=chunk)


def _varied(problem: Any, rng: np.random.Generator) -> Any:
    return problem.varied(rng)


# --- MASKED-PARITY


@dataclass(frozen=True)
class ConceptMeans(MeansProblem):
    """A concept c_{r,a} of MASKED-PARITY on uniform examples.

    Parameters
    ----------
    name, shares, spans, chunk, measure
        As in `MeansProblem`. There are d queries for the bits of r, and a last one.
    dimension, r, a
        d, and r and a of the concept.
    bent
        True: the last query is that of the bent learner. False: it asks for the mask a and uses the right r.
    """

    dimension: int = 1
    r: int = 0
    a: int = 0
    bent: bool = False

    @classmethod
    def of(cls, dimension: int, *, r: int, a: int, chunk: int, bent: bool) -> ConceptMeans:
        """Return the problem of a concept.

        Examples
        --------
        >>> problem = ConceptMeans.of(2, r=2, a=1, chunk=8, bent=False)
        >>> problem.name, problem.shares
        ('r = 10, a = 1', (0.25, 0.0, 0.5))
        """
        population = MaskedPopulation(dimension, r=r, a=a)
        bits = tuple(bit / (2.0 * dimension) for bit in population.concept[0])
        last, span = a / 2.0, (0.0, 1.0)
        if bent:
            last, span = (1.0 + BentQuery(dimension).parts(r).expectation(a)) / 2.0, (-1.0, 1.0)
        return cls(
            f"r = {r:0{dimension}b}, a = {a}",
            (*bits, last),
            (((0.0, 1.0),) * dimension) + (span,),
            chunk,
            partial(masked_error, target=population.concept),
            dimension,
            r,
            a,
            bent,
        )

    def varied(self, rng: np.random.Generator) -> ConceptMeans:
        """Return a problem whose concept differs in `a` or in one bit of `r`."""
        place = int(rng.integers(self.dimension + 1))
        r, a = (self.r, 1 - self.a) if place == self.dimension else (self.r ^ 1 << place, self.a)
        return ConceptMeans.of(self.dimension, r=r, a=a, chunk=self.chunk, bent=self.bent)


def masked_family(dimension: int, *, chunk: int, bent: bool) -> SearchedProblems:
    """Return the problems of all concepts.

    Examples
    --------
    >>> [problem.name for problem in masked_family(2, chunk=8, bent=True).problems()]
    ['r = 00, a = 0', 'r = 11, a = 1']
    """
    told: dict[str, Any] = {"chunk": chunk, "bent": bent}
    library = [ConceptMeans.of(dimension, r=r, a=a, **told) for r, a in ((0, 0), (2**dimension - 1, 1))]
    return SearchedProblems(library, _varied, partial(_random_concept, dimension=dimension, **told))


def _random_concept(rng: np.random.Generator, *, dimension: int, chunk: int, bent: bool) -> ConceptMeans:
    r, a = int(rng.integers(2**dimension)), int(rng.integers(2))
    return ConceptMeans.of(dimension, r=r, a=a, chunk=chunk, bent=bent)
