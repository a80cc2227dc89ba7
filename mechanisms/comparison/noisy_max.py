"""Mechanisms that report which query has the largest noisy answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from audit.catalogue import Entry
from audit.errors import finite_number
from mechanisms.comparison.laplace_integrals import below, density, quadrature
from mechanisms.comparison.query_answers import OnQueryAnswers
from mechanisms.formulas.losses import whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from mechanisms.subjects.neighbours import Pair

__all__ = ["ExponentialNoisyMax", "LaplaceNoisyMax", "NoisyAnswers"]


@dataclass(frozen=True, kw_only=True)
class NoisyAnswers(OnQueryAnswers):
    """Adds noise of scale 2/epsilon to every answer.

    Parameters
    ----------
    epsilon, size, records
        As in `OnQueryAnswers`.

    Examples
    --------
    >>> NoisyAnswers().noisy([0.0, 5.0], 3, np.random.default_rng(0)).shape
    (3, 2)
    """

    noise: ClassVar[Literal["laplace", "exponential"]] = "laplace"

    def __post_init__(self) -> None:
        super().__post_init__()
        finite_number(self.scale, what=f"The noise scale of `{type(self).__name__}`", above=0)

    @property
    def scale(self) -> float:
        """Scale of the noise: 2/epsilon."""
        return 2.0 / self.epsilon

    def noisy(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the noisy answers of `size` runs, one row per run.

        The noise of run i does not depend on the database.

        Examples
        --------
        >>> bool((ExponentialNoisyMax().noisy([0.0, 5.0], 9, np.random.default_rng(0)) >= [0.0, 5.0]).all())
        True
        """
        answers = self.answers(database)
        draw = getattr(rng, self.noise)
        return np.asarray(answers + draw(scale=self.scale, size=(size, answers.size)))


@dataclass(frozen=True, kw_only=True)
class _NoisyMax(NoisyAnswers):
    """Reports the index of the largest noisy answer."""

    records: Sequence[float] | None = (0, 1, 2)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the indices that `size` runs report."""
        return np.asarray(self.noisy(database, size, rng).argmax(axis=1))

    def suggested_pairs(self) -> list[Pair]:
        """Return two pairs in which one answer moves against the others."""
        level = [1.0] * self.size
        others = [2.0] * (self.size - 1)
        return [(level, [0.0, *others]), (level, [2.0, *(0.0 for _ in others)])] if others else []


@dataclass(frozen=True, kw_only=True)
class LaplaceNoisyMax(_NoisyMax):
    """Reports the index of the largest answer with Laplace noise.

    The noise has scale 2/epsilon.

    Parameters
    ----------
    epsilon, size, records
        As in `OnQueryAnswers`.

    Guarantee
    ---------
    epsilon-differential privacy. Fix the noise of all queries but j. Let m be the noise with which j ties
    with the best of the others. Query j is reported if its noise exceeds m. Between neighbours the best of
    the others rises by at most 1 and the answer of j falls by at most 1. So m grows by at most 2, and
    Pr[noise > m] falls by a factor of at most e^(2/scale) = e^epsilon. (If all queries move in the same
    direction, scale 1/epsilon suffices; see Dwork and Roth, Claim 3.9.) The loss approaches the bound if one
    query is far behind the others.

    Examples
    --------
    >>> law = LaplaceNoisyMax(size=2).distribution([1.0, 1.0])
    >>> round(law.pmf(0), 12)
    0.5
    """

    name: ClassVar[str] = "noisy-max-laplace"
    reference: ClassVar[str] = "Dwork and Roth 2014, Claim 3.9, with noise for answers that move either way"

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the reported index.

        Pr[j] = ∫ f(x − a_j)·Π_{i≠j} F(x − a_i) dx, for answers a_i and noise of density f and distribution
        function F.
        """
        from audit.distributions import Finite  # runs do not need it

        answers = self.answers(database)
        points, weights = quadrature(answers.tolist(), scale=self.scale, rate=answers.size / self.scale)
        beyond = points[:, None] - answers
        peaks, beaten = density(beyond, self.scale), below(beyond, self.scale)
        others = [np.delete(beaten, place, axis=1).prod(axis=1) for place in range(answers.size)]
        masses = np.array([weights @ (peaks[:, j] * other) for j, other in enumerate(others)])
        return Finite(range(answers.size), masses)


@dataclass(frozen=True, kw_only=True)
class ExponentialNoisyMax(_NoisyMax):
    """Reports the index of the largest answer with exponential noise.

    The noise has mean 2/epsilon.

    Parameters
    ----------
    epsilon, size, records
        As in `OnQueryAnswers`.

    Guarantee
    ---------
    epsilon-differential privacy. As for `LaplaceNoisyMax`, query j is reported if its noise exceeds a bound
    m, which grows by at most 2 between neighbours. Then Pr[noise > m] = min(1, e^(−m/scale)) falls by a
    factor of at most e^(2/scale) = e^epsilon. The loss equals epsilon if the lowest answer falls by 1 and all
    others rise by 1.

    Examples
    --------
    >>> law = ExponentialNoisyMax(size=2).distribution([0.0, 2.0])
    >>> bool(abs(law.logpmf(0) - np.log(0.5 * np.exp(-1.0))) < 1e-12)
    True
    """

    name: ClassVar[str] = "noisy-max-exponential"
    reference: ClassVar[str] = "Dwork and Roth 2014, §3.3; Ding et al. 2021, noisy max with exponential noise"
    noise = "exponential"

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the reported index.

        For answers a, let w_i = e^((a_i − max a)/scale). With u = e^((max a − x)/scale), the integral over x
        of the density of a_j + noise times Π_{i≠j} Pr[a_i + noise < x] becomes w_j·∫₀¹ Π_{i≠j} (1 − w_i·u)
        du. For d answers a Gauss rule with ⌊d/2⌋ + 1 nodes is exact.
        """
        from audit.distributions import Finite  # runs do not need it

        answers = self.answers(database)
        shares = np.exp((answers - answers.max()) / self.scale)
        nodes, weights = np.polynomial.legendre.leggauss(answers.size // 2 + 1)
        factors = 1.0 - shares * (0.5 + 0.5 * nodes)[:, None]
        others = [np.delete(factors, place, axis=1).prod(axis=1) for place in range(answers.size)]
        return Finite(range(answers.size), shares * (np.array(others) @ weights) / 2.0)


entries = (
    Entry(
        LaplaceNoisyMax.name,
        LaplaceNoisyMax,
        reference=LaplaceNoisyMax.reference,
        summary="the place of the largest of five answers, Laplace noise",
        formulas=whole,
    ),
    Entry(
        ExponentialNoisyMax.name,
        ExponentialNoisyMax,
        reference=ExponentialNoisyMax.reference,
        summary="the place of the largest of five answers, exponential noise",
        formulas=whole,
    ),
)
