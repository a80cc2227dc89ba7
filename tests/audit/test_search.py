"""The search for a pair: what it tries, spends and finds.

The file is long because its tests share the mechanisms with hidden faults and the simulated search.
"""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from audit import PureDP, Relation, audit_privacy
from audit.databases.domain import describe
from audit.events.features.views import View
from audit.evidence.memory import bet_on
from audit.evidence.reserve import Reserved
from audit.sampling import BET, EXPLORE, Sampler
from audit.search.climb import FIRST_LOOK, SHARE, Search
from audit.search.compass import distance
from audit.search.contenders import Contender
from audit.subject.subject import adapt
from audit.values import canonical
from audit.values.progress import AuditProgressed
from audit.verdict.betting import Betting
from audit.verdict.terms import Terms


@dataclass(eq=False)
class Known:
    """A stand-in for the memory of a pair."""

    path: tuple
    pairs: int = 0

    @property
    def left(self):
        return self.path[0]

    @property
    def right(self):
        return self.path[-1]

    @property
    def distance(self):
        return len(self.path) - 1


class World:
    """A simulated search.

    Each look shows how good a pair is, with an error that falls with the number of runs.
    """

    def __init__(
        self, proposals, worth, *, vary=None, further=None, distance=lambda left, right: 0.0, seed=0
    ):
        self.drawn = 0
        self.looks = []
        self.scouted = []
        self._errors = {}
        self._rng = np.random.default_rng(seed)
        self._worth = worth
        self._distance = distance
        self.search = Search(
            proposals=iter(proposals),
            new=Known,
            prospect=lambda memory, errors, share: self.estimate(memory, -2.0 if errors else 0.0),
            reach=lambda memory: 0.0,
            vary=vary,
            further=further,
        )

    def estimate(self, memory, errors):
        if not memory.pairs:
            return (-math.inf, 0.0)
        spread = 1 / math.sqrt(memory.pairs)
        noise = self._errors.setdefault((id(memory), memory.pairs), self._rng.normal())
        value = self._worth(memory.left, memory.right) + (noise + errors) * spread
        return (max(value, 0.0), value)

    def step(self):
        """Carry out requests of the search, up to the first look with independent runs.

        Return False if there are no more requests.
        """
        while (look := self.search.ask(10**9)) is not None:
            memory, size = look.memory, max(look.pairs, 1)
            self.drawn += 2 * size
            if look.pairs:
                self.looks.append((memory.left, memory.right, size))
                memory.pairs += size
                self.search.tell(look, 2 * size)
                return True
            self.scouted.append((memory.left, memory.right))
            self.search.tell(look, 2, self._distance(memory.left, memory.right))
        return False

    def run(self, runs):
        while self.drawn < runs and self.step():
            pass

    def looked(self, pair):
        return sum(size for left, right, size in self.looks if (left, right) == pair)


def neighbours(n):
    return [([k], [k + 1]) for k in range(n)]


def test_no_pair_is_tried_twice_either_way_round():
    pairs = [pair for left, right in neighbours(10) for pair in ((left, right), (right, left))] * 3
    world = World(pairs, lambda left, right: 0.0)
    world.run(20_000)
    tried = [frozenset(map(canonical.key, pair)) for pair in world.scouted]
    assert len(tried) == len(set(tried)) == 10
    assert world.search.exhausted


def test_every_pair_of_a_small_domain_is_looked_at():
    world = World(neighbours(40), lambda left, right: 0.0)
    world.run(60_000)
    assert all(world.looked(pair) >= FIRST_LOOK for pair in neighbours(40))


def test_the_search_ends_on_an_endless_stream_of_repeats():
    world = World(itertools.cycle(neighbours(3)), lambda left, right: 0.0)
    world.run(10_000)
    assert world.search.exhausted
    assert len(world.scouted) == 3


def test_after_halving_a_small_domain_the_least_known_pairs_get_longer_looks():
    """Each pair gets at least 500 runs a side, and at most four times another pair's.

    There are three pairs and 6,000 runs.
    """
    world = World(neighbours(3), lambda left, right: 0.0)
    world.run(6_000)
    assert world.drawn >= 6_000
    looks = sorted(map(world.looked, neighbours(3)))
    assert looks[0] >= 500
    assert looks[-1] <= 4 * looks[0]


def test_few_new_pairs_are_scouted_once_many_wait():
    """Most runs examine pairs that were tried before.

    Few of the 40,000 runs try pairs for the first time.
    """
    world = World(neighbours(10**5), lambda left, right: 0.0)
    world.run(40_000)
    assert 2 * len(world.scouted) < 0.1 * world.drawn
    assert len(world.scouted) > 200


def test_the_search_counts_all_runs_drawn_for_it():
    world = World(neighbours(30), lambda left, right: 0.0)
    world.run(5_000)
    assert world.search.spent == world.drawn


def test_a_search_without_any_pair_ends_without_one():
    world = World([], lambda left, right: 0.0)
    assert world.search.wants(0)
    assert not world.step()
    assert world.search.best() is None


def test_the_search_asks_for_a_first_look_at_once_and_then_for_its_share():
    world = World(neighbours(50), lambda left, right: 0.0)
    assert world.search.wants(0)
    world.step()
    spent = world.search.spent
    assert not world.search.wants(spent)
    assert world.search.wants(math.ceil(spent / SHARE) + 1)
    assert not world.search.wants(math.floor(spent / SHARE) - 1)


def test_a_single_pair_needs_no_search():
    world = World([([0], [1])], lambda left, right: 1.0)
    while not world.search.exhausted:
        world.step()
    assert not world.search.wants(10**6)


@pytest.mark.parametrize("seed", range(10))
def test_the_best_pair_gets_long_looks_and_is_the_one_to_bet_on(seed):
    """The best pair is better by six standard errors of a first look."""
    good = ([17], [18])
    world = World(neighbours(30), lambda left, right: 1.5 * ((left, right) == good), seed=seed)
    world.run(8_000)
    best = world.search.best()
    assert (best.left, best.right) == good
    assert world.looked(good) >= sorted(map(world.looked, neighbours(30)))[-5] > FIRST_LOOK


def test_pairs_far_apart_under_one_generator_state_are_looked_at_early():
    """The search next looks at the one pair of 200 whose outputs lie far apart.

    The outputs are those of two coupled runs.
    """
    far = ([5], [6])
    world = World(
        neighbours(200),
        lambda left, right: 0.0,
        distance=lambda left, right: 9.0 if (left, right) == far else 0.0,
    )
    while far not in world.scouted:
        world.step()
    for _ in range(3):
        world.step()
    assert world.looked(far) >= FIRST_LOOK


def test_pairs_that_coupled_runs_do_not_favour_are_looked_at_too():
    """A misleading distance between coupled outputs does not hide a fault for good."""
    hidden = ([0], [1])
    world = World(neighbours(100), lambda left, right: 0.0, distance=lambda left, right: float(left[0]))
    world.run(4_000)
    assert world.looked(hidden) >= FIRST_LOOK


def test_the_search_climbs_from_the_best_pair_beyond_the_proposals():
    """A pair is better if its numbers are larger.

    Proposals have small numbers only. A variation moves the two numbers by one.
    """

    def vary(pair):
        while True:
            yield [pair[0][0] + 1], [pair[1][0] + 1]
            yield [pair[0][0] - 1], [pair[1][0] - 1]

    world = World(
        itertools.chain(neighbours(5), itertools.cycle(neighbours(5))),
        lambda left, right: left[0] / 4,
        vary=vary,
        distance=lambda left, right: float(left[0]),
    )
    world.run(20_000)
    assert max(left[0] for left, _ in world.scouted) > 4 + 3


def test_given_pairs_alone_are_not_varied():
    world = World(neighbours(4), lambda left, right: 1.0, vary=None)
    world.run(50_000)
    assert sorted(world.scouted) == neighbours(4)


def chains(pair):
    """Yield one path of 8 steps from the pair's first left number."""
    start = pair[0][0]
    yield tuple([start + k] for k in range(9))


def test_paths_are_scouted_and_looked_at_beside_the_pairs_and_less_often():
    world = World(neighbours(1000), lambda left, right: 0.0, further=chains)
    world.run(8_000)
    far = [right[0] - left[0] > 1 for left, right, _ in world.looks]
    assert 0.1 < sum(far) / len(far) < 0.4
    assert not any(far[:3])


def test_a_promising_path_is_halved_down_to_the_step_that_fails():
    """One step of 1,000 fails, and no proposal is near it.

    Only the ends of a path around this step show the failure.
    """

    def worth(left, right):
        return 3.0 if min(left[0], right[0]) <= 905 < max(left[0], right[0]) else 0.0

    def vary(pair):
        yield pair

    proposals = itertools.chain(neighbours(3), [([900], [901])], itertools.cycle(neighbours(3)))
    world = World(proposals, worth, vary=vary, further=chains, distance=lambda left, right: float(left[0]))
    world.run(20_000)
    assert ([905], [906]) in world.scouted
    assert world.looked(([905], [906])) >= FIRST_LOOK


def test_without_paths_only_pairs_are_scouted():
    world = World(neighbours(50), lambda left, right: 0.0)
    world.run(5_000)
    assert all(right[0] - left[0] == 1 for left, right in world.scouted)


# The search in an audit


class Recording(Sampler):
    """A sampler that records the place, size, databases and coupling of every draw."""

    def __init__(self, subject, **options):
        super().__init__(subject, **options)
        self.draws = []

    def draw(self, left_db, right_db, size, path, *, coupled=False, **options):
        self.draws.append((path, size, (left_db, right_db), coupled))
        return super().draw(left_db, right_db, size, path, coupled=coupled, **options)


def noisy_sum(database, rng):
    return sum(database) + rng.laplace()


def searching(
    mechanism, *, epsilon=1.0, budget=10_000, seed=0, listener=None, betting_class=Betting, **where
):
    """Run an audit that searches, and return its finished betting and its sampler."""
    where = {"relation": Relation.REPLACE_ONE, "records": [0, 1], "size": (1, 4), **where}
    databases = describe(where.pop("relation"), pairs=None, databases=None, **where)
    proposing, varying = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))
    with Recording(adapt(mechanism), seed=seed) as sampler:
        betting = betting_class(
            sampler,
            databases.proposals(proposing),
            Terms(epsilon, 0.0, 1e-6, budget),
            listener,
            vary=lambda pair: databases.vary(pair, varying),
        )
        betting.run()
    return betting, sampler


@pytest.fixture(scope="module")
def searched():
    return searching(noisy_sum)


def test_every_draw_has_its_own_place_of_the_seed_tree(searched):
    _, sampler = searched
    paths = [path for path, *_ in sampler.draws]
    assert len(paths) == len(set(paths))
    assert {path[0] for path in paths} == {EXPLORE, BET}


def bets_on_its_bets_alone(betting, sampler):
    """Return whether the wealth comes only from runs drawn for bets.

    Each run is used once; coupled runs are used as pairs.
    """
    drawn = [(size, coupled) for path, size, _, coupled in sampler.draws if path[0] == BET]
    ledger, claim = betting.ledger, (betting.terms.epsilon, betting.terms.delta)
    own = Reserved.new(1).path(np.array([[bet.log_growth(*claim) for bet in ledger.bets]]))[0, -1]
    aimed = ledger.goals.path(ledger.aims, *(np.array([number]) for number in claim), np.zeros(1))[-1, 0]
    counted = [(bet.calls // 2, bet.shares is not None) for bet in ledger.bets]
    settled = counted == drawn
    both = (1 - ledger.goals.share) * math.exp(own) + ledger.goals.share * math.exp(aimed)
    alike = all(
        int(table.blocks.sum()) == bet.calls // (1 if bet.shares is None else 2)
        for aim, bet in zip(ledger.aims, ledger.bets, strict=True)
        for table in aim.tables
    )
    return settled and alike and math.isclose(math.log(both), betting.log_wealth)


def test_scouts_are_never_bet_on_and_coupled_runs_only_as_pairs(searched):
    betting, sampler = searched
    scouts = [path for path, size, _, coupled in sampler.draws if coupled and size == 1]
    assert scouts
    assert all(path[0] == EXPLORE for path in scouts)
    assert any(coupled and path[0] == BET for path, _, _, coupled in sampler.draws)
    assert bets_on_its_bets_alone(betting, sampler)


class BetsOnScouts(Betting):
    """Planted defect: the audit also bets on the runs that made it choose a pair."""

    def _scout(self, look):
        memory, path = look.memory, (self.look_stage, self.batches)
        self.batches += 1
        [runs] = self.sampler.draw(memory.left, memory.right, 1, path, coupled=True)
        self.__dict__.setdefault("scouted", {})[id(memory)] = View(runs.left), View(runs.right)
        return distance(runs.left[0], runs.right[0]), 0.0

    def _look(self, memory, size):
        super()._look(memory, size)
        scouted = self.scouted.pop(id(memory), None)
        chosen = memory.choose(self.terms.epsilon, self.terms.delta)
        if scouted is not None and chosen:
            crosses = memory.count(*scouted)
            growth = bet_on(chosen, crosses).log_growth(self.terms.epsilon, self.terms.delta)
            self._own = self._own.after(np.array([growth]))


class CouplesItsBets(Betting):
    """Planted defect: the audit bets on coupled runs as if they were independent."""

    def _draw(self, memory, size, stage, aim=None):
        draw = self.sampler.draw
        if stage == BET:
            self.sampler.draw = lambda *given, **_: draw(*given, coupled=True)
        try:
            return super()._draw(memory, size, stage, aim)
        finally:
            self.sampler.draw = draw


@pytest.mark.parametrize("defect", [BetsOnScouts, CouplesItsBets])
def test_betting_on_coupled_runs_is_caught(defect):
    assert not bets_on_its_bets_alone(*searching(noisy_sum, betting_class=defect))


def test_a_pair_does_not_count_the_runs_of_scouts(searched):
    """The memory of a pair counts all runs but those of its first try."""
    betting, sampler = searched
    known = {}
    for _, size, pair, coupled in sampler.draws:
        key = canonical.key(list(pair))
        known[key] = known.get(key, 0) + (0 if coupled and size == 1 else size)
    for memory in betting.memories:
        assert memory.pairs == known[canonical.key([memory.left, memory.right])]


def test_all_pairs_that_are_drawn_are_neighbours_within_the_domain(searched):
    _, sampler = searched
    for _, _, (left, right), _ in sampler.draws:
        assert Relation.REPLACE_ONE.are_neighbours(left, right)
        assert 1 <= len(left) <= 4
        assert {*left, *right} <= {0, 1}


@pytest.mark.parametrize(
    "mechanism", [lambda database: 0, lambda database, rng: np.random.default_rng().random()]
)
def test_runs_that_cannot_be_coupled_are_not_coupled(mechanism):
    """Only the first draw may try coupled runs.

    One subject takes no generator and the other subject ignores it.
    """
    _, sampler = searching(mechanism, budget=2_000)
    assert sum(coupled for *_, coupled in sampler.draws) <= 1


def test_the_same_seed_gives_the_same_search_and_another_seed_another():
    first, again, other = (searching(noisy_sum, budget=4_000, seed=seed)[1].draws for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_search_keeps_to_its_share_and_to_the_budget():
    for budget in (1_000, 5_001, 40_000):
        betting, sampler = searching(noisy_sum, budget=budget)
        longest = max(size for path, size, *_ in sampler.draws if path[0] == EXPLORE)
        assert betting.search.spent <= SHARE * betting.spent + 2 * longest
        assert budget - 1 <= betting.spent <= budget


def test_progress_tells_searching_from_betting():
    heard = []
    betting, _ = searching(noisy_sum, budget=4_000, listener=heard.append)
    assert all(isinstance(event, AuditProgressed) for event in heard)
    assert {event.stage for event in heard} == {"searching", "betting"}
    spent, before = 0, 0
    for event in heard:
        spent += event.runs - before if event.stage == "searching" else 0
        before = event.runs
    assert spent == betting.search.spent


def test_a_search_ends_when_the_time_is_over():
    result = audit_privacy(
        noisy_sum, PureDP(1.0), records=[0, 1], size=(1, 6), budget=10**9, time_limit=0.5, until="budget"
    )
    assert result.samples < 10**9


def a_little_loud(database, rng):
    """Return a sum with true ε = 0.13, where a change of 20 records loses 2.6."""
    return sum(database) + rng.laplace(scale=1 / 0.13)


def test_a_loss_a_little_too_large_at_every_step_is_found_on_distant_databases():
    """A small loss at every step is found on distant databases.

    At ε = 0.1 the best growth is 2e-4 nats per pair of runs for neighbours, and 1e-2 at distance 20. The
    bound on ε is about neighbours. Of 24 audits 23 took at most 25,000 runs, and one took 110,000.
    """
    audited = {"records": [0, 1], "size": (1, 60), "budget": 150_000, "seed": 0}
    result = audit_privacy(a_little_loud, PureDP(0.1), **audited)
    assert result.refuted
    assert 0.1 < result.epsilon_lower <= 0.13
    assert any(note.startswith("at distance ") for note in result.notes)
    for witness in (result.witness, result.witness.simplest):
        assert witness.confirmed
        differ = sum(a != b for a, b in zip(witness.left, witness.right, strict=True))
        assert differ == witness.distance
    assert type(result).from_json(result.to_json()) == result


def test_a_tight_sum_is_not_refuted_on_distant_databases():
    def tight(database, rng):
        return sum(database) + rng.laplace(scale=10)

    result = audit_privacy(tight, PureDP(0.1), records=[0, 1], size=(1, 60), budget=25_000, seed=0)
    assert not result.refuted
    assert result.epsilon_lower <= 0.1


# Hidden faults, each with two seeds; an audit that looks in the right place needs about 200 runs


def all_alike(database, rng):
    """Return a sum without noise if all records are equal, else with noise."""
    return sum(database) + rng.laplace() * 3 * len(database) * (max(database) - min(database))


def counts_the_last(database, rng):
    return database[-1] * 4 + rng.laplace() * 2


def fails_on_big(database, rng):
    if sum(database) > 30:
        raise OverflowError
    return rng.random() < 0.5


def keys(database, rng):
    return {key: database.count(key) + rng.laplace() for key in database}


def one_against_the_rest(answers, rng):
    return int(np.argmax(np.asarray(answers) + rng.laplace(scale=0.9, size=len(answers))))


HIDDEN = {
    "all alike": (all_alike, {"records": range(6), "size": (1, 5)}),
    "the last record": (counts_the_last, {"records": [0, 1, 2], "size": (1, 6)}),
    "an exception on large sums": (fails_on_big, {"records": range(11), "size": (1, 6)}),
    "values in the clear": (keys, {"relation": "add-or-remove-one", "records": "abcdef", "size": (0, 5)}),
    "half of the noise": (one_against_the_rest, {"relation": "query-answers", "size": 4}),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", HIDDEN)
def test_a_fault_hidden_in_a_domain_is_found(name, seed):
    mechanism, domain = HIDDEN[name]
    domain = {**domain, "records": list(domain["records"])} if "records" in domain else domain
    result = audit_privacy(mechanism, PureDP(1.0), budget=100_000, seed=seed, **domain)
    assert result.refuted
    assert result.witness.confirmed


@pytest.mark.parametrize("seed", range(3))
def test_one_record_in_ten_that_matters_is_found(seed):
    """Pr[True] is 0.95 if a 7 occurs and 0.05 if not.

    In a fifth of the neighbouring pairs a 7 occurs on one side only.
    """

    def leaks_a_seven(database, rng):
        return 7 in database if rng.random() < 0.9 else rng.random() < 0.5

    result = audit_privacy(
        leaks_a_seven, PureDP(1.0), records=range(10), size=(1, 8), budget=100_000, seed=seed
    )
    assert result.refuted


def test_a_pair_with_few_runs_is_preferred_to_one_that_is_known_to_be_weak():
    """No pair promises growth against the claim. The pair whose bets may refute more of it comes first."""
    search = World([(0, 1), (0, 2)], lambda left, right: -1.0).search
    known, new = (Contender(Known((0, right))) for right in (1, 2))
    known.memory.pairs, new.memory.pairs = 10_000, 100
    search.contenders, search._looked[0] = [known, new], [known, new]
    for far, best in ((1, known), (2, new)):
        search.reach = lambda memory, far=far: 0.5 if memory.right == far else 0.1
        assert search.best() is best.memory
    search.reach = lambda memory: 0.5
    assert search.best() is new.memory


def test_the_reach_of_a_pair_is_the_largest_share_that_may_be_refuted_in_time():
    """In 400 pairs of runs the evidence against s·ε is 20·(0.6 − s) standard errors.

    Bets on r more pairs need (√(2 ln 100) + 1)·√(400/r) = 4.03·√(400/r) of them, less ½ for optimism.
    """

    class Known:
        pairs = 400

        def strengths(self, epsilon, delta, shares):
            return np.maximum(20 * (0.6 - np.array(shares)), 0.0)

    terms = Terms(epsilon=1.0, delta=0.0, significance=0.01, budget=1_000, stop_when_refuted=False)
    # 80.2, 3.53, 1.11 and 0.13 standard errors are needed, then none
    rooms = (1, 400, 2_500, 16_400, 40_000)
    assert [terms.reach(Known(), room) for room in rooms] == [0.0, 0.4, 0.5, 0.55, 2.0]
    assert [terms.knows_little(Known(), room) for room in rooms] == [False] * 4 + [True]
    stops = replace(terms, stop_when_refuted=True)
    assert stops.reach(Known(), 10**9) == 0.0
    assert not stops.knows_little(Known(), 10**9)


def test_first_looks_double_as_more_pairs_are_known():
    """With 16, 48 and 112 pairs known, the next pairs get 2, 4 and 8 times as many runs at first."""
    world = World([(0, k) for k in range(1, 200)], lambda left, right: 0.0)
    world.run(100_000)
    first = {}
    for left, right, size in world.looks:
        first.setdefault((left, right), size)
    sizes, counts = zip(
        *((size, len([*each])) for size, each in itertools.groupby(first.values())), strict=True
    )
    assert sizes == (FIRST_LOOK, 2 * FIRST_LOOK, 4 * FIRST_LOOK, 8 * FIRST_LOOK)
    assert counts[:3] == (16, 32, 64)
