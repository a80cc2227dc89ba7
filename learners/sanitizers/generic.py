"""The pure sanitizer of Blum, Ligett and Roth."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC
from audit.errors import InvalidValue, finite_number, positive_int, probability
from audit.problems import FixedProblem
from audit.relations import Relation
from audit.values import canonical
from learners.concepts import ConceptClass, IntervalClass
from learners.concepts.base import check_concepts
from learners.finite.hypotheses import sauer_bound
from learners.formulas import classes
from learners.sanitizers.tallies import length
from mechanisms import ExponentialMechanism
from mechanisms.subjects.claimed import ClaimsItsEpsilon
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from audit.problems import Problem

__all__ = ["GenericSanitizer"]

MOST_CANDIDATES = 2**18
"""The largest number of small databases that are enumerated."""

_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class GenericSanitizer(StatedSize, ClaimsItsEpsilon):
    """Choose a small database by its worst error.

    The weight of a small database is exp(−epsilon·m·(worst error)/2) for m records. A database is a list of
    points of the domain. The output is a tuple of `output_size` points.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    concepts
        The class, over a small domain. Default: the intervals of {0, 1, 2, 3}.
    alpha, beta
        The accuracy and the failure probability, in (0, 1).
    size
        The number of records in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of bounds, there are more than 2^18 small databases, a record is not a point of the
        domain, or a database is empty.

    Guarantee
    ---------
    *Privacy*: epsilon, when one record is replaced, on databases S of any length m. m·max_c |Q_c(S) − Q_c(Ŝ)|
    moves by at most 1 for every small database Ŝ (BNS Proposition 1).

    *Accuracy*: on every database of at least `sample_size` records all |Q_c(S) − Q_c(Ŝ)| ≤ alpha, except with
    probability beta.

    (i) Some database of n = `output_size` records is within alpha/2 of S. There are two arguments. *By
    sampling*: the class labels the domain in G ways, and G ≤ Σ_{i≤v} C(|X|, i) for VC dimension v (Sauer). On
    each labelling, a random sample of S errs by more than alpha/2 with probability at most 2·e^(−n·alpha²/2)
    (Hoeffding). 2G·e^(−n·alpha²/2) < 1 for n > (2/alpha²)·ln 2G. *By rounding*, for tiny domains: each share
    of S is rounded to a multiple of 1/n, up if its remainder is among the largest, else down. This moves the
    share of every set by at most |X|/4n.

    (ii) There are N small databases. Those that err by more than alpha together have at most
    N·e^(−epsilon·alpha·m/4) times the probability of the best one. So m = (4/(alpha·epsilon))·ln(N/beta)
    records are enough, and ln N ≤ n·ln|X| gives m = O(v·ln|X|·…).

    Examples
    --------
    >>> sanitizer = GenericSanitizer(alpha=0.5)
    >>> sanitizer.output_size, len(sanitizer.candidates), sanitizer.sample_size()
    (4, 35, 47)
    >>> sanitizer([3] * 47, np.random.default_rng(0))
    (3, 3, 3, 3)
    """

    epsilon: float = 1.0
    concepts: ConceptClass = field(default_factory=lambda: IntervalClass(2))
    alpha: float = 0.25
    beta: float = 0.1
    size: int = 3

    name: ClassVar[str] = "generic-sanitizer"
    reference: ClassVar[str] = "BNS §1 (Blum, Ligett and Roth 2008)"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True
    owner: ClassVar[str] = "GenericSanitizer"
    held: ClassVar[str] = "points of its domain"

    def __post_init__(self) -> None:
        owner = self.owner
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        probability(self.alpha, what=f"The `alpha` of `{owner}`", zero=False, one=False)
        probability(self.beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        positive_int(self.size, what=f"The `size` of `{owner}`")
        check_concepts(self.concepts)
        if self.count > MOST_CANDIDATES:
            raise InvalidValue(
                f"The small databases of `{owner}` must be at most {MOST_CANDIDATES}; "
                f"{self.output_size} records of {len(self.records)} points make {self.count:.3g}: a smaller "
                "domain or a larger alpha would do."
            )

    @property
    def utility_claim(self) -> PAC:
        """The accuracy claimed for every database of `sample_size` records."""
        return PAC(self.alpha, self.beta)

    @cached_property
    def records(self) -> tuple[Any, ...]:
        """The points of the domain."""
        return tuple(self.concepts.listed_domain())

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        """The distinct labellings of the domain, shape (labellings, points)."""
        return np.unique(self.concepts.table(), axis=0).astype(np.float64)

    @cached_property
    def sampled_size(self) -> int:
        """The size of the output by sampling."""
        bound = sauer_bound(points=len(self.records), vc_dimension=self.concepts.vc_dimension())
        return math.floor(2.0 / self.alpha**2 * math.log(2.0 * bound)) + 1

    @property
    def rounded_size(self) -> int:
        """The size of the output by rounding."""
        return math.ceil(len(self.records) / (2.0 * self.alpha) * (1.0 - _ROUNDING))

    @property
    def output_size(self) -> int:
        """The number of records of the output."""
        return min(self.sampled_size, self.rounded_size)

    @property
    def count(self) -> int:
        """The number of small databases, as multisets."""
        return math.comb(len(self.records) + self.output_size - 1, self.output_size)

    @cached_property
    def candidates(self) -> Sequence[tuple[int, ...]]:
        """Every small database, as indices of points of the domain."""
        return list(combinations_with_replacement(range(len(self.records)), self.output_size))

    @cached_property
    def answers(self) -> NDArray[np.float64]:
        """The answers of every small database, shape (databases, labellings)."""
        return np.asarray(self.occurrences / self.output_size @ self._table.T)

    @cached_property
    def occurrences(self) -> NDArray[np.float64]:
        """The counts of points in small databases, shape (databases, points)."""
        places = np.array(self.candidates)
        found = np.zeros((len(places), len(self.records)))
        for column in places.T:
            found[np.arange(len(places)), column] += 1.0
        return found

    @property
    def _needed(self) -> int:
        nats = math.log(self.count) - math.log(self.beta)
        return math.ceil(4.0 / self.alpha / self.epsilon * nats * (1.0 - _ROUNDING))

    def shares(self, database: Any) -> NDArray[np.float64]:
        """Return the share of records at each point."""
        owner, known = self.owner, self._places
        length(database, owner=owner)
        records = list(database)
        one_of = {id(record): record for record in records}  # points are mostly the same few objects
        places = {of: known.get(canonical.key(record)) for of, record in one_of.items()}
        if None in places.values() or not places:
            raise InvalidValue(
                f"A database of `{owner}` must hold {self.held}, at least one; got {database!r:.60}."
            )
        counted = np.zeros(len(self.records))
        for of, times in Counter(map(id, records)).items():
            counted[places[of]] += times
        return counted / len(records)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {canonical.key(point): place for place, point in enumerate(self.records)}

    def worst_errors(self, database: Any) -> NDArray[np.float64]:
        """Return the largest error of every small database."""
        truth = self._table @ self.shares(database)
        return np.asarray(np.abs(self.answers - truth).max(axis=1))

    def estimate(self, output: Any, concept: Any) -> float:
        """Return an output's answer to a concept's query.

        Examples
        --------
        >>> GenericSanitizer(alpha=0.5).estimate((0, 0, 1, 3), 1)
        0.5
        """
        return float(np.mean(self.concepts.says(concept, list(output))))

    def problems(self) -> list[Problem]:
        """Return hard databases of `sample_size` records."""
        return self.problems_of(self.sample_size())

    def problems_of(self, m: int) -> list[Problem]:
        """Return hard databases of m records.

        Examples
        --------
        >>> [len(problem.database) for problem in GenericSanitizer().problems_of(40)]
        [40, 40, 40, 40, 40, 40]
        """
        points = list(self.records)
        light = max(1, math.floor(self.alpha * m / 1.05))
        told = {
            "spread evenly": [points[i * len(points) // m] for i in range(m)],
            "all equal": [points[0]] * m,
            "two heavy points": [points[0]] * (m // 2) + [points[-1]] * (m - m // 2),
            "one point just below alpha": [points[-1]] * light + [points[0]] * (m - light),
            "one point just above alpha": [points[-1]] * (light + m // 20)
            + [points[0]] * (m - light - m // 20),
            "geometric masses": [points[min(_halvings(i), len(points) - 1)] for i in range(1, m + 1)],
        }
        return [FixedProblem(name, database, self._error) for name, database in told.items()]

    def vary(self, problem: Any, rng: np.random.Generator) -> Problem:
        """Return a problem near the given one."""
        records = problem.draw(rng)
        many = int(rng.integers(1, max(2, math.ceil(min(1.0, 2.0 * self.alpha) * len(records)))))
        first, point = int(rng.integers(len(records) - many + 1)), int(rng.integers(len(self.records)))
        changed = [*records[:first], *[self.records[point]] * many, *records[first + many :]]
        origin = problem.name.split(", some")[0]
        name = f"{origin}, some from the {first}th on moved: {many} to {self.records[point]}"
        return FixedProblem(name, changed, self._error)

    def random(self, rng: np.random.Generator) -> Problem:
        """Return a random database of `sample_size` records."""
        points = self.records
        times = rng.multinomial(self.sample_size(), rng.dirichlet(np.full(len(points), 0.5))).tolist()
        records = [point for point, count in zip(points, times, strict=True) for _ in range(count)]
        return FixedProblem(f"random: {times}", records, self._error)

    def _error(self, output: Any, database: Any) -> float:
        return float(np.abs(self._table @ (self.shares(database) - self.shares(output))).max())

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a small database."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the small databases of `size` runs."""
        return [self._points(place) for place in self.places(database, size=size, rng=rng)]

    def places(self, database: Any, *, size: int, rng: np.random.Generator) -> list[int]:
        """Return the outputs of `size` runs as indices into `candidates`."""
        chosen: list[int] = self._mechanism.sample(database, size, rng).tolist()
        return chosen

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the small database."""
        from audit.distributions import Finite

        return Finite(self._outputs, log_probabilities=self._mechanism.log_probabilities(database))

    def log_probabilities(self, database: Any) -> NDArray[np.float64]:
        """Return the log-probability of every small database."""
        return self._mechanism.log_probabilities(database)

    @cached_property
    def _outputs(self) -> list[tuple[Any, ...]]:
        return [self._points(place) for place in range(len(self.candidates))]

    def _points(self, place: int) -> tuple[Any, ...]:
        return tuple(self.records[point] for point in self.candidates[place])

    @cached_property
    def _mechanism(self) -> ExponentialMechanism:
        return ExponentialMechanism(
            epsilon=self.epsilon,
            score=lambda database, _: -(self.worst_errors(database) * len(database)),
            solutions=range(len(self.candidates)),
            vectorised=True,
        )


def _halvings(i: int) -> int:
    """Return how many times 2 divides i."""
    return (i & -i).bit_length() - 1


_BY_DEFAULT = GenericSanitizer()
_CLAIM = _BY_DEFAULT.utility_claim

entry = Entry(
    GenericSanitizer.name,
    GenericSanitizer,
    options={"pairs": [([0] * 80, [0] * 79 + [1])], "size": _BY_DEFAULT.size},
    utility={},
    formulas=classes.generic_sanitizer,
    reference=GenericSanitizer.reference,
    summary=(
        "the exponential mechanism over small databases: intervals of {0, …, 3}; "
        f"m = {_BY_DEFAULT.sample_size():,} at α = {_CLAIM.alpha:g}, β = {_CLAIM.beta:g}"
    ),
)
