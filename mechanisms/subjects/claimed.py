"""Base classes of mechanisms that check the parameters of their privacy claim."""

from __future__ import annotations

from dataclasses import dataclass

from audit.claims import ApproximateDP, PureDP
from audit.errors import finite_number, probability
from mechanisms.subjects.parameters import PlainParameters

__all__ = ["ClaimsApproximate", "ClaimsItsEpsilon", "ClaimsPure"]


class ClaimsItsEpsilon(PlainParameters):
    """Claims `epsilon`-differential privacy for its own parameter `epsilon`."""

    epsilon: float

    @property
    def claim(self) -> PureDP:
        """The privacy claimed."""
        return PureDP(self.epsilon)


@dataclass(frozen=True, kw_only=True)
class ClaimsPure(ClaimsItsEpsilon):
    """Claims `epsilon`-differential privacy for a positive parameter `epsilon`.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.

    Examples
    --------
    >>> print(ClaimsPure(epsilon=0.5).claim)
    PureDP(epsilon=0.5)
    """

    epsilon: float = 1.0

    def __post_init__(self) -> None:
        finite_number(self.epsilon, what=f"The `epsilon` of `{type(self).__name__}`", above=0)


@dataclass(frozen=True, kw_only=True)
class ClaimsApproximate(PlainParameters):
    """Claims (`epsilon`, `delta`)-differential privacy for its own parameters.

    Parameters
    ----------
    epsilon, delta
        The privacy claimed: epsilon > 0, delta in (0, 1).

    Examples
    --------
    >>> print(ClaimsApproximate(epsilon=0.5, delta=0.01).claim)
    ApproximateDP(epsilon=0.5, delta=0.01)
    """

    epsilon: float = 1.0
    delta: float = 1e-3

    def __post_init__(self) -> None:
        owner = type(self).__name__
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        probability(self.delta, what=f"The `delta` of `{owner}`", zero=False, one=False)

    @property
    def claim(self) -> ApproximateDP:
        """The privacy claimed."""
        return ApproximateDP(self.epsilon, self.delta)
