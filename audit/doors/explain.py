"""The plan of an audit in words.

It says where the databases come from, what the runs are spent on, and what they cost. No bets are made here.
The only runs are a few timed runs on the first pair of databases.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from audit.databases.chosen import Databases, Pair
from audit.databases.domain import no_neighbours
from audit.databases.paths import lengths
from audit.evidence.power import Section, detectable, fixed_sample_epsilon
from audit.relations import name_of
from audit.sampling import EXPLORE, Runs, Sampler
from audit.search.climb import FIRST_LOOK, SHARE
from audit.search.shrink import MOST_TRIES
from audit.task import PrivacyTask
from audit.values.brief import show
from audit.values.outcomes import Raised, Unfinished
from audit.values.wording import at_most, columns, hanging, number, short
from audit.verdict.betting import FIRST_BET, GROWTH, bet_size
from audit.verdict.by_law import SOME_PAIRS
from audit.verdict.by_runs import LEAST_CONFIRMATION, least_budget
from audit.verdict.confirm import LEAST_SHRINKING, SHRINKING
from audit.verdict.law_runs import CHECKED_RUNS, SAMPLED_RUNS
from audit.verdict.terms import goal_share

#: Numbers of pairs of runs in the timed batches. The first batch warms up. Timing ends with a batch that
#: takes more than `_ENOUGH_SECONDS` (20 times as long for the first).
_TIMED = (1, 8, 64, 512)
_ENOUGH_SECONDS = 0.05
_WIDTH = 100


def explain(task: PrivacyTask, *, name: str | None = None) -> str:
    """Return the plan of an audit as text for a terminal. `name` replaces the subject's name.

    Examples
    --------
    >>> from audit import PureDP
    >>> from audit.privacy import make_task
    >>> plan = explain(make_task(lambda database, rng: 0, PureDP(1.0), records=[0, 1], size=2))
    >>> print(plan.splitlines()[2].strip())
    Databases    one strange record at a time and the boundary of the domain (extremes, all equal,
    """
    head = f"Plan for {short(name or task.subject.name, 60)}, {task.claim} under {name_of(task.relation)}"
    lines = [head, ""]
    for label, text in _paragraphs(task):
        lines += hanging(f"  {label:<13}", text, width=columns(_WIDTH))
    return "\n".join(lines)


def _paragraphs(task: PrivacyTask) -> Iterator[tuple[str, str]]:
    seed = np.random.SeedSequence(task.pairs_seed()).spawn(2)[0]
    first = next(task.databases.proposals(np.random.default_rng(seed)), None)
    if first is None:
        raise no_neighbours(task.databases)
    alone = replace(task, options=replace(task.options, jobs=1))
    with alone.sampler(task.subject) as sampler:  # in a separate process if the audit uses one
        seconds, cost = sampler.with_copies(lambda: _timed(sampler, first))
    yield "Databases", _databases(task.databases)
    if task.subject.declared_law is not None and task.options.numerics == "ideal":
        yield "By law", _law(task)
    yield "Search", _search(task)
    yield "Bets", _bets(task)
    yield "Budget", _budget(task)
    yield "Power", _planned_power(task)
    yield "One call", cost
    yield "Time", _time(task, seconds)
    yield "Afterwards", _afterwards(task)


def _databases(databases: Databases) -> str:
    many, sources = len(databases.given), []
    given = f"{many} given or suggested pair{'s' if many > 1 else ''}"
    if databases.only_given:
        return f"{given} only"
    if many:
        sources.append(f"{given} first")
    boundary = "one strange record at a time and the boundary of the domain (extremes, all equal, ties)"
    if databases.whole:
        sources.append(f"{len(databases.whole)} example databases and their neighbours")
    else:
        sources.append(boundary if many else f"{boundary} first")
    every = databases.every_pair()
    if every is None:
        sources.append("random pairs, and variations of the best pair so far")
    else:
        sources.append(f"every pair of the domain ({len(every):,}), in random order")
    return f"{'; then '.join(sources)}. {_domain(databases)}"


def _domain(databases: Databases) -> str:
    assert databases.sizes is not None
    low, high = databases.sizes
    sizes = f"{low}" if low == high else f"{low} to {high}"
    if databases.records is None:
        return f"Databases of {sizes} answers."
    kind = "values" if databases.finite else "examples from a strategy"
    said = f"Databases of {sizes} records, chosen from {len(databases.records)} {kind}"
    count = databases.count()
    many = "" if count is None else f": {count:,} databases" if count < 10**12 else f": {count:.3g} databases"
    return f"{said} such as {show(list(databases.records[:4]), 60)}{many}."


def _law(task: PrivacyTask) -> str:
    every = task.databases.enumerate()
    pairs = f"all {len(every):,} pairs" if every is not None else f"up to {SOME_PAIRS} pairs"
    return (
        f"the subject declares its output law: the laws of {pairs} are compared exactly, and the law is "
        f"checked against {CHECKED_RUNS:,} runs of a database ({SAMPLED_RUNS:,} through `sample`). The rest "
        "of the plan gets half of the budget and of the significance, or all of both if the subject has no "
        "law on these databases."
    )


def _search(task: PrivacyTask) -> str:
    databases, steps = task.databases, lengths(task.claim.epsilon, task.claim.delta)
    looks = (
        f"A first look takes {FIRST_LOOK} pairs of runs; the most promising pairs are looked at again, with "
        "twice as many each time"
    )
    if _is_single(task):
        return f"none: one pair. Its first look takes {FIRST_LOOK} pairs of runs."
    said = f"at most {SHARE:.0%} of the runs. One coupled run on each side scouts a pair. {looks}."
    if databases.only_given or not steps:
        return said
    return (
        f"{said} Every fourth new pair is up to {max(steps)} neighbour steps apart, and is tested against "
        "the claim at that distance."
    )


def _is_single(task: PrivacyTask) -> bool:
    """Return whether the user gave the only pair that is audited."""
    return task.databases.only_given and len(task.databases.given) == 1


def _bets(task: PrivacyTask) -> str:
    share = "all other" if _is_single(task) else f"at least {1 - SHARE:.0%} of the"
    return (
        f"{share} runs, none of which the search has seen. The first batch is {FIRST_BET} pairs of runs; "
        f"each later batch is {GROWTH - 1:.0%} of the runs so far of its pair. The claim is refuted when the "
        f"wealth reaches {1 / task.options.significance:,.0f} (significance {task.options.significance:g})."
    )


def _least(task: PrivacyTask) -> int:
    return least_budget(task.claim.epsilon, task.claim.delta, task.options.significance)


def _budget(task: PrivacyTask) -> str:
    least, budget = _least(task), task.options.budget
    said = (
        f"{budget:,} runs, on both databases, search included; even an outright leak needs at least {least:,}"
    )
    return f"{said}." if budget >= least else f"{said}. This budget can refute nothing; raise `budget`."


def _planned_power(task: PrivacyTask) -> str:
    """Return a sentence with the ε that the planned bets detect.

    It also names the ε that a fixed-size test detects.
    """
    claim, significance = task.claim, task.options.significance
    if task.options.budget < _least(task):
        return "none: this budget can refute nothing."
    share = 1.0 if _is_single(task) else 1 - SHARE
    most, sizes = int(share * task.options.budget) // 2 - FIRST_LOOK, list[int]()
    while sum(sizes) < most:
        sizes.append(min(bet_size(FIRST_LOOK + sum(sizes)), most - sum(sizes)))
    told: dict[str, Any] = {"epsilon": claim.epsilon, "delta": claim.delta}
    own = significance * (1 - goal_share(stops=task.options.until == "refuted"))
    found = detectable(None, [Section(FIRST_LOOK, tuple(sizes))], **told, significance=own)
    if found.epsilon is None:
        return "too few runs to catch any fault that shows on one plain event."
    fixed = fixed_sample_epsilon(sum(sizes), **told, significance=significance)
    return (
        f"on an event that has probability {number(found.p)} on one database, such bets catch a true "
        f"ε ≥ {at_most(found.epsilon)} nine times in ten. A test with the number of runs fixed beforehand "
        f"(a z-test by statsmodels) would catch ε ≥ {at_most(fixed)}."
    )


def _time(task: PrivacyTask, each: float) -> str:
    """Return a text on how long the budget takes. `each` is the cost of a call in seconds."""
    limit, budget = task.options.time_limit, task.options.budget
    seconds = each * budget / task.options.jobs
    said = f"the whole budget takes about {_duration(seconds)} of calls"
    said += f" in {task.options.jobs} processes" if task.options.jobs > 1 else ""
    if limit is None:
        return f"{said}. There is no time limit."
    affordable = int(limit * task.options.jobs / max(each, 1e-9))
    said += f"; the time limit of {number(limit)} s"
    if affordable >= budget:
        return f"{said} is enough for it."
    said += f" ends the audit after about {affordable:,} runs"
    few = affordable < _least(task)
    return f"{said}, too few to refute anything; raise `time_limit`." if few else f"{said}."


def _afterwards(task: PrivacyTask) -> str:
    options = task.options
    confirming = (
        f"{options.confirm_budget:,} runs"
        if options.confirm_budget is not None
        else f"4 times the runs it took (at least {LEAST_CONFIRMATION:,})"
    )
    said = (
        f"a refutation is confirmed by at most {confirming}, beyond the budget. They run in fresh processes, "
        "each with a new mechanism, unless the mechanism was seen to keep no state between calls"
    )
    if task.databases.only_given:
        return f"{said}. Given pairs are not shrunk."
    most = max(LEAST_SHRINKING, options.budget // 2)
    if lengths(task.claim.epsilon, task.claim.delta):
        said += (
            ". If the claim fails on databases several steps apart, the audit looks for the single step that "
            "fails, and shows it if new runs of that step confirm this"
        )
    return (
        f"{said}. Shrinking tries at most {MOST_TRIES} simpler pairs, with {SHRINKING} times the runs that "
        f"the refutation took, at least {LEAST_SHRINKING:,} and at most {most:,}."
    )


def _timed(sampler: Sampler, pair: Pair) -> tuple[float, str]:
    """Return the seconds that a call takes, and a text on the cost."""
    seconds = 0.0
    drawn: list[Runs] = []
    for place, pairs in enumerate(_TIMED):
        start = time.perf_counter()
        drawn = list(sampler.draw(*pair, pairs, (EXPLORE, place)))
        elapsed = time.perf_counter() - start
        first = place == 0  # it includes the start of a process and a check of the generator
        seconds = (elapsed - sampler.loading * first) / (2 * pairs + 8 * first)
        if elapsed > _ENOUGH_SECONDS and not (first and elapsed < 20 * _ENOUGH_SECONDS):
            break
    told = f"about {_duration(seconds)}, from {sampler.drawn:,} timed runs of the first pair."
    return seconds, f"{told} {_trouble(drawn)}".rstrip()


def _trouble(drawn: list[Runs]) -> str:
    """Return a warning if none of the last runs had an answer."""
    outputs = [output for runs in drawn for side in (runs.left, runs.right) for output in side]
    if not all(type(output) in (Raised, Unfinished) for output in outputs):
        return ""
    worst = outputs[0]
    said = worst.reason if isinstance(worst, Unfinished) else f"{worst.kind}: {worst.message}"
    return f"None of the last {len(outputs)} runs gave an answer: {short(said, 120)}."


def _duration(seconds: float) -> str:
    """Return a time in words, to two digits."""
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)):
        if seconds >= 2 * size or (seconds >= size and size <= 1):
            return f"{seconds / size:.2g} {unit}" if seconds < 100 * size else f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 1e-6:.2g} µs" if seconds < 1e-4 else f"{seconds / 1e-6:,.0f} µs"
