"""The transcript of a run from noisy labels in the local model: an entry whose pairs take a while to find.

The size that keeps a utility claim is so large that an audit of runs sees nothing of one example. So the
audits of privacy use coarse entries, which run the same code on few examples, and the whole transcript of a
run.
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
