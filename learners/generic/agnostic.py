"""The generic private agnostic learner of a finite class."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC
from audit.errors import InvalidValue, finite_number, positive_int, probability
from audit.relations import Relation
from learners.concepts import ConjunctionClass, IntervalClass, PointClass
from learners.finite.at_size import at_size
from learners.finite.hypotheses import Hypotheses, sauer_bound
from learners.finite.listed import label_counts
from learners.finite.of_hypotheses import OfHypotheses, lengths_of
from learners.finite.problems import LearningProblem, hard_problems
from learners.formulas import classes
from mechanisms import ExponentialMechanism
from mechanisms.subjects.answers import floats
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from learners.concepts import ConceptClass

__all__ = ["GenericLearner", "VCLearner", "described_size", "failure_bound", "generic_size", "printed_size"]

_ROUNDING = 1e-12


def failure_bound(hypotheses: float, *, alpha: float, epsilon: float, size: float) -> float:
    """Return the bound on Pr[err(h) ≥ OPT + alpha] in the proof of K11 Theorem 3.4.

    Guarantee
    ---------
    The bound is |H|·(2·exp(−2nα²/9) + exp(−εnα/6)). All training errors are within α/3 of the true errors,
    except with the probability of the term with α² (Hoeffding, union bound). A hypothesis with training error
    OPT + 2α/3 or more then has at most e^(−εnα/6) times the probability of the best one.

    Examples
    --------
    >>> round(failure_bound(10, alpha=0.5, epsilon=0.5, size=111), 3)
    0.14
    """
    sampling = 2.0 * math.exp(-2.0 * size * alpha**2 / 9.0)
    return hypotheses * (sampling + math.exp(-epsilon * size * alpha / 6.0))


def generic_size(hypotheses: int, *, alpha: float, beta: float, epsilon: float) -> int:
    """Return a sample size at which the generic learner is accurate.

    Guarantee
    ---------
    n = ⌈6·(ln|H| + ln(3/β))·max{1/εα, 1/α²}⌉. Let L = ln(3|H|/β) ≥ 0. n ≥ 6L/α², so the term with α² in
    `failure_bound` is at most 2|H|·e^(−4L/3) ≤ 2|H|·e^(−L) = 2β/3. n ≥ 6L/(εα), so the term with ε is at most
    |H|·e^(−L) = β/3. (K11 Theorem 3.4 has ln(1/β) here. The term with ε alone is then β if ε ≤ α.)

    Examples
    --------
    >>> generic_size(10, alpha=0.5, beta=0.1, epsilon=0.5), printed_size(10, alpha=0.5, beta=0.1, epsilon=0.5)
    (137, 111)
    """
    _check(hypotheses, alpha=alpha, beta=beta, epsilon=epsilon, owner="generic_size")
    nats = math.log(hypotheses) + math.log(3.0 / beta)
    per_nat = 6.0 * max(1.0 / epsilon / alpha, 1.0 / alpha**2)
    return math.ceil(nats * per_nat * (1.0 - _ROUNDING))


def described_size(hypotheses: int, bits: float, *, alpha: float, beta: float, epsilon: float) -> int:
    """Return a sample size at which a learner of short descriptions is accurate.

    Guarantee
    ---------
    n = ⌈6·max{(b·ln 2 + ln(3/β))/εα, (ln|H| + ln(3/β))/α²}⌉, where b bits describe a best hypothesis g. If
    Kraft's inequality fails, log₂ max{1, Σ_h 2^(−bits(h))} is added to b. The sampling term is that of
    `generic_size`. A hypothesis h of training error OPT + 2α/3 or more has at most 2^(bits(g) −
    bits(h))·e^(−εnα/6) times the probability of g. The probabilities of all such h add up to at most
    2^b·e^(−εnα/6) ≤ β/3.

    Examples
    --------
    >>> described_size(1024, 2, alpha=0.5, beta=0.1, epsilon=0.01)
    5745
    >>> generic_size(1024, alpha=0.5, beta=0.1, epsilon=0.01)
    12400
    """
    _check(hypotheses, alpha=alpha, beta=beta, epsilon=epsilon, owner="described_size")
    failure = math.log(3.0 / beta)
    noise = (bits * math.log(2.0) + failure) / epsilon / alpha
    sampling = (math.log(hypotheses) + failure) / alpha**2
    return math.ceil(6.0 * max(noise, sampling) * (1.0 - _ROUNDING))


def printed_size(hypotheses: int, *, alpha: float, beta: float, epsilon: float, source: str = "K11") -> int:
    """Return the sample size that a text prints.

    Parameters
    ----------
    hypotheses, alpha, beta, epsilon
        As in `generic_size`.
    source
        ``"K11"``: 6·(ln|H| + ln(1/β))·max{1/εα, 1/α²} (Theorem 3.4), where the proof's bound can exceed β.
        ``"K08"``: (ln|H| + ln(2/β))·max{4/εα, 2/α²} (Theorem 3.7), proved only for OPT = 0.

    Examples
    --------
    >>> printed_size(10, alpha=0.5, beta=0.1, epsilon=0.5, source="K08")
    85
    """
    _check(hypotheses, alpha=alpha, beta=beta, epsilon=epsilon, owner="printed_size")
    per_nat = {
        "K11": (math.log(1.0 / beta), 6.0, 6.0),
        "K08": (math.log(2.0 / beta), 4.0, 2.0),
    }
    if source not in per_nat:
        raise InvalidValue(f"The `source` of `printed_size` must be K08 or K11; got {source!r}.")
    failure, noise, sampling = per_nat[source]
    nats = math.log(hypotheses) + failure
    return math.ceil(nats * max(noise / epsilon / alpha, sampling / alpha**2) * (1.0 - _ROUNDING))


@dataclass(frozen=True, kw_only=True)
class GenericLearner(OfHypotheses, ClaimsItsEpsilon):
    """Choose a hypothesis by the exponential mechanism on its errors.

    The probability is proportional to exp(−epsilon·errors/2). A database is a list of (x, y). The output is
    the name of a concept.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    concepts
        H, the class to choose from, a `ConceptClass` or `Hypotheses`. Default: the points of {0, 1, 2, 3}.
        OPT is the smallest error in H. To learn another class C, choose an H that approximates C.
    alpha, beta
        Excess error and failure probability, each in (0, 1/2).
    size
        The number of records in audited databases.
    score
        Takes a database and `hypotheses`, returns one number for each; higher is better. The number must
        change by at most 1 when a record is replaced, which is not checked. None: minus the number of errors.
    bits
        Takes a concept, returns the length of its description, a whole number ≥ 0. Lengths are public. Each
        bit halves the weight. None: all weights are equal.

    Raises
    ------
    InvalidKind, InvalidValue
        A parameter is out of range, a description length is not a whole number ≥ 0, or a record is not a
        labelled point of the class.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced, for every database (K08 Theorem 3.7, K11 Lemma
    3.3). The number of errors of every hypothesis changes by at most 1. If one record can raise and lower the
    score of any hypothesis, the exact worst loss is close to epsilon (`mechanisms.ExponentialMechanism`).
    `bits` adds the same constant to the exponent of a hypothesis on all databases, so the bound on the ratio
    of probabilities does not change.

    On `sample_size` or more independent examples of any law of (x, y), the error exceeds OPT + alpha with
    probability at most beta. The proof is in `generic_size`, or in `described_size` if `bits` is given. No
    error is claimed for fewer records or a custom score.

    Examples
    --------
    >>> learner = GenericLearner(epsilon=2 * math.log(3))
    >>> round(learner.distribution([(2, 1)]).pmf(2), 12), learner.sample_size()
    (0.5, 2873)
    """

    epsilon: float = 1.0
    concepts: ConceptClass | Hypotheses = field(default_factory=lambda: PointClass(2))
    alpha: float = 0.1
    beta: float = 0.1
    size: int | tuple[int, int] = 2
    score: Callable[[Any, Hypotheses], Any] | None = None
    bits: Callable[[Any], int] | None = None

    name: ClassVar[str] = "generic-learner"
    reference: ClassVar[str] = "K08 Theorem 3.7; K11 §3.1, Theorem 3.4"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    agnostic: ClassVar[bool] = True
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check_budget()

    @cached_property
    def hypotheses(self) -> Hypotheses:
        """The class with its truth table."""
        return Hypotheses.of(self.concepts)

    @cached_property
    def lengths(self) -> NDArray[np.int64] | None:
        """The description lengths in bits; None if all are equal."""
        if self.bits is None:
            return None
        return lengths_of(self.bits, self.hypotheses.names, owner=type(self).__name__)

    @property
    def utility_claim(self) -> PAC | None:
        """The excess error claimed; None for a custom score."""
        return PAC(self.alpha, self.beta) if self.score is None else None

    @property
    def _needed(self) -> int:
        """The number of examples that the utility claim needs."""
        return self.size_for(None if self.lengths is None else int(self.lengths.max()))

    def size_for(self, bits: int | None) -> int:
        """Return enough examples for a best hypothesis of this many bits.

        Examples
        --------
        >>> short = GenericLearner(bits=lambda point: point + 1, epsilon=0.01)
        >>> short.size_for(1), short.size_for(4)
        (24567, 37043)
        """
        count = len(self.hypotheses.names)
        if bits is None or self.lengths is None:
            return generic_size(count, alpha=self.alpha, beta=self.beta, epsilon=self.epsilon)
        kraft = math.log2(max(1.0, math.fsum(2.0 ** -float(length) for length in self.lengths)))
        return described_size(count, bits + kraft, alpha=self.alpha, beta=self.beta, epsilon=self.epsilon)

    def problems(self) -> list[LearningProblem]:
        """Return hard problems of `sample_size` examples."""
        return hard_problems(self.hypotheses, alpha=self.alpha, examples=self.sample_size())

    def scores(self, database: Any) -> NDArray[np.float64]:
        """Return the score of every hypothesis.

        It is minus the number of errors, or the custom score.
        """
        owner = type(self).__name__
        if self.score is not None:
            return floats(self.score(database, self.hypotheses), what=f"The scores of `{owner}`")
        counts = label_counts(self.hypotheses, database, owner=owner)
        return -self.hypotheses.table.errors(counts)

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a concept."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the concepts of `size` runs."""
        names = self.hypotheses.names
        return [names[place] for place in self._mechanism.sample(database, size, rng).tolist()]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the concept."""
        from audit.distributions import Finite

        return Finite(self.hypotheses.names, log_probabilities=self._mechanism.log_probabilities(database))

    @cached_property
    def _handicap(self) -> NDArray[np.float64] | float:
        """The amounts subtracted from the scores for the description lengths."""
        if self.lengths is None:
            return 0.0
        return self.lengths.astype(np.float64) * (2.0 * math.log(2.0) / self.epsilon)

    @cached_property
    def _mechanism(self) -> ExponentialMechanism:
        return ExponentialMechanism(
            epsilon=self.epsilon,
            score=lambda database, _: self.scores(database) - self._handicap,
            solutions=range(len(self.hypotheses.names)),
            vectorised=True,
        )


@dataclass(frozen=True, kw_only=True)
class VCLearner(GenericLearner):
    """The generic learner over one concept for each labelling of the domain.

    Parameters
    ----------
    epsilon, concepts, alpha, beta, size, score, bits
        As in `GenericLearner`.

    Guarantee
    ---------
    As `GenericLearner`, with |H| the number of labellings of the domain X by the class. For VC dimension v
    this is at most Σ_{i ≤ v} C(|X|, i) by Sauer's lemma. So n = O((v·ln|X| + ln(1/β))·max{1/εα, 1/α²}) for
    any number of concepts (K11 Corollary 3.6). OPT is the same, because every concept has the same labels as
    one that was kept.

    Examples
    --------
    >>> from learners.concepts import ExplicitClass
    >>> learner = VCLearner(concepts=ExplicitClass("ab", [[0, 1], [0, 1], [1, 1]]))
    >>> learner.hypotheses.names, learner.sauer_bound
    ([0, 2], 3)
    """

    name: ClassVar[str] = "vc-learner"
    reference: ClassVar[str] = "K11 Corollary 3.6"

    @cached_property
    def hypotheses(self) -> Hypotheses:
        """One concept for each labelling of the domain."""
        return Hypotheses.of(self.concepts).distinct()

    @property
    def sauer_bound(self) -> int:
        """Sauer's bound on the number of hypotheses."""
        return sauer_bound(points=len(self.hypotheses.domain), vc_dimension=self.hypotheses.vc_dimension)


def _check(hypotheses: int, *, alpha: float, beta: float, epsilon: float, owner: str) -> None:
    positive_int(hypotheses, what=f"The `hypotheses` of `{owner}`", maximum=None)
    probability(alpha, what=f"The `alpha` of `{owner}`", zero=False)
    probability(beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
    finite_number(epsilon, what=f"The `epsilon` of `{owner}`", above=0)


def _gamma(point: int) -> int:
    """Return the length of Elias' gamma code for `point` + 1."""
    return 2 * (point + 1).bit_length() - 1


_ZEROS = (0,) * 9

entries = (
    Entry(
        GenericLearner.name,
        GenericLearner,
        options={"pairs": classes.one_only(GenericLearner()), "size": 2},
        utility={"budget": 4_000},
        reference=GenericLearner.reference,
        summary="exponential mechanism over the points of {0, …, 3}, by errors",
        formulas=classes.generic,
    ),
    Entry(
        f"{GenericLearner.name}-by-length",
        partial(GenericLearner, bits=_gamma),
        utility={"budget": 4_000},
        reference=f"{GenericLearner.reference}, and the prefer-short form of Occam's razor",
        summary="the same, a bit of description halving the weight",
        formulas=classes.by_length,
    ),
    Entry(
        VCLearner.name,
        partial(VCLearner, concepts=IntervalClass(2)),
        options={"pairs": classes.one_only(VCLearner(concepts=IntervalClass(2))), "size": 2},
        utility={"budget": 4_000},
        reference=VCLearner.reference,
        summary="the same over one concept for each labelling: intervals",
        formulas=classes.generic,
    ),
    Entry(
        f"{GenericLearner.name}-at-size",
        partial(
            at_size,
            GenericLearner,
            concepts=ConjunctionClass(9),
            alpha=0.2,
            beta=0.1,
            calm=(_ZEROS, 1),
            odd=(_ZEROS, 0),
        ),
        options={"budget": 20_000},
        utility={"budget": 2_600},
        reference=GenericLearner.reference,
        summary="by runs, with the stated n: conjunctions of 9 variables",
    ),
    Entry(
        f"{VCLearner.name}-at-size",
        partial(
            at_size, VCLearner, concepts=IntervalClass(10), alpha=0.2, beta=0.1, calm=(512, 0), odd=(512, 1)
        ),
        options={"budget": 20_000},
        utility={"budget": 2_600},
        reference=VCLearner.reference,
        summary="by runs, with the stated n: the intervals of {0, …, 1023}",
    ),
)
