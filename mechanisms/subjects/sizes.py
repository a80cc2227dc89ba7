"""One method for all subjects: the least number of records for which the subject claims its utility."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["StatedSize"]

_SIZES = ("size", "chunk")
"""Parameters that hold a size. When another accuracy is asked about, they are reset to their defaults."""


class StatedSize:
    """Gives a dataclass the method `sample_size(alpha=, beta=)`; the dataclass has to define `_needed`.

    Examples
    --------
    >>> from learners import PointLearner
    >>> learner = PointLearner(dimension=64)
    >>> learner.sample_size(), learner.sample_size(alpha=0.05, beta=0.01)
    (928, 2180)
    """

    accuracy: ClassVar[str] = "alpha"
    """The parameter that `alpha` stands for: a `tolerance` or `tau` in subjects that answer queries."""

    if TYPE_CHECKING:

        @property
        def _needed(self) -> int:
            """The number of records that the subject needs for its own accuracy and failure probability."""

    def sample_size(self, *, alpha: float | None = None, beta: float | None = None) -> int:
        """Return the least number of records for which the cited statement claims the utility.

        Parameters
        ----------
        alpha
            The accuracy, which replaces the subject's own `alpha`, `tolerance` or `tau`.
        beta
            The failure probability, which replaces the subject's own `beta`.

        Returns
        -------
        int
            The number of records (examples, entries or values) in one database. Parameters other than the
            accuracy and the failure probability stay as they are.

        Raises
        ------
        InvalidKind, InvalidValue
            A subject with such an accuracy cannot be made.
        """
        return self._needed if alpha is None and beta is None else self._at(alpha, beta).sample_size()

    def _at(self, alpha: float | None, beta: float | None) -> StatedSize:
        """Return the subject with another accuracy and the size that this accuracy needs."""
        named: Any = self
        asked = {self.accuracy: alpha, "beta": beta}
        told: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        told |= {field.name: field.default for field in fields(named) if field.name in _SIZES}
        made: StatedSize = replace(named, **told)
        return made
