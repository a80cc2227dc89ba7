"""Bets on the code of a subject whose declared law keeps the claim: a law must not hide what runs find.

The comparison of a law with the code lets a code pass that differs from it by a tenth in total variation, or
on one database in a thousand. So the claim is bet on as if there were no law: first on the pairs that lose
most by the law, then on those that an audit by runs tries first: the boundary of the domain.

**Guarantee.** The bets are an audit by runs at half of the significance, and so is the comparison of law and
code. If the claim holds and the law is the code's, one of them speaks against it with probability at most
the significance (union bound).
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
"""Of the budget where the law loses much less than it claims: code that breaks the claim is far from it."""
TIGHT = 0.8
"""A law that loses this share of its claim is near it."""
PROPOSED = 24
"""Pairs that are looked at beside the worst by the law."""
SHARE = 0.5
"""Of the significance, and of the budget: what the bets on the code get; the comparison gets the rest."""


def bet_on_code(task: PrivacyTask, worst: list[Pair], *, compared: int, tight: bool) -> AuditResult | None:
    """Return the result of an audit by runs, on some pairs first; None if its budget can refute nothing.

    Parameters
    ----------
    task
        The audit of the subject that declares a law.
    worst
        The pairs that lose most by the law.
    compared
        Runs of the budget that the comparison of law and code has spent.
    tight
        Whether the law comes near its claim, so that code which breaks it can be much like the law.
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
    """Return the worst pairs by the law, and those that a search tries first: the boundary of the domain.

    No search goes on from there: the law tells where most is lost, and the rest is for what no law says.
    Pairs of a strategy for whole databases stay with it, which knows what it allows.
    """
    if databases.whole or databases.unchecked:
        return replace(databases, given=(*worst, *databases.given))
    proposed = islice(databases.proposals(np.random.default_rng(seed)), PROPOSED)
    pairs = {key([path[0], path[-1]]): (path[0], path[-1]) for path in (*worst, *proposed)}
    return replace(databases, given=tuple(pairs.values()), records=None)


def speaks(found: AuditResult) -> bool:
    """Return whether bets found what the law does not say; too little power or time for any ε is silence."""
    if found.verdict is not Verdict.INCONCLUSIVE:
        return found.verdict is not Verdict.NOT_REFUTED
    crossed = found.log_limit is not None and found.log_wealth >= found.log_limit
    return crossed or found.witness is not None or found.unfinished > 0


def beside_law(found: AuditResult, task: PrivacyTask, *, compared: int) -> AuditResult:
    """Return what bets on the code found as the result of the whole audit, which says what the law hid.

    Parameters
    ----------
    found
        What the bets found: no silence.
    task
        The audit.
    compared
        Runs that had been compared with the law, without contradicting it.
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
