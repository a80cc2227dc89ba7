"""`ParityLearner` on multisets of examples, which exhaustive audits can cover."""

from __future__ import annotations

from collections import Counter
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import InvalidValue, positive_int
from learners.formulas import parities
from learners.parity.examples import BitExamples
from learners.parity.learner import ParityLearner
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from audit.claims import PureDP
    from audit.distributions import Finite

__all__ = ["Multisets", "ParityLearnerMultisets"]

Multiset = tuple[int, ...]


@dataclass(frozen=True)
class Multisets:
    """The relation of multisets that differ in one member.

    A database is a list of one multiset.

    Parameters
    ----------
    kinds
        The number of kinds of members. A multiset is a sorted tuple of numbers from 0 to kinds − 1.

    Examples
    --------
    >>> relation = Multisets(3)
    >>> relation.are_neighbours([(0, 0, 2)], [(0, 1, 2)]), relation.are_neighbours([(0, 0)], [(1, 1)])
    (True, False)
    >>> list(relation.neighbours([(0, 2)], None))
    [[(1, 2)], [(2, 2)], [(0, 0)], [(0, 1)]]
    """

    kinds: int
    name: ClassVar[str] = "replace-one-in-a-multiset"

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Return whether one member differs."""
        if not len(left) == len(right) == 1 or len(left[0]) != len(right[0]) or left[0] == right[0]:
            return False
        return (Counter(left[0]) - Counter(right[0])).total() == 1

    def neighbours(
        self, database: Sequence[Multiset], records: Any, rng: np.random.Generator | None = None
    ) -> Iterator[list[Multiset]]:
        """Yield all neighbours, or random ones without end if `rng` is given."""
        del records
        near = list(self._near(database[0]))
        if rng is None:
            yield from near
            return
        while near:
            yield near[int(rng.integers(len(near)))]

    def _near(self, members: Multiset) -> Iterator[list[Multiset]]:
        for old in dict.fromkeys(members):
            rest = list(members)
            rest.remove(old)
            for new in range(self.kinds):
                if new != old:
                    yield [tuple(sorted([*rest, new]))]


@dataclass(frozen=True)
class ParityLearnerMultisets(PlainParameters):
    """`ParityLearner` on all multisets of a given number of examples.

    Parameters
    ----------
    dimension, epsilon, tight
        As in `ParityLearner`.
    examples
        How many examples a multiset has.

    Raises
    ------
    InvalidValue
        As in `ParityLearner`.

    Guarantee
    ---------
    What holds for all pairs of these multisets holds for `ParityLearner` on all lists of this many examples.
    The learner takes each example with the same probability, independently. The space of solutions does not
    depend on the order. So the law of the answer depends only on the multiset. If two lists differ in one
    place, their multisets are equal or differ in one member.

    Examples
    --------
    >>> subject = ParityLearnerMultisets(dimension=2, epsilon=1.0, examples=10)
    >>> len(subject.records), subject.records[0]
    (19448, (0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    """

    dimension: int = 2
    epsilon: float = 1.0
    _: KW_ONLY
    tight: bool = False
    examples: int = 3

    name: ClassVar[str] = "parity-multisets"
    reference: ClassVar[str] = "K08 Lemma 3.2, K11 Lemma 4.2, all samples of a size"
    size: ClassVar[int] = 1
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _ = self.learner
        positive_int(self.examples, what=f"The `examples` of `{type(self).__name__}`")

    @classmethod
    def of(cls, learner: ParityLearner, *, examples: int) -> ParityLearnerMultisets:
        """Return this learner on all multisets of this many examples.

        Examples
        --------
        >>> subject = ParityLearnerMultisets.of(ParityLearner(dimension=2, epsilon=1.0), examples=10)
        >>> subject.family, len(subject.records)
        ('all lists of n = 10 examples with d = 2 that differ in one', 19448)
        """
        return cls(learner.dimension, learner.epsilon, tight=learner.tight, examples=examples)

    @property
    def family(self) -> str:
        """The name of the family of lists, with parameters.

        Examples
        --------
        >>> ParityLearnerMultisets(dimension=2, examples=5).family
        'all lists of n = 5 examples with d = 2 that differ in one'
        """
        return f"all lists of n = {self.examples} examples with d = {self.dimension} that differ in one"

    @property
    def learner(self) -> ParityLearner:
        """The learner on lists."""
        return ParityLearner(self.dimension, self.epsilon, tight=self.tight)

    @property
    def claim(self) -> PureDP:
        """The privacy claimed."""
        return self.learner.claim

    @property
    def relation(self) -> Multisets:
        """The relation in which one member is replaced."""
        return Multisets(2 ** (self.dimension + 1))

    @property
    def records(self) -> list[Multiset]:
        """Every multiset, as a sorted tuple of kinds.

        (x, y) is of kind 2·x + y, with the first bit of x the lightest.
        """
        return list(combinations_with_replacement(range(2 ** (self.dimension + 1)), self.examples))

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a parity as bits, or "⊥"."""
        return self.learner(self._listed(database), rng)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the answers of `size` runs."""
        return self.learner.sample(self._listed(database), size, rng)

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law of the answer."""
        return self.learner.distribution(self._listed(database))

    def _listed(self, database: Any) -> BitExamples:
        if len(database) != 1:
            raise InvalidValue(f"A database of multisets must hold one; got {len(database)}.")
        kinds = np.array(database[0], dtype=np.int64)
        bits = kinds[:, None] >> np.arange(1, self.dimension + 1) & 1
        return BitExamples(bits.astype(np.bool_), (kinds & 1).astype(np.bool_))


def _on_all(dimension: int, examples: int, *, tight: bool) -> Entry:
    """Return the entry of `ParityLearner` on all samples of one size."""
    kind = "tight A" if tight else "A"
    return Entry(
        f"parity-d{dimension}-n{examples}",
        partial(ParityLearnerMultisets, dimension, examples=examples, tight=tight),
        reference=ParityLearner.reference,
        summary=f"{kind}, d = {dimension}, all samples of {examples}, as multisets",
        formulas=parities.multisets,
    )


# `benchmarks/parity.py` goes further

entries = (
    _on_all(1, 12, tight=True),
    _on_all(2, 5, tight=False),
    _on_all(3, 2, tight=True),
)
