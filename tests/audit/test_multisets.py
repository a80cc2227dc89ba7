"""Claims about laws that ignore the order of records are proved on multisets."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from audit import PureDP, Relation, Verdict, audit_privacy
from audit.databases.chosen import Databases
from audit.distributions import Finite
from audit.errors import SubjectError
from audit.verdict.multisets import multiset_pairs


@dataclass(frozen=True)
class NoisyMajority:
    """The majority of bits, returned with probability 0.7.

    If `weighted`, the first bit counts three times. The loss is ln(0.7/0.3) = 0.847.
    """

    weighted: bool = False
    leaking: bool = False
    symmetric: bool = True
    records = (0, 1)
    claim = PureDP(0.85)

    def _ones(self, database):
        weights = [3 if self.weighted and not place else 1 for place in range(len(database))]
        share = float(np.dot(weights, database)) / sum(weights)
        return 0.7 if share > 0.5 else 0.3

    def __call__(self, database, rng):
        return int(rng.random() < (1.0 if self.leaking else self._ones(database)))

    def distribution(self, database):
        return Finite([0, 1], [1.0 - self._ones(database), self._ones(database)])


def domain(records, sizes):
    return Databases(Relation.REPLACE_ONE, records=records, finite=True, sizes=sizes)


@pytest.mark.parametrize(("records", "size"), [("ab", 4), ("abc", 3), ("abcd", 2), ("abc", 1)])
def test_the_pairs_are_all_neighbours_up_to_their_order(records, size):
    expected = set()
    for left in product(range(len(records)), repeat=size):
        for place, new in product(range(size), range(len(records))):
            right = (*left[:place], new, *left[place + 1 :])
            both = tuple(sorted(left)), tuple(sorted(right))
            if both[0] != both[1]:
                expected.add(frozenset(both))
    pairs = multiset_pairs(domain(tuple(records), (size, size)))
    assert {frozenset(pair) for pair in pairs} == expected
    assert all(left != right for left, right in pairs)


def test_too_many_pairs_other_relations_and_endless_domains_are_left_to_samples():
    assert multiset_pairs(domain(tuple(range(512)), (20, 20))) is None
    assert multiset_pairs(domain((0, 1, 2, 3), (90, 90))) is None  # 129,766 laws for 753,480 pairs
    assert (
        multiset_pairs(Databases(Relation.ADD_OR_REMOVE_ONE, records=(0, 1), finite=True, sizes=(2, 2)))
        is None
    )
    assert multiset_pairs(Databases(Relation.REPLACE_ONE, records=(0, 1), sizes=(2, 2))) is None


def test_a_symmetric_subject_is_proved_even_if_it_has_too_many_lists():
    result = audit_privacy(NoisyMajority(), size=41, budget=20_000)  # 2^41 lists
    assert result.verdict is Verdict.PROVED
    assert result.epsilon_lower == pytest.approx(np.log(0.7 / 0.3))
    assert result.pairs_tried == 41
    assert "up to the order of the records" in result.family
    assert any("`symmetric`" in said for said in result.assumptions)
    assert audit_privacy(NoisyMajority(symmetric=False), size=41, budget=2_000).verdict is Verdict.NOT_REFUTED


def test_a_refutation_by_multisets_is_shown_on_lists():
    result = audit_privacy(NoisyMajority(), PureDP(0.8), size=41, budget=20_000)
    pairs = [([1] * 21 + [0] * 20, [1] * 20 + [0] * 21)]
    told = audit_privacy(NoisyMajority(), PureDP(0.8), size=41, pairs=pairs, budget=20_000)
    assert told.verdict is Verdict.REFUTED
    assert Relation.REPLACE_ONE.are_neighbours(told.witness.left, told.witness.right)
    assert result.verdict is not Verdict.PROVED


def test_a_false_declaration_of_symmetry_is_reported():
    with pytest.raises(
        SubjectError, match=r"is declared `symmetric`, but its law on .* changes when the records"
    ):
        audit_privacy(NoisyMajority(weighted=True), size=41, budget=20_000)


def test_code_that_is_not_its_law_is_an_error_on_multisets_too():
    assert audit_privacy(NoisyMajority(leaking=True), size=41, budget=20_000).verdict is Verdict.ERROR
