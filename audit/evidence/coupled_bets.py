"""Choose pairs of databases to bet on with coupled runs, and make these bets."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from audit.distributions.law import Floats
from audit.events.features.views import View
from audit.events.tables import added
from audit.evidence.bets import Bet
from audit.evidence.coupled import Coupling
from audit.evidence.goals import Aim
from audit.evidence.memory import Block, PairMemory
from audit.sampling import MutatedInput, Sampler

Drawn = tuple[list[Floats], list[Floats], list[tuple[View, View]], list[Block]]

#: Coupling is considered after this many pairs of runs; large faults show earlier without it.
_LEAST = 256
#: For the decision whether to bet on coupled runs, one coupled pair is drawn for every 4 known pairs of runs.
_LOOK = 4


class CoupledBets:
    """The bets of an audit on coupled runs.

    For each pair of databases, a few coupled runs are drawn first, without a bet. They decide once whether
    further coupled runs are bet on. The subject's outputs must depend on its generator, and the subject must
    keep no state. A subject with a sampler of its own is not coupled.

    Parameters
    ----------
    sampler
        Draws the runs.
    against
        Whether unfinished runs count against the refutation.
    before
        Whether this audit continues an earlier one whose wealth rests on coupled runs.
    """

    def __init__(self, sampler: Sampler, *, against: bool, before: bool) -> None:
        self.sampler, self.against, self.before = sampler, against, before
        self.runs, self._have_bet = 0, False
        self._known: dict[int, Coupling | None] = {}

    @property
    def in_wealth(self) -> bool:
        """Whether the wealth includes coupled bets. These are valid only if the subject keeps no state."""
        return self.before or self._have_bet

    def give_up(self) -> None:
        """Forget what coupled runs showed, because the subject keeps state."""
        self._known.clear()
        self._is_able = False

    def wanted(self, memory: PairMemory) -> int:
        """Return how many coupled pairs to draw before deciding on further pairs."""
        new = memory.pairs >= _LEAST and not memory.unfinished and id(memory) not in self._known
        return max(_LEAST // _LOOK, memory.pairs // _LOOK) if new and self._is_able else 0

    @cached_property
    def _is_able(self) -> bool:
        sampler = self.sampler
        able = sampler.honours_rng and sampler.subject.declared_sampler is None
        return able and sampler.state_suspected() is False

    def look(
        self, memory: PairMemory, size: int, path: tuple[int, int], *, epsilon: float, delta: float
    ) -> None:
        """Draw coupled pairs without a bet, and decide whether to bet on more."""
        coupling = Coupling(memory)
        joints, counts, views, blocks = self._draw(coupling, size, path)
        coupling.learn(views, joints)
        memory.learn(blocks, counts)
        worth = coupling.is_worth(epsilon, delta, against=self.against)
        self._known[id(memory)] = coupling if worth else None

    def of(self, memory: PairMemory) -> Coupling | None:
        """Return what coupled runs of a pair of databases showed.

        If the pair is bet on without coupled runs, return None.
        """
        return None if memory.unfinished else self._known.get(id(memory))

    def bet(
        self, coupling: Coupling, size: int, path: tuple[int, int], *, epsilon: float, delta: float, room: int
    ) -> tuple[Bet, Aim, MutatedInput | None] | None:
        """Bet on coupled pairs and learn from them.

        Returns
        -------
        None if there is no event to bet on. Otherwise the bets of both accounts, and the error that broke off
        the batch (None if the batch was finished). After an error the bets count with the worst outcomes.
        """
        chosen = coupling.choose(epsilon, delta, against=self.against)
        if not chosen:
            return None
        aimed = coupling.aim(chosen, epsilon, delta, pairs=room)
        self._have_bet = True
        try:
            joints, counts, views, blocks = self._draw(coupling, size, path)
            parts = [aimed.parts(coupling.memory.tables, *pair) for pair in views]
        except MutatedInput as fault:
            in_one_bin = [np.pad([[float(size)]], (0, table.bins.width)) for table in coupling.memory.tables]
            return coupling.bet_on(chosen, in_one_bin).at_worst(), replace(aimed.aim, lost=True), fault
        bet = coupling.bet_on(chosen, joints)
        coupling.bets.append(size)
        coupling.learn(views, joints)
        coupling.memory.learn(blocks, counts)
        return bet, aimed.aim.drawn(parts), None

    def _draw(self, coupling: Coupling, size: int, path: tuple[int, int]) -> Drawn:
        """Draw coupled pairs and count them.

        They are counted by the bins of both runs together, and by the bins of each side.
        """
        memory, sampler = coupling.memory, self.sampler
        counts: list[Floats] = []
        views, blocks = [], []
        for runs in sampler.draw(memory.left, memory.right, size, path, coupled=True):
            left, right = View(runs.left, runs.typed), View(runs.right, runs.typed)
            counts = added(counts, memory.count(left, right))
            views.append((left, right))
            blocks.append(memory.keep(left, right))
        self.runs += 2 * size
        return coupling.count(views), counts, views, blocks
