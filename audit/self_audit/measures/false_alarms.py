"""How often audits refute claims that hold with equality.

Betting gives far fewer false alarms than its level allows. So counting alarms has little power to find a
fault of the auditor. The mean of min(wealth, 1/level) at the end has more power. For a sound audit this mean
is at most 1, however bets are chosen and stopped. If a bet depends on the runs that settle it, the mean
grows.
"""

import copy
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from audit.claims import private
from audit.relations import Relation
from audit.results.result import AuditResult
from audit.self_audit.audits import Audits, Sizes, Task
from audit.self_audit.judging import judged_mean, judged_share
from audit.self_audit.row import Row
from audit.self_audit.subjects.tight import Tight, tight_cases
from audit.values.wording import number

PART = "false alarms"
LEVELS = (0.1, 0.05, 0.01)
BUDGET = 1_000
JUDGED = len(LEVELS) * (len(tight_cases()) + 2)


def rows(audits: Audits, sizes: Sizes) -> Iterator[Row]:
    """Yield a row for each mechanism and level, then two rows for each level.

    Of these two, the first is for all mechanisms together, the second for the mean of their wealth.
    """
    cases = tight_cases()
    found: dict[float, dict[str, list[AuditResult]]] = {level: {} for level in LEVELS}
    for name, case in cases.items():
        for level in LEVELS:
            what = f"{name}, significance {level:g}"
            results = list(audits.carried_out(PART, what, _tasks(case, level, sizes.audits)))
            found[level][name] = results
            yield _alarms(what, results, level=level, alpha=audits.level)
    for level, by_name in found.items():
        results = [result for each in by_name.values() for result in each]
        counts = [
            (name, f"{sum(one.refuted for one in each)} of {len(each)}") for name, each in by_name.items()
        ]
        yield _alarms(
            f"all mechanisms, significance {level:g}",
            results,
            level=level,
            alpha=audits.level,
            details=counts,
        )
        yield judged_mean(
            PART,
            f"mean of min(wealth, {number(1 / level)}) at the end, significance {level:g}",
            values=capped_wealth([result.log_wealth for result in results], 1 / level),
            cap=1 / level,
            level=audits.level,
        )


def capped_wealth(log_wealths: list[float], cap: float) -> NDArray[np.float64]:
    """Return the smaller of wealth and `cap` for each audit.

    Examples
    --------
    >>> capped_wealth([0.0, 50.0], 10.0).tolist()
    [1.0, 10.0]
    """
    return np.minimum(np.exp(np.minimum(log_wealths, 700.0)), cap)  # e^700 is still a float


def _tasks(case: Tight, level: float, count: int) -> list[Task]:
    claim = private(case.epsilon, case.delta)
    resized = any(len(left) != len(right) for left, right in case.pairs)
    options = {
        "pairs": case.pairs,
        "relation": Relation.ADD_OR_REMOVE_ONE if resized else Relation.QUERY_ANSWERS,
        "budget": BUDGET,
        "significance": level,
    }
    return [Task(copy.deepcopy(case.mechanism), claim, options) for _ in range(count)]


def _alarms(
    what: str,
    results: list[AuditResult],
    *,
    level: float,
    alpha: float,
    details: list[tuple[str, str]] | None = None,
) -> Row:
    count, n = sum(result.refuted for result in results), len(results)
    return judged_share(
        PART,
        what,
        count=count,
        n=n,
        side="at most",
        limit=level,
        level=alpha,
        note=f"{number(count / n / level)} of the level is used",
        details=details or (),
    )
