"""The base class of mechanisms on a vector of answers to queries."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.errors import InvalidValue, positive_int
from audit.relations import Relation
from mechanisms.subjects.answers import floats
from mechanisms.subjects.claimed import ClaimsPure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["OnQueryAnswers"]


@dataclass(frozen=True, kw_only=True)
class OnQueryAnswers(ClaimsPure):
    """A mechanism whose database is the vector of exact answers.

    Between neighbours every answer changes by at most 1, up or down. A subclass defines `sample`.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    size
        Number of queries.
    records
        The possible answers, or None for any number.

    Examples
    --------
    >>> from mechanisms.comparison.noisy_max import LaplaceNoisyMax
    >>> LaplaceNoisyMax(size=2).answers([3, 1.5])
    array([3. , 1.5])
    """

    size: int = 5
    records: Sequence[float] | None = None

    relation: ClassVar[Relation] = Relation.QUERY_ANSWERS
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_int(self.size, what=f"The `size` of `{type(self).__name__}`")

    def answers(self, database: Any) -> NDArray[np.float64]:
        """Return the exact answers as an array.

        Raises
        ------
        InvalidValue
            The answers are not a vector of finite numbers.
        """
        answers = floats(database, what=f"The answers given to `{type(self).__name__}`")
        if answers.ndim != 1 or not answers.size or not np.isfinite(answers).all():
            raise InvalidValue(
                f"The database of `{type(self).__name__}` must be a vector of finite answers, at least one; "
                f"got {database!r:.60}."
            )
        return answers

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one output, a number or an array."""
        output = self.sample(database, 1, rng)[0]
        return output if output.ndim else output.item()

    @abstractmethod
    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return the outputs of `size` runs.

        The noise of run i does not depend on the database.
        """
