"""MASKED-PARITY on uniform examples, as a population for SQ oracles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind
from learners.concepts.bits import bits_of, number_of
from learners.masked.queries import MaskedQuery
from learners.masked.words import bit, check_dimension, numbers, parity, signs
from mechanisms.queries import Oracle

if TYPE_CHECKING:
    from learners.masked.fourier import Parts
    from mechanisms.queries import StatisticalQuery

__all__ = ["BlindOracle", "MaskedPopulation", "parts_of"]


def parts_of(query: StatisticalQuery, r: int) -> Parts:
    """Return the parts of a query's mean for the word r.

    Raises
    ------
    InvalidKind
        The query's function is not a `MaskedQuery`.

    Examples
    --------
    >>> from learners.masked.queries import MaskQuery
    >>> parts_of(MaskQuery(2, 3).asked(0.2), 3)
    Parts(constant=0.25, masked=-0.25, shown=0.0)
    """
    if not isinstance(query.function, MaskedQuery):
        raise InvalidKind(f"A query about MASKED-PARITY must be a `MaskedQuery`; got {query.function!r:.60}.")
    return query.function.parts(r)


@dataclass(frozen=True)
class MaskedPopulation:
    """Uniform examples labelled by c_{r,a}, with exact means.

    Parameters
    ----------
    dimension
        d, a power of two.
    r
        The word of the concept, as a number with the first bit heaviest.
    a
        The mask of the concept, 0 or 1.

    Examples
    --------
    >>> from learners.masked.queries import BitQuery
    >>> MaskedPopulation(4, r=0b1000, a=1).expectation(BitQuery(4, 0).asked(0.1))
    0.125
    """

    dimension: int
    r: int
    a: int

    def __post_init__(self) -> None:
        check_dimension(self.dimension, owner=type(self).__name__)

    @classmethod
    def of(cls, concept: Any, *, dimension: int) -> MaskedPopulation:
        """Return the population of a concept ((r_1, …, r_d), a)."""
        return cls(dimension, r=number_of(concept[0]), a=int(concept[1]))

    @property
    def concept(self) -> tuple[tuple[int, ...], int]:
        """The concept in the form ((r_1, …, r_d), a)."""
        return bits_of(self.r, self.dimension), self.a

    def expectation(self, query: StatisticalQuery) -> float:
        """Return the mean of a `MaskedQuery`."""
        return float(parts_of(query, self.r).expectation(self.a))

    def sample(self, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` independent records ((x, i, b), y)."""
        dimension = self.dimension
        length = dimension + dimension.bit_length()
        points = rng.integers(0, 2, size=(size, length))
        x, place = numbers(points[:, :dimension]), numbers(points[:, dimension:-1])
        bits = np.where(
            points[:, -1] == 1, bit(self.r, place, dimension=dimension), parity(x, self.r) ^ self.a
        )
        return list(zip(map(tuple, points.tolist()), signs(bits).tolist(), strict=True))


class BlindOracle(Oracle):
    """The oracle of the lower bound, which hides the mask `a`.

    Parameters
    ----------
    population
        Examples labelled by the concept c_{r,a}.

    Guarantee
    ---------
    This is a valid SQ oracle. For a query g, in the notation of `Parts`: if |⟨f⁰_g, c⁰⟩| < tau, it answers
    C_g + ⟨f¹_g, c¹⟩, which is off by less than tau. Otherwise it answers the mean itself (K11 §5.3.2). By
    Parseval's inequality, the oracle answers a query of tolerance ≥ 2^(−d/3) with the mean for at most
    2^(2d/3 − 1) of the 2^(d+1) concepts.

    Examples
    --------
    >>> from learners.masked.queries import BentQuery, MaskQuery
    >>> oracle = BlindOracle(MaskedPopulation(4, r=3, a=1))
    >>> oracle.ask_all([MaskQuery(4, 3).asked(0.2), MaskQuery(4, 5).asked(0.2), BentQuery(4).asked(0.4)])
    [0.5, 0.25, 0.5]
    >>> oracle.told
    1
    """

    def __init__(self, population: MaskedPopulation) -> None:
        super().__init__()
        self.population = population
        self.told = 0
        """How many answers depended on a."""

    def _answer(self, query: StatisticalQuery) -> float:
        parts = parts_of(query, self.population.r)
        if abs(parts.masked) < query.tau:
            return float(parts.blind)
        self.told += 1
        return float(parts.expectation(self.population.a))
