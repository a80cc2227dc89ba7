"""Local randomizers, their costs, transition laws and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from audit.claims import PureDP
from audit.errors import InvalidKind, InvalidValue
from audit.relations import Relation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mechanisms.local.grouping import Grouped

__all__ = ["LocalRandomizer", "Transparent", "cost_of", "drawn_for", "transition", "transition_matrix"]


@runtime_checkable
class LocalRandomizer(Protocol):
    """A mechanism on one record that is private in the local model.

    This is K11 Definition 5.1. Nothing has to be inherited. The `relation` is Relation.LOCAL and the `claim`
    a `PureDP`. An optional `sample(database, size, rng)` returns many answers of one entry. An optional
    `respond(entries, rng)` returns one answer of each entry.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> isinstance(RandomizedResponse(), LocalRandomizer)
    True
    """

    @property
    def claim(self) -> Any:
        """The privacy of the entry."""

    @property
    def relation(self) -> Any:
        """The relation of the claim, which is `Relation.LOCAL`."""

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one answer of the only record."""


@runtime_checkable
class Transparent(LocalRandomizer, Protocol):
    """A local randomizer with computable probabilities (K11 Definition 5.13).

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> isinstance(RandomizedResponse(), Transparent)
    True
    """

    def distribution(self, database: Any) -> Any:
        """Return the exact law of the answer of a database with one record."""


def cost_of(randomizer: Any) -> float:
    """Return the epsilon that one answer of a local randomizer costs its entry.

    Raises
    ------
    InvalidKind
        The randomizer is a class, cannot be called, or lacks `claim` or `relation`.
    InvalidValue
        Its claim is about a relation other than LOCAL, or is not pure.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> cost_of(RandomizedResponse(epsilon=0.5))
    0.5
    """
    # isinstance(…, LocalRandomizer) checks the same, but takes a hundred times as long
    claim, relation = getattr(randomizer, "claim", None), getattr(randomizer, "relation", None)
    if isinstance(randomizer, type) or claim is None or relation is None or not callable(randomizer):
        raise InvalidKind(
            "A local randomizer must be a subject with `claim`, `relation` and a call (database, rng); "
            f"got {randomizer!r:.60}."
        )
    if relation is not Relation.LOCAL:
        raise InvalidValue(
            f"A local randomizer must claim its privacy for Relation.LOCAL; `{type(randomizer).__name__}` "
            f"claims for {relation!r:.40}."
        )
    if not isinstance(claim, PureDP):
        raise InvalidValue(
            f"A local randomizer must claim a PureDP; `{type(randomizer).__name__}` claims {claim!s:.60}."
        )
    return claim.epsilon


def transition(randomizer: Transparent, record: Any, *, output: Any) -> float:
    """Return Pr[R(record) = output], or the density for continuous answers.

    K11 Definition 5.1 and Claim 5.9 bound the probabilities of single outcomes. For continuous answers
    densities take their place.

    Examples
    --------
    >>> from mechanisms import KaryRandomizedResponse
    >>> import math
    >>> round(transition(KaryRandomizedResponse(epsilon=math.log(2), categories=3), 1, output=1), 12)
    0.5
    """
    law: Any = _law(randomizer, record)
    return float(
        law.pmf(output) if hasattr(law, "pmf") and not hasattr(law, "pdf") else _density(law, output)
    )


def transition_matrix(
    randomizer: Transparent, records: Sequence[Any]
) -> tuple[list[Any], NDArray[np.float64]]:
    """Return the possible answers and their probabilities for each record.

    The matrix of Pr[R(u) = w] for records u and answers w has shape (records, answers).

    Raises
    ------
    InvalidKind
        The randomizer has infinitely many answers.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> answers, matrix = transition_matrix(RandomizedResponse(), [0, 1])
    >>> answers, (3 * matrix).round(9).tolist()
    ([0, 1], [[2.0, 1.0], [1.0, 2.0]])
    """
    from audit.distributions import Finite

    laws = [_law(randomizer, record) for record in records]
    finite = [law for law in laws if isinstance(law, Finite)]
    if len(finite) < len(laws) or not laws:
        raise InvalidKind(f"A transition matrix needs finitely many answers; got {laws[:1]!r:.60}.")
    answers = [finite[0].outcome(place) for place in range(len(finite[0].outcomes))]
    for law in finite[1:]:
        answers += [law.outcome(k) for k in range(len(law.outcomes)) if law.outcome(k) not in answers]
    return answers, np.array([[law.pmf(answer) for answer in answers] for law in finite])


def drawn_for(randomizer: Any, entries: Grouped, *, rng: np.random.Generator) -> Any:
    """Return one independent answer of each entry.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.local.grouping import Grouped
    >>> drawn_for(RandomizedResponse(epsilon=800.0), Grouped([1, 0, 1]), rng=np.random.default_rng(0))
    array([1, 0, 1])
    """
    respond = getattr(randomizer, "respond", None)
    if callable(respond):
        return respond(entries.entries, rng)
    parts = [_answers_of(randomizer, record, len(places), rng) for record, places in entries.groups]
    return entries.scattered(parts)


def _answers_of(randomizer: Any, record: Any, count: int, rng: np.random.Generator) -> Any:
    sample = getattr(randomizer, "sample", None)
    if callable(sample):
        return sample([record], count, rng)
    return [randomizer([record], rng) for _ in range(count)]


def _law(randomizer: Any, record: Any) -> Any:
    law = getattr(randomizer, "distribution", None)
    found = law([record]) if callable(law) else None
    if found is None:
        raise InvalidKind(f"`{type(randomizer).__name__}` is not transparent: it has no `distribution`.")
    return found


def _density(law: Any, output: Any) -> float:
    atom = float(law.pmf(output)) if hasattr(law, "pmf") else 0.0
    return atom if atom > 0.0 else float(law.pdf(output))
