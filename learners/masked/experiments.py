"""How often an SQ algorithm learns, with a given oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from learners.masked.hypothesis import masked_error
from learners.masked.populations import BlindOracle, MaskedPopulation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mechanisms.queries import Oracle

__all__ = ["Outcome", "lower_bound", "over_concepts"]


@dataclass(frozen=True)
class Outcome:
    """The results of an algorithm on many concepts of MASKED-PARITY.

    Parameters
    ----------
    concepts
        How many concepts were tried.
    exact
        The number of concepts on which the output has error 0.
    quarter
        The number of concepts on which the error is at least 1/4.
    told
        The number of concepts for which some answer of the lower bound's oracle depended on `a`.
    queries, rounds
        The largest numbers of queries and of rounds for a concept.

    Examples
    --------
    >>> Outcome(concepts=8, exact=6, quarter=2, told=0, queries=3, rounds=1).share
    0.25
    """

    concepts: int
    exact: int
    quarter: int
    told: int
    queries: int
    rounds: int

    @property
    def share(self) -> float:
        """The share of concepts with error at least 1/4."""
        return self.quarter / self.concepts


def over_concepts(
    learn: Callable[[Any], Any],
    *,
    dimension: int,
    words: Iterable[int] | None = None,
    oracle: Callable[[MaskedPopulation], Oracle] = BlindOracle,
) -> Outcome:
    """Return the results of an SQ algorithm on many concepts.

    Parameters
    ----------
    learn
        Takes an oracle, returns a concept or a `MaskedHypothesis`.
    dimension
        d.
    words
        The words r, by default all 2^d. Each gives two concepts, a = 0 and a = 1.
    oracle
        Takes a concept, returns its oracle. Default: the oracle of K11's lower bound.

    Examples
    --------
    >>> from learners.masked import AdaptiveMasked, GuessingLearner
    >>> over_concepts(AdaptiveMasked(4).learn, dimension=4).exact
    32
    >>> over_concepts(GuessingLearner(4).learn, dimension=4).share
    0.5
    """
    errors, told, asked, rounds = [], 0, 0, 0
    for r in range(2**dimension) if words is None else words:
        for a in (0, 1):
            population = MaskedPopulation(dimension, r=r, a=a)
            answering = oracle(population)
            errors.append(masked_error(learn(answering), population.concept))
            told += bool(getattr(answering, "told", 0))
            asked, rounds = max(asked, answering.asked), max(rounds, answering.rounds)
    return Outcome(
        concepts=len(errors),
        exact=errors.count(0.0),
        quarter=sum(error >= 0.25 for error in errors),
        told=told,
        queries=asked,
        rounds=rounds,
    )


def lower_bound(queries: int, *, dimension: int, printed: bool = False) -> float:
    """Return a lower bound on the share of concepts with error ≥ 1/4.

    It holds for every non-adaptive learner (K11 Theorem 5.16).

    Parameters
    ----------
    queries
        t, the number of queries, all of tolerance at least 2^(−d/3).
    dimension
        d.
    printed
        True: 1/2 − t/2^(d/3 + 2), as the theorem prints it. False: 1/2 − t/2^(d/3 + 3), as its proof shows
        it.

    Guarantee
    ---------
    In the notation of `Parts`, a query g has |⟨f⁰_g, c⁰_{r,a}⟩| ≥ 2^(−d/3) for at most 2^(2d/3 − 1) of the
    2^(d + 1) concepts (Parseval), a share of 2^(−d/3 − 2). So with probability at least 1 − t/2^(d/3 + 2), a
    random concept (r, a) gets answers that do not depend on a. Then the error is at least 1/4 on (r, 0) or on
    (r, 1). So a random concept has such an error with at least half of that probability.

    Examples
    --------
    >>> lower_bound(16, dimension=12), lower_bound(16, dimension=12, printed=True)
    (0.375, 0.25)
    """
    return float(0.5 - queries / 2.0 ** (dimension / 3 + (2 if printed else 3)))
