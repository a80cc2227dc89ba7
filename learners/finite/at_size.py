"""A learner at its stated sample size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.relations import Relation
from learners.finite.listed import ListedExamples, listed
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from audit.claims import PureDP

__all__ = ["AtSize", "at_size"]


@dataclass(frozen=True, kw_only=True)
class AtSize(PlainParameters):
    """A learner at its stated sample size, without its exact law.

    Parameters
    ----------
    part
        The learner.
    calm, odd
        Two records that move the learner's answers in opposite directions.
    share
        The share of odd records at which one more odd record changes the output most.
    audited
        The number of records in the suggested pairs; None: `sample_size`.
    places
        The positions of the replaced records, in parts that different steps of the learner read.
    labels
        The two labels of an example; None if records have none.

    Examples
    --------
    >>> from learners.generic.agnostic import GenericLearner
    >>> learner = AtSize(part=GenericLearner(), calm=(0, 1), odd=(1, 1))
    >>> left, right = learner.suggested_pairs()[0]
    >>> learner.name, len(left), learner.relation.are_neighbours(left, right)
    ('generic-learner-at-size', 2873, True)
    """

    part: Any
    calm: Any
    odd: Any
    share: float = 0.5
    audited: int | None = None
    places: tuple[int, ...] = (0, -1)
    labels: tuple[Any, Any] | None = (0, 1)

    @property
    def name(self) -> str:
        """The learner's name with the ending "-at-size"."""
        return f"{self.part.name}-at-size"

    @property
    def reference(self) -> str:
        """The learner's reference."""
        return str(self.part.reference)

    @property
    def parameters(self) -> dict[str, Any]:
        """The learner's parameters."""
        return dict(self.part.parameters)

    @property
    def claim(self) -> PureDP:
        """The learner's privacy claim."""
        claim: PureDP = self.part.claim
        return claim

    @property
    def relation(self) -> Relation:
        """The learner's neighbouring relation."""
        relation: Relation = self.part.relation
        return relation

    @property
    def aligned(self) -> bool:
        """Whether run i uses the same noise on every database."""
        return bool(getattr(self.part, "aligned", False))

    @property
    def utility_claim(self) -> Any:
        """The learner's utility claim."""
        return self.part.utility_claim

    @property
    def sample_size(self) -> Callable[..., int]:
        """The learner's method `sample_size`."""
        sample_size: Callable[..., int] = self.part.sample_size
        return sample_size

    @property
    def sample(self) -> Callable[..., Any]:
        """The learner's method `sample`, or `AttributeError` if there is none."""
        sample: Callable[..., Any] = self.part.sample
        return sample

    def problems(self) -> list[Any]:
        """Return the learner's hard problems."""
        return list(self.part.problems())

    def vary(self, problem: Any, rng: np.random.Generator) -> Any:
        """Return a problem near the given one."""
        return self.part.vary(problem, rng)

    @property
    def random(self) -> Callable[..., Any]:
        """The learner's method `random`, or `AttributeError` if there is none."""
        random: Callable[..., Any] = self.part.random
        return random

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one output of the learner."""
        sample = getattr(self.part, "sample", None)
        return self.part(database, rng) if sample is None else sample(database, 1, rng)[0]

    def suggested_pairs(self) -> list[tuple[ListedExamples, ListedExamples]]:
        """Return neighbours of calm and odd records and of drawn samples."""
        return [*self._mixed(), *self._consistent(), *self._inconsistent()]

    def _mixed(self) -> Iterator[tuple[ListedExamples, ListedExamples]]:
        size, records = self.audited or self.sample_size(), (self.calm, self.odd)
        steps = np.floor(np.arange(size + 1) * self.share)
        even = (steps[1:] > steps[:-1]).astype(np.intp)
        for chosen in (even, np.zeros(size, dtype=np.intp), np.ones(size, dtype=np.intp)):
            for place in self.places:
                other = chosen.copy()
                other[place] = 1 - other[place]
                yield ListedExamples(records, chosen), ListedExamples(records, other)

    def _consistent(self) -> Iterator[tuple[ListedExamples, ListedExamples]]:
        sample = self._drawn()
        for place in self.places:
            changes = self._flipped(sample[place])
            if self.relation is not Relation.REPLACE_LABEL:
                changes += [self.calm, self.odd]
            for record in changes:
                if record != sample[place]:
                    yield sample, _replaced(sample, place, record)

    def _inconsistent(self) -> Iterator[tuple[ListedExamples, ListedExamples]]:
        """Yield samples with random labels that differ in one label."""
        if self.labels is None:
            return
        sample = self._drawn()
        places: dict[Any, int] = {}
        for x, _ in sample.records:
            places.setdefault(x, len(places))
        records = tuple((x, label) for x in places for label in self.labels)
        coins = np.random.default_rng(1).integers(0, 2, len(sample))
        chosen = 2 * np.array([places[x] for x, _ in sample.records])[sample.chosen] + coins
        other = chosen.copy()
        other[self.places[0]] ^= 1
        yield ListedExamples(records, chosen), ListedExamples(records, other)

    def _drawn(self) -> ListedExamples:
        """Return a sample of the first problem."""
        sample = listed(self.problems()[0].draw(np.random.default_rng(0))[: self.audited])
        assert isinstance(sample, ListedExamples)  # every slice is one
        return sample

    def _flipped(self, record: Any) -> list[Any]:
        """Return the example with its label flipped, in a list."""
        if self.labels is None:
            return []
        x, y = record
        return [(x, self.labels[1 - self.labels.index(y)])]


def at_size(
    kind: Any, *, calm: Any, odd: Any, placed: Mapping[str, Any] | None = None, **settings: Any
) -> AtSize:
    """Return `AtSize` for the learner `kind(**settings)`.

    Examples
    --------
    >>> from learners.generic.agnostic import GenericLearner
    >>> print(at_size(GenericLearner, calm=(0, 1), odd=(1, 1), epsilon=0.5).claim)
    PureDP(epsilon=0.5)
    """
    return AtSize(part=kind(**settings), calm=calm, odd=odd, **(placed or {}))


def _replaced(sample: ListedExamples, place: int, record: Any) -> ListedExamples:
    """Return the sample with another record at a place."""
    records = (*sample.records, record)
    chosen = sample.chosen.copy()
    known = sample.records.index(record) if record in sample.records else len(records) - 1
    chosen[place] = known
    return ListedExamples(sample.records if known < len(sample.records) else records, chosen)
