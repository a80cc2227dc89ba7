"""A private learner that reads more records for longer hypotheses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC, PureDP
from audit.errors import InvalidValue, positive_int, whole_numbers
from audit.relations import Relation
from learners.by_queries.chunks import INSUFFICIENT
from learners.concepts import ConjunctionClass, ExplicitClass
from learners.finite.at_size import at_size
from learners.finite.hypotheses import Hypotheses
from learners.finite.listed import label_counts
from learners.finite.of_hypotheses import OfHypotheses, lengths_of
from learners.finite.problems import LearningProblem, realizable_problems
from learners.formulas import classes
from learners.generic.agnostic import generic_size
from mechanisms import ExponentialMechanism
from mechanisms.local.averaging.sums import LaplaceSum
from mechanisms.noise.noises import LaplaceNoise
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from learners.concepts import ConceptClass
    from learners.finite.tables import LabelCounts

__all__ = ["CompressionLearner", "Round", "hold_out_size"]


def hold_out_size(*, alpha: float, beta: float, epsilon: float) -> int:
    """Return how many records a noisy test needs.

    Guarantee
    ---------
    n = ⌈max{2·ln(4/β)/α², 2·ln(2/β)/(εα)}⌉. On n records the noisy error is within α of the true error,
    except with probability β. The average is off by more than α/2 with probability at most β/2 (Hoeffding).
    The noise has scale 1/(εn). Its absolute value exceeds α/2 with probability e^(−εnα/2) ≤ β/2.

    Examples
    --------
    >>> hold_out_size(alpha=0.1, beta=0.05, epsilon=1.0)
    877
    """
    return math.ceil(max(2.0 * math.log(4.0 / beta) / alpha**2, 2.0 * math.log(2.0 / beta) / epsilon / alpha))


class Round(NamedTuple):
    """The records that a round uses, and its limit on bits.

    Parameters
    ----------
    start, middle, stop
        The round learns from records start … middle − 1 and tests the result on records middle … stop − 1.
    bits
        Hypotheses of at most this many bits are admitted.

    Examples
    --------
    >>> Round(0, 4, 8, bits=1).tested
    4
    """

    start: int
    middle: int
    stop: int
    bits: int

    @property
    def tested(self) -> int:
        """The number of records that test the hypothesis."""
        return self.stop - self.middle


_generic_size = lru_cache(maxsize=1024)(generic_size)
"""`generic_size`, cached because every run asks for the sizes of all rounds."""


def _ones(concept: Any) -> int:
    return sum(concept)


@dataclass(frozen=True, kw_only=True)
class CompressionLearner(OfHypotheses, PlainParameters):
    """Learn from few examples if the target is short to describe.

    Round t takes n_1·2^(t−1) fresh records. On one half of these the generic learner chooses among the
    hypotheses of at most b_t bits. On the other half the error of the chosen hypothesis is measured, with
    noise. A measured error of at most 2·alpha/3 ends the run with that hypothesis. If the records run out,
    the output is "insufficient samples".

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    concepts
        The class. Default: monotone conjunctions of three variables.
    bits
        Takes a concept, returns the length of its description, a whole number ≥ 0. The stated sizes assume
        that at most 2^b concepts have b bits or fewer; privacy does not depend on this. Default: the number
        of variables in the conjunction.
    alpha, beta
        Error and failure probability, each in (0, 1/2).
    first_round, caps
        n_1 and the list b_1, b_2, … (the last one repeated), in place of those that the guarantee needs. They
        are public, and privacy does not depend on them.
    size
        The number of records in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or a record is not a labelled point of the class.

    Guarantee
    ---------
    *Privacy.* epsilon-differential privacy when one record is replaced, over *all* rounds. n_1 alone decides
    which records belong to each half of each round. The replaced record lies in one half. Given all earlier
    outputs, the output of this half is epsilon-private. It is a choice by the exponential mechanism, or an
    error with Laplace noise of scale 1/(epsilon·records). Later steps depend on the record only through that
    output.

    *Utility*, for examples of any distribution labelled by a concept of b bits. Round t may fail with
    probability β_t = β/2^(t+1), and Σ β_t ≤ β/2.

    (i) A measured error is off by more than α/3 with probability at most β_t. So, with probability 1 − β/2,
    every hypothesis that ends a run has error at most α.

    (ii) b_t is the largest length for which the generic learner has enough records for (α/3, β_t). In a round
    with b_t ≥ b, except with probability β_t, the chosen hypothesis has error at most α/3 and passes. So the
    run ends by the first such round with probability 1 − β.

    (iii) Let H_b be the hypotheses of at most b bits, and X = (ln|H_b| + ln(1/β_t))·max{1/εα, 1/α²}. Learning
    with H_b needs of the order of X records. The run reads at most a constant times X records, or n_1 if that
    is larger. Each later round is reached with probability at most 2β_t, so the expected number is of the
    same order.

    Examples
    --------
    >>> learner = CompressionLearner(epsilon=1.0)
    >>> [(it.stop - it.start, it.bits) for it in learner.rounds(learner.sample_size())]
    [(12928, 0), (25856, 3)]
    """

    epsilon: float = 1.0
    concepts: ConceptClass | Hypotheses = field(default_factory=lambda: ConjunctionClass(3))
    bits: Callable[[Any], int] = _ones
    alpha: float = 0.2
    beta: float = 0.1
    first_round: int | None = None
    caps: tuple[int, ...] | None = None
    size: int | tuple[int, int] = 2

    name: ClassVar[str] = "compression-learner"
    reference: ClassVar[str] = "K11 §3.1, the compression version of Occam's razor"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._check_budget()
        owner = type(self).__name__
        if self.first_round is not None:
            positive_int(self.first_round, what=f"The `first_round` of `{owner}`", minimum=2)
        if self.caps is not None:
            told = whole_numbers(self.caps, what=f"The `caps` of `{owner}`")
            if not told:
                raise InvalidValue(f"The `caps` of `{owner}` must hold one number or more; got none.")

    @cached_property
    def hypotheses(self) -> Hypotheses:
        """The class with one concept for each labelling."""
        return Hypotheses.of(self.concepts).distinct()

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The description length of every hypothesis, in bits."""
        return lengths_of(self.bits, self.hypotheses.names, owner=type(self).__name__)

    @property
    def claim(self) -> PureDP:
        """The privacy claimed, over all rounds."""
        return PureDP(self.epsilon)

    @property
    def utility_claim(self) -> PAC | None:
        """The accuracy claimed, or None.

        Accuracy is claimed only for the default `caps` and a `first_round` at least as long as the default.

        Examples
        --------
        >>> print(CompressionLearner(first_round=50).utility_claim)
        None
        """
        proved = self.caps is None and self._first >= self._derived_first
        return PAC(self.alpha, self.beta) if proved else None

    @property
    def _needed(self) -> int:
        """The number of examples up to the round that admits every concept."""
        return self.size_for(int(self.lengths.max()))

    def size_for(self, bits: int) -> int:
        """Return the number of examples up to the round that admits this many bits.

        Examples
        --------
        >>> learner = CompressionLearner()
        >>> learner.size_for(0), learner.size_for(3)
        (12928, 38784)
        """
        return next(it.stop for it in self._endless() if it.bits >= bits)

    def rounds(self, size: int) -> list[Round]:
        """Return the rounds that fit into this many records."""
        found = []
        for it in self._endless():
            if it.stop > size:
                break
            found.append(it)
        return found

    def problems(self) -> list[LearningProblem]:
        """Return hard problems of `sample_size` examples."""
        return realizable_problems(self.hypotheses, alpha=self.alpha, examples=self.sample_size())

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a concept, or "insufficient samples"."""
        self._count(database)
        for it in self.rounds(len(database)):
            admitted, choice, errors = self._learned(it, database)
            place = int(admitted[choice.sample(-errors, 1, rng)[0]])
            wrong = float(self._errors(database, it.middle, it.stop)[place]) / it.tested
            if wrong + LaplaceNoise(self._scale(it)).sample(1, rng)[0] <= self._limit:
                return self._outcomes[place]
        return INSUFFICIENT

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return `size` outputs."""
        cumulative = np.cumsum(self._masses(database))
        chosen = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        return [self._outcomes[place] for place in chosen.tolist()]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the output."""
        from audit.distributions import Finite

        return Finite(self._outcomes, self._masses(database))

    def _masses(self, database: Any) -> NDArray[np.float64]:
        """Return the probability of each outcome."""
        self._count(database)
        mass, going = np.zeros(len(self._outcomes)), 1.0
        for it in self.rounds(len(database)):
            admitted, choice, errors = self._learned(it, database)
            wrong = self._errors(database, it.middle, it.stop)[admitted] / it.tested
            noise, chosen = LaplaceSum(1, self._scale(it)), choice.log_probabilities(-errors)
            passing = np.exp(chosen + noise.logcdf(self._limit - wrong))
            mass[admitted] += going * passing
            going *= float(np.exp(chosen + noise.logsf(self._limit - wrong)).sum())
        mass[-1] = going
        return mass

    @cached_property
    def _outcomes(self) -> list[Any]:
        return [*self.hypotheses.names, INSUFFICIENT]

    def _learned(
        self, it: Round, database: Any
    ) -> tuple[NDArray[np.intp], ExponentialMechanism, NDArray[np.float64]]:
        """Return the admitted hypotheses, the choosing mechanism, and the errors."""
        admitted = np.flatnonzero(self.lengths <= it.bits)
        choice = ExponentialMechanism(
            epsilon=self.epsilon,
            score=lambda scores, _: scores,
            solutions=range(len(admitted)),
            vectorised=True,
        )
        return admitted, choice, self._errors(database, it.start, it.middle)[admitted]

    def _errors(self, database: Any, start: int, stop: int) -> NDArray[np.float64]:
        """Return each hypothesis' errors on records `start` to `stop` − 1."""
        return self.hypotheses.table.errors(self._count(database, start, stop))

    def _count(self, database: Any, start: int = 0, stop: int | None = None) -> LabelCounts:
        owner = type(self).__name__
        return label_counts(self.hypotheses, database, owner=owner, start=start, stop=stop)

    def _endless(self) -> Iterator[Round]:
        start, count, length = 0, 1, self._first
        while True:
            middle = start + length - length // 2
            yield Round(start, middle, start + length, self._cap(count, middle - start))
            start, count, length = start + length, count + 1, 2 * length

    @property
    def _first(self) -> int:
        return self._derived_first if self.first_round is None else self.first_round

    @cached_property
    def _derived_first(self) -> int:
        learn = self._learned_from(int(self.lengths.min()), 1)
        return 2 * max(
            learn, hold_out_size(alpha=self.alpha / 3.0, beta=self.beta / 4.0, epsilon=self.epsilon)
        )

    def _cap(self, count: int, records: int) -> int:
        """Return the largest description length that round `count` admits."""
        if self.caps is not None:
            return max(self.caps[min(count, len(self.caps)) - 1], int(self.lengths.min()))
        lengths = np.unique(self.lengths).tolist()
        fitting = [bits for bits in lengths if self._learned_from(bits, count) <= records]
        return int(max([lengths[0], *fitting]))

    def _learned_from(self, bits: int, count: int) -> int:
        """Return how many records a choice among hypotheses of `bits` bits needs."""
        return _generic_size(
            int((self.lengths <= bits).sum()),
            alpha=self.alpha / 3.0,
            beta=self.beta / 2.0 ** (count + 1),
            epsilon=self.epsilon,
        )

    def _scale(self, it: Round) -> float:
        return 1.0 / (self.epsilon * it.tested)

    @property
    def _limit(self) -> float:
        return 2.0 * self.alpha / 3.0


_SMALL: dict[str, Any] = {
    "concepts": ExplicitClass("uv", [[0, 0], [0, 1], [1, 1]]),
    "bits": int,
    "first_round": 2,
    "caps": (0, 1, 2),
    "size": 6,
}
"""Two rounds of two and four records, over three concepts of 0, 1 and 2 bits."""

entries = (
    Entry(
        CompressionLearner.name,
        partial(CompressionLearner, **_SMALL),
        reference=CompressionLearner.reference,
        summary="Occam's razor by compression: rounds that double the sample",
        formulas=classes.compression,
    ),
    Entry(
        f"{CompressionLearner.name}-at-size",
        partial(
            at_size,
            CompressionLearner,
            concepts=ConjunctionClass(6),
            alpha=0.3,
            beta=0.1,
            calm=((0,) * 6, 1),
            odd=((0,) * 6, 0),
            placed={"share": 0.2, "places": (0,)},
        ),
        options={"budget": 10_000},
        utility={"budget": 2_600},
        reference=CompressionLearner.reference,
        summary="by runs, with the stated n: conjunctions of 6 variables",
    ),
)
