"""Bets on the code of a subject whose declared law keeps the claim, so that the law hides no fault.

The comparison of law and code misses code that differs by a tenth in total variation, or on one database in
a thousand. So these bets audit the code as if it declared no law: first on the pairs with the largest loss by
the law, then on the boundary of the domain, where an audit by runs begins.

**Guarantee.** The bets are an audit by runs at half of the significance; the comparison of law and code has
the other half. If the claim holds and the law is the code's, the chance that either speaks against it is at
most the significance (union bound).
"""

import math
from dataclasses import replace
from itertools import islice

import numpy as np

from audit.databases.chosen import Databases, Pair
from audit.results.result import AuditResult, Verdict
from audit.task import PrivacyTask
from audit.values.canonical import key
from audit.values.said import Says
from audit.verdict.by_runs import audit_by_runs, least_budget

SHARE_IF_SLACK = 0.1
"""Larger: more of the budget goes to the code of a law far below its claim. A small share suffices there:
code that breaks the claim is far from the law."""
TIGHT = 0.8
"""Larger: fewer laws count as near their claim. The least loss of such a law, as a share of the claim."""
PROPOSED = 24
"""Larger: more pairs of the boundary are tried beside the worst pairs by the law."""
SHARE = 0.5
"""Larger: more for the bets on the code, less for the comparison of law and code. The bets' share of the
significance and of the budget."""


def bet_on_code(task: PrivacyTask, worst: list[Pair], *, compared: int, tight: bool) -> AuditResult | None:
    """Return the result of an audit of the code by runs; None if its budget is too small to refute anything.

    Parameters
    ----------
    task
        The audit of the subject that declares a law.
    worst
        The pairs with the largest loss by the law; they are tried first.
    compared
        Runs of the budget that the comparison of law and code has spent.
    tight
        Whether the law comes near its claim. Then code close to the law can break the claim.
    """
    given, significance = task.options, SHARE * task.options.significance
    share = math.floor((SHARE if tight else SHARE_IF_SLACK) * given.budget)
    budget = min(share, given.budget - compared)
    if budget < least_budget(task.claim.epsilon, task.claim.delta, significance):
        return None
    options = replace(given, significance=significance, budget=budget)
    databases = _first(task.databases, worst, seed=task.pairs_seed())
    return audit_by_runs(replace(task, options=options, databases=databases))


def _first(databases: Databases, worst: list[Pair], *, seed: tuple[int, int]) -> Databases:
    """Return the databases to bet on: the worst pairs by the law, and the boundary of the domain.

    The search goes no further: the law says where the loss is largest, and the boundary covers the rest. A
    strategy for whole databases keeps its own pairs, because only it knows what it allows.
    """
    if databases.whole or databases.unchecked:
        return replace(databases, given=(*worst, *databases.given))
    proposed = islice(databases.proposals(np.random.default_rng(seed)), PROPOSED)
    pairs = {key([path[0], path[-1]]): (path[0], path[-1]) for path in (*worst, *proposed)}
    return replace(databases, given=tuple(pairs.values()), records=None)


def speaks(found: AuditResult) -> bool:
    """Return whether the bets found something that the law does not show.

    A result without a crossing, a witness or unfinished runs says nothing: too little power or time.
    """
    if found.verdict is not Verdict.INCONCLUSIVE:
        return found.verdict is not Verdict.NOT_REFUTED
    crossed = found.log_limit is not None and found.log_wealth >= found.log_limit
    return crossed or found.witness is not None or found.unfinished > 0


def beside_law(found: AuditResult, task: PrivacyTask, *, compared: int) -> AuditResult:
    """Return the result of the bets on the code as that of the whole audit, with a note on the law.

    Parameters
    ----------
    found
        The result of the bets, for which `speaks` holds.
    task
        The audit.
    compared
        Runs that were compared with the law and did not contradict it.
    """
    fell = found.samples_to_refutation
    return replace(
        found,
        reason=found.reason and f"in bets on the code itself, not on its declared law: {found.reason}",
        samples=found.samples + compared,
        samples_to_refutation=None if fell is None else fell + compared,
        significance=task.options.significance,
        budget=task.options.budget,
        notes=(Says.LAW_HID(runs=compared), *found.notes) if found.refuted else found.notes,
    )
