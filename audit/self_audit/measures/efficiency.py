"""Pairs of runs to a refutation, as a multiple of the fewest that any auditor needs on average.

The limit is ln(1/significance)/KL of the best event, from closed forms and exact laws (`subjects.limits`).
"""

import math
from collections.abc import Iterator
from statistics import median

from audit.claims import PureDP
from audit.relations import Relation
from audit.self_audit.audits import Audits, Sizes, Task
from audit.self_audit.row import Row
from audit.self_audit.subjects.exact import Setting, geometric, laplace, noisy_max, randomized_response
from audit.self_audit.subjects.limits import least_pairs
from audit.values.wording import number

PART = "efficiency"
SIGNIFICANCE = 1e-6
SHARES = (0.5, 0.8, 0.9)
#: An audit may take this many times the limit.
PATIENCE = 40


def settings() -> tuple[Setting, ...]:
    """Return the mechanisms that efficiency is measured on."""
    return laplace(), geometric(), randomized_response(), noisy_max()


def rows(audits: Audits, sizes: Sizes) -> Iterator[Row]:
    """Yield a row for each share of the true ε that is claimed."""
    for share in SHARES:
        found = {each.name: multiples(audits, each, share, sizes.repeats) for each in settings()}
        every = [value for values in found.values() for value in values]
        yield Row(
            PART,
            f"pairs ÷ limit, claim {share:g} of the true ε",
            len(every),
            median(every),
            min(every),
            max(every),
            kind="ratio",
            spread="range",
            note="1 is the least mean of any auditor with independent sides; the greatest is the worst audit",
            details=tuple(
                (name, f"median {number(median(values))}, {number(min(values))} to {number(max(values))}")
                for name, values in found.items()
            ),
        )


def limit(setting: Setting, share: float) -> float:
    """Return the limit in pairs of runs where `share` of the true ε is claimed."""
    return least_pairs(setting.events, epsilon=share * setting.epsilon, significance=SIGNIFICANCE)


def multiples(audits: Audits, setting: Setting, share: float, repeats: int) -> list[float]:
    """Return pairs to the refutation ÷ limit of each audit, infinite for one that did not refute."""
    least = limit(setting, share)
    options = {
        "relation": Relation.QUERY_ANSWERS,
        "pairs": [setting.pair],
        "budget": math.ceil(PATIENCE * least),
        "confirm_budget": 4,
        "significance": SIGNIFICANCE,
    }
    task = Task(setting.mechanism, PureDP(share * setting.epsilon), options)
    what = f"{setting.name}, claim {share:g} of the true ε"
    results = audits.results(PART, what, [task] * repeats)
    return [(result.samples_to_refutation or math.inf) / 2 / least for result in results]
