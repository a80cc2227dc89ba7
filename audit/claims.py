"""What a subject claims about its privacy or its utility."""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Protocol, runtime_checkable

from audit.errors import InvalidKind, InvalidValue, check_fields, finite_number, positive_int, probability
from audit.values.brief import show

__all__ = [
    "PAC",
    "Accuracy",
    "ApproximateDP",
    "PrivacyClaim",
    "PureDP",
    "UtilityClaim",
    "at_distance",
    "check_claim",
    "check_utility_claim",
    "claim_from_json",
]

_LARGEST_DELTA = math.nextafter(1.0, 0.0)


@runtime_checkable
class PrivacyClaim(Protocol):
    """The members of a privacy claim.

    A claim says Pr[M(left) ∈ E] ≤ e^epsilon · Pr[M(right) ∈ E] + delta. It says this for every event E and
    every neighbouring pair in both orders.

    Examples
    --------
    >>> isinstance(PureDP(1.0), PrivacyClaim)
    True
    """

    @property
    def epsilon(self) -> float:
        """The claimed epsilon."""

    @property
    def delta(self) -> float:
        """The claimed delta."""

    def to_json(self) -> dict[str, Any]:
        """Return the claim as plain JSON."""


@runtime_checkable
class UtilityClaim(Protocol):
    """The members of a utility claim.

    The claim says that the error is above `alpha` with probability at most `beta`. The problem defines the
    error (`audit.problems`). An example is the distance from a query's answer.
    """

    @property
    def alpha(self) -> float:
        """The error allowed."""

    @property
    def beta(self) -> float:
        """The probability of failure allowed."""

    def to_json(self) -> dict[str, Any]:
        """Return the claim as plain JSON."""


def _checked(check: Callable[..., float], **bounds: Any) -> Any:
    return field(metadata={"check": partial(check, **bounds)})


@dataclass(frozen=True, slots=True)
class _Numbers:
    """A claim that consists of numbers, with their checks, saved form and text."""

    def __post_init__(self) -> None:
        check_fields(self, of=type(self).__name__)

    def to_json(self) -> dict[str, Any]:
        """Return the claim as plain JSON.

        Examples
        --------
        >>> ApproximateDP(1.0, 0.5).to_json()
        {'claim': 'ApproximateDP', 'epsilon': 1.0, 'delta': 0.5}
        """
        return {"claim": type(self).__name__, **asdict(self)}

    def __str__(self) -> str:
        shown = (f"{name}={repr(value).removesuffix('.0')}" for name, value in asdict(self).items())
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, slots=True)
class _Private(_Numbers):
    """A privacy claim, with delta 0 unless a subclass has a field for it."""

    epsilon: float = _checked(finite_number, minimum=0)

    @property
    def delta(self) -> float:
        """The claimed delta, which is 0.

        Examples
        --------
        >>> PureDP(1.0).delta
        0.0
        """
        return 0.0

    def profile(self, epsilon: float) -> float:
        """Return the least delta that the claim implies at another `epsilon`.

        Guarantee
        ---------
        Every mechanism that meets the claim is (`epsilon`, profile(`epsilon`))-private. For some mechanism
        this delta cannot be smaller. Let R = e^eps for the claim's eps, R' = e^epsilon, and 1 ≤ R' < R. The
        claim about an event says p ≤ R·q + delta. About its complement, with the sides exchanged, it says
        1 − q ≤ R·(1 − p) + delta. Under these conditions p − R'·q is largest if both are equalities. Then q =
        (1 − delta)/(1 + R) and p = 1 − q. The largest value is delta + (1 − delta)·(R − R')/(1 + R).
        Randomized response that leaks with probability delta attains it. For R' ≥ R, p − R'·q is largest at
        the corner q = 0, p = delta.

        Examples
        --------
        >>> ApproximateDP(1.0, 0.25).profile(2.0)
        0.25
        """
        if epsilon == math.inf:
            return self.delta
        at = finite_number(epsilon, what="The `epsilon` of `profile`", minimum=0)
        if at >= self.epsilon:
            return self.delta
        # (e^eps − e^at)/(1 + e^eps), divided through by e^eps so that nothing overflows or cancels
        excess = -math.expm1(at - self.epsilon) / (1.0 + math.exp(-self.epsilon))
        return self.delta + (1.0 - self.delta) * excess


@dataclass(frozen=True, slots=True)
class ApproximateDP(_Private):
    """(epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon
        A finite number ≥ 0.
    delta
        A number in [0, 1).

    Examples
    --------
    >>> print(ApproximateDP(epsilon=1.0, delta=1e-6))
    ApproximateDP(epsilon=1, delta=1e-06)
    """

    delta: float = _checked(probability, one=False)

    def group(self, k: int) -> "ApproximateDP":
        """Return the claim that follows for databases at distance `k`.

        The numbers are those of `at_distance`. A delta of 1 allows everything and is no valid claim. It is
        replaced by the largest float below 1, which no test can distinguish from 1.

        Examples
        --------
        >>> print(ApproximateDP(0.0, 0.1).group(3).epsilon)
        0.0
        """
        steps = positive_int(k, what="The distance `k`")
        epsilon, delta = at_distance(self.epsilon, self.delta, steps)
        return ApproximateDP(min(epsilon, sys.float_info.max), min(delta, _LARGEST_DELTA))


@dataclass(frozen=True, slots=True)
class PureDP(_Private):
    """epsilon-differential privacy.

    Parameters
    ----------
    epsilon
        A finite number ≥ 0.

    Examples
    --------
    >>> print(PureDP(epsilon=1.0))
    PureDP(epsilon=1)
    """

    def group(self, k: int) -> "PureDP":
        """Return the claim that follows for databases at distance `k`.

        Its epsilon is k times as large.

        Examples
        --------
        >>> print(PureDP(0.5).group(3))
        PureDP(epsilon=1.5)
        """
        steps = positive_int(k, what="The distance `k`")
        return PureDP(min(steps * self.epsilon, sys.float_info.max))


@dataclass(frozen=True, slots=True)
class PAC(_Numbers):
    """(alpha, beta)-accuracy for an error that is a probability.

    The error exceeds `alpha` with probability at most `beta`.

    Parameters
    ----------
    alpha
        The error allowed, in [0, 1]. 0 requires exact recovery. 1 allows everything if no error exceeds 1.
    beta
        The probability of failure allowed, in [0, 1). The source texts require (0, 1/2). But learner A of
        PARITY has 3/4 (K11 Lemma 4.1), and a learner without randomness may have 0.

    Examples
    --------
    >>> print(PAC(alpha=0.1, beta=0.05))
    PAC(alpha=0.1, beta=0.05)
    """

    alpha: float = _checked(probability)
    beta: float = _checked(probability, one=False)


@dataclass(frozen=True, slots=True)
class Accuracy(_Numbers):
    """The claim that an answer is within `alpha` of the truth.

    It may fail with probability at most `beta`. It is like `PAC`, for errors that are not probabilities:
    counts, sums, distances.

    Parameters
    ----------
    alpha
        The error allowed, a finite number ≥ 0.
    beta
        The probability of failure allowed, in [0, 1).

    Examples
    --------
    >>> print(Accuracy(alpha=3, beta=0.05))
    Accuracy(alpha=3, beta=0.05)
    """

    alpha: float = _checked(finite_number, minimum=0)
    beta: float = _checked(probability, one=False)


def private(epsilon: float, delta: float = 0.0) -> PureDP | ApproximateDP:
    """Return the claim with these numbers. It is a `PureDP` if δ = 0, else an `ApproximateDP`."""
    return ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)


def at_distance(epsilon: float, delta: float, steps: int) -> tuple[float, float]:
    """Return the ε and δ that a claim implies for databases `steps` apart.

    The claim (ε, δ) is about neighbours. **Guarantee.** Let p_0, …, p_k be the probabilities of an event
    along a path of k steps, and R = e^ε. Then p_0 ≤ R·p_1 + δ ≤ … ≤ R^k·p_k + δ·(1 + R + … + R^(k−1)). The
    sum is (R^k − 1)/(R − 1), or k at ε = 0. A δ above 1 is returned as 1: both allow everything.

    Examples
    --------
    >>> at_distance(0.5, 0.0, 3), at_distance(0.0, 0.125, 3)
    ((1.5, 0.0), (0.0, 0.375))
    """
    together = steps * epsilon
    if steps == 1 or delta == 0:
        return together, delta
    try:
        copies = steps if epsilon == 0 else math.expm1(together) / math.expm1(epsilon)
    except OverflowError:
        return together, 1.0
    return together, min(1.0, delta * copies)


def check_utility_claim(claim: Any) -> UtilityClaim:
    """Return `claim`, a utility claim that can be tested.

    Raises
    ------
    InvalidKind
        `claim` lacks a member of `UtilityClaim`, or is a class instead of a value.
    InvalidValue
        Its `alpha` is not a finite number ≥ 0, or its `beta` is not in [0, 1).

    Examples
    --------
    >>> check_utility_claim(PureDP(1.0))
    Traceback (most recent call last):
    audit.errors.InvalidKind: The `claim` must be a utility claim such as PAC(alpha=0.1, beta=0.05); got
    PureDP(epsilon=1.0).
    """
    _check_kind(claim, UtilityClaim, "a utility claim such as PAC(alpha=0.1, beta=0.05)")
    finite_number(claim.alpha, what="The `alpha` of the claim", minimum=0)
    probability(claim.beta, what="The `beta` of the claim", one=False)
    return claim  # type: ignore[no-any-return]


def check_claim(claim: Any) -> PrivacyClaim:
    """Return `claim`, a privacy claim.

    Raises
    ------
    InvalidKind
        `claim` lacks a member of `PrivacyClaim`, or is a class instead of a value.

    Examples
    --------
    >>> check_claim(1.0)
    Traceback (most recent call last):
    audit.errors.InvalidKind: The `claim` must be a privacy claim such as PureDP(epsilon=1.0); got 1.0.
    """
    if not isinstance(claim, (PureDP, ApproximateDP)):  # checking the protocol takes fifty times as long
        _check_kind(claim, PrivacyClaim, "a privacy claim such as PureDP(epsilon=1.0)")
    return claim  # type: ignore[no-any-return]


def _check_kind(claim: Any, protocol: type, wanted: str) -> None:
    """Raise an error unless a claim is a value with a protocol's members."""
    if isinstance(claim, type) or not isinstance(claim, protocol):
        raise InvalidKind(f"The `claim` must be {wanted}; got {show(claim)}.")


def claim_from_json(data: Mapping[str, Any]) -> PureDP | ApproximateDP | PAC | Accuracy:
    """Return the claim whose `to_json` returned `data`.

    Raises
    ------
    InvalidValue
        `data` is not the JSON of a claim of this toolkit.

    Examples
    --------
    >>> claim_from_json({"claim": "PureDP", "epsilon": 1.0})
    PureDP(epsilon=1.0)
    """
    kinds: dict[str, type[PureDP | ApproximateDP | PAC | Accuracy]] = {
        kind.__name__: kind for kind in (PureDP, ApproximateDP, PAC, Accuracy)
    }
    fields = dict(data)
    name = fields.pop("claim", None)
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None or set(fields) != set(kind.__dataclass_fields__):
        raise InvalidValue(
            f"A saved claim must be one of {', '.join(kinds)} with exactly its parameters; got {dict(data)}."
        )
    return kind(**fields)
