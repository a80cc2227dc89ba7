"""Bet on the code of a subject whose declared law keeps the claim.

The law may hide a fault of the code. The comparison of law and code misses code whose outputs have a total
variation distance of 0.1 from the law. It also misses code that differs on only one database in a thousand.
So these bets audit the code as if the subject declared no law. The first bets are on the pairs with the
largest loss under the law. Next comes the boundary of the domain, where an audit by runs begins.

**Guarantee.** The bets are an audit by runs at half of the significance. The comparison of law and code has
the other half. Suppose the claim holds and the code follows the law. The chance that the bets or the
comparison show otherwise is then at most the significance (union bound).
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

#: The share of the budget for bets on the code if the law is far below the claim. A small share suffices:
#: code that breaks the claim is then far from the law.
SHARE_IF_SLACK = 0.1
#: A law counts as close to its claim if its loss is at least this share of the claim.
TIGHT = 0.8
#: The number of pairs of the boundary that are tried after the worst pairs under the law.
PROPOSED = 24
#: The share of the significance and of the budget for bets on the code. The rest is for the comparison of
#: law and code.
SHARE = 0.5


def bet_on_code(task: PrivacyTask, worst: list[Pair], *, compared: int, tight: bool) -> AuditResult | None:
    """Return the result of an audit of the code by runs.

    If the budget is too small to refute anything, return None.

    Parameters
    ----------
    task
        The audit of the subject that declares a law.
    worst
        The pairs with the largest loss under the law; they are tried first.
    compared
        How many runs of the budget the comparison of law and code has used.
    tight
        Whether the loss under the law is close to the claim.
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
    """Return the worst pairs under the law and the boundary of the domain.

    If a strategy makes whole databases, only the strategy knows which are allowed. In this case the
    strategy's pairs replace the boundary.
    """
    if databases.whole or databases.unchecked:
        return replace(databases, given=(*worst, *databases.given))
    proposed = islice(databases.proposals(np.random.default_rng(seed)), PROPOSED)
    pairs = {key([path[0], path[-1]]): (path[0], path[-1]) for path in (*worst, *proposed)}
    return replace(databases, given=tuple(pairs.values()), records=None)


def speaks(found: AuditResult) -> bool:
    """Return whether the bets found something that must be reported.

    That is a refutation, an error, a wealth that has reached its limit, a witness, or unfinished runs.
    """
    if found.verdict is not Verdict.INCONCLUSIVE:
        return found.verdict is not Verdict.NOT_REFUTED
    crossed = found.log_limit is not None and found.log_wealth >= found.log_limit
    return crossed or found.witness is not None or found.unfinished > 0


def beside_law(found: AuditResult, task: PrivacyTask, *, compared: int) -> AuditResult:
    """Return the result of the bets on the code as that of the whole audit.

    If the claim is refuted, a note says that the law hid the fault.

    Parameters
    ----------
    found
        The result of the bets; `speaks` is true for it.
    task
        The audit.
    compared
        How many runs were compared with the law and did not contradict it.
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
