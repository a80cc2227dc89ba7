"""Local randomizers given by the densities of their answers, such as R_g."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from audit.errors import InvalidKind, InvalidValue
from mechanisms.local.randomizers import cost_of, drawn_for, transition
from mechanisms.queries.simulations.transparent import TableRandomizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.claims import PureDP
    from audit.relations import Relation

__all__ = ["DensityRandomizer", "JointDensities", "Simulated", "as_simulated", "check_randomizer"]


@dataclass(frozen=True, eq=False)
class DensityRandomizer:
    """A local randomizer as a simulation needs it, by draws and densities.

    Densities replace the probabilities of K11 Claim 5.9, which are 0 for continuous answers.

    Parameters
    ----------
    randomizer
        A local randomizer whose `distribution([record])` has a `pdf` or, for countably many answers, a `pmf`.
        A method `densities(records, answer)` for all records is called instead, if there is one.

    Raises
    ------
    InvalidKind
        `randomizer` has no such law.

    Guarantee
    ---------
    `epsilon` is what the randomizer claims. A query that needs a ratio of densities outside [e^(−epsilon),
    e^epsilon] is refused.

    Examples
    --------
    >>> from mechanisms.local import LocalLaplace
    >>> noisy = DensityRandomizer(LocalLaplace(epsilon=1.0))
    >>> noisy.likelihood([1, -1], 0.5).round(6).tolist()
    [0.1947, 0.118092]
    """

    randomizer: Any
    name: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", getattr(self.randomizer, "name", type(self.randomizer).__name__))
        _ = self.epsilon
        if not callable(getattr(self.randomizer, "distribution", None)):
            raise InvalidKind(
                "A randomizer must be transparent to be simulated: "
                f"`{type(self.randomizer).__name__}` has no `distribution`."
            )

    @property
    def epsilon(self) -> float:
        """The loss that is claimed."""
        return cost_of(self.randomizer)

    @property
    def claimed(self) -> float:
        """The loss that is claimed."""
        return self.epsilon

    @property
    def claim(self) -> PureDP:
        """The privacy claimed."""
        claim: PureDP = self.randomizer.claim
        return claim

    @property
    def relation(self) -> Relation:
        """The relation of the claim, `Relation.LOCAL`."""
        relation: Relation = self.randomizer.relation
        return relation

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one answer of the only record."""
        return self.randomizer(database, rng)

    def draw(self, record: Any, size: int, rng: np.random.Generator) -> NDArray[np.object_]:
        """Return `size` answers of a record, with vectors as tuples."""
        from mechanisms.local.grouping import Grouped

        drawn = drawn_for(self.randomizer, Grouped([record] * size), rng=rng)
        listed = drawn.tolist() if isinstance(drawn, np.ndarray) else list(drawn)
        return _objects([tuple(answer) if isinstance(answer, list) else answer for answer in listed])

    def likelihood(self, records: Any, place: Any) -> NDArray[np.float64]:
        """Return the density of an answer for each record, of shape (records,)."""
        told = getattr(self.randomizer, "densities", None)
        if callable(told):
            return np.asarray(told(records, place), dtype=np.float64)
        return np.array([transition(self.randomizer, record, output=place) for record in records])

    def answer(self, place: Any) -> Any:
        """Return a drawn answer in the form that the randomizer returns."""
        return np.array(place) if isinstance(place, tuple) else place

    def row(self, _record: Any) -> NoReturn:
        """Raise an error, because a row needs finitely many answers."""
        raise InvalidValue(
            f"Laws and exact distances of a simulation must be of finitely many answers; `{self.name}` has "
            "infinitely many: `distance_bound` holds for it."
        )

    @cached_property
    def outcomes(self) -> NoReturn:
        """Raise an error, because a list of outcomes needs finitely many answers."""
        self.row(None)


class JointDensities(DensityRandomizer):
    """A randomizer that answers with several randomizers' independent answers.

    Parameters
    ----------
    parts
        The randomizers, as tables or by densities, at least one.

    Examples
    --------
    >>> from mechanisms.local import LocalLaplace
    >>> twice = JointDensities([DensityRandomizer(LocalLaplace(epsilon=0.5))] * 2)
    >>> twice.epsilon, twice.likelihood([0], (0.0, 0.0)).tolist()
    (1.0, [0.015625])
    """

    def __init__(self, parts: Sequence[Simulated]) -> None:
        object.__setattr__(self, "parts", tuple(parts))
        object.__setattr__(self, "name", "joint-randomizer")

    parts: tuple[Simulated, ...]

    @property
    def epsilon(self) -> float:
        """The sum of the losses of the parts."""
        return math.fsum(part.epsilon for part in self.parts)

    def draw(self, record: Any, size: int, rng: np.random.Generator) -> NDArray[np.object_]:
        """Return `size` answers of a record, as tuples."""
        drawn = [part.draw(record, size, rng).tolist() for part in self.parts]
        return _objects(list(zip(*drawn, strict=True)))

    def likelihood(self, records: Any, place: Any) -> NDArray[np.float64]:
        """Return the density of the answers for each record, of shape (records,)."""
        joint = np.ones(len(records))
        for part, answer in zip(self.parts, place, strict=True):
            joint = joint * part.likelihood(records, answer)
        return joint

    def answer(self, place: Any) -> Any:
        """Return drawn answers in the forms that the parts return."""
        return tuple(part.answer(answer) for part, answer in zip(self.parts, place, strict=True))


Simulated: TypeAlias = "TableRandomizer | DensityRandomizer"
"""The randomizers that a simulation can run."""


def _objects(answers: list[Any]) -> NDArray[np.object_]:
    return np.fromiter(answers, dtype=object, count=len(answers))


def as_simulated(randomizer: Any, records: Sequence[Any]) -> Simulated:
    """Return a randomizer as a table if its law is finite, else by densities.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.local import LocalLaplace
    >>> [type(as_simulated(one, [0, 1])).__name__ for one in (RandomizedResponse(), LocalLaplace())]
    ['TableRandomizer', 'DensityRandomizer']
    """
    from audit.distributions import Finite

    if isinstance(randomizer, TableRandomizer | DensityRandomizer):
        return randomizer
    dense = DensityRandomizer(randomizer)
    law = randomizer.distribution([records[0]])
    if law is None:
        raise InvalidKind(f"A randomizer must tell its law to be simulated; `{dense.name}` tells none.")
    return TableRandomizer.from_subject(randomizer, records) if isinstance(law, Finite) else dense


def check_randomizer(randomizer: Any, *, owner: str) -> None:
    """Refuse a randomizer that a simulation cannot run.

    Examples
    --------
    >>> check_randomizer("R", owner="RandomizerSimulation")
    Traceback (most recent call last):
    audit.errors.InvalidKind: A randomizer of `RandomizerSimulation` must be a `TableRandomizer` or a
    `DensityRandomizer`; got 'R'.
    """
    if not isinstance(randomizer, TableRandomizer | DensityRandomizer):
        raise InvalidKind(
            f"A randomizer of `{owner}` must be a `TableRandomizer` or a `DensityRandomizer`; "
            f"got {randomizer!r:.60}."
        )
