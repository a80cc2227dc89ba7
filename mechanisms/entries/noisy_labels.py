"""A catalogue entry for a local run's transcript on noisy labels.

The learner needs so many examples for its utility claim that runs cannot show the influence of one. So the
privacy audits use few examples, and whole transcripts.
"""

from __future__ import annotations

from functools import partial

from audit.catalogue import Entry, Later
from mechanisms.queries.runs.noisy_runs import NoisyRun

_LOCAL = partial(NoisyRun, model="local", view="transcript", epsilon=4.0, eta=0.1, tau=1.5, beta=0.5)

entry = Entry(
    f"{NoisyRun.name}-local-coarse",
    _LOCAL,
    options=Later(lambda: {"budget": 4_500, "confirm_budget": 500, "pairs": _LOCAL().suggested_pairs()[:1]}),
    reference=NoisyRun.reference,
    summary="every report for the same queries, from few local entries (no law)",
)
