"""A median whose score can change by 2, without a declared law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from audit.catalogue import Entry
from mechanisms.flawed.published.on_records import OnRecords

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

__all__ = ["RankScore"]


@dataclass(frozen=True, kw_only=True)
class RankScore(OnRecords):
    """Chooses a median from {0 … 10} with too large weights.

    The weight of c is exp(epsilon·q/2) for q(c) = −|records below c − records above c|. A replaced record can
    change q by 2, but the exponent suits a change of 1. So the loss may reach 2·epsilon. Over two to four
    records it is 1.7036 at epsilon = 1, by enumeration. Weights exp(epsilon·q/4) would be right.

    Parameters
    ----------
    epsilon, size
        As in `OnRecords`.

    Examples
    --------
    >>> RankScore().scores([0, 10])[:3]
    [-1, 0, 0]
    """

    size: int | tuple[int, int] = (2, 4)

    name: ClassVar[str] = "flawed-rank-score"
    reference: ClassVar[str] = "ryan112358/mbi issue 65"
    records: ClassVar[Sequence[int]] = tuple(range(11))

    def scores(self, database: Sequence[int]) -> list[int]:
        """Return the score of every candidate."""
        return [-abs(sum((value < c) - (value > c) for value in database)) for c in self.records]

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> int:
        """Return one candidate."""
        steps = list(accumulate(math.exp(self.epsilon * score / 2.0) for score in self.scores(database)))
        mark = rng.random() * steps[-1]
        return next(c for c, step in zip(self.records, steps, strict=True) if mark < step)


entry = Entry(
    RankScore.name,
    RankScore,
    options={"records": [0, 10]},
    expected="refuted",
    reference=RankScore.reference,
    summary="a median score of sensitivity 2 taken for 1: loss 1.70, not 1",
)
