"""Mechanisms with shared, missing or revealing noise, without declared laws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.relations import Relation
from mechanisms.flawed.published.on_records import OnRecords
from mechanisms.noise.noises import GeometricNoise

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

__all__ = ["NoiselessComparison", "SharedNoise", "TextbookLaplace"]


@dataclass(frozen=True, kw_only=True)
class TextbookLaplace(OnRecords):
    """A count with Laplace noise in double precision.

    The noise is the logarithm of one of 2^53 numbers. Near 0 it lies on a fine grid, but 1 plus noise is
    rounded to multiples of 2^(−53) or coarser. So some outputs below ½ can come from the count 0 and never
    from 1, and the loss is unbounded. Noise on one grid for all answers would be right (Mironov's snapping,
    or `GeometricMechanism`).

    Parameters
    ----------
    epsilon, size
        As in `OnRecords`.

    Examples
    --------
    >>> import numpy as np
    >>> rng, noisy_one = np.random.default_rng(0), TextbookLaplace()
    >>> outputs = [noisy_one([1], rng) for _ in range(99)]
    >>> all((output * 2.0**53).is_integer() for output in outputs if abs(output) < 0.5)
    True
    """

    size: int | tuple[int, int] = (0, 3)

    name: ClassVar[str] = "flawed-textbook-laplace"
    reference: ClassVar[str] = "Mironov 2012; diffprivlib issue 19; smartnoise-core issue 242"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE
    records: ClassVar[Sequence[Any]] = (0, 1)

    def __call__(self, database: Sequence[Any], rng: np.random.Generator) -> float:
        """Return one noisy count of all records."""
        size = -math.log1p(-rng.random()) / self.epsilon
        return len(database) + (size if rng.integers(2) else -size)


@dataclass(frozen=True, kw_only=True)
class SharedNoise(OnRecords):
    """Counts of zeros and ones that share one draw of noise.

    The difference of the counts is exact, so the loss is unbounded. One draw for each count would be right.
    The fault occurred in code that used one random key for several components.

    Parameters
    ----------
    epsilon, size
        As in `OnRecords`.

    Examples
    --------
    >>> import numpy as np
    >>> zeros, ones = SharedNoise()([0, 1, 1], np.random.default_rng(0))
    >>> ones - zeros
    1
    """

    name: ClassVar[str] = "flawed-shared-noise"
    reference: ClassVar[str] = "jax-ml/jax pull request 3646"
    records: ClassVar[Sequence[int]] = (0, 1)

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> tuple[int, int]:
        """Return the noisy numbers of zeros and of ones."""
        noise = int(GeometricNoise(self.epsilon / 2.0).sample(1, rng)[0])
        zeros, ones = (list(database).count(value) + noise for value in (0, 1))
        return zeros, ones


@dataclass(frozen=True, kw_only=True)
class NoiselessComparison(OnRecords):
    """Reports which of four categories are frequent, without noise on the counts.

    Only the threshold is noisy, so the rarer of two categories is never reported alone. If one record decides
    which is rarer, the loss is unbounded. `SparseVector` would be right.

    Parameters
    ----------
    epsilon, size
        As in `OnRecords`.
    threshold
        Counts of at least this are frequent.

    Examples
    --------
    >>> import numpy as np
    >>> NoiselessComparison(threshold=-50.0)([0, 2], np.random.default_rng(0))
    (True, True, True, True)
    """

    threshold: float = 1.0
    name: ClassVar[str] = "flawed-noiseless-comparison"
    reference: ClassVar[str] = "Lyu, Su and Li 2017 (on Stoddard et al. 2014); StatDP benchmark"
    records: ClassVar[Sequence[int]] = (0, 1, 2, 3)

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> tuple[bool, ...]:
        """Return whether each category is frequent."""
        bar = rng.laplace(self.threshold, 1.0 / self.epsilon)
        rows = list(database)
        return tuple(bool(rows.count(category) >= bar) for category in self.records)


entries = (
    Entry(
        TextbookLaplace.name,
        TextbookLaplace,
        options={"numerics": "float"},
        expected="refuted",
        reference=TextbookLaplace.reference,
        summary="textbook Laplace in doubles, audited as floats: unbounded",
    ),
    Entry(
        SharedNoise.name,
        SharedNoise,
        expected="refuted",
        reference=SharedNoise.reference,
        summary="one draw of noise for two counts: unbounded",
    ),
    Entry(
        NoiselessComparison.name,
        NoiselessComparison,
        expected="refuted",
        reference=NoiselessComparison.reference,
        summary="exact counts against a noisy threshold: unbounded",
    ),
)
