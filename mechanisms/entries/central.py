"""The catalogue's entries for the central mechanisms: right ones, then flawed ones."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from audit.catalogue import Entry
from mechanisms import flawed
from mechanisms.entries.composed import composed
from mechanisms.noise.geometric import GeometricMechanism, TruncatedGeometricMechanism
from mechanisms.noise.histogram import LaplaceHistogram
from mechanisms.noise.laplace import LaplaceMechanism
from mechanisms.noise.mean import LaplaceMean
from mechanisms.responses.binary import RandomizedResponse
from mechanisms.responses.kary import KaryRandomizedResponse
from mechanisms.selection.choosing import ChoosingMechanism
from mechanisms.selection.exponential import ExponentialMechanism
from mechanisms.selection.gaps import StableSelectionGaps, TightStableSelectionGaps
from mechanisms.selection.score_vectors import ChoosingScores
from mechanisms.selection.stability import StableSelection, TightStableSelection

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    _Expected: TypeAlias = Literal["refuted", "not refuted"]

__all__ = ["catalogue"]

_RIGHT: Mapping[Any, str] = {
    LaplaceMechanism: "a count with Laplace noise",
    LaplaceHistogram: "a histogram with Laplace noise, a record added or removed",
    LaplaceMean: "the mean of values in [0, b], others refused",
    GeometricMechanism: "a count with two-sided geometric noise",
    TruncatedGeometricMechanism: "a count with two-sided geometric noise, clamped into {0 … b}",
    ExponentialMechanism: "the best of 16 candidates, by approvals",
    RandomizedResponse: "Warner's survey: the truth with probability 2/3",
    KaryRandomizedResponse: "randomized response among k answers",
    StableSelection: "A_dist: the best candidate if far ahead; found: (ε/2, δ/2)",
    StableSelectionGaps: "A_dist on every pair of gaps: every database size",
    TightStableSelection: "A_dist with the noise that its claim needs",
    TightStableSelectionGaps: "tight A_dist on every pair of gaps: (ε, δ) exactly",
    ChoosingMechanism: "the choosing mechanism at the least size it allows",
    ChoosingScores: "the choosing mechanism on all scores of bounded growth",
}
_FLAWED: Mapping[Any, str] = {
    flawed.RateAsScaleLaplace: "passes the rate as the scale: loss 1/ε",
    flawed.HalfScaleLaplace: "half the noise: loss 2ε (no law)",
    flawed.ReplaceOneHistogram: "histogram noise for adding, under replacing: loss 2ε",
    flawed.TrustingMean: "trusts values beyond [0, b]: loss 5ε (no law)",
    flawed.HalfSensitivityMean: "values in [−b, b], noise for [0, b]: loss 2ε",
    flawed.DoubleEpsilonGeometric: "α from 2ε: loss 2ε",
    flawed.RenormalisedGeometric: "conditions on {0 … 5} instead of clamping: loss 0.907 for 0.693",
    flawed.HalfSensitivityExponential: "forgets the 2 in ε·q/2Δq: loss 1.86 for 1",
    flawed.UncheckedScore: "a score of sensitivity 10 taken for 1: loss 5 for 1 (no law)",
    flawed.ThreeQuartersResponse: "the truth with probability 3/4 called ln 2: loss ln 3 (no law)",
    flawed.BinaryCalibratedResponse: "k answers calibrated as two: loss ε + ln(k − 1)",
    flawed.UncheckedChoosing: "the choosing mechanism on 5 records for 230: δ 0.24 for 1e-3",
}
_FEW = 4
"""So many pairs show the privacy of a mechanism that is in the catalogue for its utility."""
_WHOLE_GAP = 20.0 * math.exp(-15.0)
"""The delta at which the printed gap, at epsilon = 5 and beta = 0.1, is 12: scores are whole numbers."""


def catalogue() -> list[Entry]:
    """Return an entry for every mechanism: the right ones, then the flawed gallery.

    Examples
    --------
    >>> entries = {entry.name: entry for entry in catalogue()}
    >>> print(entries["laplace-mean"].factory(epsilon=0.5).claim)
    PureDP(epsilon=0.5)
    >>> entries["flawed-laplace-half-scale"].expected
    'refuted'
    """
    right = [_entry(factory, summary, expected="not refuted") for factory, summary in _RIGHT.items()]
    right.insert(3, _clamped_mean())
    right += [*composed(), _small_choosing()]
    wrong = [_entry(factory, summary, expected="refuted") for factory, summary in _FLAWED.items()]
    return right + wrong + _printed()


def _entry(factory: Any, summary: str, *, expected: _Expected) -> Entry:
    useful: Mapping[str, Any] | None = None
    if expected == "not refuted" and hasattr(factory, "utility_claim"):
        useful = {}
    return Entry(
        factory.name, factory, expected=expected, utility=useful, reference=factory.reference, summary=summary
    )


def _clamped_mean() -> Entry:
    factory = partial(LaplaceMean, clamp=True, size=2)
    summary = "the mean of any numbers, clamped into [0, b]"
    return Entry(
        "laplace-mean-clamped", factory, utility={}, reference=LaplaceMean.reference, summary=summary
    )


def _small_choosing() -> Entry:
    factory = partial(ChoosingMechanism, epsilon=8.0, delta=0.1, alpha=1.0, beta=0.5, records=("a", "b"))
    summary = "the choosing mechanism, every database of its least size"
    return Entry(
        "choosing-small", factory, utility={}, reference=ChoosingMechanism.reference, summary=summary
    )


def _printed() -> list[Entry]:
    """Return the mechanisms that are private and not as useful as their text prints."""
    stable, choosing = partial(StableSelection, epsilon=5.0, delta=_WHOLE_GAP), ChoosingMechanism
    literal = partial(flawed.LiteralConcavePromise, top=4096, beta=0.01)
    told = (
        (
            "stable-selection-printed-gap",
            stable,
            "A_dist at the gap of Proposition 2(ii), ε = 5: fails 3 times β",
        ),
        ("choosing-printed-clause", choosing, "Lemma 4 as printed, where nothing is to be found: answers ⊥"),
        ("concave-promise-literal", literal, "Rec with step 10 as printed: misses what lies across a border"),
    )
    return [
        Entry(
            name,
            factory,
            options={"pairs": subject.suggested_pairs()[:_FEW]},
            utility={"problems": subject.printed_problems()} if hasattr(subject, "printed_problems") else {},
            utility_expected="refuted",
            reference=subject.reference,
            summary=summary,
        )
        for name, factory, summary in told
        for subject in [factory()]
    ]
