"""SQ dimension and weak learning (K11 §5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue, positive_int
from learners.concepts import MaskedParityClass
from mechanisms.queries import NonAdaptive, Population, StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from learners.concepts import ConceptClass
    from mechanisms.queries import SQOracle

__all__ = [
    "Agreement",
    "GenericWeakLearner",
    "correlations",
    "labelled",
    "masked_parity_sq_dimension",
    "parity_sq_dimension",
    "sq_dimension",
]

MOST_SEARCHED = 64
"""The SQ dimension is computed only for classes of at most this many concepts."""


def correlations(
    concepts: ConceptClass, probabilities: Sequence[float] | NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the correlations of every two concepts, shape (concepts, concepts).

    The correlation of c and c′ is Pr[c = c′] − Pr[c ≠ c′].

    Parameters
    ----------
    concepts
        The class.
    probabilities
        The probabilities of the points of its domain, in order; default: uniform.

    Examples
    --------
    >>> from learners.concepts import IntervalClass
    >>> correlations(IntervalClass(1)).tolist()
    [[1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]
    """
    weights = Population(concepts.listed_domain(), probabilities).weights
    signs = np.where(concepts.table(), 1.0, -1.0)
    return np.asarray((signs * weights) @ signs.T)


def sq_dimension(
    concepts: ConceptClass, probabilities: Sequence[float] | NDArray[np.float64] | None = None
) -> int:
    """Return the SQ dimension of a class.

    It is the largest n such that n concepts have pairwise correlations of absolute value at most 1/n³.

    Parameters
    ----------
    concepts
        A class of at most 64 concepts.
    probabilities
        The probabilities of the points of its domain, in order; default: uniform.

    Raises
    ------
    InvalidValue
        The class has more than 64 concepts.

    Guarantee
    ---------
    Exact: all sets of concepts are searched. If n + 1 concepts have the property for n + 1, any n of them
    have it for n. So the search raises n until no n + 1 concepts have the property.

    Examples
    --------
    >>> from learners.concepts import IntervalClass, ParityClass
    >>> sq_dimension(ParityClass(3)), sq_dimension(IntervalClass(3))
    (8, 2)
    """
    if concepts.size > MOST_SEARCHED:
        raise InvalidValue(
            f"The class of `sq_dimension` must have at most {MOST_SEARCHED} concepts; got {concepts.size}."
        )
    related = np.abs(correlations(concepts, probabilities))
    n = 1
    while n < len(related) and _has_set(related <= _apart(n + 1), n + 1):
        n += 1
    return n


def _apart(n: int) -> float:
    """Return the largest correlation that two of n concepts may have."""
    return 1.0 / n**3 + 1e-12


def _has_set(allowed: NDArray[np.bool_], size: int) -> bool:
    """Return whether `size` concepts are pairwise allowed."""
    beside = [sum(1 << other for other in np.flatnonzero(row).tolist()) for row in allowed]

    def grows(room: int, wanted: int) -> bool:
        while room.bit_count() >= wanted:
            if not wanted:
                return True
            first = room & -room
            room ^= first
            if grows(room & beside[first.bit_length() - 1], wanted - 1):
                return True
        return False

    return grows((1 << len(beside)) - 1, size)


def parity_sq_dimension(dimension: int) -> int:
    """Return the SQ dimension of PARITY, 2^d.

    Examples
    --------
    >>> parity_sq_dimension(3)
    8
    """
    return 1 << positive_int(dimension, what="The `dimension` of `parity_sq_dimension`")


def masked_parity_sq_dimension(dimension: int, *, shown: bool = True) -> int:
    """Return the SQ dimension of MASKED-PARITY.

    It is 2d if x, i and b are uniform, and 2^d if b is 0.

    Parameters
    ----------
    dimension
        d, a power of two.
    shown
        True: b is uniform. False: b is 0, and no bit of r is ever shown.

    Guarantee
    ---------
    *b uniform*: take c_{r,a} and c_{s,a′} with r ≠ s. Let h be the number of bits in which r and s differ.
    Their correlation is 0 on the points with b = 0 and 1 − 2h/d on those with b = 1. So in all it is (1 −
    2h/d)/2, a multiple of 1/d. c_{r,0} and c_{r,1} have the correlation (−1 + 1)/2 = 0. The d rows of a
    Hadamard matrix, each with both values of a, are 2d pairwise uncorrelated concepts. If 2d + 1 concepts had
    pairwise correlations of at most 1/(2d + 1)³ < 1/d, no two would be correlated. So different values of r
    are orthogonal vectors of d signs. There are at most d of these, so at most 2d concepts.

    *b = 0*: c_{r,1} = −c_{r,0}, so a set holds only one concept for each r. These concepts are the parities
    or their negations, and no two of them are correlated.

    Examples
    --------
    >>> masked_parity_sq_dimension(4), masked_parity_sq_dimension(4, shown=False)
    (8, 16)
    """
    MaskedParityClass(dimension)
    return 2 * dimension if shown else parity_sq_dimension(dimension)


def labelled(
    concepts: ConceptClass,
    target: Any,
    probabilities: Sequence[float] | NDArray[np.float64] | None = None,
) -> Population:
    """Return the distribution of x with the target's label.

    Examples
    --------
    >>> from learners.concepts import PointClass
    >>> labelled(PointClass(1), 0).points
    [(0, 1), (1, 0)]
    """
    points = concepts.listed_domain()
    said = concepts.says(target, points).astype(int).tolist()
    records = [(x, concepts.labels[sign]) for x, sign in zip(points, said, strict=True)]
    return Population(records, probabilities)


@dataclass(frozen=True, eq=False)
class Agreement:
    """The query that is 1 if a concept labels x with y, else −1.

    Its mean is the correlation of the concept with the target.

    Examples
    --------
    >>> from learners.concepts import PointClass
    >>> query = Agreement(PointClass(1), 0)
    >>> query((0, 1)), query.many([(0, 0), (1, 0)]).tolist()
    (1.0, [-1.0, 1.0])
    """

    concepts: ConceptClass
    concept: Any

    def __call__(self, record: Any) -> float:
        """Return the value at one record."""
        return float(self.many([record])[0])

    def many(self, records: Any) -> NDArray[np.float64]:
        """Return the values at many records."""
        points, signs = self.concepts.split(records)
        return np.where(self.concepts.says(self.concept, points) == signs, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class GenericWeakLearner:
    """A weak learner that asks about a few concepts in one round.

    It returns the concept of largest correlation, or its negation.

    Parameters
    ----------
    concepts
        The class.
    probabilities
        The probabilities of the points of its domain, in order; default: uniform. The learner is meant for
        this distribution.

    Guarantee
    ---------
    The error is at most 1/2 − γ/6 for every target of the class and with every valid oracle. Here γ is 1/(n +
    1)³, and n is the least number for which there are at most n `alternatives`. The learner asks one query of
    tolerance γ/3 about each alternative, all in one round. The alternatives are a maximal set: every two of
    them are correlated by at most γ in absolute value, and every other concept is correlated by more than γ
    with one of them. So the answer v of largest absolute value has |v| ≥ γ − γ/3. Its concept has a true
    correlation with the sign of v and absolute value at least γ/3. The error of this concept, or of its
    negation, is (1 − |correlation|)/2. n never exceeds the SQ dimension, because n + 1 alternatives make that
    dimension at least n + 1.

    Examples
    --------
    >>> from learners.concepts import IntervalClass
    >>> from mechanisms.queries import AdversarialOracle
    >>> learner = GenericWeakLearner(IntervalClass(3))
    >>> oracle = AdversarialOracle(labelled(learner.concepts, 4), "up")
    >>> learner.alternatives, learner.learn(oracle), oracle.rounds
    ([0, 4], (4, True), 1)
    """

    concepts: ConceptClass
    probabilities: Sequence[float] | NDArray[np.float64] | None = None

    @cached_property
    def _found(self) -> tuple[int, list[int]]:
        """The number n of the guarantee, and the indices of the alternatives."""
        related = np.abs(correlations(self.concepts, self.probabilities))
        n = 1
        while len(places := _maximal(related <= _apart(n + 1))) > n:
            n += 1
        return n, places

    @property
    def alternatives(self) -> list[Any]:
        """The concepts that the learner asks about."""
        return [self.concepts.concepts[place] for place in self._found[1]]

    @property
    def apart(self) -> float:
        """The correlation γ of the guarantee."""
        return 1.0 / (self._found[0] + 1) ** 3

    @property
    def alpha(self) -> float:
        """The largest error of the output, 1/2 − γ/6."""
        return 0.5 - self.apart / 6.0

    def queries(self) -> list[StatisticalQuery]:
        """Return the queries of the only round."""
        asked = [Agreement(self.concepts, concept) for concept in self.alternatives]
        return [StatisticalQuery(it, self.apart / 3.0, boolean=True, vectorised=it.many) for it in asked]

    def learn(self, oracle: SQOracle) -> tuple[Any, bool]:
        """Return a concept, and False if the hypothesis is its negation."""
        answers = NonAdaptive(oracle).ask_all(self.queries())
        place = int(np.argmax(np.abs(answers)))
        return self.alternatives[place], answers[place] >= 0.0

    def error(self, hypothesis: tuple[Any, bool], population: Population) -> float:
        """Return the error of a hypothesis on a distribution of (x, y)."""
        concept, itself = hypothesis
        wrong = Agreement(self.concepts, concept).many(population.points) < 0.0
        return float(population.weights[wrong if itself else ~wrong].sum())


def _maximal(allowed: NDArray[np.bool_]) -> list[int]:
    """Return a maximal set of pairwise allowed concepts."""
    found: list[int] = []
    room = np.ones(len(allowed), dtype=np.bool_)
    while room.any():
        first = int(np.argmax(room))
        found.append(first)
        room &= allowed[first]
        room[first] = False
    return found
