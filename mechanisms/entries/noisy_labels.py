"""The catalogue's entries for SQ algorithms from noisy labels, and their flawed twins.

Where a utility is kept, examples are so many that an audit of runs sees nothing of one of them: privacy is
audited of the coarse entries, which run the same code on few examples, and of all that a run says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from audit.catalogue import Entry
from mechanisms.queries.oracles.classification_noise import rate
from mechanisms.queries.runs.noisy_runs import BoundedNoiseRun, NoisyProblem, NoisyRun

if TYPE_CHECKING:
    from mechanisms.queries.oracles.private import PrivateOracle

Expected: TypeAlias = Literal["refuted", "not refuted"]

__all__ = ["COARSE", "OneRateRun", "ReusedExamples", "WrongRateRun", "entries"]


@dataclass(frozen=True, kw_only=True)
class WrongRateRun(NoisyRun):
    """Wrong: undoes noise of another rate than the labels have; with `eta` 0, ignores it.

    Parameters
    ----------
    epsilon, tau, beta, size, records, make, eta, model
        As in `NoisyRun`; eta is the rate that is undone.
    actual
        The rate that labels are flipped with.

    Guarantee
    ---------
    Private as `NoisyRun` is. Not accurate: the term with the label is scaled by (1 − 2·actual)/(1 − 2·eta)
    (N12): E[x·y] = 1 is answered by 1/2 where noise of rate 1/4 is ignored, and by 2 where clean labels are
    taken for such.

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
        """Return the algorithm's hard distributions, their labels flipped at the actual rate."""
        return [replace(problem, eta=self.actual) for problem in super().problems()]


@dataclass(frozen=True, kw_only=True)
class OneRateRun(BoundedNoiseRun):
    """Wrong: instead of a grid of rates only the rate 0 is tried, as if labels were clean.

    Parameters
    ----------
    epsilon, tau, beta, size, records, make, bound, excess
        As in `BoundedNoiseRun`.

    Guarantee
    ---------
    Private as `BoundedNoiseRun` is. Not accurate: for y = −1 always, flipped with 0.2, Pr[x = 0 ∧ y = 1] is
    seen as 0.2, above the tolerance of 0.17, and the variable is dropped for an error of 1.

    Examples
    --------
    >>> OneRateRun().candidates
    (0.0,)
    """

    name: ClassVar[str] = "bounded-noise-one-rate"
    reference: ClassVar[str] = "B Theorem 8 with the rate 0 for a bound on it (N12)"

    @property
    def candidates(self) -> tuple[float, ...]:
        """The rate that is tried."""
        return (0.0,)


@dataclass(frozen=True, kw_only=True)
class ReusedExamples(BoundedNoiseRun):
    """Wrong: every rate is tried on the same examples from the first on, each time with all of epsilon.

    Parameters
    ----------
    epsilon, tau, beta, size, records, make, bound, excess, view
        As in `BoundedNoiseRun`; as many examples as the rate needs that needs most.

    Guarantee
    ---------
    Only N·epsilon-private for N candidate rates, where epsilon is claimed: for each of them an example has
    part in one answer. The output shows little of that; the transcript shows it.

    Examples
    --------
    >>> twice = ReusedExamples(bound=0.1)
    >>> len(twice.rates), twice.size < BoundedNoiseRun(bound=0.1).size
    (2, True)
    """

    name: ClassVar[str] = "flawed-bounded-noise-reused-examples"
    reference: ClassVar[str] = "B Theorem 8 with a grid of rates, all on the same chunks"

    @property
    def least_size(self) -> int:
        """The number of examples that the rate needs which needs most."""
        return max(map(self._examples, self.candidates))

    def _for_a_rate(self, oracle: PrivateOracle) -> PrivateOracle:
        oracle.used = 0
        return oracle


COARSE: dict[str, Any] = {"tau": 1.0, "beta": 0.9, "bound": 0.34, "excess": 2.0, "view": "transcript"}
"""A grid of two rates on a few hundred examples."""


def entries() -> list[Entry]:
    """Return the entries, those of privacy and those of utility.

    Examples
    --------
    >>> [entry.name for entry in entries() if entry.flaws and entry.options is not None]
    ['flawed-bounded-noise-reused-examples']
    """
    return [*_of_privacy(), *_of_utility()]


def _of_privacy() -> list[Entry]:
    local: dict[str, Any] = {
        "model": "local",
        "view": "transcript",
        "epsilon": 4.0,
        "eta": 0.1,
        "tau": 1.5,
        "beta": 0.5,
    }
    return [
        Entry(
            f"{NoisyRun.name}-coarse",
            partial(NoisyRun, epsilon=4.0, eta=0.1, tau=1.0),
            options={"budget": 7_000},  # at ε = 4 fewer runs catch no ε at all
            reference=NoisyRun.reference,
            summary="two queries about clean labels, at a tolerance that few examples keep (no law)",
        ),
        _said(
            f"{NoisyRun.name}-local-coarse",
            partial(NoisyRun, **local),
            "all that is reported for the same by few local entries (no law)",
            budget=4_500,
        ),
        _said(
            f"{BoundedNoiseRun.name}-coarse",
            partial(BoundedNoiseRun, epsilon=2.0, **COARSE),
            "all answers for two candidate rates, at a tolerance that few examples keep (no law)",
            budget=2_000,
        ),
        _said(
            ReusedExamples.name,
            partial(ReusedExamples, epsilon=1.0, **COARSE),
            "the same, both rates on the same chunks: loss 2ε",
            budget=4_000,
            expected="refuted",
        ),
    ]


def _of_utility() -> list[Entry]:
    local = partial(NoisyRun, model="local", epsilon=2.0)
    ignored = partial(WrongRateRun, eta=0.0, actual=0.25)
    privacy = f"privacy: {NoisyRun.name}"
    return [
        _useful(NoisyRun.name, NoisyRun, f"two queries about clean labels; {privacy}-coarse"),
        _useful(f"{NoisyRun.name}-local", local, f"the same locally; {privacy}-local-coarse"),
        _useful(
            "noisy-labels-ignored",
            ignored,
            "the same, noise of rate 1/4 ignored: off by 1/2",
            expected="refuted",
        ),
        _useful(
            WrongRateRun.name,
            WrongRateRun,
            "the same, clean labels taken for noisy: off by 1",
            expected="refuted",
        ),
        _useful(
            BoundedNoiseRun.name,
            BoundedNoiseRun,
            f"a learner for noise of any rate up to 0.2; privacy: {BoundedNoiseRun.name}-coarse",
        ),
        _useful(OneRateRun.name, OneRateRun, "the same, told of no noise: error 1", expected="refuted"),
    ]


def _said(name: str, factory: Any, summary: str, *, budget: int, expected: Expected = "not refuted") -> Entry:
    """Return an entry whose privacy is audited from the transcript, on the pair that tells most."""
    subject = factory()
    return Entry(
        name,
        factory,
        options={"budget": budget, "confirm_budget": 500, "pairs": subject.suggested_pairs()[:1]},
        expected=expected,
        reference=subject.reference,
        summary=summary,
    )


def _useful(name: str, factory: Any, summary: str, *, expected: Expected = "not refuted") -> Entry:
    """Return an entry whose utility is audited."""
    return Entry(
        name,
        factory,
        options=None,
        utility={"budget": 600},
        utility_expected=expected,
        reference=factory().reference,
        summary=summary,
    )
