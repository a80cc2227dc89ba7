"""Compare declared laws exactly with a claim.

**Guarantee.** `ExactFinding.over` is true only if some pair exceeds the claim. The excess is then more than
`TOLERANCE` in ε, or more than the factor 1 + `TOLERANCE` in δ (`audit.laws.divergence`). This holds for all
probabilities that round to the numbers of the pair's laws. `within` is true only if no compared pair exceeds
the claim by more than `ExactFinding.tolerance`. `audit.laws.scores` derives the tolerance.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from audit.claims import PrivacyClaim
from audit.distributions.law import Floats, Ints, Law
from audit.errors import InvalidKind, InvalidValue
from audit.laws.divergence import TOLERANCE, worst_event
from audit.laws.losses.side_by_side import blocks, stacked
from audit.laws.region import Region, probability
from audit.laws.scores import Score, Scores, SideBySide, score
from audit.values import canonical

CHUNK = 2**15
MOST_SEEN = 2**17
"""Larger: faster enumerations. This many databases are recognised by identity, others by canonical key."""
TIE = 1e-12
"""Scores that differ by at most this count as equal; of pairs with equal scores the first is the worst."""


@dataclass(frozen=True)
class PairFinding:
    """The exact comparison of one pair in one direction.

    Parameters
    ----------
    left, right
        The two databases.
    direction
        Which database has the law p.
    epsilon
        The smallest ε that holds at the claim's δ, or a lower bound on this ε.
    delta
        δ at the claim's ε, or a lower bound on this δ.
    event, p, q
        The worst event at the claim's ε, and its probabilities.
    """

    left: Any
    right: Any
    direction: Literal["left", "right"]
    epsilon: float
    delta: float
    event: Region
    p: float
    q: float


@dataclass(frozen=True)
class ExactFinding:
    """What the comparison of all pairs found.

    Parameters
    ----------
    by_epsilon, by_delta
        The comparisons with the largest ε at the claim's δ, and with the largest δ at the claim's ε.
    pairs
        Number of pairs compared, each in both directions.
    over
        Whether some pair exceeds the claim by more than the tolerance.
    within
        Whether every compared pair meets the claim. If the bounds leave this open, `over` and `within` are
        both False.
    tolerance
        The excess in ε that `within` allows. Rounding of the laws may make it larger than `TOLERANCE`.
    epsilon_upper, delta_upper
        Upper bounds for all compared pairs, on ε at the claim's δ and on δ at the claim's ε.
    complete
        Whether all pairs were compared.
    course
        One entry (number of the pair, new ε) for each pair that raised `epsilon`. Numbers begin at 1. The
        last entry is for the last pair.
    """

    by_epsilon: PairFinding
    by_delta: PairFinding
    pairs: int
    over: bool
    within: bool
    epsilon_upper: float
    delta_upper: float
    tolerance: float
    complete: bool
    course: tuple[tuple[int, float], ...] = ()

    @property
    def epsilon(self) -> float:
        """The largest ε at the claim's δ, of all pairs compared."""
        return self.by_epsilon.epsilon

    @property
    def delta(self) -> float:
        """The largest δ at the claim's ε, of all pairs compared."""
        return self.by_delta.delta


def compare_pairs(
    pairs: Iterable[tuple[Any, Any]],
    law_of: Callable[[Any], Law],
    claim: PrivacyClaim,
    *,
    stop: Callable[[], bool] | None = None,
) -> ExactFinding:
    """Return how the laws on pairs of databases compare with a claim.

    Parameters
    ----------
    pairs
        Neighbouring pairs. A generator may be passed.
    law_of
        Function from a database to its law, called once for each database.
    claim
        The claim. Only its `epsilon` and `delta` are read.
    stop
        Called between pairs. If it returns True, the comparison ends (`complete` is False).

    Raises
    ------
    InvalidValue
        If there is no pair to compare.
    InvalidKind
        If `law_of` returns something that is not a law, or laws that cannot be compared.

    Examples
    --------
    >>> from audit.claims import PureDP
    >>> from audit.distributions import Density
    >>> finding = compare_pairs([([0], [1])], lambda database: Density.laplace(database[0]), PureDP(1.0))
    >>> finding.over, finding.epsilon
    (False, 1.0)
    """
    comparison, complete = _Comparison(law_of, claim), True
    chunk: list[tuple[Any, Any]] = []
    for pair in pairs:
        begun = chunk or comparison.pairs
        if begun and stop is not None and stop():  # not asked after the last pair
            complete = False
            break
        chunk.append(pair)
        if len(chunk) == CHUNK:
            comparison.add(chunk)
            chunk = []
    if chunk:
        comparison.add(chunk)
    return comparison.finding(complete=complete)


class _Comparison:
    """A comparison in progress."""

    def __init__(self, law_of: Callable[[Any], Law], claim: PrivacyClaim) -> None:
        self._law_of, self._claim = law_of, claim
        self._laws: list[Law] = []
        self._index: dict[Hashable, int] = {}
        self._seen: dict[int, tuple[Any, int]] = {}
        self._worst: dict[str, tuple[float, float, PairFinding]] = {}
        self.pairs, self.over, self.within, self.slack = 0, False, True, TOLERANCE
        self._most = np.zeros(2)
        self._course: list[tuple[int, float]] = []

    def add(self, chunk: list[tuple[Any, Any]]) -> None:
        """Compare a chunk of pairs in both directions."""
        indices = np.array([(self._place(left), self._place(right)) for left, right in chunk], dtype=np.intp)
        scores = self._scores(indices)
        self.over |= bool(scores.over.any())
        self.within &= bool(scores.within.all())
        self.slack = max(self.slack, float(scores.slack.max()))
        self._course += self._rises(scores.epsilon.reshape(2, len(chunk)).max(axis=0))
        self.pairs += len(chunk)
        self._most = np.maximum(self._most, [scores.epsilon_upper.max(), scores.delta_upper.max()])
        self._keep("epsilon", "delta", chunk, scores)
        self._keep("delta", "epsilon", chunk, scores)

    def finding(self, *, complete: bool) -> ExactFinding:
        """Return the finding about all pairs compared so far."""
        if not self._worst:
            raise InvalidValue("There is no pair of databases to compare exactly.")
        return ExactFinding(
            by_epsilon=self._worst["epsilon"][2],
            by_delta=self._worst["delta"][2],
            pairs=self.pairs,
            over=self.over,
            within=self.within,
            epsilon_upper=float(self._most[0]),
            delta_upper=float(self._most[1]),
            tolerance=self.slack,
            complete=complete,
            course=(*self._course, (self.pairs, self._course[-1][1])),
        )

    def _rises(self, losses: Floats) -> list[tuple[int, float]]:
        """Return (number, loss) of each pair that raises the largest loss so far. Numbers begin at 1."""
        known = self._course[-1][1] if self._course else -np.inf
        so_far = np.maximum.accumulate(np.concatenate([[known], losses]))
        rises = np.flatnonzero(so_far[1:] > so_far[:-1] * (1.0 + TIE))
        return [(self.pairs + int(i) + 1, float(so_far[i + 1])) for i in rises]

    def _place(self, database: Any) -> int:
        known = self._seen.get(id(database))  # an enumeration passes the same lists many times
        if known is not None and known[0] is database:
            return known[1]
        key = canonical.key(database)
        place = self._index.get(key)
        if place is None:
            law = self._law_of(database)
            if not isinstance(law, Law):
                raise InvalidKind(
                    f"A `distribution` must return a law of audit.distributions; got {law!r:.60}."
                )
            place = self._index[key] = len(self._laws)
            self._laws.append(law)
        if len(self._seen) < MOST_SEEN:
            self._seen[id(database)] = database, place
        return place

    def _keep(self, name: str, then: str, chunk: list[tuple[Any, Any]], scores: Scores) -> None:
        """Keep the chunk's pair with the largest scores.

        It must beat the pair kept so far. Pairs are ordered by the score `name`, then by the score `then`.
        """
        first, second = getattr(scores, name), getattr(scores, then)
        top = first.max()
        ties = np.flatnonzero(first >= top - TIE * max(1.0, abs(top)) if np.isfinite(top) else first == top)
        best = int(ties[np.argmax(second[ties] >= second[ties].max() - TIE)])
        known = self._worst.get(name)
        rank = (float(first[best]), float(second[best]))
        if known is None or _beats(rank, known[:2]):
            self._worst[name] = (*rank, self._finding(chunk, best, scores))

    def _finding(self, chunk: list[tuple[Any, Any]], place: int, scores: Scores) -> PairFinding:
        left, right = chunk[place % len(chunk)]
        forwards = place < len(chunk)
        p, q = (self._laws[self._place(x)] for x in ((left, right) if forwards else (right, left)))
        event = worst_event(p, q, self._claim.epsilon)
        return PairFinding(
            left=left,
            right=right,
            direction="left" if forwards else "right",
            epsilon=float(scores.epsilon[place]),
            delta=float(scores.delta[place]),
            event=event,
            p=probability(p, event),
            q=probability(q, event),
        )

    def _scores(self, indices: Ints) -> Scores:
        rows, inverse = np.unique(indices, return_inverse=True)
        inverse = inverse.reshape(indices.shape)
        laws = [self._laws[row] for row in rows.tolist()]
        table = stacked(laws)
        if table is None:
            places = [*indices.tolist(), *indices[:, ::-1].tolist()]
            scores = [score(self._laws[p], self._laws[q], self._claim) for p, q in places]
            return Score(*map(np.array, zip(*scores, strict=True)))
        both = np.concatenate([inverse, inverse[:, ::-1]])
        side_by_side = SideBySide(laws, table, self._claim)
        parts = [side_by_side.scores(both[block]) for block in blocks(len(both), table.shape[1])]
        return Score(*map(np.concatenate, zip(*parts, strict=True)))


def _beats(rank: tuple[float, float], known: tuple[float, float]) -> bool:
    if rank[0] != known[0] and abs(rank[0] - known[0]) > TIE * max(1.0, abs(known[0])):
        return rank[0] > known[0]
    return rank[1] > known[1] + TIE
