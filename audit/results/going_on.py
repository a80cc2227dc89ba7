"""What an audit by runs stores so that a later audit can continue it.

The wealth of an audit is one product over all its runs. So the evidence of several nights adds up if each
night's audit continues the last. The continuing audit starts with the wealth of the earlier audit
(`audit.evidence.standing`). It draws new runs from unused places of the seed tree. It first tries the pairs
that had the most runs. It does not keep the counts of earlier runs, and estimates each pair again.

**Guarantee.** The wealth over all parts together is one supermartingale. The bets of each part are fixed
before its runs. So the chance that some part refutes a true claim is at most the significance, for any number
of parts. This holds for a claim about *one* mechanism. So an audit can be continued only with the same code,
versions, claim and options.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from audit.codec import encoding, fields
from audit.errors import CorruptFile, InvalidValue, Parameter
from audit.evidence.bets import Ledger
from audit.evidence.bounds import claims_of, standing
from audit.evidence.coupled import Coupling
from audit.evidence.memory import PairMemory
from audit.evidence.power import Section
from audit.evidence.standing import FOR_GOOD, Standing
from audit.results.course import Course
from audit.results.result import AuditResult, Evidence, Verdict
from audit.sampling.remake.digest import digest_of
from audit.sampling.remake.sources import as_now
from audit.task import PrivacyTask
from audit.values import canonical

#: Verdicts that more runs may change.
_OPEN = (Verdict.NOT_REFUTED, Verdict.INCONCLUSIVE)
#: At most this many pairs of databases are passed to the next audit.
_PAIRS = 8
_ENGINE = "audit.verdict.by_runs"
#: Options that may differ between the parts of an audit, because they do not affect the wealth.
_FREE = ("budget", "confirm_budget", "time_limit", "jobs", "recorded")
#: The saved fields of `Standing` that have one number for each claim.
_COLUMNS = ("own", "reserve", "goal")
_CALLED = {"mechanism": "code (or a version)"}


@dataclass(frozen=True)
class Known:
    """A pair of databases for the next audit.

    `path` leads from one database of the pair to the other. `sections` holds the bets on the pair so far.
    """

    path: tuple[Any, ...]
    sections: tuple[Section, ...]

    def document(self) -> dict[str, Any]:
        """Return this pair as JSON, for a file."""
        parts = [[[each.look, *each.sizes], [each.coupled_look, *each.coupled]] for each in self.sections]
        return {"path": [encoding.encode(each) for each in self.path], "sections": parts}


@dataclass(frozen=True)
class Spent:
    """What a later audit must know about the runs of an audit, to continue it.

    Parameters
    ----------
    batches
        The first unused place of the seed tree.
    pairs_bet
        On how many pairs of runs the audit bet.
    coupled
        Whether the wealth comes from coupled runs.
    pairs
        The pairs of databases on which the audit made the most runs.
    """

    batches: int
    pairs_bet: int
    coupled: bool
    pairs: tuple[Known, ...]


@dataclass(frozen=True)
class Before(Spent):
    """The state of an earlier audit, from which a new audit continues.

    Parameters
    ----------
    result
        The result of the earlier audit.
    standing
        The log wealth at the end of the earlier audit, one number for each of several claims.
    """

    result: AuditResult
    standing: Standing

    @cached_property
    def sections(self) -> dict[Any, tuple[Section, ...]]:
        """The bets on each pair, by the canonical key of its path."""
        return {canonical.key([*known.path]): known.sections for known in self.pairs}


@dataclass(frozen=True)
class Ended(Spent):
    """The final state of an audit by runs, from which a later audit can continue."""

    task: PrivacyTask
    ledger: Ledger

    @classmethod
    def of(
        cls,
        task: PrivacyTask,
        ledger: Ledger,
        memories: Iterable[tuple[PairMemory, Coupling | None]],
        *,
        batches: int,
        coupled: bool,
        before: Before | None,
    ) -> "Ended":
        """Return the final state of an audit. The audit has used `batches` places of the seed tree."""
        looked = sorted((each for each in memories if each[0].pairs), key=lambda each: -each[0].pairs)
        pairs = tuple(Known(each[0].path, sections_of(*each, before)) for each in looked[:_PAIRS])
        pairs_bet = sum(bet.calls // 2 for bet in ledger.bets) + (0 if before is None else before.pairs_bet)
        return cls(batches, pairs_bet, coupled, pairs, task, ledger)

    def document(self) -> dict[str, Any]:
        """Return this final state as JSON, for a file."""
        claim, level = self.task.claim, self.task.options.significance
        now = standing(self.ledger, epsilon=claim.epsilon, delta=claim.delta, significance=level)
        return {
            "batches": self.batches,
            "pairs_bet": self.pairs_bet,
            "coupled": self.coupled,
            "bets": now.bets,
            **{name: [*getattr(now, name)] for name in _COLUMNS},
            "pairs": [each.document() for each in self.pairs if encoding.comes_back([*each.path])],
            "of": identity(self.task),
        }


def sections_of(memory: PairMemory, coupling: Coupling | None, before: Before | None) -> tuple[Section, ...]:
    """Return the bets on a pair, those of earlier audits first."""
    bets, coupled = tuple(memory.bets), () if coupling is None else tuple(coupling.bets)
    look = 0 if coupling is None else coupling.pairs - sum(coupled)
    first = memory.pairs - sum(bets) - (0 if coupling is None else coupling.pairs)
    here = (Section(first, bets, look, coupled),) if bets or coupled else ()
    return (*({} if before is None else before.sections).get(canonical.key([*memory.path]), ()), *here)


def identity(task: PrivacyTask) -> dict[str, str]:
    """Return what must stay the same for an audit to be continued. These are texts and digests."""
    subject, domain, options = task.subject, task.databases, task.options
    where = (domain.relation, domain.given, domain.records, domain.sizes, domain.whole, domain.valid)
    look = as_now()
    return {
        "claim": f"{task.claim}",
        "databases": digest_of(*where, engine=_ENGINE, look=look),
        "mechanism": digest_of(subject.object, subject.convert, subject.calling, engine=_ENGINE, look=look),
        **{name: f"{value}" for name, value in vars(options).items() if name not in _FREE},
    }


def standing_of(result: AuditResult) -> dict[str, Any] | None:
    """Return the state from which another audit continues, as JSON.

    Return None if the result does not hold it.
    """
    ended, going = result._ended, result.evidence is Evidence.STATISTICAL and result.verdict in _OPEN  # noqa: SLF001
    return ended.document() if going and isinstance(ended, Ended) else ended if going else None


def refuse_over(result: AuditResult) -> None:
    """Refuse to continue a result that more runs would not change.

    Raises
    ------
    InvalidValue
        The result rests on a declared law, its verdict is final, or its wealth has reached the limit.
    """
    if result.evidence is Evidence.EXACT:
        raise _refused("it rests on the declared law, to which runs add nothing")
    if result.verdict not in _OPEN:
        raise _refused(f"its verdict is {result.verdict.name}")
    if result.log_limit is not None and result.log_wealth >= result.log_limit:
        raise _refused("its bets crossed the limit, but fresh runs did not confirm this")


def before_of(result: AuditResult, task: PrivacyTask) -> Before:
    """Return the state of the earlier audit that a new audit continues.

    Raises
    ------
    InvalidValue
        The result has no evidence to continue, or comes from another mechanism, claim, domain or option.
    """
    refuse_over(result)
    stored = standing_of(result)
    if stored is None:
        raise _refused(
            "it has no evidence to go on from: `dp-audit run --json` and `to_json(extend=True)` save it"
        )
    found, now = fields.fields(stored, "standing", _READERS), identity(task)
    if differ := [name for name in now if found["of"].get(name) != now[name]]:
        said = " and ".join(f"its {_CALLED.get(name, name)}" for name in differ)
        raise _refused(f"what is given now differs in {said}")
    return _read(found, result, task)


def _refused(why: str) -> InvalidValue:
    return InvalidValue("An audit cannot go on from the result given as ", Parameter("extend"), f": {why}.")


def _read(found: Mapping[str, Any], result: AuditResult, task: PrivacyTask) -> Before:
    claims = claims_of(task.claim.epsilon, task.claim.delta)
    columns = [found[name] for name in _COLUMNS]
    if any(len(column) != len(claims) for column in columns):
        raise CorruptFile(f"standing must have {len(claims)} numbers in each column for this claim.")
    pairs = tuple(
        Known(
            tuple(encoding.revived(each, what="pairs") for each in known["path"]),
            tuple(
                Section(first, tuple(sizes), look, tuple(coupled))
                for (first, *sizes), (look, *coupled) in known["sections"]
            ),
        )
        for known in found["pairs"]
    )
    accounts = Standing(found["bets"], claims, *(tuple(column) for column in columns))
    if accounts.own[0] >= FOR_GOOD or result.log_wealth > (result.log_limit or 0):
        raise CorruptFile("standing has refuted the claim, the result has not.")
    return Before(found["batches"], found["pairs_bet"], found["coupled"], pairs, result, accounts)


def joined(found: AuditResult, before: Before) -> AuditResult:
    """Return one result for both parts of an audit.

    The numbers of runs and pairs are added. Of two detectable ε, the smaller one is kept.
    """
    first = before.result
    detectable = [each for each in (found, first) if each.detectable_epsilon is not None]
    best = min(detectable, key=lambda each: each.detectable_epsilon or 0.0, default=found)
    to_refutation = found.samples_to_refutation
    return replace(
        found,
        detectable_epsilon=best.detectable_epsilon,
        detectable_event=best.detectable_event,
        samples=first.samples + found.samples,
        samples_to_refutation=None if to_refutation is None else first.samples + to_refutation,
        unfinished=first.unfinished + found.unfinished,
        pairs_tried=first.pairs_tried + found.pairs_tried,
        budget=first.budget + found.budget,
        earlier=(*first.earlier, first.samples - sum(first.earlier)),
        wealth_course=_joined(first.wealth_course, found.wealth_course, first.samples),
        search_course=_joined(first.search_course, found.search_course, first.pairs_tried),
    )


def _joined(first: Course | None, then: Course | None, start: int) -> Course | None:
    """Return one `Course` for an audit and its continuation."""
    if first is None or then is None:
        return first
    return Course.of(zip(then.places, then.values, strict=True), before=first, start=start)


_KNOWN = {
    "path": (fields.listed(fields.value), True),
    "sections": (fields.listed(fields.listed(fields.listed(fields.count), length=2)), True),
}


_READERS = {
    **dict.fromkeys(("batches", "pairs_bet", "bets"), (fields.count, True)),
    **dict.fromkeys(_COLUMNS, (fields.listed(fields.whole), True)),
    "coupled": (fields.flag, True),
    "pairs": (fields.listed(partial(fields.fields, known=_KNOWN)), True),
    "of": (fields.plain_dict, True),
}
