"""The sequential audit by runs, which searches and bets in turn.

It ends when the claim is refuted or no runs are left. Every stake on a batch of runs is fixed before the
batch is drawn. The audit learns from a batch only after the bet on it is settled. Runs of the search are
never bet on. The claim is refuted when the wealth reaches its limit ("crosses").
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from audit.distributions.law import Floats
from audit.events.features.views import View
from audit.evidence.bets import Bet, Ledger
from audit.evidence.coupled_bets import CoupledBets
from audit.evidence.goals import Aim
from audit.evidence.memory import Block, PairMemory, bet_on, broken_off
from audit.evidence.standing import Standing
from audit.sampling import BET, CONFIRM, EXPLORE, MutatedInput, Sampler, TimeIsOver
from audit.sampling.recorded.runs import Probe, Run, outputs_of
from audit.search.climb import Path, Search
from audit.search.compass import distance
from audit.search.contenders import Contender
from audit.search.steer import SCOUTS, Steering
from audit.values.progress import AuditProgressed
from audit.verdict.terms import NeverAnswers, Terms

#: The first bet on a pair of databases takes this many pairs of runs. Each later bet takes a quarter as many
#: pairs of runs as are known so far.
FIRST_BET = 20
GROWTH = 1.25
SHADOW_PATIENCE = 3
#: After a refutation, stakes aim at a lower bound on ε that is the share `_NEARLY` of the estimated loss; the
#: estimate is lowered by `_SURE` standard errors.
_NEARLY, _SURE = 0.95, 2.0
#: The number of pairs of databases that are tried before a subject counts as one that never answers.
_TRIED_IN_VAIN = 32
#: The number of runs without an answer after which the audit gives up.
_SILENT_RUNS = 6


def bet_size(pairs: int) -> int:
    """Return the size of the next bet, in pairs of runs.

    `pairs` is the number of pairs of runs so far.

    Examples
    --------
    >>> bet_size(16), bet_size(1000)
    (20, 250)
    """
    return max(FIRST_BET, math.ceil(pairs * (GROWTH - 1)))


@dataclass
class Betting:
    """One audit by runs.

    Parameters
    ----------
    sampler
        Draws the runs.
    pairs
        Pairs of neighbouring databases, or paths of neighbours, the most promising first.
    terms
        The claim to bet against, and the limits of the audit.
    listener
        Receives progress, if given.
    vary
        Yields variants of a pair, for the climb of the search; None if only `pairs` may be tried.
    further
        Yields longer paths that repeat the change of a pair; None if only neighbours may be tried.
    first
        How many pairs are scouted (tried with one run on each side) before one of them gets more runs.
    steering
        Ranks pairs by recorded runs; None if no runs may be recorded.
    by_calls
        Whether this audit confirms another one by single calls. Its seed paths then begin with the stage of
        confirmations.
    given_up
        An abandoned beginning of this audit, if any. Its runs count as spent. Wealth that it lost remains
        lost, and wealth that it won is dropped.
    start
        The wealth accounts at the start, if this audit continues another one.
    coupled_before
        Whether the wealth in `start` comes from coupled runs.
    batches
        The next unused place of the seed tree.
    """

    sampler: Sampler
    pairs: Iterable[Path]
    terms: Terms
    listener: Callable[[AuditProgressed], None] | None = None
    vary: Callable[[Path], Iterator[Path]] | None = None
    further: Callable[[Path], Iterator[Path]] | None = None
    first: int = 0
    steering: Steering | None = None
    by_calls: bool = False
    given_up: "Betting | None" = None
    start: Standing | None = None
    coupled_before: bool = False
    shadow_log_wealth: float = 0.0
    crossed_at: int = 0
    shadow_crossed_at: int = 0
    wealth: list[tuple[int, float]] = field(default_factory=list)
    losses: list[tuple[int, float]] = field(default_factory=list)
    batches: int = 0
    out_of_time: bool = False
    started: float = field(default_factory=time.monotonic)
    _answered: bool = False
    _aside: int = 0

    def __post_init__(self) -> None:
        terms, already, goals = self.terms, 0, self.terms.goals
        self.epsilon = terms.epsilon  # pairs and events are chosen to refute this ε
        self.ledger = Ledger(goals=goals, start=self.start)
        if self.given_up is not None:
            already, self.batches = self.given_up.spent, self.given_up.batches
            self.ledger = Ledger(before=self.given_up.ledger, goals=goals)
        self.stage, self.look_stage = (CONFIRM, CONFIRM) if self.by_calls else (BET, EXPLORE)
        self._spent_before = self.sampler.drawn - already
        self._claim = np.array([terms.epsilon]), np.array([terms.delta])
        self._own, self._goal = self.ledger.opening(*self._claim)
        self._grown = float(self.ledger.together(self._own.log_wealth, self._goal)[0])
        self.log_wealth = self.ledger.log_wealth(terms.epsilon, terms.delta)
        self.coupled = CoupledBets(self.sampler, against=terms.against, before=self.coupled_before)
        self.search = Search(
            proposals=iter(self.pairs),
            new=lambda path: PairMemory(path[0], path[-1], floats=terms.floats, path=path),
            prospect=lambda each, off, share: each.prospect(share * terms.epsilon, terms.delta, errors=off),
            reach=lambda memory: terms.reach(memory, self._left()),
            vary=self.vary,
            further=self.further,
            first=self.first,
            steers=self._steers,
        )

    @property
    def memories(self) -> list[PairMemory]:
        """The memory of every pair that was tried."""
        return [contender.memory for contender in self.search.contenders]

    @property
    def spent(self) -> int:
        """The number of runs of this audit so far."""
        return self.sampler.drawn - self._spent_before

    @property
    def winner(self) -> PairMemory:
        """The pair whose bets gained the most wealth."""
        return max(self.memories, key=lambda memory: memory.won)

    @property
    def refuted(self) -> bool:
        """Whether the wealth has reached its limit, which refutes the claim."""
        return self.crossed_at > 0

    def run(self) -> Self:
        """Search and bet in turn until the audit is over, and return self."""
        try:
            self._run()
        except TimeIsOver:  # no count includes the batch that Ctrl-C interrupted
            self.out_of_time = True
        return self

    def _run(self) -> None:
        while not self._is_over():
            self._search()
            self.losses.append((len(self.search.contenders), self.search.surest_loss()))
            memory = self.search.best()
            if memory is None or self._is_over():
                break  # there is no pair of databases, or the search used up the budget
            self._bet(memory, min(bet_size(memory.pairs), self._left()))
            if self.refuted and self.terms.stop_when_refuted:
                break

    def _search(self) -> None:
        while (look := self.search.ask(self.spent - self._aside, more=not self._is_over())) is not None:
            before, told = self.sampler.drawn - self._aside, (0.0, 0.0)
            if look.pairs:
                self._look(look.memory, look.pairs)
            else:
                told = self._scout(look)
            self.search.tell(look, self.sampler.drawn - self._aside - before, *told)
            if look.pairs:
                self._refuse_silence()
                self._report("searching")

    def _room(self) -> int:
        return (self.terms.budget - self.spent) // 2

    def _room_in_time(self) -> int:
        """Return how many pairs of runs the remaining time allows, at the speed so far."""
        if self.terms.deadline is None or not self.spent:
            return self.terms.budget
        now = time.monotonic()
        left = self.terms.deadline + self.sampler.loading - now
        seconds = max(now - self.started - self.sampler.loading, 1e-9) / self.spent
        return max(1, int(left / seconds / 2))

    def _left(self) -> int:
        """Return how many pairs of runs the budget and the remaining time allow."""
        return min(self._room(), self._room_in_time())

    def _is_over(self) -> bool:
        late = self.terms.is_late(self.sampler.loading)
        self.out_of_time = late and self._room() >= 1
        return late or self._room() < 1 or self._is_decided_by_unfinished_runs()

    def _is_decided_by_unfinished_runs(self) -> bool:
        """Return whether only unfinished runs speak against the claim.

        The shadow wealth counts unfinished runs as outputs, and has refuted the claim. The wealth itself has
        not refuted it after three times as many runs.
        """
        crossed = self.shadow_crossed_at
        return crossed > 0 and not self.refuted and self.spent >= SHADOW_PATIENCE * crossed

    def _scout(self, look: Contender) -> tuple[float, float]:
        """Return the distance of two coupled outputs, and the growth predicted."""
        if look.scouts is not None or self._is_over() or not self._can_couple():
            return look.apart * look.memory.distance, self._promise(look)
        memory, outputs = look.memory, self._recorded(look) if self._steers() else []
        if not outputs:
            place = self._place(self.look_stage)
            [runs] = self.sampler.draw(memory.left, memory.right, 1, place, coupled=True)
            outputs = [*runs.left, *runs.right]
        for output in outputs:
            memory.hear(View([output]))
        return distance(*outputs), self._promise(look)

    def _recorded(self, look: Contender) -> list[Any]:
        """Return a pair's recorded scouting outputs, or none if no run answers."""
        found = (draw := partial(self._probe, look.memory, self._place(self.look_stage)))(SCOUTS)
        if any(isinstance(run, Run) for run in found):
            look.scouts = found, draw
            return outputs_of(found)
        self.steering = None  # the recording generator may be the reason why neither run gave an answer
        return []

    def _probe(self, memory: PairMemory, place: tuple[int, int], probes: Sequence[Probe]) -> list[Any]:
        """Return an even number of recorded runs, or None for each if too few are left."""
        if len(even := [*probes, *probes[: len(probes) % 2]]) > 2 * self._room():
            return [None] * len(even)
        return self.sampler.probe(memory.left, memory.right, even, place)

    def _promise(self, look: Contender) -> float:
        """Return the growth predicted from scouting runs, and forget the runs."""
        if not look.steered or look.scouts is None or self.steering is None or self._is_over():
            return 0.0
        (runs, draw), look.scouts = look.scouts, None
        self._aside -= self.sampler.drawn  # these few runs do not count towards the share of the search
        promise = self.steering.promise(runs[0], runs[1], draw, look.memory.distance)
        self._aside += self.sampler.drawn
        return promise

    def _can_couple(self) -> bool:
        """Return whether the same generator state gives the same output, so far."""
        return self.sampler.subject.takes_rng and (self.sampler.honours_rng or not self.sampler.drawn)

    def _steers(self) -> bool:
        """Return whether recorded draws can show which pairs are promising."""
        return self.steering is not None and self.steering.tells and self._can_couple()

    def _look(self, memory: PairMemory, size: int) -> None:
        if not self._is_over():
            size = 2 if self._hangs() else size  # wait only twice for a subject that hangs
            counts, blocks = self._draw(memory, min(size, self._room()), self.look_stage)
            memory.learn(blocks, counts)

    def _bet(self, memory: PairMemory, size: int) -> None:
        if not self._bet_coupled(memory, size):
            self._bet_by_calls(memory, size)
        self._refuse_silence()
        if not self.refuted and self.log_wealth >= self.terms.log_limit:
            self.crossed_at = self.spent
        if self.refuted:
            _, loss = memory.prospect(self.epsilon, self.terms.delta, errors=_SURE)
            self.epsilon = max(self.epsilon, _NEARLY * loss)
        self._report("betting")

    def _bet_coupled(self, memory: PairMemory, size: int) -> bool:
        """Bet on coupled runs if they promise more; return whether a bet was made."""
        terms, coupled = self.terms, self.coupled
        if self.by_calls:
            return False
        if look := min(coupled.wanted(memory), self._room()):
            coupled.look(memory, look, self._place(self.look_stage), epsilon=terms.epsilon, delta=terms.delta)
        coupling = coupled.of(memory)
        size = 0 if coupling is None else min(size, bet_size(coupling.pairs), self._room())
        if coupling is None or size < 1:
            return False
        place, claim = self._place(self.stage), {"epsilon": self.epsilon, "delta": terms.delta}
        found = coupled.bet(coupling, size, place, **claim, room=self._left())
        if found is None:
            return False
        bet, aim, fault = found
        memory.won += self._settle(bet, aim)
        if fault is not None:
            raise fault
        return True

    def _place(self, stage: int) -> tuple[int, int]:
        """Return the next unused place of this stage in the seed tree."""
        self.batches += 1
        return (stage, self.batches - 1)

    def _bet_by_calls(self, memory: PairMemory, size: int) -> None:
        terms = self.terms
        chosen = memory.choose(self.epsilon, terms.delta, against=terms.against)
        left, aim = self._left(), None
        if not terms.knows_little(memory, left):
            aim = memory.aim(self.epsilon, terms.delta, calls=2 * left, against=terms.against)
        as_output = memory.choose(terms.epsilon, terms.delta, against=False) if memory.unfinished else []
        try:
            counts, blocks = self._draw(memory, size, self.stage, aim)
        except MutatedInput:
            if chosen:  # the stake was placed: settle it at the worst outcome of the interrupted batch
                sides = self.sampler.last_sides
                self._settle(broken_off(chosen, *sides), aim and replace(aim, lost=True))
            raise
        if chosen:
            memory.won += self._settle(
                bet_on(chosen, counts), aim and aim.drawn([block.aimed for block in blocks])
            )
            memory.bets.append(size)
        if as_output:
            self._bet_in_shadow(bet_on(as_output, counts))
        memory.learn(blocks, counts)

    def _settle(self, bet: Bet, aim: Aim | None) -> float:
        """Enter a settled bet in the ledger, and return the growth of the log wealth."""
        terms, ledger, before = self.terms, self.ledger, self._grown
        ledger.add(bet, aim)
        self._own = self._own.after(np.array([bet.log_growth(terms.epsilon, terms.delta)]))
        if aim is not None:
            self._goal = terms.goals.after(aim, self._goal, *self._claim)
        self._grown = float(ledger.together(self._own.log_wealth, self._goal)[0])
        self.log_wealth += self._grown - before
        self.wealth.append((self.spent, self.log_wealth))
        return self._grown - before

    def _bet_in_shadow(self, bet: Bet) -> None:
        """Update the shadow wealth, which never refutes by itself."""
        self.shadow_log_wealth += bet.log_growth(self.terms.epsilon, self.terms.delta)
        if not self.shadow_crossed_at and self.shadow_log_wealth >= self.terms.log_limit:
            self.shadow_crossed_at = self.spent

    def _draw(
        self, memory: PairMemory, size: int, stage: int, aim: Aim | None = None
    ) -> tuple[list[Floats], list[Block]]:
        ways = {"singly": self._singly, "by_call": stage == self.stage}
        drawn = self.sampler.draw(memory.left, memory.right, size, self._place(stage), **ways)
        return memory.take(drawn, aim)

    @property
    def _singly(self) -> bool:
        """Whether every run is a call of its own.

        If the subject uses state other than the generator, the runs of one sampler call may depend on each
        other. Then only single calls can confirm a refutation.
        """
        return self.by_calls or (bool(self.sampler.drawn) and not self.sampler.honours_rng)

    def _refuse_silence(self) -> None:
        """Raise `NeverAnswers` if no run answered on enough pairs of databases."""
        memories = self.memories if not self._answered else []
        self._answered = self._answered or any(memory.answered for memory in memories)
        if self._answered:
            return
        outcome = next((memory.silence for memory in memories if memory.silence is not None), None)
        enough = self.search.exhausted or len(memories) >= _TRIED_IN_VAIN
        heard = sum(memory.heard for memory in memories)
        if outcome is not None and (self._hangs() or enough) and heard >= _SILENT_RUNS:
            raise NeverAnswers(outcome)

    def _hangs(self) -> bool:
        """Return whether no run has finished so far."""
        if self._answered:
            return False
        memories = self.memories
        return not any(m.answered or m.raised for m in memories) and any(m.silence for m in memories)

    def _report(self, stage: str) -> None:
        if self.listener is not None:
            progressed = AuditProgressed(
                subject=self.sampler.subject.name,
                runs=self.spent,
                budget=self.terms.budget,
                log_wealth=self.log_wealth,
                log_limit=self.terms.log_limit,
                stage=stage,
            )
            self.listener(progressed)
