"""`assert_private` is exact, works inside `@given`, and names what fails."""

import math

import pytest
from hypothesis import HealthCheck, given, settings

from audit import ApproximateDP, PureDP, Relation, assert_private, strategies
from audit.distributions import Density, Finite
from audit.errors import AuditError, InvalidValue, SubjectError


class Count:
    """A noisy count, which meets its claim with equality if `factor` is 1."""

    relation = Relation.ADD_OR_REMOVE_ONE

    def __init__(self, factor=1.0):
        self.factor = factor
        self.claim = PureDP(epsilon=1.0)

    def __call__(self, database, rng):
        return len(database) + self.factor * rng.laplace()

    def distribution(self, database):
        return Density.laplace(float(len(database)), self.factor)


NEIGHBOURS = strategies.neighbours(Count.relation, records=["a", "b"], size=(0, 4))
FEW = settings(max_examples=30, database=None, deadline=None, suppress_health_check=list(HealthCheck))


def test_a_claim_that_holds_with_equality_is_kept_by_any_neighbours():
    @FEW
    @given(NEIGHBOURS)
    def check(pair):
        assert_private(Count(), pair)

    check()


def test_a_claim_missed_by_a_little_fails_on_the_simplest_pair_with_event_probabilities_and_allowance():
    @FEW
    @given(NEIGHBOURS)
    def check(pair):
        assert_private(Count(0.99), pair)

    with pytest.raises(AssertionError) as caught:
        check()
    told = str(caught.value)
    assert told.startswith('Count breaks PureDP(epsilon=1): the event "the output is ')
    assert "on [] and" in told
    assert "on ['a']" in told
    assert "\n" not in told


def test_the_message_has_the_exact_numbers():
    class Response:
        def __call__(self, database, rng):
            raise AssertionError

        def distribution(self, database):
            return Finite([database[0], 1 - database[0]], [0.75, 0.25])

    assert_private(Response(), ([0], [1]), PureDP(math.log(3) + 1e-6))
    with pytest.raises(AssertionError, match=r"probability 0\.75 on \[\d\] and 0\.25 on .*e\^ε·q = 0\.68\."):
        assert_private(Response(), ([0], [1]), PureDP(1.0))
    assert_private(Response(), ([0], [1]), ApproximateDP(1.0, 0.75 - math.e * 0.25))
    with pytest.raises(AssertionError, match=r"breaks ApproximateDP\(epsilon=1, delta=0.05\).* = 0\.73\."):
        assert_private(Response(), ([0], [1]), ApproximateDP(1.0, 0.05))


@pytest.mark.parametrize("pair", [([0], [1]), ([1], [0])])
def test_each_probability_is_reported_with_its_own_database(pair):
    class Leak:
        def __call__(self, database, rng):
            raise AssertionError

        def distribution(self, database):
            return Finite([0, 1], [0.5, 0.5]) if database == [1] else Finite([0], [1.0])

    words = r'"the output is 1" has probability 0\.5 on \[1\] and 0 on \[0\]; .* = 0\.$'
    with pytest.raises(AssertionError, match=words):
        assert_private(Leak(), pair, PureDP(1.0))


def test_a_given_claim_may_cover_distant_databases_but_the_subjects_own_may_not():
    far = (["a"] * 3, [])
    assert_private(Count(), far, PureDP(1.0).group(3))
    with pytest.raises(AssertionError):
        assert_private(Count(), far, PureDP(2.99))
    with pytest.raises(InvalidValue, match="not neighbours under add-or-remove-one"):
        assert_private(Count(), far)


def no_law(database, rng):
    raise AssertionError


class Claimless(Count):
    claim = property(lambda self: None, lambda self, value: None)


@pytest.mark.parametrize(
    ("subject", "pair", "error", "words"),
    [
        (
            no_law,
            ([], ["a"]),
            SubjectError,
            r"no_law declares no law: .*`distribution\(database\)`.*`audit_privacy`",
        ),
        (
            Claimless(),
            ([], ["a"]),
            InvalidValue,
            r"declares no claim; give one, such as `PureDP\(epsilon=1\.0\)`",
        ),
        (Count(), [], InvalidValue, r"`pair` must be two databases \(left, right\); got \[\]"),
    ],
)
def test_what_cannot_be_asserted_raises_one_clear_error(subject, pair, error, words):
    with pytest.raises(error, match=words) as caught:
        assert_private(subject, pair)
    assert isinstance(caught.value, AuditError)
    assert "\n" not in str(caught.value)


def test_a_law_that_is_missing_for_these_databases_is_reported():
    class Partly(Count):
        def distribution(self, database):
            return super().distribution(database) if database else None

    with pytest.raises(SubjectError, match="for some databases only"):
        assert_private(Partly(), ([], ["a"]))
