"""Rec as printed, which is private but misses good points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from audit.catalogue import Entry
from mechanisms.concave.promise import ConcavePromise
from mechanisms.formulas import rec
from mechanisms.formulas.rec_pairs import literal_lists

if TYPE_CHECKING:
    from mechanisms.concave.contest import Contest

__all__ = ["LiteralConcavePromise"]


@dataclass(frozen=True, kw_only=True)
class LiteralConcavePromise(ConcavePromise):
    """Rec as printed, which places half of its candidates wrongly.

    Half of the candidate set H begins at b, the right end of A = [a, b], and B is never used. Privacy is that
    of `ConcavePromise`. If the good points lie across the border of two A_i, A_dist releases only B, and H is
    spread over the range.

    Take T = 4096, alpha = 1/2, epsilon = 1, delta = 1e-6, the least promise r for beta = 0.01, and Q = r on
    [59, 69] and 0 elsewhere (K = 8). The mechanism fails with probability above 0.999, while Lemma 3 allows 8
    %.

    Parameters
    ----------
    epsilon, delta, top, promise, alpha, quality, beta, accounting, relation, records, size
        As in `ConcavePromise`.

    Examples
    --------
    >>> mechanism = LiteralConcavePromise(top=4096, beta=0.01)
    >>> peak = [mechanism.target if 59 <= point <= 69 else 0.0 for point in range(4097)]
    >>> law = mechanism.distribution(peak)
    >>> sum(law.pmf(point) for point in range(59, 70)) < 1e-3
    True
    """

    name: ClassVar[str] = "flawed-concave-promise-literal"
    reference: ClassVar[str] = "BNS §3.3, Fig. 1 with step 10 as printed"

    def left_ends(self, first: Contest | None, second: Contest | None) -> list[int]:
        """Return both ends of A, or nothing if A was not released."""
        del second
        return [] if first is None else [first.low, first.high]


_LITERAL = partial(LiteralConcavePromise, top=4096, beta=0.01)

entry = Entry(
    "concave-promise-literal",
    _LITERAL,
    options={"pairs": [literal_lists(4096), *_LITERAL().suggested_pairs()[:4]]},
    utility={},
    utility_expected="refuted",
    reference=LiteralConcavePromise.reference,
    formulas=rec.literal,
    summary="Rec with step 10 as printed: misses good points across a border",
)
