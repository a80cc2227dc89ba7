"""The least number of records for which a mechanism claims its utility."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["StatedSize"]

_SIZES = ("size", "chunk")
"""Parameters that are reset to their defaults for another accuracy."""


class StatedSize:
    """Gives a dataclass the method `sample_size(alpha=, beta=)`.

    The dataclass has to define `_needed`.

    Examples
    --------
    >>> from learners import PointLearner
    >>> learner = PointLearner(dimension=64)
    >>> learner.sample_size(), learner.sample_size(alpha=0.05, beta=0.01)
    (928, 2180)
    """

    accuracy: ClassVar[str] = "alpha"
    """The parameter that `alpha` stands for, such as `tolerance` or `tau`."""

    if TYPE_CHECKING:

        @property
        def _needed(self) -> int:
            """The number of records for the mechanism's own accuracy and failure probability."""

    def sample_size(self, *, alpha: float | None = None, beta: float | None = None) -> int:
        """Return the least number of records for which the utility is claimed.

        Parameters
        ----------
        alpha
            The accuracy. Default: the mechanism's own `alpha`, `tolerance` or `tau`.
        beta
            The failure probability. Default: the mechanism's own `beta`.

        Returns
        -------
        int
            The number of records in one database. Other parameters stay as they are.

        Raises
        ------
        InvalidKind, InvalidValue
            A mechanism with such an accuracy cannot be made.
        """
        return self._needed if alpha is None and beta is None else self._at(alpha, beta).sample_size()

    def _at(self, alpha: float | None, beta: float | None) -> StatedSize:
        """Return the mechanism with another accuracy and the size that this needs."""
        named: Any = self
        asked = {self.accuracy: alpha, "beta": beta}
        told: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        told |= {field.name: field.default for field in fields(named) if field.name in _SIZES}
        made: StatedSize = replace(named, **told)
        return made
