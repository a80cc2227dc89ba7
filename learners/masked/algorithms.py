"""SQ algorithms for MASKED-PARITY on uniform examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit.errors import InvalidValue, finite_number, flag
from learners.concepts.bits import bits_of
from learners.masked.hypothesis import MaskedHypothesis
from learners.masked.queries import BentQuery, BitQuery, MaskQuery, ParityQuery, bent
from learners.masked.words import check_dimension
from mechanisms.queries import NonAdaptive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mechanisms.queries import SQOracle, StatisticalQuery

__all__ = ["AdaptiveMasked", "BentLearner", "GuessingLearner", "WeakLearner", "bit_tau"]


def bit_tau(dimension: int) -> float:
    """Return the tolerance that determines a bit of r.

    It is 1/(4d + 1) (K11 Proposition 5.18).

    Examples
    --------
    >>> bit_tau(8) == 1 / 33
    True
    """
    return 1.0 / (4 * dimension + 1)


def _bit_queries(dimension: int) -> list[StatisticalQuery]:
    return [BitQuery(dimension, place).asked(bit_tau(dimension)) for place in range(dimension)]


def _word(answers: Sequence[float]) -> int:
    """Return r as a number, with bit j set if answer j is above 1/(4d).

    The first bit is the heaviest.
    """
    return int("".join("1" if answer > 0.25 / len(answers) else "0" for answer in answers), 2)


@dataclass(frozen=True)
class _OnWords:
    dimension: int

    def __post_init__(self) -> None:
        check_dimension(self.dimension, owner=type(self).__name__)


@dataclass(frozen=True)
class AdaptiveMasked(_OnWords):
    """The adaptive algorithm A_MP for MASKED-PARITY (K11 §5.3.1, K08 §5.1).

    Its first round asks for the bits of r. Its second round asks for `a` with a query that depends on r.

    Parameters
    ----------
    dimension
        d, a power of two.

    Guarantee
    ---------
    With every valid oracle the output is the target. The first round asks d queries of tolerance 1/(4d + 1),
    the second round one of tolerance 1/5 (K11 Proposition 5.18). The query for bit j has mean r_j/(2d), and 0
    + 1/(4d + 1) < 1/(4d) < 1/(2d) − 1/(4d + 1). If r is right, the last query has mean a/2, and 1/5 < 1/4 <
    1/2 − 1/5.

    Examples
    --------
    >>> from learners.masked import MaskedPopulation
    >>> from mechanisms.queries import AdversarialOracle
    >>> oracle = AdversarialOracle(MaskedPopulation(4, r=0b1010, a=1), "alternating")
    >>> AdaptiveMasked(4).learn(oracle), oracle.asked, oracle.rounds
    (((1, 0, 1, 0), 1), 5, 2)
    """

    def first_round(self) -> list[StatisticalQuery]:
        """Return the queries for the bits of r."""
        return _bit_queries(self.dimension)

    def second_round(self, word: int) -> StatisticalQuery:
        """Return the query for a, given r."""
        return MaskQuery(self.dimension, word).asked(0.2)

    def learn(self, oracle: SQOracle) -> tuple[tuple[int, ...], int]:
        """Return the concept."""
        word = _word(oracle.ask_all(self.first_round()))
        return bits_of(word, self.dimension), int(oracle.ask(self.second_round(word)) > 0.25)


@dataclass(frozen=True)
class BentLearner(_OnWords):
    """Learn MASKED-PARITY in *one* round with a bent function.

    The learner refutes K08 Theorem 5.1.

    Parameters
    ----------
    dimension
        d, a power of two and even.
    tau
        The tolerance of all queries. Default: the smaller of 2^(−2d/3) (K08 Theorem 5.1) and 1/(4d + 1).

    Guarantee
    ---------
    If tau < 2^(−d/2 − 1) and tau ≤ 1/(4d + 1), the output is the target, with every valid oracle. All d + 1
    queries are asked before any is answered. Let ĥ(r) be the Walsh coefficient of the bent function at r. The
    last query has mean 1/2 + (−1)^a·ĥ(r)/2 with |ĥ(r)| = 2^(−d/2). So this mean differs from 1/2 by 2^(−d/2 −
    1) > tau. Once r is known, the sign of ĥ(r) tells whether the mean is above 1/2 for a = 0 or for a = 1.
    The tolerance of K08's theorem is small enough for every even d > 6. The tolerance of K11 Theorem 5.16,
    2^(−d/3), is too large for every d.

    Examples
    --------
    >>> from learners.masked import MaskedPopulation
    >>> from mechanisms.queries import AdversarialOracle
    >>> oracle = AdversarialOracle(MaskedPopulation(8, r=0b10110001, a=1), "up")
    >>> BentLearner(8).learn(oracle), oracle.asked, oracle.rounds
    (((1, 0, 1, 1, 0, 0, 0, 1), 1), 9, 1)
    """

    tau: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimension % 2:
            raise InvalidValue(
                f"The `dimension` of `BentLearner` must be even, for a bent function; got {self.dimension}."
            )
        if self.tau is not None:
            finite_number(self.tau, what="The `tau` of `BentLearner`", above=0)

    @property
    def tolerance(self) -> float:
        """The tolerance of all queries."""
        default = min(2.0 ** (-2 * self.dimension / 3), bit_tau(self.dimension))
        return default if self.tau is None else self.tau

    def queries(self) -> list[StatisticalQuery]:
        """Return all queries."""
        bits = [BitQuery(self.dimension, place).asked(self.tolerance) for place in range(self.dimension)]
        return [*bits, BentQuery(self.dimension).asked(self.tolerance)]

    def learn(self, oracle: SQOracle) -> tuple[tuple[int, ...], int]:
        """Return the concept."""
        *bits, last = NonAdaptive(oracle).ask_all(self.queries())
        word = _word(bits)
        side = last > 0.5
        return bits_of(word, self.dimension), int(side != (bent(word, dimension=self.dimension) > 0))


@dataclass(frozen=True)
class WeakLearner(_OnWords):
    """Learn r in one round and guess `a`, with error 1/4.

    The hypothesis predicts a wrong parity for examples with b = 0.

    Parameters
    ----------
    dimension
        d, a power of two.
    constant
        True: predict a constant where b = 0, which is one reading of K11 §5.3. The error is 1/4 for r ≠ 0,
        but 0 or 1/2 for r = 0.

    Examples
    --------
    >>> from learners.masked import MaskedPopulation
    >>> from mechanisms.queries import ExactOracle
    >>> oracle = ExactOracle(MaskedPopulation(4, r=0, a=1))
    >>> WeakLearner(4).learn(oracle).error(((0, 0, 0, 0), 1))
    0.25
    >>> WeakLearner(4, constant=True).learn(oracle).error(((0, 0, 0, 0), 1))
    0.5
    """

    constant: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        flag(self.constant, what=f"The `constant` of `{type(self).__name__}`")

    def learn(self, oracle: SQOracle) -> MaskedHypothesis:
        """Return the hypothesis."""
        word = _word(NonAdaptive(oracle).ask_all(_bit_queries(self.dimension)))
        other = 0 if self.constant else word ^ 1
        return MaskedHypothesis(self.dimension, shown=word, word=other, mask=0)


@dataclass(frozen=True)
class GuessingLearner(_OnWords):
    """A non-adaptive strong learner that guesses r.

    Its only round asks for r, and for the value of `a` under each guess of r.

    Parameters
    ----------
    dimension
        d, a power of two.
    words
        The guesses of r, as numbers.
    tau
        Tolerance of the guesses; default 2^(−d/3), that of K11 Theorem 5.16.

    Guarantee
    ---------
    If r is one of `words`, the output is the target. Otherwise the output has a = 0, and the error is 0 or
    1/2. By K11 Theorem 5.16 no non-adaptive algorithm does much better.

    Examples
    --------
    >>> from learners.masked import BlindOracle, MaskedPopulation
    >>> learner = GuessingLearner(8, words=(5, 6))
    >>> target = MaskedPopulation(8, r=5, a=1)
    >>> learner.learn(BlindOracle(target)).error(target.concept)
    0.0
    """

    words: tuple[int, ...] = ()
    tau: float | None = None

    def queries(self) -> list[StatisticalQuery]:
        """Return all queries."""
        tau = 2.0 ** (-self.dimension / 3) if self.tau is None else self.tau
        guesses: list[Any] = [ParityQuery(self.dimension, word).asked(tau) for word in self.words]
        return [*_bit_queries(self.dimension), *guesses]

    def learn(self, oracle: SQOracle) -> MaskedHypothesis:
        """Return the hypothesis."""
        answers = NonAdaptive(oracle).ask_all(self.queries())
        word = _word(answers[: self.dimension])
        told = dict(zip(self.words, answers[self.dimension :], strict=True)).get(word, 1.0)
        return MaskedHypothesis(self.dimension, shown=word, word=word, mask=int(told < 0))
