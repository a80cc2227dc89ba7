"""What the sanitizers' entries of the catalogue compare: pairs that tell, and flawed twins they refute."""

import pytest

from audit.exact import compare_pairs
from learners.sanitizers.catalogue import entries, swaps
from learners.sanitizers.tables import CountTable

ENTRIES = {entry.name: entry for entry in entries()}
EXACT = [
    name
    for name, entry in ENTRIES.items()
    if "pairs" in entry.options and entry.factory().distribution(entry.options["pairs"][0][0]) is not None
]


def found(name):
    subject = ENTRIES[name].factory()
    return compare_pairs(ENTRIES[name].options["pairs"], subject.distribution, subject.claim)


@pytest.mark.parametrize("name", EXACT)
def test_an_exact_entry_compares_pairs_that_tell_and_decides_as_expected(name):
    finding = found(name)
    assert finding.epsilon > 0.1
    assert finding.over == (ENTRIES[name].expected == "refuted")
    assert finding.within != finding.over


@pytest.mark.parametrize("name", ["point-sanitizer", "point-sanitizer-proper", "interval-sanitizer"])
def test_an_exact_entry_over_one_bit_compares_every_pair_of_neighbouring_multisets(name):
    pairs = ENTRIES[name].options["pairs"]
    size = ENTRIES[name].factory().size
    assert {(sum(left), sum(right)) for left, right in pairs} == {(n, n - 1) for n in range(1, size + 1)}
    assert all(len(left) == len(right) == size for left, right in pairs)


def test_few_of_the_pairs_may_miss_what_all_show():
    subject = ENTRIES["point-sanitizer-proper"].factory()
    few = compare_pairs(swaps(0, 1, size=85, many=3), subject.distribution, subject.claim)
    assert few.epsilon < 0.5 * found("point-sanitizer-proper").epsilon


def test_a_listed_law_is_the_sum_over_all_vectors_of_counts():
    def largest(counts):
        return max(counts)

    first, second = [0.2, 0.3, 0.5], [0.6, 0.3, 0.1]
    expected = {0: 0.2 * 0.6, 1: 0.2 * 0.3 + 0.3 * 0.6 + 0.3 * 0.3}
    expected[2] = 1.0 - sum(expected.values())
    law = CountTable.of(largest, range(3), length=2).law([first, second])
    assert law == pytest.approx(expected, rel=1e-12)
