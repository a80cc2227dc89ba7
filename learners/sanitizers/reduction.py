"""A private learner made from a sanitizer (BNS Theorem 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC, ApproximateDP, PureDP
from audit.errors import InvalidKind, finite_number
from audit.relations import Relation
from audit.values.brief import show
from learners.concepts import IntervalClass, LabelClass, dichotomies
from learners.finite.hypotheses import Hypotheses
from learners.finite.problems import LearningProblem, realizable_problems
from learners.formulas import classes
from learners.sanitizers.generic import GenericSanitizer
from mechanisms.subjects.parameters import PlainParameters
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from learners.concepts import ConceptClass

__all__ = ["SanitizingLearner", "transfer_size"]

_ROUNDING = 1e-12


def transfer_size(labellings: int, *, low: float, high: float, beta: float) -> int:
    """Return a size at which training errors bound true errors.

    Training errors of at most `low` then imply errors of at most `high`.

    Guarantee
    ---------
    The size is t = ln(G/β)/KL(low‖high), where G is the number of distinct concepts. A concept with error
    above high has a training error of at most low with probability at most e^(−t·KL(low‖high)) (Chernoff).
    So, except with probability β, no concept with error above high has such a training error.

    Examples
    --------
    >>> transfer_size(3, low=0.25, high=0.375, beta=0.05)
    116
    """
    distance = low * math.log(low / high) + (1.0 - low) * math.log((1.0 - low) / (1.0 - high))
    return math.ceil(math.log(labellings / beta) / distance * (1.0 - _ROUNDING))


@dataclass(frozen=True)
class _ExampleSanitizer(GenericSanitizer):
    """The sanitizer that names the learner in error messages."""

    owner: ClassVar[str] = "SanitizingLearner"
    held: ClassVar[str] = "examples (x, y), x a point of its domain and y 0 or 1"


@dataclass(frozen=True, kw_only=True)
class SanitizingLearner(StatedSize, PlainParameters):
    """Learn a concept from a sanitized database.

    A database is a list of (x, y). The output is the concept that errs least on the sanitizer's output for
    C^label.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    concepts
        C, over a tiny domain. Default: the intervals of {0, 1}.
    alpha, beta
        The accuracy and the failure probability of the sanitizer, alpha below 1/3 and beta below 1/2.
        `utility_claim` is that of the learner.
    size
        The number of records in audited databases.
    sanitizer
        Any sanitizer for C^label, proper or not. It must have `claim`, `alpha`, `beta`,
        `sample_size(alpha=, beta=)` and `estimate(output, concept)`, the estimated share of examples on which
        a concept errs. The learner takes over its claim, epsilon, alpha and beta. None: the sanitizer of
        Blum, Ligett and Roth.

    Raises
    ------
    InvalidKind
        `sanitizer` lacks one of these attributes.
    InvalidValue
        A parameter of the learner or of the sanitizer is out of range.

    Guarantee
    ---------
    *Privacy*: that of the sanitizer, because only its output is used. For the default sanitizer this is
    epsilon when one example is replaced.

    *Accuracy*: on `sample_size` examples of a distribution on x, labelled by a concept of C, the error is at
    most 3·alpha, except with probability 2·beta. (BNS Theorem 5 claims only 3·alpha + 2·beta, and requires
    alpha, epsilon ≤ 1/8, which is not needed here.) Q of c^label is the training error of c. Except with
    probability beta, all these errors on the output Ŝ are within alpha of the training errors. Then the
    target's error on Ŝ is at most alpha, and so is that of the returned concept. So the training error of the
    returned concept is at most 2·alpha. Except with probability beta, no concept of error above 3·alpha has
    such a training error (`transfer_size`). `sample_size` is the larger of `transfer_size` and the
    sanitizer's sample size.

    Examples
    --------
    >>> learner = SanitizingLearner()
    >>> learner.sanitizer.output_size, learner.sample_size()
    (16, 2528)
    >>> learner([(0, 1)] * 1300 + [(1, 0)] * 1228, np.random.default_rng(0))
    1
    """

    epsilon: float = 0.125
    concepts: ConceptClass = field(default_factory=lambda: IntervalClass(1))
    alpha: float = 0.125
    beta: float = 0.05
    size: int = 3
    sanitizer: Any = None

    name: ClassVar[str] = "sanitizing-learner"
    reference: ClassVar[str] = "BNS §5.1, Theorem 5 (the proof is ours)"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner, given = type(self).__name__, self.sanitizer
        if given is not None:
            lacking = [name for name in _ASKED if not hasattr(given, name)]
            if lacking or not isinstance(given.claim, PureDP | ApproximateDP):
                raise InvalidKind(
                    f"The `sanitizer` of `{owner}` must have {', '.join(_ASKED)}, its claim a PureDP or an "
                    f"ApproximateDP; got {show(given)}."
                )
            for name, holder in (("epsilon", given.claim), ("alpha", given), ("beta", given)):
                object.__setattr__(self, name, getattr(holder, name))
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        self._accuracy(self.alpha, self.beta)
        if given is None:
            made = _ExampleSanitizer(
                epsilon=self.epsilon,
                concepts=LabelClass(self.concepts),
                alpha=self.alpha,
                beta=self.beta,
                size=self.size,
            )
            object.__setattr__(self, "sanitizer", made)

    @property
    def claim(self) -> PureDP | ApproximateDP:
        """The privacy claim of the sanitizer."""
        claim: PureDP | ApproximateDP = self.sanitizer.claim
        return claim

    @property
    def utility_claim(self) -> PAC:
        """The claim of BNS Theorem 5, on `sample_size` examples."""
        return PAC(3.0 * self.alpha + 2.0 * self.beta, 2.0 * self.beta)

    @property
    def own_claim(self) -> PAC:
        """The accuracy that holds on `sample_size` examples.

        It is stronger than that of BNS Theorem 5.
        """
        return PAC(3.0 * self.alpha, 2.0 * self.beta)

    @property
    def records(self) -> tuple[Any, ...]:
        """Every (x, y)."""
        return tuple(LabelClass(self.concepts).listed_domain())

    @cached_property
    def hypotheses(self) -> Hypotheses:
        """The class with its truth table."""
        return Hypotheses.of(self.concepts)

    @cached_property
    def transfer_size(self) -> int:
        """The number of examples at which training errors bound true errors."""
        return self._transferred(self.alpha, self.beta)

    def _transferred(self, alpha: float, beta: float) -> int:
        labellings = dichotomies(self.concepts).size
        return transfer_size(labellings, low=2.0 * alpha, high=3.0 * alpha, beta=beta)

    def _accuracy(self, alpha: float, beta: float) -> tuple[float, float]:
        """Return alpha and beta, or raise if they are out of range."""
        owner = type(self).__name__
        finite_number(alpha, what=f"The `alpha` of `{owner}`", above=0, below=1.0 / 3.0)
        finite_number(beta, what=f"The `beta` of `{owner}`", above=0, below=0.5)
        return alpha, beta

    def sample_size(self, *, alpha: float | None = None, beta: float | None = None) -> int:
        """Return the number of examples that the claim needs.

        Parameters
        ----------
        alpha, beta
            The accuracy and failure probability of the sanitizer, alpha below 1/3 and beta below 1/2; by
            default its own.

        Raises
        ------
        InvalidKind, InvalidValue
            alpha or beta is out of range, or the sanitizer refuses it.
        """
        alpha, beta = self._accuracy(
            self.alpha if alpha is None else alpha, self.beta if beta is None else beta
        )
        return max(int(self.sanitizer.sample_size(alpha=alpha, beta=beta)), self._transferred(alpha, beta))

    def problems(self) -> list[LearningProblem]:
        """Return hard problems of `sample_size` examples."""
        return realizable_problems(self.hypotheses, alpha=3.0 * self.alpha, examples=self.sample_size())

    def best(self, output: Any) -> Any:
        """Return the concept that errs least on a sanitized database.

        Examples
        --------
        >>> SanitizingLearner().best([(0, 1), (1, 1), (1, 0), (1, 1)])
        2
        """
        names: Sequence[Any] = self.concepts.listed_concepts()
        return names[int(np.argmin([self.sanitizer.estimate(output, name) for name in names]))]

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a concept."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` concepts."""
        if not isinstance(self.sanitizer, GenericSanitizer):
            return [self.best(output) for output in self._sanitized(database, size, rng)]
        names = self.concepts.listed_concepts()
        places = self.sanitizer.places(database, size=size, rng=rng)
        return [names[concept] for concept in self._chosen[places].tolist()]

    def _sanitized(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        if hasattr(self.sanitizer, "sample"):
            return self.sanitizer.sample(database, size, rng)
        return [self.sanitizer(database, rng) for _ in range(size)]

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law of the concept, or None."""
        from audit.distributions import Finite

        if not isinstance(self.sanitizer, GenericSanitizer):
            law = getattr(self.sanitizer, "distribution", lambda _: None)(database)
            return law.map(self.best) if isinstance(law, Finite) else None
        masses = np.exp(self.sanitizer.log_probabilities(database))
        totals = np.bincount(self._chosen, weights=masses, minlength=self.concepts.size)
        return Finite(list(self.concepts.listed_concepts()), totals.tolist())

    @cached_property
    def _chosen(self) -> NDArray[np.intp]:
        """The index of the concept chosen for each small database."""
        wrong = self.sanitizer.occurrences @ LabelClass(self.concepts).table().T
        return np.asarray(np.argmin(wrong, axis=1))


_ASKED = ("claim", "alpha", "beta", "sample_size", "estimate")
"""The attributes that a sanitizer must have."""

_BY_DEFAULT = SanitizingLearner()
_CLAIM = _BY_DEFAULT.utility_claim
_NEARLY_ALIKE = ([(0, 1), (0, 1), *[(1, 0)] * 1_278], [(0, 0), (0, 1), *[(1, 0)] * 1_278])
"""Neighbours on which the loss is 0.99·ε. On samples of up to ten examples the loss is at most 0.49·ε."""

entry = Entry(
    SanitizingLearner.name,
    SanitizingLearner,
    options={"pairs": [_NEARLY_ALIKE], "size": _BY_DEFAULT.size},
    utility={},
    formulas=classes.sanitizing,
    reference=SanitizingLearner.reference,
    summary=(
        "intervals of {0, 1} learned through the sanitizer for C^label; "
        f"m = {_BY_DEFAULT.sample_size():,} at α = {_CLAIM.alpha:g}, β = {_CLAIM.beta:g}"
    ),
)
