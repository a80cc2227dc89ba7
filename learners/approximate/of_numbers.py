"""What learners of numbers have in common."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from audit.catalogue import Entry, Later
from audit.errors import whole_numbers
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from audit.catalogue import Formulas
    from learners.approximate.sources import NumberProblem

__all__ = ["OfNumbers", "at_64_bits"]


class OfNumbers(StatedSize):
    """A learner of concepts over the numbers below 2^dimension.

    Examples
    --------
    >>> from learners import PointLearner
    >>> PointLearner(dimension=2).audited_points, PointLearner(dimension=8).audited_points
    ((0, 1, 2, 3), (0, 1, 255))
    """

    dimension: int
    points: tuple[int, ...] | None

    @property
    def audited_points(self) -> tuple[int, ...]:
        """The numbers in audited databases."""
        if self.points is not None:
            what = f"The `points` of `{type(self).__name__}`"
            return tuple(whole_numbers(self.points, what=what, maximum=(1 << self.dimension) - 1))
        return tuple(range(1 << self.dimension)) if self.dimension <= 2 else (0, 1, (1 << self.dimension) - 1)

    @property
    def records(self) -> tuple[tuple[int, int], ...]:
        """The examples in audited databases."""
        return tuple((x, y) for x in self.audited_points for y in (0, 1))

    def vary(self, problem: NumberProblem, rng: np.random.Generator) -> NumberProblem:
        """Return a problem near the given one."""
        return problem.varied(rng)


def at_64_bits(
    kind: Any,
    *,
    options: Mapping[str, Any],
    utility: Mapping[str, Any] | None = None,
    formulas: Callable[[Any], Formulas] | None = None,
) -> Entry:
    """Return the entry of a learner over 64-bit numbers.

    Parameters
    ----------
    kind
        The class of the learner.
    options, utility
        The options of its privacy audit and of its utility audit (`exact` is set here).
    formulas
        The learner's formulas, written from the text.

    Examples
    --------
    >>> from learners import HashedPointLearner
    >>> at_64_bits(HashedPointLearner, options={"budget": 5_000}).summary
    'd = 64; accurate at α = β = 0.1 on the stated m'
    """
    return Entry(
        f"{kind.name}-64",
        partial(kind, dimension=64),
        options=options,
        utility=Later(lambda: {"exact": False, **(utility or {})}),
        formulas=formulas,
        reference=kind.reference,
        summary="d = 64; accurate at α = β = 0.1 on the stated m",
    )
