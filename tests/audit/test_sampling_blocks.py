"""Blocks of runs, as the number of runs, the seed tree and the coins decide them."""

import numpy as np
import pytest

from audit.errors import SubjectError
from audit.sampling import BET, EXPLORE, Sampler, loops
from audit.sampling.blocks import LARGEST_BLOCK, block_sizes
from audit.sampling.loops import joined
from audit.sampling.seeds import COINS, RUNS, generator
from audit.subject.subject import adapt


def noisy(database, rng):
    return database[0] + rng.laplace()


class Vectorised:
    def __call__(self, database, rng):
        return noisy(database, rng)

    def sample(self, database, size, rng):
        return database[0] + rng.laplace(size=size)


def sides(sampler, *arguments, **options):
    blocks = list(sampler.draw(*arguments, **options))
    return [x for b in blocks for x in b.left], [x for b in blocks for x in b.right]


@pytest.mark.parametrize("vectorised", [False, True])
@pytest.mark.parametrize("size", [0, 1, 7, 64, 1000, 2**18, 2**21 + 3])
def test_blocks_add_up_and_are_bounded(size, vectorised):
    sizes = block_sizes(size, vectorised=vectorised)
    assert sum(sizes) == size
    assert all(0 < block <= LARGEST_BLOCK for block in sizes)


def test_a_draw_of_single_calls_is_cut_into_at_most_eight_blocks_worth_sending():
    assert [len(block_sizes(size, vectorised=False)) for size in (1, 15, 16, 64, 10**5)] == [1, 1, 2, 8, 8]


def test_places_of_the_seed_tree_have_separate_streams():
    paths = [(), (EXPLORE,), (BET,), (BET, 0), (BET, 0, 0), (BET, 0, COINS), (BET, 0, RUNS)]
    assert len({generator(5, path).integers(2**63) for path in paths}) == len(paths)
    assert generator(5, (BET,)).integers(2**63) != generator(6, (BET,)).integers(2**63)


def test_the_runs_of_a_block_share_one_generator_in_the_order_of_the_coins():
    """The runs of one block of three pairs are computed by hand from the seed tree."""
    sampler = Sampler(adapt(noisy), seed=3)
    left, right = sides(sampler, [10], [20], 3, (BET, 4))
    rng = generator(3, (BET, 4, 0, RUNS))
    expected = {10: [], 20: []}
    for right_first in generator(3, (BET, 4, 0, COINS)).integers(0, 2, 3):
        for database in (20, 10) if right_first else (10, 20):
            expected[database].append(database + rng.laplace())
    assert (left, right) == (expected[10], expected[20])


def test_each_side_comes_first_about_half_of_the_time():
    """The left side is first in 400 to 600 of 1,000 pairs, except with probability 2e-10."""
    calls = []
    mechanism = adapt(lambda database, rng: calls.append(database[0]))
    sampler = Sampler(mechanism, seed=0)
    list(sampler.draw(["left"], ["right"], 1000, (BET,)))
    first = calls[-2000::2].count("left")
    assert 400 <= first <= 600


def test_each_run_with_a_separate_coin_is_on_the_side_of_its_coin():
    """The runs of one block of six runs are computed by hand from the seed tree."""
    sampler = Sampler(adapt(noisy), seed=3)
    left, right = sides(sampler, [10], [20], 3, (BET, 4), by_call=True)
    rng = generator(3, (BET, 4, 0, RUNS))
    expected = {10: [], 20: []}
    for on_the_right in generator(3, (BET, 4, 0, COINS)).integers(0, 2, 6):
        database = 20 if on_the_right else 10
        expected[database].append(database + rng.laplace())
    assert (left, right) == (expected[10], expected[20])


def test_the_coin_of_a_call_does_not_depend_on_the_previous_call():
    """The sides differ in 400 to 600 of 1,000 pairs, except with probability 2e-10."""
    calls = []
    sampler = Sampler(adapt(lambda database, rng: calls.append(database[0])), seed=0)
    list(sampler.draw([0], [1], 1000, (BET,), by_call=True))
    drawn = np.array(calls[-2000:])
    assert 400 <= (drawn[::2] != drawn[1::2]).sum() <= 600
    assert 850 <= drawn.sum() <= 1150  # outside with probability 2e-11


@pytest.mark.parametrize("mechanism", [noisy, Vectorised()])
@pytest.mark.parametrize("singly", [False, True])
def test_the_number_of_runs_of_each_side_is_known_from_the_plan(mechanism, singly):
    """Coins choose the side of each run, so the numbers of runs vary.

    If a batch is interrupted, its bet is settled with the planned numbers.
    """
    sampler = Sampler(adapt(mechanism), seed=0)
    found = set()
    for place in range(12):
        left, right = sides(sampler, [0], [1000], 100, (BET, place), singly=singly, by_call=True)
        assert sampler.last_sides == (len(left), len(right))
        assert max(left) < 500 < min(right)
        found.add(len(left))
    assert len(found) > 1


@pytest.mark.parametrize("mechanism", [noisy, Vectorised()])
def test_the_same_path_gives_the_same_runs_and_another_path_others(mechanism):
    sampler = Sampler(adapt(mechanism), seed=0)
    once, again = sides(sampler, [0], [1], 100, (BET, 1)), sides(sampler, [0], [1], 100, (BET, 1))
    other = sides(sampler, [0], [1], 100, (BET, 2))
    assert once == again
    assert not set(once[0]) & set(other[0])


@pytest.mark.parametrize("mechanism", [noisy, Vectorised()])
def test_both_sides_are_drawn_on_their_own_database(mechanism):
    left, right = sides(Sampler(adapt(mechanism), seed=0), [0], [1000], 200, (BET,))
    assert len(left) == len(right) == 200
    assert max(map(abs, left)) < 100  # each Laplace draw exceeds 100 with probability exp(−100)
    assert min(right) > 900


def test_blocks_are_drawn_when_they_are_asked_for():
    sampler = Sampler(adapt(noisy), seed=0)
    draw = sampler.draw([0], [1], 80, (BET,))
    next(draw)
    assert sampler.drawn == 8 + 2 * 10  # 8 runs check the generator; then one of eight blocks is drawn


def test_all_runs_are_counted_on_both_sides():
    sampler = Sampler(adapt(Vectorised()), seed=0)
    sides(sampler, [0], [1], 1000, (BET,))
    assert sampler.drawn == 8 + 2000


class Returning:
    def __init__(self, batch):
        self.batch = batch

    def __call__(self, database, rng):
        raise AssertionError

    def sample(self, database, size, rng):
        return self.batch(size)


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (np.arange, np.ndarray),
        (lambda n: np.zeros((n, 3)), np.ndarray),
        (lambda n: np.full(n, "text"), np.ndarray),
        (lambda n: ["a"] * n, list),
        (lambda n: tuple(range(n)), list),
        (lambda n: np.zeros((n, 2, 2)), list),
        (lambda n: np.array([None] * n), list),
        (lambda n: np.zeros(n, dtype=[("x", float), ("y", int)]), list),
    ],
)
def test_samplers_may_return_arrays_and_sequences(batch, expected):
    [runs] = Sampler(adapt(Returning(batch)), seed=0).draw([0], [1], 200, (BET,))
    assert type(runs.left) is type(runs.right) is expected
    assert len(runs.left) == len(runs.right) == 200


def test_structured_outputs_are_tuples():
    batch = lambda n: np.ones(n, dtype=[("x", float), ("y", int)])  # noqa: E731
    [runs] = Sampler(adapt(Returning(batch)), seed=0).draw([0], [1], 2, (BET,))
    assert runs.left == [(1.0, 1), (1.0, 1)]


@pytest.mark.parametrize(
    "batch",
    [
        lambda n: 0.5,
        lambda n: np.zeros(()),
        lambda n: np.zeros((3, n + 1)),
        lambda n: "x" * n,
        lambda n: [0] * (n + 1),
    ],
)
def test_a_sampler_that_returns_another_number_of_outputs_is_refused(batch):
    with pytest.raises(SubjectError, match=r"must return `size` outputs along its first axis"):
        list(Sampler(adapt(Returning(batch)), seed=0).draw([0], [1], 10, (BET,)))


def test_batches_of_different_width_are_not_padded():
    widths = iter(range(1, 1000))
    batch = lambda n: np.zeros((n, next(widths)))  # noqa: E731
    [runs] = Sampler(adapt(Returning(batch)), seed=0).draw([0], [1], 128, (BET,))
    assert len({output.shape for output in runs.left}) == 8  # one width for each half-batch


def test_a_sampler_that_reuses_its_array_is_copied():
    buffer = np.zeros(10**6)

    def batch(n):
        buffer[:] += 1
        return buffer[:n]

    [runs] = Sampler(adapt(Returning(batch)), seed=0).draw([0], [1], 128, (BET,))
    assert len(set(runs.left) | set(runs.right)) == 16


def test_objects_that_a_sampler_returns_again_are_copied():
    shared = [0]

    def batch(n):
        shared[0] += 1
        return [shared] * n

    [runs] = Sampler(adapt(Returning(batch)), seed=0).draw([0], [1], 128, (BET,))
    assert len({value for [value] in runs.left + runs.right}) == 16


def test_half_batches_come_in_an_order_that_coins_decide():
    """The left call is first in 60 to 140 of 200 blocks, except with probability 7e-9."""
    calls = []

    class Recording(Vectorised):
        def sample(self, database, size, rng):
            calls.append(database[0])
            return super().sample(database, size, rng)

    sampler = Sampler(adapt(Recording()), seed=0)
    for i in range(200):
        list(sampler.draw([0], [1], 5, (BET, i)))
    assert 60 <= calls[-400::2].count(0) <= 140


def test_a_failing_sampler_gives_way_to_single_calls():
    class Failing(Vectorised):
        def sample(self, database, size, rng):
            raise NotImplementedError

    sampler = Sampler(adapt(Failing()), seed=0)
    plain = Sampler(adapt(noisy), seed=0)
    assert sides(sampler, [0], [1], 10, (BET,)) == sides(plain, [0], [1], 10, (BET,))
    assert any("`sample` failed (NotImplementedError)" in note for note in sampler.notes)


def test_databases_are_converted_once_a_draw():
    converted = []
    subject = adapt(
        lambda database, rng: type(database).__name__, convert=lambda d: converted.append(d) or tuple(d)
    )
    left, _ = sides(Sampler(subject, seed=0), [0], [1], 100, (BET,))
    assert set(left) == {"tuple"}
    assert converted == [[0], [1]]


def test_coupled_runs_of_a_pair_share_a_generator_state_that_is_new_for_every_pair():
    sampler = Sampler(adapt(noisy), seed=0)
    left, right = sides(sampler, [0], [1000], 50, (EXPLORE,), coupled=True)
    np.testing.assert_allclose(np.subtract(right, left), 1000)
    assert len(set(left)) == 50


def test_runs_that_are_not_coupled_share_no_state():
    left, right = sides(Sampler(adapt(noisy), seed=0), [0], [0], 50, (EXPLORE,))
    assert not set(left) & set(right)


def test_coupled_runs_begin_with_equal_numbers_after_any_previous_pair():
    """In each pair the two sides begin with the same numbers."""

    def greedy(database, rng):
        first = rng.random()
        rng.random(database[0])
        return first

    left, right = sides(Sampler(adapt(greedy), seed=0), [5], [0], 20, (EXPLORE,), coupled=True)
    assert left == right
    assert len(set(left)) == 20


def test_either_side_of_coupled_pairs_may_come_first():
    """The left side is first in 60 to 140 of 200 pairs, except with probability 7e-9."""
    calls = []
    sampler = Sampler(adapt(lambda database, rng: calls.append(database[0])), seed=0)
    list(sampler.draw([0], [1], 200, (EXPLORE,), coupled=True))
    assert 60 <= calls[-400::2].count(0) <= 140
    assert all(
        {first, second} == {0, 1} for first, second in zip(calls[-400::2], calls[-399::2], strict=True)
    )


class Counting(Vectorised):
    """A subject whose single calls give answers larger by about 1,000 than `sample`."""

    def __call__(self, database, rng):
        return 1000 + noisy(database, rng)

    def sample(self, database, size, rng):
        return super().sample(database, size, rng)


@pytest.mark.parametrize("way", ["coupled", "singly"])
def test_coupled_and_single_runs_are_made_by_single_calls(way):
    """Answers above 500 come from single calls, because Laplace noise stays below 500."""
    sampler = Sampler(adapt(Counting()), seed=0)
    left, right = sides(sampler, [0], [1], 30, (EXPLORE,), **{way: True})
    assert len(left) == len(right) == 30
    assert min(left + right) > 500
    together, _ = sides(sampler, [0], [1], 30, (EXPLORE, 1))
    assert max(together) < 500


def test_single_runs_are_those_of_a_subject_without_a_sampler():
    single = sides(Sampler(adapt(Vectorised()), seed=7), [0], [1], 40, (BET,), singly=True)
    assert single == sides(Sampler(adapt(noisy), seed=7), [0], [1], 40, (BET,))


def test_single_runs_are_independent():
    left, right = sides(Sampler(adapt(Vectorised()), seed=0), [0], [0], 100, (BET,), singly=True)
    assert len({*left, *right}) == 200


@pytest.mark.parametrize("way", ["coupled", "singly", "by_call"])
def test_runs_drawn_in_each_way_are_repeated_by_their_path_and_counted(way):
    sampler = Sampler(adapt(noisy), seed=0)
    once = sides(sampler, [0], [1], 20, (EXPLORE, 1), **{way: True})
    assert sampler.drawn == 8 + 40
    assert once == sides(sampler, [0], [1], 20, (EXPLORE, 1), **{way: True})
    assert once != sides(sampler, [0], [1], 20, (EXPLORE, 2), **{way: True})
    assert once != sides(Sampler(adapt(noisy), seed=1), [0], [1], 20, (EXPLORE, 1), **{way: True})


@pytest.mark.parametrize("way", ["coupled", "singly", "by_call"])
def test_runs_drawn_in_each_way_are_the_same_for_any_number_of_workers(way):
    with Sampler(adapt(noisy), seed=0, jobs=2) as several:
        shared = sides(several, [0], [1], 64, (EXPLORE,), **{way: True})
    assert shared == sides(Sampler(adapt(noisy), seed=0), [0], [1], 64, (EXPLORE,), **{way: True})


def test_a_mechanism_that_hangs_in_a_coupled_run_leaves_the_other_runs_coupled():
    def hangs_on_two(database, rng):
        answer = rng.random()
        while database[0] == 2 and answer < 0.3:
            pass
        return answer

    sampler = Sampler(adapt(hangs_on_two), seed=0, run_time_limit=0.05)
    left, right = sides(sampler, [0], [2], 12, (EXPLORE,), coupled=True)
    finished = [(a, b) for a, b in zip(left, right, strict=True) if isinstance(b, float)]
    assert len(finished) == sum(a >= 0.3 for a in left)
    assert all(a == b for a, b in finished)
    assert 0 < len(finished) < 12


def test_batches_that_do_not_agree_are_joined_in_a_list():
    """A sampler may return longer vectors in one call than in another."""
    rows = joined([np.zeros((2, 2)), np.ones((1, 3))])
    assert [row.tolist() for row in rows] == [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0, 1.0]]
    numbers = joined([np.array([1, 2]), np.array([0.5])])
    assert numbers == [1, 2, 0.5]
    assert [type(number) for number in numbers] == [np.int64, np.int64, np.float64]


class BrokenSampler:
    """A subject whose `sample` fails, so its runs are single calls."""

    def __call__(self, database, rng):
        return sum(database) + rng.laplace()

    def sample(self, database, size, rng):
        raise RuntimeError("no runs at once")


def test_the_parts_of_a_block_are_those_of_single_calls_if_sample_fails():
    with Sampler(adapt(BrokenSampler()), seed=0) as sampler:
        for runs in sampler.draw([1], [0], 24, (1, 0), by_call=True):
            sides = [sum(side) for side in zip(*runs.parts, strict=True)]
            assert sides == [len(runs.left), len(runs.right)]
            assert len(runs.parts) > 1


@pytest.mark.parametrize("start", [0, 1])
def test_states_written_into_memory_give_the_draws_of_states_that_are_set(monkeypatch, start):
    """The half of a 64-bit number that a generator keeps is reset too.

    A draw of 32 bits uses one half of it.
    """

    def draws(database, rng):
        return rng.integers(9, dtype=np.uint32), rng.normal(), rng.laplace()

    def first_of(seed):
        call = loops.coupled(draws, np.random.default_rng(seed), start=start)
        return [call(None, None) for _ in range(1_200)]

    written = first_of(7)
    monkeypatch.setattr(loops, "pcg64_memory", lambda bits: None)
    assert first_of(7) == written
