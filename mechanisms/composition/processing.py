"""Mechanisms whose output is processed, or whose law is hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.subject.subject import Subject, adapt
from mechanisms.composition.accounting import claimed
from mechanisms.composition.combined import drawn, law_of, listed, suggested
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from audit.claims import PrivacyClaim
    from audit.distributions import Finite

__all__ = ["PostProcessed", "Undeclared"]


@dataclass(frozen=True, kw_only=True)
class Undeclared(PlainParameters):
    """A mechanism without its declared law, which an audit must therefore run.

    Parameters
    ----------
    part
        A mechanism that claims privacy. This mechanism has the same parameters.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> hidden = Undeclared(part=RandomizedResponse())
    >>> hidden.name, hidden.claim == RandomizedResponse().claim, hasattr(hidden, "distribution")
    ('randomized-response-by-runs', True, False)
    """

    part: Any

    @property
    def name(self) -> str:
        """The name of the part, marked as audited by runs."""
        return f"{self._subject.name}-by-runs"

    @property
    def reference(self) -> str | None:
        """The reference of the part."""
        return self._subject.reference

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the part."""
        return dict(self._subject.parameters)

    @property
    def claim(self) -> PrivacyClaim:
        """The privacy claimed, which is that of the part."""
        return claimed(self._subject)

    @property
    def relation(self) -> Any:
        """The relation of the part."""
        return self._subject.relation

    @property
    def records(self) -> Any:
        """The records of the part."""
        return self._subject.records

    @property
    def size(self) -> Any:
        """The size of the part."""
        return self._subject.size

    @property
    def aligned(self) -> bool:
        """Whether run i uses the generator in the same way on every database."""
        return self._subject.aligned

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one output."""
        return self._subject.call(database, rng)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return `size` outputs."""
        return drawn(self._subject, database, size, rng=rng)

    def suggested_pairs(self) -> list[tuple[Any, Any]]:
        """Return the pairs of databases that the part suggests."""
        return suggested(self._subject)

    @property
    def _subject(self) -> Subject:
        return adapt(self.part)


@dataclass(frozen=True, kw_only=True)
class PostProcessed(Undeclared):
    """A mechanism whose output is a function of another mechanism's output.

    Parameters
    ----------
    part
        A mechanism that claims privacy.
    function
        A deterministic function of the output alone; it must not use the database.

    Guarantee
    ---------
    The claim of the part holds (K11 Claim 2.2). Every event about the function's value is an event about the
    part's output.

    Examples
    --------
    >>> from mechanisms import GeometricMechanism, RandomizedResponse
    >>> flipped = PostProcessed(part=RandomizedResponse(), function=lambda answer: 1 - answer)
    >>> flipped.distribution([1]).pmf(0) == RandomizedResponse().distribution([1]).pmf(1)
    True
    """

    function: Callable[[Any], Any]

    reference_of_rule: ClassVar[str] = "K11 Claim 2.2"

    @property
    def name(self) -> str:
        """The name of the part, marked as processed."""
        return f"{self._subject.name}-post-processed"

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the value of the function on one output of the part."""
        return self.function(self._subject.call(database, rng))

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the values of the function on `size` outputs of the part."""
        return [self.function(output) for output in listed(drawn(self._subject, database, size, rng=rng))]

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law, or None unless the part's law is finite."""
        from audit.distributions import Finite

        law = law_of(self._subject, database)
        return law.map(self.function) if isinstance(law, Finite) else None
