"""Past runs of one pair of databases."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from audit.claims import at_distance
from audit.distributions.law import Floats, Ints
from audit.events.event import Event
from audit.events.features.propose import propose
from audit.events.features.scores import AdditiveScore, TableScore
from audit.events.features.views import View
from audit.events.tables import Candidates, Table, added, apart, learn_bins
from audit.evidence.bets import Bet
from audit.evidence.cells import most_broken, strengths
from audit.evidence.goals import Aim, CellCounts
from audit.evidence.growth import NEAREST_LEVELS, best_events, growth_rate, levels_of
from audit.evidence.learned import ENOUGH, LEAST, Coded, ScoreLearner, learner_of
from audit.sampling import Runs
from audit.sampling.loops import joined
from audit.values.outcomes import Raised, Unfinished, is_refusal
from audit.values.weights import weigh_all

#: Larger: bins are learned anew for longer. Number of outputs kept on a side; later runs are only counted.
KEPT = 16_384
#: A subject has stopped answering if it has at least this many answers, all in the first half of its runs.
#: By chance n answers are all in the first half with probability 2^−n.
_BY_CHANCE = 20
#: Limits memory: bytes of outputs that are kept for re-learning on a side.
KEPT_BYTES = 2**26
#: This many pairs of runs are always kept, even if they take more bytes.
FIRST = 40
#: In one batch, at most this many tables get bets on all cells; each claim uses the best of them.
MOST_TABLES = 3
#: The events of a table for one choice of p side: index of the table, p side (0 left, 1 right), events.
Offer = tuple[int, int, Candidates]


@dataclass(frozen=True)
class Chosen:
    """Events of one table to bet on; their p side is `side` (0 left, 1 right)."""

    table: int
    side: int
    candidates: Candidates
    log_prior: Floats
    distance: int = 1


@dataclass(frozen=True)
class Block:
    """A counted block of runs.

    `views` holds its outputs if they are kept for re-learning. `aimed` holds the block's counts for each
    table with bets on all cells, shape (parts, 2, bins + 1).
    """

    runs: int
    aimed: Sequence[Floats] = ()
    coded: Coded | None = None
    views: tuple[View, View] | None = None


@dataclass
class PairMemory:
    """Everything learned about one pair of databases.

    Parameters
    ----------
    left, right
        The databases.
    floats
        Whether events may read bit patterns of floats.
    path
        Databases from `left` to `right`, each a neighbour of the next; by default these two. The methods
        take claims about neighbours.
    """

    left: Any
    right: Any
    floats: bool = False
    path: tuple[Any, ...] = ()
    runs: int = 0
    tables: list[Table] = field(default_factory=list)
    won: float = 0.0
    bets: list[int] = field(default_factory=list)
    unfinished: bool = False
    answered: bool = False
    raised: bool = False
    heard: int = 0
    silence: Raised | Unfinished | None = None
    _kept: tuple[list[View], list[View]] = field(default_factory=lambda: ([], []))
    _kept_runs: int = 0
    _kept_bytes: int = 0
    _next_learning: int = 1
    _offered: Any = None
    _suggested: dict[bool, list[Offer]] = field(default_factory=dict)
    _learner: ScoreLearner | None = None
    _looked: bool = False
    _next_score: int = 0
    _estimates: Floats | None = None
    _strengths: tuple[Any, Floats] | None = None
    _prospects: dict[tuple[float, ...], tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.path = self.path or (self.left, self.right)

    @property
    def distance(self) -> int:
        """Number of steps from `left` to `right`, each to a neighbour."""
        return len(self.path) - 1

    @property
    def stopped_answering(self) -> bool:
        """Whether the subject answered in the first half of its runs only."""
        answers = 0
        for side in self.kept(0):
            refused = [is_refusal(output) for view in side for output in view.outputs]
            if not all(refused[len(refused) // 2 :]):
                return False
            answers += len(refused) - sum(refused)
        return answers >= _BY_CHANCE

    @property
    def pairs(self) -> int:
        """Half of the number of runs on both sides."""
        return self.runs // 2

    def keep(self, left: View, right: View, aimed: Sequence[Floats] = ()) -> Block:
        """Return what learning needs of a counted block."""
        self.unfinished |= bool(len(left.unfinished) or len(right.unfinished))
        self.hear(left)
        self.hear(right)
        coded = None if self._learner is None else self._learner.code(left, right)
        runs, fits = len(left) + len(right), self._kept_bytes + max(weight(left), weight(right)) <= KEPT_BYTES
        views = (left, right) if self._kept_runs + runs <= 2 * (KEPT if fits else FIRST) else None
        return Block(runs, aimed, coded, views)

    def count(self, left: View, right: View, parts: Mapping[int, Floats] | None = None) -> list[Floats]:
        """Return the counts of a block in every table, given those of some tables."""
        had, every = parts or {}, enumerate(self.tables)
        return [had[k].sum(axis=0) if k in had else table.count(left, right) for k, table in every]

    def take(self, drawn: Iterable[Runs], aim: Aim | None = None) -> tuple[list[Floats], list[Block]]:
        """Return the counts and the blocks of a batch, for `learn`."""
        counts: list[Floats] = []
        blocks = []
        for runs in drawn:
            left, right = View(runs.left, runs.typed), View(runs.right, runs.typed)
            cells = [] if aim is None else [c.table for c in aim.tables if isinstance(c, CellCounts)]
            whole = {k: self.tables[k].count_parts(left, right, runs.parts) for k in cells}
            counts = added(counts, self.count(left, right, whole))
            blocks.append(self.keep(left, right, list(whole.values())))
        return counts, blocks

    def hear(self, view: View) -> None:
        """Note whether the subject answers, and its first exception or unfinished run."""
        self.heard += len(view)
        silent = [output for _, output in view.rest if type(output) in (Raised, Unfinished)]
        self.answered |= len(silent) < len(view)
        self.raised |= any(type(output) is Raised for output in silent)
        if silent and self.silence is None:
            self.silence = silent[0]

    def learn(self, blocks: list[Block], counts: list[Floats]) -> None:
        """Learn from a finished batch with these counts in the present tables."""
        for table, counted in zip(self.tables, counts, strict=True):
            table.counts += counted
        for block in blocks:
            if block.views is not None and self._kept_runs == self.runs:
                for kept, view in zip(self._kept, block.views, strict=True):
                    kept.append(view)
                self._kept_runs += block.runs
                self._kept_bytes += max(map(weight, block.views))
            self.runs += block.runs
            if block.coded is not None and self._learner is not None:
                self._learner.add(block.coded)
        self._prospects.clear()
        self._suggested.clear()
        self._estimates = self._strengths = None
        if self.pairs >= self._next_learning and self._kept_runs == self.runs:
            self._relearn()
            self._next_learning = 2 * self.pairs if self.pairs >= 256 else int(1.5 * self.pairs)
        self._learn_score()

    def _learn_score(self) -> None:
        """Fit the score of vectors anew if runs have grown by a third."""
        if not self._looked and self.pairs >= LEAST and self._kept_runs == self.runs:
            self._looked = True
            self._learner = learner_of(*(merged(views) for views in self._kept))
            self._next_score = self.pairs
        if self._learner is not None and self.pairs >= self._next_score:
            self.tables = [t for t in self.tables if not isinstance(t.bins.feature, AdditiveScore)]
            self.tables.append(self._learner.table())
            self._next_score = self.pairs + self.pairs // 3
            if self.pairs >= ENOUGH:
                self._learner = None

    def _relearn(self) -> None:
        """Choose features and bins anew from the kept outputs, and count these again."""
        sides = [merged(views) for views in self._kept]
        self._kept = ([sides[0]], [sides[1]])
        self.tables = []
        for feature in propose(*self._kept, floats=self.floats):
            table = Table(learn_bins(feature, sides))
            # A score looks too good on the runs it was fitted to (the first half), so these are not counted.
            counted = map(_last_half, sides) if isinstance(feature, TableScore) else sides
            table.counts += table.count(*counted)
            self.tables.append(table)
        for view in sides:
            view.forget()  # the cached parts take more memory than the outputs

    def choose(self, epsilon: float, delta: float, *, against: bool = True) -> list[Chosen]:
        """Return the events with the largest expected growth at ε or near it."""
        offers, promise = self._promised(epsilon, delta, against=against)
        return [chosen for chosen, _, _ in self.pick(offers, promise)]

    def pick(self, offers: Sequence[Offer], promise: Floats) -> Iterator[tuple[Chosen, int, Ints]]:
        """Yield events to bet on, the index of their offer, and their indices in it."""
        kept, start = best_events(promise), 0
        for place, (index, side, candidates) in enumerate(offers):
            size = len(candidates.p)
            mine = np.flatnonzero(kept[start : start + size])
            start += size
            if len(mine):
                prior = np.full(len(mine), np.log(self._share(index) / 2 / size))
                yield Chosen(index, side, candidates.take(mine), prior, self.distance), place, mine

    def _promised(self, epsilon: float, delta: float, *, against: bool) -> tuple[list[Offer], Floats]:
        """Return the events of all tables, and the growth of each at several ε."""
        key = (self.runs, epsilon, delta, against)
        if self._offered is None or self._offered[0] != key:
            epsilon, delta = at_distance(epsilon, delta, self.distance)
            offers = self.suggested(against=against)
            levels = levels_of(epsilon)[:, None]
            promise = [each.past * growth_rate(each.p, each.q, levels, delta) for _, _, each in offers]
            self._offered = key, offers, np.concatenate(promise or [np.zeros((1, 0))], axis=1)
        return self._offered[1], self._offered[2]

    def aim(self, epsilon: float, delta: float, *, calls: int, against: bool = True) -> Aim | None:
        """Return the next bet on all cells of the best tables and of a learned score, if any.

        Parameters
        ----------
        epsilon, delta
            The claim.
        calls
            Number of calls that may still be bet on.
        against
            Whether unfinished runs count against the refutation.
        """
        offers, promise = self._promised(epsilon, delta, against=against)
        if not promise.size:
            return None
        tables = np.repeat([offer[0] for offer in offers], [len(offer[2].p) for offer in offers])
        best = tables[promise[NEAREST_LEVELS].argmax(axis=1)] if len(promise) > 1 else tables[:0]
        # if unfinished runs count against the refutation, their cell is not bet on
        counts = [table.counts[:, :-1] if against else table.counts for table in self.tables]
        if self.pairs >= LEAST and len(best):
            claimed, beyond = at_distance(epsilon, delta, self.distance)
            whole = most_broken(counts, levels_of(claimed)[NEAREST_LEVELS], beyond)
            best = np.column_stack([whole, best]).ravel()
        learned = [k for k, table in enumerate(self.tables) if isinstance(table.bins.feature, AdditiveScore)]
        others = [k for k in dict.fromkeys(best.tolist()) if k not in learned][: MOST_TABLES - len(learned)]
        cells = (CellCounts(k, counts[k].copy(), self.tables[k].bins.ordered) for k in others + learned)
        return Aim(tuple(cells), calls, self.distance)

    def suggested(self, *, against: bool) -> list[Offer]:
        """Return the events of every table, for each of the two p sides."""
        if against not in self._suggested:  # needed several times between two batches
            each = product(enumerate(self.tables), (0, 1))
            every = [(k, s, table.suggest(s, unfinished_counts_against=against)) for (k, table), s in each]
            self._suggested[against] = [(k, side, found) for k, side, found in every if found is not None]
        return self._suggested[against]

    def kept(self, side: int) -> tuple[list[View], list[View]]:
        """Return the kept outputs of both databases, those of `side` first."""
        return self._kept[side], self._kept[1 - side]

    def seen(self, event: Event, side: int) -> Floats:
        """Return the counts of kept runs inside and outside an event, for `side` first."""
        counts = []
        for views in self.kept(side):
            inside = sum(int(event.members(view).sum()) for view in views)
            counts += [inside, sum(map(len, views)) - inside]
        return np.array(counts, dtype=float)

    def event(self, chosen: Chosen, k: int) -> Event:
        """Return one of the chosen events as an `Event`."""
        bins = self.tables[chosen.table].bins
        return Event((bins.condition(chosen.candidates.inside_p[k, : bins.width]),))

    def _share(self, index: int) -> float:
        """Return a table's share of the wealth; cheap features together have half."""
        cheap = [type(table.bins.feature).cheap for table in self.tables]
        alike = cheap.count(cheap[index])
        return (0.5 if len(set(cheap)) == 2 else 1.0) / alike  # one kind alone shares all

    def prospect(self, epsilon: float, delta: float, *, errors: float) -> tuple[float, float]:
        """Return the best expected growth of any event, and the largest loss per step.

        The growth is at least 0, in nats per pair of runs. The loss is the largest ln((p − δ)/q) of an event,
        divided by `distance`. `errors` standard errors are subtracted from p and added to q.
        """
        key = (epsilon, delta, errors)
        if key not in self._prospects:
            self._prospects[key] = self._prospect(*key)
        return self._prospects[key]

    def strengths(self, epsilon: float, delta: float, shares: tuple[float, ...]) -> Floats:
        """Return how strongly all runs break the claim of share·ε, for each share, in standard errors.

        The shape is (shares,). Each number is the largest over the tables; 0 without runs.
        """
        key = (epsilon, delta, shares)
        if self._strengths is None or self._strengths[0] != key:
            epsilon, delta = at_distance(epsilon, delta, self.distance)
            counts = [table.counts[:, :-1] for table in self.tables] or [np.zeros((2, 1))]
            self._strengths = key, strengths(counts, epsilon * np.array(shares), delta).max(axis=1)
        return self._strengths[1]

    def _prospect(self, epsilon: float, delta: float, errors: float) -> tuple[float, float]:
        epsilon, delta = at_distance(epsilon, delta, self.distance)
        if self._estimates is None:  # the search needs it often
            offers = [candidates for _, _, candidates in self.suggested(against=True)]
            rows = [np.stack([each.p, each.q, np.full(len(each.p), each.past)]) for each in offers]
            self._estimates = np.concatenate([np.zeros((3, 0)), *rows], axis=1)
        p, q, past = self._estimates
        low, high = apart(p, q, past, errors)
        if not len(low):
            return 0.0, -np.inf
        growth = max(0.0, float(growth_rate(low, high, epsilon, delta).max()))
        loss = float(np.log(np.maximum(low - delta, 1e-12) / np.maximum(high, 1e-12)).max())
        return growth, loss / self.distance


def bet_on(chosen: list[Chosen], counts: list[Floats] | dict[int, Floats]) -> Bet:
    """Return the bet on the chosen events, with the counts of the batch that followed."""
    return settled(
        chosen, [item.candidates.count(counts[item.table][[item.side, 1 - item.side]]) for item in chosen]
    )


def settled(chosen: Sequence[Chosen], counts: list[Floats]) -> Bet:
    """Return the bet on the chosen events, with counts by event and outcome."""
    return Bet(
        log_prior=np.concatenate([item.log_prior for item in chosen]),
        p=np.concatenate([item.candidates.p for item in chosen]),
        q=np.concatenate([item.candidates.q for item in chosen]),
        past=np.concatenate([np.full(len(item.candidates.p), 2 * item.candidates.past) for item in chosen]),
        counts=np.concatenate(counts),
        distance=chosen[0].distance,
    )


def broken_off(chosen: list[Chosen], left: int, right: int) -> Bet:
    """Return the bet on a batch broken off after these calls, at its worst outcomes."""
    in_one_bin = {item.table: np.eye(1, item.candidates.inside_p.shape[1])[0] for item in chosen}
    counts = {table: np.outer([left, right], first) for table, first in in_one_bin.items()}
    return bet_on(chosen, counts).at_worst()


def weight(view: View) -> int:
    """Return roughly how many bytes a view takes, including its numbers."""
    matrices = sum(matrix.nbytes for _, matrix in view.vectors.values())
    return weigh_all(view.outputs) + view.numbers[1].nbytes + matrices


def merged(views: list[View]) -> View:
    """Return one view of all outputs, which is faster to read than many small ones."""
    if len(views) == 1:
        return views[0]
    typed = all(view.typed for view in views)
    return View(joined([view.outputs for view in views]), typed, replaced=True)


def _last_half(view: View) -> View:
    """Return the second half of the outputs, split as in `propose`."""
    return View(view.outputs[len(view) // 2 :], view.typed, replaced=True)
