"""The sequential audit by runs: look, choose a pair, bet, learn, bet again, until crossing or budget.

Everything a batch is bet on was fixed before the batch was drawn; a batch is learned from only after it is
settled. Runs drawn to explore pairs are never bet on.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from audit.evidence import Bet, Ledger
from audit.features import View
from audit.memory import Block, PairMemory, bet_on
from audit.outcomes import Raised, Unfinished
from audit.progress import AuditProgressed
from audit.sampling import BET, EXPLORE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from audit.sampling import Sampler

    Floats = NDArray[np.float64]

#: Pairs of runs in the first look at a pair of databases, which is not bet on.
FIRST_LOOK = 16
GROWTH = 1.25
#: At most this share of the budget goes into looking for a pair.
SEARCH_SHARE = 0.25
MOST_FINALISTS = 4
SHADOW_PATIENCE = 3


@dataclass(frozen=True)
class Terms:
    """What is bet against, and how long.

    Parameters
    ----------
    epsilon, delta
        The claim.
    significance
        The wealth to reach is 1/significance.
    budget
        Most runs, both sides and exploration included.
    deadline
        Moment of `time.monotonic` after which no new batch begins, or None.
    stop_when_refuted
        Whether to stop at the crossing.
    floats
        Whether bit patterns may be bet on.
    against
        Whether unfinished runs count against the refutation (else they are outputs).
    """

    epsilon: float
    delta: float
    significance: float
    budget: int
    deadline: float | None = None
    stop_when_refuted: bool = True
    floats: bool = False
    against: bool = True

    @property
    def log_limit(self) -> float:
        """The log wealth at which the claim is refuted."""
        return -math.log(self.significance)


class NeverAnswers(Exception):  # noqa: N818 - an outcome of the subject, not an error of ours
    """Every run so far raised or did not finish; holds one such outcome."""

    def __init__(self, outcome: Raised | Unfinished) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome


@dataclass
class Betting:
    """One audit by runs.

    Parameters
    ----------
    sampler
        Draws the runs.
    pairs
        Neighbouring databases, the most promising first.
    terms
        What is bet against, and how long.
    listener
        Receives progress, if given.
    stage, look_stage
        First part of the seed path of runs that are bet on, and of those that are only looked at.
    """

    sampler: Sampler
    pairs: Sequence[tuple[Any, Any]]
    terms: Terms
    listener: Callable[[AuditProgressed], None] | None = None
    stage: int = BET
    look_stage: int = EXPLORE
    ledger: Ledger = field(default_factory=Ledger)
    log_wealth: float = 0.0
    shadow_log_wealth: float = 0.0
    crossed_at: int | None = None
    shadow_crossed_at: int | None = None
    winner: PairMemory | None = None
    memories: list[PairMemory] = field(default_factory=list)
    bet_sizes: list[int] = field(default_factory=list)
    _batches: int = 0
    _spent_before: int = 0

    def __post_init__(self) -> None:
        self.memories = [PairMemory(left, right, floats=self.terms.floats) for left, right in self.pairs]
        self._spent_before = self.sampler.drawn

    @property
    def spent(self) -> int:
        """Runs of this audit so far."""
        return self.sampler.drawn - self._spent_before

    @property
    def refuted(self) -> bool:
        """Whether the wealth has crossed."""
        return self.crossed_at is not None

    def run(self) -> None:
        """Look, then bet until the wealth crosses, the budget is spent or the time is over."""
        finalists = self._look_for_pairs()
        size = FIRST_LOOK
        while not self._is_over():
            memory = self._next(finalists)
            if not memory.tables:  # nothing to bet on yet
                self._look(memory, min(FIRST_LOOK, self._room()))
                continue
            size = min(math.ceil(size * GROWTH), self._room())
            self._bet(memory, size)
            if self.refuted and self.terms.stop_when_refuted:
                return

    def _room(self) -> int:
        return (self.terms.budget - self.spent) // 2

    def _is_over(self) -> bool:
        late = self.terms.deadline is not None and time.monotonic() >= self.terms.deadline
        return late or self._room() < 1 or self._is_decided_by_unfinished_runs()

    def _is_decided_by_unfinished_runs(self) -> bool:
        """Tell whether only unfinished runs speak: the finished ones had three times as many to decide."""
        crossed = self.shadow_crossed_at
        return crossed is not None and not self.refuted and self.spent >= SHADOW_PATIENCE * crossed

    def _look_for_pairs(self) -> list[PairMemory]:
        """Halve the pairs by rounds of growing size; runs are looked at, never bet on."""
        left = list(self.memories)
        size = FIRST_LOOK
        if len(left) == 1:
            return left
        room = SEARCH_SHARE * self.terms.budget
        affordable = max(1, int(room / (2 * FIRST_LOOK * math.log2(2 * len(left)))))
        left = left[:affordable]
        while len(left) > 1 and not self._is_over():
            for memory in left:
                if self._is_over():
                    break
                self._look(memory, min(size, self._room()))
            ranked = sorted(left, key=self._promise, reverse=True)
            if len(left) <= MOST_FINALISTS or self.spent > room:
                return ranked[:MOST_FINALISTS]
            left = ranked[: -(-len(left) // 2)]
            size *= 2
        return left

    def _promise(self, memory: PairMemory) -> float:
        return memory.promise(self.terms.epsilon, self.terms.delta)

    def _next(self, finalists: list[PairMemory]) -> PairMemory:
        """Choose the pair that promises most; none promising, the one with the fewest runs."""
        if len(finalists) == 1:
            return finalists[0]
        promises = [memory.pairs * self._promise(memory) for memory in finalists]
        best = max(range(len(finalists)), key=lambda i: promises[i])
        if promises[best] > 1.0:
            return finalists[best]
        return min(finalists, key=lambda memory: memory.pairs)

    def _look(self, memory: PairMemory, size: int) -> None:
        if memory.pairs == 0 and size > 1:
            self._draw(memory, 1, self.look_stage)  # a subject that hangs should show it at once
            self._refuse_silence()
            size -= 1
        self._draw(memory, size, self.look_stage)
        self._refuse_silence()
        self._report("looking")

    def _bet(self, memory: PairMemory, size: int) -> None:
        terms = self.terms
        chosen = memory.choose(terms.epsilon, terms.delta, against=terms.against)
        as_output = memory.choose(terms.epsilon, terms.delta, against=False) if memory.unfinished else []
        crosses, blocks = self._draw(memory, size, self.stage, learn=False)
        if chosen:
            bet = bet_on(chosen, crosses)
            self.ledger.add(bet)
            self.bet_sizes.append(size)
            self.log_wealth += bet.log_growth(terms.epsilon, terms.delta)
        if as_output:
            self._bet_in_shadow(bet_on(as_output, crosses))
        memory.learn(blocks, crosses)
        self._refuse_silence()
        if not self.refuted and self.log_wealth >= terms.log_limit:
            self.crossed_at, self.winner = self.spent, memory
        self._report("betting")

    def _bet_in_shadow(self, bet: Bet) -> None:
        """Follow the wealth were unfinished runs outputs: it decides nothing but INCONCLUSIVE."""
        self.shadow_log_wealth += bet.log_growth(self.terms.epsilon, self.terms.delta)
        if self.shadow_crossed_at is None and self.shadow_log_wealth >= self.terms.log_limit:
            self.shadow_crossed_at = self.spent

    def _draw(
        self, memory: PairMemory, size: int, stage: int, *, learn: bool = True
    ) -> tuple[list[Floats], list[Block]]:
        path = (stage, self._batches)
        self._batches += 1
        crosses: list[Floats] = []
        blocks = []
        for runs in self.sampler.draw(memory.left, memory.right, size, path):
            left, right = View(runs.left), View(runs.right)
            counted = memory.count(left, right)
            crosses = [a + b for a, b in zip(crosses, counted, strict=True)] if crosses else counted
            blocks.append(memory.keep(left, right))
        if learn:
            memory.learn(blocks, crosses)
        return crosses, blocks

    def _refuse_silence(self) -> None:
        """Raise when nothing has ever answered, after a first look at every pair so far."""
        seen = [memory for memory in self.memories if memory.pairs]
        if any(memory.answered for memory in seen):
            return
        outcome = next((memory.silence for memory in seen if memory.silence is not None), None)
        tried = sum(memory.pairs for memory in seen)
        needed = 1 if isinstance(outcome, Unfinished) else FIRST_LOOK
        if outcome is not None and tried >= needed and len(seen) >= min(len(self.memories), 4):
            raise NeverAnswers(outcome)

    def _report(self, stage: str) -> None:
        if self.listener is not None:
            terms = self.terms
            self.listener(
                AuditProgressed(
                    subject=self.sampler.subject.name,
                    runs=self.spent,
                    budget=terms.budget,
                    log_wealth=self.log_wealth,
                    log_limit=terms.log_limit,
                    stage=stage,
                )
            )
