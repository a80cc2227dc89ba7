"""Mechanisms with noise for another query or relation, without declared laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import positive_int
from audit.relations import Relation
from mechanisms.comparison.noisy_max import NoisyAnswers
from mechanisms.noise.counts import NoisyCounts
from mechanisms.subjects.claimed import ClaimsPure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["CountsUnderReplacing", "FrequencyScaleCounts", "HundredthHistogram", "PrefixSums"]


@dataclass(frozen=True, kw_only=True)
class FrequencyScaleCounts(ClaimsPure):
    """Counts of zeros and ones with the noise that their frequencies need.

    Replacing one of n records moves two frequencies by 1/n each, but two counts by 1 each. With noise of
    scale 2/(n·epsilon) the loss is n·epsilon, 10 for ten records at epsilon = 1. Scale 2/epsilon would be
    right.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    size
        The number n of records, which is public.

    Examples
    --------
    >>> FrequencyScaleCounts(size=4).scale
    0.5
    """

    size: int = 10

    name: ClassVar[str] = "flawed-counts-with-frequency-scale"
    reference: ClassVar[str] = "DataResponsibly/DataSynthesizer issue 34"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    records: ClassVar[Sequence[int]] = (0, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_int(self.size, what="The `size` of `FrequencyScaleCounts`")

    @property
    def scale(self) -> float:
        """Scale of the noise on the counts."""
        return 2.0 / (self.size * self.epsilon)

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the noisy numbers of zeros and of ones."""
        exact = [sum(record == value for record in database) for value in self.records]
        return np.add(exact, rng.laplace(scale=self.scale, size=2))


@dataclass(frozen=True, kw_only=True)
class CountsUnderReplacing(NoisyCounts):
    """Counts with noise for adding a record, but a claim for replacing one.

    Two counts change by 1 each, so with noise of scale 1/epsilon the loss is 2·epsilon. Scale 2/epsilon would
    be right.

    Parameters
    ----------
    epsilon, categories, size
        As in `NoisyCounts`.

    Examples
    --------
    >>> CountsUnderReplacing().relation
    Relation.REPLACE_ONE
    """

    size: int | tuple[int, int] = (1, 4)

    name: ClassVar[str] = "flawed-counts-under-replacing"
    reference: ClassVar[str] = "opendp/opendp issue 2945"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    # none suggested: the audit has to find the pair
    suggested_pairs: ClassVar[Any] = None


@dataclass(frozen=True, kw_only=True)
class HundredthHistogram(ClaimsPure):
    """A histogram with a hundredth of the noise it needs.

    The scale is 0.01/epsilon. Adding a record moves one count by 1, so the loss is 100·epsilon. Published
    code has scale epsilon in place of 1/epsilon, with the same effect at epsilon = 0.1.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    bins
        Records are 0 … bins − 1.
    size
        Least and greatest length of audited databases.

    Examples
    --------
    >>> HundredthHistogram().scale
    0.01
    """

    bins: int = 5
    size: int | tuple[int, int] = (0, 3)

    name: ClassVar[str] = "flawed-histogram-scale"
    reference: ClassVar[str] = "Ding et al. 2018 (StatDP), histogram with the wrong scale"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_int(self.bins, what="The `bins` of `HundredthHistogram`")

    @property
    def records(self) -> list[int]:
        """The bins."""
        return list(range(self.bins))

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 0.01 / self.epsilon

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return one noisy count per bin."""
        return np.asarray(self.sample(database, 1, rng)[0])

    def sample(self, database: Sequence[int], size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return `size` noisy histograms."""
        counts = np.bincount(np.asarray(database, dtype=np.intp), minlength=self.bins)
        return np.asarray(counts + rng.laplace(0.0, self.scale, (size, self.bins)))


@dataclass(frozen=True, kw_only=True)
class PrefixSums(NoisyAnswers):
    """Running sums of noisy answers, with noise for a change of one answer.

    The differences of the sums reveal all d noisy answers. If all answers rise by 1, each adds up to epsilon
    to the loss. So the loss is d·epsilon, 10 for ten answers at epsilon = 1. Scale d/epsilon would be right.

    Parameters
    ----------
    epsilon, size, records
        As in `OnQueryAnswers`; d is the size.

    Examples
    --------
    >>> PrefixSums()([0.0, 5.0, 9.0], np.random.default_rng(0)).shape
    (3,)
    """

    size: int = 10

    name: ClassVar[str] = "flawed-prefix-sums"
    reference: ClassVar[str] = "Bichsel et al. 2021 (DP-Sniper), prefix sum under answers that all move"

    @property
    def scale(self) -> float:
        """Scale of the noise: 1/epsilon."""
        return 1.0 / self.epsilon

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the running sums of `size` runs."""
        return np.asarray(self.noisy(database, size, rng).cumsum(axis=1))


entries = (
    Entry(
        PrefixSums.name,
        PrefixSums,
        expected="refuted",
        reference=PrefixSums.reference,
        summary="running sums of ten answers, noise for one: loss 10, not 1",
    ),
    Entry(
        HundredthHistogram.name,
        HundredthHistogram,
        expected="refuted",
        reference=HundredthHistogram.reference,
        summary="a histogram with 1/100 of its noise: loss 100, not 1",
    ),
    Entry(
        FrequencyScaleCounts.name,
        FrequencyScaleCounts,
        expected="refuted",
        reference=FrequencyScaleCounts.reference,
        summary="counts with the noise of frequencies: loss 10, not 1",
    ),
    Entry(
        CountsUnderReplacing.name,
        CountsUnderReplacing,
        expected="refuted",
        reference=CountsUnderReplacing.reference,
        summary="counts under replacing, noise for adding: loss 2, not 1",
    ),
)
