"""Geometric mechanisms with the wrong parameter or the wrong truncation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from mechanisms.noise.geometric import GeometricMechanism, TruncatedGeometricMechanism

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite

__all__ = ["DoubleEpsilonGeometric", "RenormalisedGeometric"]


@dataclass(frozen=True, kw_only=True)
class DoubleEpsilonGeometric(GeometricMechanism):
    """The geometric mechanism with α = e^(2·epsilon/sensitivity).

    The loss is 2·epsilon.

    Parameters
    ----------
    epsilon, query, sensitivity, relation, records, size
        As in `GeometricMechanism`.

    Examples
    --------
    >>> DoubleEpsilonGeometric(epsilon=0.5).rate
    1.0
    """

    name: ClassVar[str] = "flawed-geometric-double-epsilon"
    reference: ClassVar[str] = "C §2: e^ε = α^Δ"

    @property
    def rate(self) -> float:
        """The rate ln α, which is twice what the claim allows."""
        return 2.0 * self.epsilon / self.sensitivity


@dataclass(frozen=True, kw_only=True)
class RenormalisedGeometric(TruncatedGeometricMechanism):
    """The geometric mechanism conditioned on answers in {0 … upper}.

    This is the law if the answer is drawn again until it lies in the range. The probability of the range
    depends on the exact answer. At sensitivity 1 the loss is ln(α·Z_1/Z_0), where Z_a = Σ_{k=0..upper} α^(−|k
    − a|). For α = 2 the claim is ln 2 = 0.693, and the loss is 0.693, 0.827, 0.907 and 0.916 at upper = 1, 2,
    5 and 20.

    Parameters
    ----------
    epsilon, query, sensitivity, relation, records, size, upper
        As in `TruncatedGeometricMechanism`; the exact answer must lie in {0 … upper}.

    Examples
    --------
    >>> law = RenormalisedGeometric(upper=2).distribution([0, 0])
    >>> [round(law.pmf(k) * 7, 9) for k in range(3)]
    [4.0, 2.0, 1.0]
    """

    epsilon: float = math.log(2.0)
    upper: int = 5
    size: int | tuple[int, int] = 5

    name: ClassVar[str] = "flawed-truncated-geometric-renormalised"
    reference: ClassVar[str] = 'C §2, "truncate … without hurting privacy", read as conditioning'

    def sample(self, database: Sequence[Any], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return `size` answers."""
        cumulative = np.cumsum(self._probabilities(database))
        chosen = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        answers: NDArray[np.int64] = chosen.astype(np.int64)
        return answers

    def distribution(self, database: Sequence[Any]) -> Finite:
        """Return the exact law of an answer."""
        from audit.distributions import Finite

        return Finite(range(self.upper + 1), self._probabilities(database))

    def _probabilities(self, database: Sequence[Any]) -> NDArray[np.float64]:
        weights = np.exp(-self.rate * np.abs(np.arange(self.upper + 1) - self.answer(database)))
        return np.asarray(weights / weights.sum())


entries = (
    Entry(
        DoubleEpsilonGeometric.name,
        DoubleEpsilonGeometric,
        expected="refuted",
        reference=DoubleEpsilonGeometric.reference,
        summary="α from 2ε: loss 2ε",
    ),
    Entry(
        RenormalisedGeometric.name,
        RenormalisedGeometric,
        expected="refuted",
        reference=RenormalisedGeometric.reference,
        summary="conditions on {0 … 5} instead of clamping: loss 0.907, not 0.693",
    ),
)
