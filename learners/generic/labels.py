"""The generic learner that keeps only labels private."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import PureDP
from audit.errors import InvalidValue, positive_int, probability
from audit.relations import Relation
from learners.concepts import PointClass
from learners.finite.at_size import at_size
from learners.finite.hypotheses import Hypotheses, sauer_bound
from learners.finite.listed import ListedExamples, check_database, label_counts
from learners.finite.of_hypotheses import OfHypotheses
from learners.finite.problems import LearningProblem, realizable_problems
from learners.finite.tables import TruthTable
from learners.formulas import classes
from learners.generic.agnostic import generic_size
from mechanisms import ExponentialMechanism
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from audit.distributions import Finite
    from learners.concepts import ConceptClass

__all__ = ["LabelPrivateLearner", "ReplacedRecords", "net_size"]

_MOST = 2**40


def net_size(vc_dimension: int, *, alpha: float, beta: float) -> int:
    """Return how many unlabelled examples separate the hypotheses.

    Hypotheses that agree on these examples rarely differ elsewhere.

    Parameters
    ----------
    vc_dimension
        v, the VC dimension of the class, ≥ 0.
    alpha
        The probability with which two hypotheses may differ, in (0, 1].
    beta
        Probability of failure, in (0, 1).

    Guarantee
    ---------
    The size is the least n ≥ 8/alpha with 2·Π(2n)²·2^(−n·alpha/2) ≤ beta, where Π(m) = Σ_{i ≤ v} C(m, i).
    With probability 1 − beta every two concepts that differ with probability above alpha also differ on one
    of n independent examples. This is the double-sample bound of Blumer, Ehrenfeucht, Haussler and Warmuth
    for the class of all differences c ⊕ c′. This class labels 2n points in at most Π(2n)² ways by Sauer's
    lemma. So n = O((v·ln(1/alpha) + ln(1/beta))/alpha), which does not depend on |X| or |C|.

    Examples
    --------
    >>> net_size(1, alpha=0.2, beta=0.1)
    219
    """
    positive_int(vc_dimension, what="The `vc_dimension` of `net_size`", minimum=0)
    probability(alpha, what="The `alpha` of `net_size`", zero=False)
    probability(beta, what="The `beta` of `net_size`", zero=False, one=False)
    low, high = math.ceil(8.0 / alpha) - 1, math.ceil(8.0 / alpha)
    while _log_missed(high, vc_dimension, alpha=alpha) > math.log(beta):
        low, high = high, 2 * high
        if high > _MOST:
            raise InvalidValue("The `alpha` of `net_size` must be one that 2^40 examples can reach.")
    while high - low > 1:
        middle = (low + high) // 2
        fine = _log_missed(middle, vc_dimension, alpha=alpha) <= math.log(beta)
        low, high = (low, middle) if fine else (middle, high)
    return high


def _log_missed(size: int, vc_dimension: int, *, alpha: float) -> float:
    ways = sauer_bound(points=2 * size, vc_dimension=vc_dimension)
    return math.log(2.0) + 2.0 * math.log(ways) - size * alpha / 2.0 * math.log(2.0)


@dataclass(frozen=True, kw_only=True)
class LabelPrivateLearner(OfHypotheses, PlainParameters):
    """Learn a concept with private labels and public points.

    A database is a list of (x, y). The first part (`share`) is used without labels. One concept is kept for
    each labelling of its x's. The exponential mechanism then chooses a kept concept by the labels of the
    other records. The output is the name of a concept.

    Parameters
    ----------
    epsilon
        The privacy claimed for the *labels*, > 0.
    concepts
        The class. Default: the points of {0, 1, 2, 3}.
    alpha, beta
        Error in (0, 1) and failure probability in (0, 1/2).
    share
        The part of a database that is used without labels, in [0, 1]. None: the share that `sample_size`
        assumes.
    size
        The number of records in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or a record is not a labelled point of the class.

    Guarantee
    ---------
    epsilon-differential privacy when one *label* is replaced (BNS Definition 13). The kept concepts depend on
    the x's alone. The number of errors of each kept concept changes by at most 1. The points are not private:
    a concept that is not kept has probability 0, so replacing one x can be seen with certainty.
    (`ReplacedRecords` makes the wrong claim.)

    With `sample_size` independent examples of any distribution, labelled by a concept of the class, the error
    is at most alpha with probability 1 − beta (BNS Theorem 7, whose proof is omitted there). With `net_size`
    x's for alpha/2 and beta/2, some kept concept is within alpha/2 of the target. At most Π(m) concepts are
    kept. With `generic_size` records for alpha/2, beta/2 and Π(m) hypotheses, the chosen concept is at most
    alpha/2 worse than the best kept concept. These sizes depend on the VC dimension, not on |X| or |C|.

    Examples
    --------
    >>> learner = LabelPrivateLearner(epsilon=2 * math.log(3), share=0.5)
    >>> round(learner.distribution([(2, 0), (2, 1)]).pmf(2), 12)
    0.75
    >>> learner.distribution([(3, 0), (2, 1)]).pmf(2)
    0.0
    """

    epsilon: float = 1.0
    concepts: ConceptClass | Hypotheses = field(default_factory=lambda: PointClass(2))
    alpha: float = 0.2
    beta: float = 0.1
    share: float | None = None
    size: int | tuple[int, int] = 2

    name: ClassVar[str] = "label-private-learner"
    reference: ClassVar[str] = "BNS §6, Definition 13 and Theorem 7"
    relation: ClassVar[Relation] = Relation.REPLACE_LABEL
    aligned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._check_budget(below=1.0)
        owner = type(self).__name__
        if self.share is not None:
            probability(self.share, what=f"The `share` of `{owner}`")

    @cached_property
    def hypotheses(self) -> Hypotheses:
        """The class with one concept for each labelling."""
        return Hypotheses.of(self.concepts).distinct()

    @property
    def claim(self) -> PureDP:
        """The privacy claimed for the labels."""
        return PureDP(self.epsilon)

    @cached_property
    def unlabelled_size(self) -> int:
        """The number of unlabelled records that the utility claim needs."""
        return net_size(self.hypotheses.vc_dimension, alpha=self.alpha / 2.0, beta=self.beta / 2.0)

    @cached_property
    def labelled_size(self) -> int:
        """The number of labelled records that the claim needs in addition."""
        kept = sauer_bound(points=self.unlabelled_size, vc_dimension=self.hypotheses.vc_dimension)
        kept = min(kept, len(self.hypotheses.names))
        return generic_size(kept, alpha=self.alpha / 2.0, beta=self.beta / 2.0, epsilon=self.epsilon)

    @property
    def _needed(self) -> int:
        if self.share is None:
            return self.unlabelled_size + self.labelled_size
        parts = [(self.unlabelled_size, self.share), (self.labelled_size, 1.0 - self.share)]
        if any(not part for _, part in parts):
            raise InvalidValue("The `share` of `LabelPrivateLearner` must be in (0, 1) for a utility claim.")
        return max(math.ceil(size / part) + 1 for size, part in parts)

    def problems(self) -> list[LearningProblem]:
        """Return hard problems of `sample_size` examples."""
        return realizable_problems(self.hypotheses, alpha=self.alpha, examples=self.sample_size())

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a concept."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` concepts."""
        names, mechanism, errors = self._choice(database)
        chosen = mechanism.sample(-errors, size, rng)
        return [names[place] for place in chosen.tolist()]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the output."""
        from audit.distributions import Finite

        names, mechanism, errors = self._choice(database)
        return Finite(names, log_probabilities=mechanism.log_probabilities(-errors))

    def kept(self, points: Any) -> Hypotheses:
        """Return one concept for each labelling of the points.

        Examples
        --------
        >>> LabelPrivateLearner().kept([2, 2, 3]).names
        [0, 2, 3]
        """
        places = sorted({self.hypotheses.places[point] for point in points})
        if not places:
            return self.hypotheses.some(np.array([0]))
        columns = TruthTable.of(self.hypotheses.table.rows()[:, places])
        return self.hypotheses.some(columns.dichotomies())

    def _choice(self, database: Any) -> tuple[Any, ExponentialMechanism, NDArray[np.float64]]:
        check_database(database)
        first, owner = self._unlabelled(len(database)), type(self).__name__
        label_counts(self.hypotheses, database, owner=owner, stop=first)  # refuses other records
        labelled = label_counts(self.hypotheses, database, owner=owner, start=first)
        kept = self.kept([x for x, _ in _kinds(database[:first])])
        mechanism = ExponentialMechanism(
            epsilon=self.epsilon,
            score=lambda scores, _: scores,
            solutions=range(len(kept.names)),
            vectorised=True,
        )
        return kept.names, mechanism, kept.table.errors(labelled)

    def _unlabelled(self, size: int) -> int:
        if self.share is None:
            return -(-size * self.unlabelled_size // (self.unlabelled_size + self.labelled_size))
        return math.floor(size * self.share)


def _kinds(database: Any) -> Any:
    """Return the distinct records if they are known, else all records."""
    return database.present if isinstance(database, ListedExamples) else database


@dataclass(frozen=True, kw_only=True)
class ReplacedRecords(LabelPrivateLearner):
    """The label-private learner with a false claim for whole records.

    Parameters
    ----------
    epsilon, concepts, alpha, beta, share, size
        As in `LabelPrivateLearner`.

    Guarantee
    ---------
    None. Take two concepts that agree on the point u and differ on w. If the part without labels holds only
    copies of u, one of these concepts is kept. If one copy is replaced by w, both concepts are kept. So an
    output has positive probability on one database and 0 on the other. The loss is infinite.

    Examples
    --------
    >>> learner = ReplacedRecords(share=0.5)
    >>> left, right = learner.suggested_pairs()[0]
    >>> left, right, learner.distribution(left).pmf(2), learner.distribution(right).pmf(2) > 0.6
    ([(1, 0), (0, 0)], [(2, 0), (0, 0)], 0.0, True)
    """

    share: float | None = 0.5

    name: ClassVar[str] = "flawed-label-private-learner"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    def suggested_pairs(self) -> list[Any]:
        """Return neighbours whose first x differs."""
        least = self.size if isinstance(self.size, int) else self.size[0]
        label = self.hypotheses.labels[0]
        rest = [(self.hypotheses.domain[0], label)] * (least - 1)
        kept = {point: tuple(self.kept([point]).names) for point in self.hypotheses.domain}
        return [
            ([(left, label), *rest], [(right, label), *rest])
            for left in self.hypotheses.domain[1:]
            for right in self.hypotheses.domain[1:]
            if set(kept[right]) - set(kept[left])
        ][:1]


_AGAINST = [(1, 0), (2, 0), *[(0, 0)] * 10]
_ONE_BEHIND = [(_AGAINST, [*_AGAINST[:-1], (0, 1)])]
"""Three concepts are kept, and one is far behind the others. The loss is then nearly epsilon."""

entries = (
    Entry(
        LabelPrivateLearner.name,
        partial(LabelPrivateLearner, size=3),
        options={"pairs": _ONE_BEHIND, "size": 3},
        utility={"budget": 4_000},
        reference=LabelPrivateLearner.reference,
        summary="concepts from the x's, which are public; private in the labels",
        formulas=classes.label_private,
    ),
    Entry(
        f"{LabelPrivateLearner.name}-at-size",
        partial(at_size, LabelPrivateLearner, concepts=PointClass(8), beta=0.1, calm=(5, 0), odd=(5, 1)),
        options={"budget": 20_000},
        utility={"budget": 2_200},
        reference=LabelPrivateLearner.reference,
        summary="by runs, with the stated n: the points of {0, …, 255}",
    ),
    Entry(
        ReplacedRecords.name,
        ReplacedRecords,
        expected="refuted",
        reference=ReplacedRecords.reference,
        summary="label privacy taken for privacy: an x tells which concepts were kept",
    ),
)
