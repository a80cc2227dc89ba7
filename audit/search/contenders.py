"""The pairs of databases in the search, and the queue of those without runs."""

import heapq
from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import Any

from audit.evidence.memory import PairMemory


@dataclass(eq=False)
class Contender:
    """A pair of databases in the search, with the runs that it gets next.

    Parameters
    ----------
    memory
        The results of the independent runs on this pair.
    apart
        The distance between the outputs of coupled runs, per step between the databases.
    promise
        The growth predicted from the scouting runs, in nats per pair of runs; None if not yet requested.
    steered
        Whether the look also requests the promise.
    scouts
        The recorded scouting runs of the pair.
    level
        The looks so far took `FIRST_LOOK`·2^level pairs of runs; −1 before the first look.
    pairs
        How many pairs of independent runs the look takes. 0 means one coupled run on each side, to scout.
    """

    memory: PairMemory
    apart: float = 0.0
    promise: float | None = None
    steered: bool = False
    scouts: Any = None
    level: int = -1
    pairs: int = 0

    @property
    def is_far(self) -> bool:
        """Whether the two databases are more than one step apart."""
        return self.memory.distance > 1

    @property
    def worth(self) -> tuple[float, float]:
        """Sort key by predicted growth, then by distance of coupled outputs."""
        return (self.promise or 0.0) / self.memory.distance, self.apart


class Queue:
    """Pairs that wait for their first independent runs."""

    def __init__(self) -> None:
        self._oldest_first: deque[Contender] = deque()
        self._furthest_first: list[tuple[float, float, int, Contender]] = []
        self._places = count()

    def __len__(self) -> int:
        return len(self._oldest_first)

    def add(self, contender: Contender) -> None:
        """Add a contender without runs."""
        self._oldest_first.append(contender)
        self.rank(contender)

    def rank(self, contender: Contender) -> None:
        """Rank a contender by the results of its scouting runs so far."""
        promise, apart = contender.worth
        heapq.heappush(self._furthest_first, (-promise, -apart, next(self._places), contender))

    def next(self, *, furthest: bool) -> Contender | None:
        """Return the best-ranked contender if `furthest`, else the oldest; None from an empty queue."""
        while self._oldest_first and self._oldest_first[0].level >= 0:
            self._oldest_first.popleft()
        while self._furthest_first and self._furthest_first[0][-1].level >= 0:
            heapq.heappop(self._furthest_first)
        if not self._oldest_first:
            return None
        return self._furthest_first[0][-1] if furthest else self._oldest_first[0]
