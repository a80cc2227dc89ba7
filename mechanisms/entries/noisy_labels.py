"""What runs from noisy labels say: entries whose pairs of examples take a while to find.

Where a utility is kept, examples are so many that an audit of runs sees nothing of one of them: privacy is
audited of the coarse entries, which run the same code on few examples, and of all that a run says.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from audit.catalogue import Entry
from mechanisms.flawed.noisy_labels import ReusedExamples
from mechanisms.queries.runs.noisy_runs import BoundedNoiseRun, NoisyRun

__all__ = ["COARSE"]

COARSE: dict[str, Any] = {"tau": 1.0, "beta": 0.9, "bound": 0.34, "excess": 2.0, "view": "transcript"}
"""A grid of two rates on a few hundred examples."""

_LOCAL: dict[str, Any] = {
    "model": "local",
    "view": "transcript",
    "epsilon": 4.0,
    "eta": 0.1,
    "tau": 1.5,
    "beta": 0.5,
}


def _said(
    name: str,
    factory: Any,
    summary: str,
    *,
    budget: int,
    expected: Literal["refuted", "not refuted"] = "not refuted",
) -> Entry:
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


entries = (
    _said(
        f"{NoisyRun.name}-local-coarse",
        partial(NoisyRun, **_LOCAL),
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
)
