"""Pairs of runs to a refutation, divided by the fewest that an auditor needs.

The fewest that any auditor needs on average is ln(1/significance)/KL of the best event (`subjects.limits`).
It comes from closed forms and exact laws.
"""

import math
from collections.abc import Iterable, Iterator
from statistics import median

from audit.claims import PureDP
from audit.relations import Relation
from audit.results.result import AuditResult
from audit.self_audit.audits import Audits, Sizes, Task
from audit.self_audit.judging import judged_share, ranged
from audit.self_audit.row import Row
from audit.self_audit.subjects.exact import Setting, geometric, laplace, noisy_max, randomized_response
from audit.self_audit.subjects.limits import least_pairs
from audit.values.wording import number

PART = "efficiency"
SIGNIFICANCE = 1e-6
SHARES = (0.5, 0.8, 0.9)
#: The budget of an audit in runs, divided by the least mean number of pairs of runs to a refutation. With a
#: larger budget, slower audits refute too.
PATIENCE = 40
JUDGED = 1


def settings() -> tuple[Setting, ...]:
    """Return the mechanisms on which efficiency is measured."""
    return laplace(), geometric(), randomized_response(), noisy_max()


def rows(audits: Audits, sizes: Sizes) -> Iterator[Row]:
    """Yield a row for each of `SHARES`, then a row for the wealth at refutations.

    A share is the claimed ε divided by the true ε.
    """
    refuted: list[AuditResult] = []
    for share in SHARES:
        found: dict[str, list[float]] = {}
        for setting in settings():
            results = carried_out(audits, setting, share, sizes.repeats)
            refuted += [result for result in results if result.refuted]
            found[setting.name] = multiples(results, limit(setting, share))
        yield ranged(
            PART,
            f"pairs ÷ limit, claim {share:g} of the true ε",
            [value for values in found.values() for value in values],
            kind="ratio",
            note="1 is the least mean of any auditor with independent sides; the greatest is the worst audit",
            details=tuple(
                (name, f"median {number(median(values))}, {number(min(values))} to {number(max(values))}")
                for name, values in found.items()
            ),
        )
    yield judged_share(
        PART,
        f"refutations whose wealth is below 1/significance, {SIGNIFICANCE:g}",
        count=sum(result.log_wealth < -math.log(SIGNIFICANCE) for result in refuted),
        n=len(refuted),
        side="at most",
        limit=0.0,
        level=audits.level,
        note="an auditor that refutes too early, as at a larger significance than was asked for, has some",
    )


def limit(setting: Setting, share: float) -> float:
    """Return the least mean number of pairs of runs with which any auditor can refute a claim.

    The claim is `share` times the true ε.
    """
    return least_pairs(setting.events, epsilon=share * setting.epsilon, significance=SIGNIFICANCE)


def carried_out(audits: Audits, setting: Setting, share: float, repeats: int) -> list[AuditResult]:
    """Return the results of audits that claim `share` times the true ε."""
    options = {
        "relation": Relation.QUERY_ANSWERS,
        "pairs": [setting.pair],
        "budget": math.ceil(PATIENCE * limit(setting, share)),
        "confirm_budget": 4,
        "significance": SIGNIFICANCE,
    }
    task = Task(setting.mechanism, PureDP(share * setting.epsilon), options)
    what = f"{setting.name}, claim {share:g} of the true ε"
    return list(audits.carried_out(PART, what, [task] * repeats))


def multiples(results: Iterable[AuditResult], least: float) -> list[float]:
    """Return each audit's pairs of runs to its refutation, divided by `least`.

    The value is ∞ for an audit that refuted nothing.
    """
    return [(result.samples_to_refutation or math.inf) / 2 / least for result in results]
