"""The exponential mechanism over any finite set of solutions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import Accuracy
from audit.errors import InvalidValue, finite_number, flag, probability
from audit.relations import Relation
from mechanisms.formulas import selection
from mechanisms.selection.instances import shortfall_problem
from mechanisms.selection.scoring import check_solutions, picked, scores_of
from mechanisms.subjects.claimed import ClaimsItsEpsilon
from mechanisms.subjects.neighbours import Pair, widest_pairs
from mechanisms.subjects.plain_queries import approvals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from audit.problems import Problem

__all__ = ["ExponentialMechanism"]

_LETTERS = "abcdefghijklmnop"
_PROBLEM_RECORDS = 6
"""Number of records that are repeated to make problems."""

_FEW = 1000
"""Most solutions that the search for wide pairs scores in full."""


@dataclass(frozen=True, kw_only=True)
class ExponentialMechanism(ClaimsItsEpsilon):
    """Chooses a solution with weight exp(epsilon·score/(2·sensitivity)).

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    score
        A function q of a database and a solution that returns a finite number. Higher is better. Default: how
        many records approve of the solution.
    solutions
        Every possible answer: distinct values in a sequence, a range or a one-dimensional array. Public.
    sensitivity
        The most Δq by which the score of a solution changes between neighbours. It is not checked.
    vectorised
        Whether `score` takes a database and all solutions, and returns an array of scores.
    relation, records, size
        Which databases are neighbours, their possible records, and their length (or least and greatest).
    beta
        The failure probability of `utility_claim`, in (0, 1).

    Raises
    ------
    InvalidValue
        `epsilon` or `sensitivity` is not a finite number > 0, there are no solutions, or a score is not
        finite.

    Guarantee
    ---------
    epsilon-differential privacy under `relation` (K08 Definition 3.5 and Theorem 3.6; K11 Lemma 3.3; BNS
    Proposition 1). BNS do not divide by Δq, so their loss is epsilon·Δq; they omit the condition Δq = 1.
    Between neighbours each weight changes by at most a factor of e^(epsilon/2), and so does the sum of all
    weights. So each probability changes by at most a factor of e^epsilon.

    For k ≥ 2 solutions the bound is approached but never met. Let one solution be t·Δq behind all others. If
    its score rises by Δq and theirs fall by Δq, the loss is ln((1 + (k − 1)·g^t)/(1 + (k − 1)·g^(t − 2)))
    with g = e^(epsilon/2). It grows with t and with k, and tends to epsilon. Databases of one record allow at
    most t = 1. Then the loss is epsilon/2 + ln((1 + (k − 1)·g)/(g + k − 1)), which is epsilon/2 for two
    solutions.

    Examples
    --------
    >>> mechanism = ExponentialMechanism(epsilon=2 * math.log(3), solutions=("a", "b"))
    >>> round(mechanism.distribution(["a"]).pmf("a"), 12)
    0.75
    """

    epsilon: float = 1.0
    score: Callable[[Any, Any], Any] = approvals
    solutions: Sequence[Any] | NDArray[Any] = tuple(_LETTERS)
    sensitivity: float = 1.0
    vectorised: bool = False
    relation: Relation = Relation.REPLACE_ONE
    records: Sequence[Any] = ("", _LETTERS[0], _LETTERS[1:], _LETTERS)
    size: int | tuple[int, int] = 1
    beta: float = 0.1

    name: ClassVar[str] = "exponential"
    reference: ClassVar[str] = "K08 Definition 3.5; K11 §3.1; BNS Proposition 1"
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        flag(self.vectorised, what=f"The `vectorised` of `{owner}`")
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        finite_number(self.sensitivity, what=f"The `sensitivity` of `{owner}`", above=0)
        finite_number(self.weight, what=f"The epsilon/(2·sensitivity) of `{owner}`", above=0)
        probability(self.beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        check_solutions(self.solutions, owner=owner)

    @property
    def utility_claim(self) -> Accuracy:
        """The claim of BNS Proposition 1(ii) on the choice's score."""
        return Accuracy(self.error_bound(self.beta), self.beta)

    def problems(self) -> list[Problem]:
        """Return databases of equal records.

        One has the greatest `size`. With the default score, another has the length at which the claim fails
        most often.

        Examples
        --------
        >>> [problem.name for problem in ExponentialMechanism(records=("a",)).problems()]
        ["1 of 'a'", "11 of 'a'"]
        """
        lengths = [self.size if isinstance(self.size, int) else self.size[1]]
        if self.score is approvals:
            lengths.append(math.floor(self.error_bound(self.beta)) + 1)
        return [
            self._problem(f"{length} of {record!r:.40}", [record] * length)
            for length in dict.fromkeys(lengths)
            for record in list(self.records)[:_PROBLEM_RECORDS]
        ]

    def _problem(self, name: str, database: Any) -> Problem:
        solutions = picked(self.solutions, np.arange(len(self.solutions)))
        scores = self.scores(database).tolist()
        return shortfall_problem(name, database, solutions=solutions, scores=scores)

    @property
    def weight(self) -> float:
        """The factor of a score in the exponent."""
        return self.epsilon / self.sensitivity / 2.0

    def scores(self, database: Any) -> NDArray[np.float64]:
        """Return the exact scores of all solutions, in the order of `solutions`."""
        return scores_of(
            database,
            self.score,
            solutions=self.solutions,
            vectorised=self.vectorised,
            owner=type(self).__name__,
        )

    def log_probabilities(self, database: Any) -> NDArray[np.float64]:
        """Return the log-probabilities of all solutions, in the order of `solutions`."""
        relative = self._relative(database)
        log_probabilities: NDArray[np.float64] = relative - math.log(np.exp(relative).sum())
        return log_probabilities

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one solution."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return `size` chosen solutions, as an array or a list like `solutions`.

        The random number of run i does not depend on the database.
        """
        cumulative = np.cumsum(np.exp(self._relative(database)))
        chosen = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        if isinstance(self.solutions, range):
            return self.solutions.start + self.solutions.step * chosen
        if isinstance(self.solutions, np.ndarray):
            return self.solutions[chosen]
        return [self.solutions[index] for index in chosen.tolist()]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the choice."""
        from audit.distributions import Finite

        return Finite(self.solutions, log_probabilities=self.log_probabilities(database))

    def error_bound(self, beta: float) -> float:
        """Return a bound on how far the choice scores below the best.

        The choice exceeds it with probability at most `beta`.

        Guarantee
        ---------
        A solution that scores t below the best has at most e^(−weight·t) times the probability of the best.
        For |H| solutions in all, these together have probability at most |H|·e^(−epsilon·t/(2·Δq)) (BNS
        Proposition 1(ii)). For t = (2·Δq/epsilon)·ln(|H|/beta) this is beta.

        Examples
        --------
        >>> round(ExponentialMechanism(solutions=("a", "b")).error_bound(0.5), 6)
        2.772589
        """
        beta = probability(beta, what="The `beta` of `error_bound`", zero=False, one=False)
        return (math.log(len(self.solutions)) - math.log(beta)) / self.weight

    def suggested_pairs(self) -> list[Pair]:
        """Return pairs of a database of equal records and a revealing neighbour."""
        if len(self.solutions) > _FEW:
            return []
        return widest_pairs(self._distance, relation=self.relation, records=self.records, size=self.size)

    def _relative(self, database: Any) -> NDArray[np.float64]:
        """Return each solution's exponent minus that of the best solution."""
        scores = self.scores(database)
        with np.errstate(over="ignore"):
            relative: NDArray[np.float64] = self.weight * (scores - scores.max())
        if not np.isfinite(relative).all():
            raise InvalidValue(f"The scores of `{type(self).__name__}` span more than floats can hold.")
        return relative

    def _distance(self, left: Any, right: Any) -> float:
        return float(np.abs(self.log_probabilities(left) - self.log_probabilities(right)).max())


_ONE_BEHIND = [([_LETTERS[1:]] * 4, [_LETTERS[0], *[_LETTERS[1:]] * 3])]
"""A pair with one solution behind all others, where the loss is near epsilon."""

entry = Entry(
    ExponentialMechanism.name,
    ExponentialMechanism,
    options={"pairs": _ONE_BEHIND, "size": 1},
    utility={},
    reference=ExponentialMechanism.reference,
    summary="the best of 16 candidates, by approvals",
    formulas=selection.exponential,
)
