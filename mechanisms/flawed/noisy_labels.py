"""Algorithms on noisy labels that are not private or not accurate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from audit.catalogue import Entry
from mechanisms.queries.oracles.classification_noise import rate
from mechanisms.queries.runs.noisy_runs import COARSE, BoundedNoiseRun, NoisyProblem, NoisyRun

if TYPE_CHECKING:
    from mechanisms.queries.oracles.private import PrivateOracle

__all__ = ["OneRateRun", "ReusedExamples", "WrongRateRun"]


@dataclass(frozen=True, kw_only=True)
class WrongRateRun(NoisyRun):
    """A run that corrects for the wrong noise rate of the labels.

    Parameters
    ----------
    epsilon, tau, beta, size, records, make, eta, model
        As in `NoisyRun`. `eta` is the rate that is corrected for; 0 ignores the noise.
    actual
        The rate at which labels are flipped.

    Guarantee
    ---------
    As private as `NoisyRun`, but not accurate. The term with the label is scaled by (1 − 2·actual)/(1 −
    2·eta) (N12).

    Examples
    --------
    >>> [problem.eta for problem in WrongRateRun(eta=0.0, actual=0.25).problems()]
    [0.25, 0.25, 0.25, 0.25]
    """

    actual: float = 0.0

    name: ClassVar[str] = "noisy-labels-wrong-rate"
    reference: ClassVar[str] = "B Theorem 8 with a rate that is not the labels' (N12)"

    def __post_init__(self) -> None:
        rate(self.actual, what="The `actual` of `WrongRateRun`")
        super().__post_init__()

    def problems(self) -> list[NoisyProblem]:
        """Return the hard distributions with labels flipped at the actual rate."""
        return [replace(problem, eta=self.actual) for problem in super().problems()]


@dataclass(frozen=True, kw_only=True)
class OneRateRun(BoundedNoiseRun):
    """A run that assumes clean labels.

    Parameters
    ----------
    epsilon, tau, beta, size, records, make, bound, excess
        As in `BoundedNoiseRun`.

    Guarantee
    ---------
    As private as `BoundedNoiseRun`, but not accurate. Let the clean label be −1 always, with labels flipped
    at rate 0.2. Then Pr[x = 0 ∧ y = 1] is estimated as 0.2, above the tolerance of 0.17. So the learner drops
    its only variable x, and its error is 1.

    Examples
    --------
    >>> OneRateRun().candidates
    (0.0,)
    """

    name: ClassVar[str] = "bounded-noise-one-rate"
    reference: ClassVar[str] = "B Theorem 8 with the rate 0 for a bound on it (N12)"

    @property
    def candidates(self) -> tuple[float, ...]:
        """The only rate that is tried."""
        return (0.0,)


@dataclass(frozen=True, kw_only=True)
class ReusedExamples(BoundedNoiseRun):
    """A run that spends the whole epsilon on each of several noise rates.

    All rates are tried on the same examples.

    Parameters
    ----------
    epsilon, tau, beta, size, records, make, bound, excess, view
        As in `BoundedNoiseRun`, but the default `size` is enough for one rate only.

    Guarantee
    ---------
    Only N·epsilon-private for N candidate rates, because an example affects one answer for each rate. The
    claim is epsilon. The loss beyond epsilon shows in the transcript, and hardly in the output.

    Examples
    --------
    >>> twice = ReusedExamples(bound=0.1)
    >>> len(twice.rates), twice.size < BoundedNoiseRun(bound=0.1).size
    (2, True)
    """

    name: ClassVar[str] = "flawed-bounded-noise-reused-examples"
    reference: ClassVar[str] = "B Theorem 8 with a grid of rates, all on the same chunks"

    @property
    def _needed(self) -> int:
        """The number of examples that the most demanding rate needs."""
        return max(map(self._examples, self.candidates))

    def _for_a_rate(self, oracle: PrivateOracle) -> PrivateOracle:
        oracle.used = 0
        return oracle


_REUSED = partial(ReusedExamples, epsilon=1.0, **COARSE)

entries = (
    Entry(
        "noisy-labels-ignored",
        partial(WrongRateRun, eta=0.0, actual=0.25),
        options=None,
        utility={"budget": 600},
        utility_expected="refuted",
        reference=WrongRateRun.reference,
        summary="the same, noise of rate 1/4 ignored: off by 1/2",
    ),
    Entry(
        WrongRateRun.name,
        WrongRateRun,
        options=None,
        utility={"budget": 600},
        utility_expected="refuted",
        reference=WrongRateRun.reference,
        summary="the same, clean labels taken for noisy: off by 1",
    ),
    Entry(
        OneRateRun.name,
        OneRateRun,
        options=None,
        utility={"budget": 600},
        utility_expected="refuted",
        reference=OneRateRun.reference,
        summary="the same, told of no noise: error 1",
    ),
    Entry(
        ReusedExamples.name,
        _REUSED,
        options={"budget": 4_000, "confirm_budget": 500, "pairs": _REUSED().suggested_pairs()[:1]},
        expected="refuted",
        reference=ReusedExamples.reference,
        summary="a grid of two rates, both on the same chunks: loss 2ε",
    ),
)
