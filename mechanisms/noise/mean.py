"""The Laplace mechanism for the mean of values in [0, b]."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import Accuracy
from audit.errors import InvalidValue, finite_number, flag, positive_int, probability
from audit.problems import FixedProblem
from audit.relations import Relation
from mechanisms.formulas import noise
from mechanisms.noise.noises import LaplaceNoise
from mechanisms.subjects.answers import floats
from mechanisms.subjects.claimed import ClaimsItsEpsilon
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from audit.distributions import Density, Product
    from audit.problems import Problem
    from mechanisms.subjects.neighbours import Pair

__all__ = ["LaplaceMean"]


@dataclass(frozen=True, kw_only=True)
class LaplaceMean(StatedSize, ClaimsItsEpsilon):
    """The mean of `size` values in [0, upper] with Laplace noise.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    upper
        Every value lies in [0, upper]. Public, as is `size`.
    size
        Number n of records. A database of another length is refused.
    clamp
        If false, a value outside [0, upper] is refused, and so is NaN. If true, it is replaced by the nearest
        end of the range (NaN by 0). The guarantee then covers every list of `size` numbers.
    beta
        The failure probability of `utility_claim`, in (0, 1).

    Raises
    ------
    InvalidValue
        `epsilon` or `upper` is not a finite number > 0, or a database is not a list of `size` values in [0,
        upper].
    InvalidKind
        A record is not a number.

    Guarantee
    ---------
    epsilon-differential privacy when one value is replaced (B Definition 2 and Theorem 3), for real numbers.
    With b = `upper`, the mean moves by at most b/n. The noise has scale b/(epsilon·n). Shifting it by b/n
    changes its density by a factor of at most exp((b/n)/scale) = e^epsilon. B calls the *rate* epsilon·n/b
    "scale"; the scale is its reciprocal. A refusal depends on the database, and lies outside the guarantee.

    Examples
    --------
    >>> mean = LaplaceMean(epsilon=0.5, upper=10.0, size=4)
    >>> mean.scale, mean.answer([0, 10, 10, 0])
    (5.0, 5.0)
    >>> LaplaceMean(size=2).answer([0.5, 7.0])
    Traceback (most recent call last):
    audit.errors.InvalidValue: Values of `LaplaceMean` must lie in [0, 1]; got 7.0 (`clamp=True` moves it).
    """

    epsilon: float = 1.0
    upper: float = 1.0
    size: int = 5
    clamp: bool = False
    beta: float = 0.05

    name: ClassVar[str] = "laplace-mean"
    reference: ClassVar[str] = "B Definition 2 and Theorem 3"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        flag(self.clamp, what=f"The `clamp` of `{owner}`")
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        finite_number(self.upper, what=f"The `upper` of `{owner}`", above=0)
        positive_int(self.size, what=f"The `size` of `{owner}`")
        probability(self.beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        LaplaceNoise(self.scale)

    @property
    def utility_claim(self) -> Accuracy:
        """The claim that the error exceeds `error_bound(beta)` with probability `beta`."""
        return Accuracy(self.error_bound(self.beta), self.beta)

    def problems(self) -> list[Problem]:
        """Return databases with all values at one end of the range, or half at each end.

        Examples
        --------
        >>> [problem.name for problem in LaplaceMean(size=2).problems()]
        ['all at 0', 'all at 1', 'at both ends']
        """
        low, high = [0.0] * self.size, [float(self.upper)] * self.size
        both = [low[k] if k % 2 else high[k] for k in range(self.size)]
        told = (("all at 0", low), (f"all at {self.upper:g}", high), ("at both ends", both))
        return [FixedProblem(name, database, self._error, self._tail) for name, database in told]

    def _tail(self, law: Any, alpha: float, database: Any) -> float:
        answer = self.answer(database)
        return float(law.cdf(answer - alpha) + law.sf(answer + alpha))

    def _error(self, output: float, database: Any) -> float:
        return abs(output - self.answer(database))

    @property
    def records(self) -> list[float]:
        """The ends of the range and, if `clamp` is True, values beyond them."""
        beyond = [-self.upper, 2.0 * self.upper, math.nan] if self.clamp else []
        return [0.0, float(self.upper), *beyond]

    @property
    def scale(self) -> float:
        """Scale of the noise, upper/(epsilon·size)."""
        return self.upper / self.size / self.epsilon

    def answer(self, database: Any) -> float:
        """Return the exact mean of the values, after any clamping."""
        values = self._values(database)
        if self.clamp:
            values = np.clip(np.where(np.isnan(values), 0.0, values), 0.0, self.upper)
        outside = ~((values >= 0.0) & (values <= self.upper))
        if outside.any():
            raise InvalidValue(
                f"Values of `{type(self).__name__}` must lie in [0, {self.upper:g}]; "
                f"got {float(values[outside][0])!r} (`clamp=True` moves it)."
            )
        return math.fsum(values.tolist()) / self.size

    def _values(self, database: Any) -> NDArray[np.float64]:
        owner = type(self).__name__
        values = floats(database, what=f"The records of `{owner}`")
        if values.shape != (self.size,):
            raise InvalidValue(
                f"A database of `{owner}` must hold {self.size} numbers; got shape {values.shape}."
            )
        return values

    def __call__(self, database: Any, rng: np.random.Generator) -> float:
        """Return one noisy mean."""
        return self.answer(database) + rng.laplace(0.0, self.scale)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return `size` noisy means.

        The noise of run i does not depend on the database.
        """
        return self.answer(database) + LaplaceNoise(self.scale).sample(size, rng)

    def distribution(self, database: Any) -> Density | Product:
        """Return the exact law of a noisy mean."""
        return LaplaceNoise(self.scale).law(self.answer(database))

    def error_bound(self, beta: float) -> float:
        """Return the error that is exceeded with probability `beta`.

        The error is (upper/(epsilon·size))·ln(1/beta).

        Guarantee
        ---------
        Exact (B Theorem 3). With `clamp` the error is against the mean of the clamped values.

        Examples
        --------
        >>> round(LaplaceMean(epsilon=1.0, size=100).error_bound(0.05), 6)
        0.029957
        """
        return LaplaceNoise(self.scale).bound(beta)

    @property
    def _needed(self) -> int:
        return self.size

    def _at(self, alpha: float | None, beta: float | None) -> LaplaceMean:
        """Return the mechanism for the least number of values at this error."""
        told = self if beta is None else replace(self, beta=beta)
        most = self.utility_claim.alpha if alpha is None else alpha
        finite_number(most, what=f"The `alpha` of `{type(self).__name__}`", above=0)
        needed = self.size * told.error_bound(told.beta) / most
        return replace(told, size=max(1, math.ceil(needed * (1.0 - 1e-12))))

    def suggested_pairs(self) -> list[Pair]:
        """Return pairs of neighbours whose means differ by upper/size."""
        low, high = [0.0] * self.size, [self.upper] + [0.0] * (self.size - 1)
        beyond = ([math.nan, *low[1:]], [2.0 * self.upper, *low[1:]])
        return [(low, high), beyond] if self.clamp else [(low, high)]


entries = (
    Entry(
        LaplaceMean.name,
        LaplaceMean,
        utility={},
        reference=LaplaceMean.reference,
        summary="the mean of values in [0, b], others refused",
        formulas=noise.laplace_mean,
    ),
    Entry(
        "laplace-mean-clamped",
        partial(LaplaceMean, clamp=True, size=2),
        utility={},
        reference=LaplaceMean.reference,
        summary="the mean of any numbers, clamped into [0, b]",
        formulas=noise.laplace_mean,
    ),
)
