"""The result of an audit.

It holds the finding, its evidence, and all that a replay needs. In the saved form, ``result`` depends only on
the seed, the versions and the subject. ``environment`` holds the time taken and the machine. No result says
that the mechanism is private, because a claim not refuted may still be false.
"""

import dataclasses
import html
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Self

from audit.codec import encoding
from audit.errors import AuditError, NoTruth
from audit.results.agreement import Agreement
from audit.results.course import Course
from audit.results.fault import Fault
from audit.results.outputs import Outputs
from audit.results.saved_value import SavedValue
from audit.values.on_demand import ability
from audit.values.said import Said

SCHEMA = 2


class Verdict(Enum):
    """What the audit says about the claim.

    Examples
    --------
    >>> Verdict("not refuted").name
    'NOT_REFUTED'
    """

    REFUTED = "refuted"
    NOT_REFUTED = "not refuted"
    PROVED = "proved"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"


class Evidence(Enum):
    """What the verdict rests on, exact output laws or runs.

    Examples
    --------
    >>> [evidence.value for evidence in Evidence]
    ['exact', 'statistical']
    """

    EXACT = "exact"
    STATISTICAL = "statistical"


class PrivacyRefuted(AuditError, AssertionError):  # noqa: N818 - what happened, not an error of the tool
    """An audited claim was refuted.

    The message describes the finding in less than one screen of text.

    Examples
    --------
    >>> issubclass(PrivacyRefuted, AssertionError)
    True
    """

    def __str__(self) -> str:
        return Exception.__str__(self)


@dataclass(frozen=True, eq=False)
class SavedResult(NoTruth, SavedValue):
    """The base class of the results of audits, which have no truth value."""

    _instead = "`result.verdict` or `result.raise_if_refuted()`; in pytest, `auditor.check(...)`"

    #: The suffix of the functions in `audit.values.on_demand` that this kind of result calls.
    _kind: ClassVar[str] = ""
    #: The option that the command for this kind of audit needs, with a leading space.
    _only: ClassVar[str] = ""
    #: The exception that a refutation raises.
    _refutation: ClassVar[type[AuditError]] = PrivacyRefuted
    _if_any = frozenset({"fault", "agreements", "remembered", "wealth_course", "search_course"})

    subject: str
    claim: Any
    verdict: Verdict
    evidence: Evidence
    reason: str = ""
    witness: Any = None
    family: str | None = None
    samples: int = 0
    samples_to_refutation: int | None = None
    unfinished: int = 0
    log_wealth: float = 0.0
    log_limit: float | None = None
    significance: float = 1e-6
    seed: int = 0
    numerics: str = "ideal"
    budget: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)
    reference: str | None = None
    assumptions: tuple[Said, ...] = ()
    notes: tuple[Said, ...] = ()
    not_tested: tuple[Said, ...] = ()
    target: str | None = None
    expected: str | None = None
    agreements: tuple[Agreement, ...] = ()
    environment: dict[str, Any] = field(default_factory=dict)
    _subject: Any = field(default=None, repr=False, compare=False)

    @classmethod
    def from_json(cls, document: str | bytes | dict[str, Any]) -> Self:
        """Return the result that a document or its text holds.

        Raises
        ------
        CorruptFile
            If the document is damaged or belongs to another kind of audit.
        """
        found: Self = ability(f"parse{cls._kind}")(document, cls=cls)
        return found

    def raise_if_refuted(self) -> Self:
        """Return the result, or raise its error if the claim was refuted."""
        if self.refuted:
            raise self._refutation(ability("short")(self))
        return self

    def summary(self) -> str:
        """Return the verdict, the claim and what was found, in one line."""
        return f"{ability('summary')(self)}"

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the report of this result to `path`, as one page.

        Raises
        ------
        AuditError
            The file cannot be written.
        """
        ability("page")([self.to_json()], path)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        return f'<pre style="white-space: pre-wrap">{html.escape(str(self))}</pre>'

    def _again(self, subject: Any, convert: Callable[[Any], Any] | None, **options: Any) -> Any:
        """Return the result of a replay."""
        from audit.subject.subject import adapt

        chosen = subject if subject is None or convert is None else adapt(subject, convert=convert)
        return ability(f"replay{self._kind}")(self, chosen, **options)

    def __str__(self) -> str:
        return f"{ability('full')(self)}"

    @property
    def refuted(self) -> bool:
        """Whether the claim was refuted."""
        return self.verdict is Verdict.REFUTED

    @property
    def disagreements(self) -> tuple[Agreement, ...]:
        """The comparisons in which code and formula disagree."""
        return tuple(each for each in self.agreements if not each.agrees)

    def to_json(self) -> dict[str, Any]:
        """Return the document that a file holds, as ``{"schema": 2, ...}``."""
        environment = encoding.encode(dict(self.environment))
        return {"schema": SCHEMA, "result": self._stored(), "environment": environment}


@dataclass(frozen=True, eq=False)
class Witness(SavedValue):
    """A pair of databases and an event that speak against a claim.

    Attributes
    ----------
    left, right : object
        The two databases. They are neighbours unless `distance` says otherwise.
    event : Event
        A set of outputs.
    p, q : float
        Probability of the event on the database that `direction` names, and on the other database.
    p_interval, q_interval : tuple of float, optional
        Confidence intervals from the runs drawn for this witness alone. They are None if p and q are exact.
    runs : int
        Half the number of runs. A fair coin chose the database of each run. It is 0 if p and q are exact.
    direction : {"left", "right"}
        The database whose probability is `p`.
    confirmed : bool
        Whether the runs drawn after the event was fixed are enough to refute the claim.
    confidence : float, optional
        The confidence of each interval.
    epsilon_lower : float
        The lower bound on ε that this witness shows.
    foreseen : tuple of float, optional
        Estimates of p and q before these runs, on which the bet is based.
    seed : list of int, optional
        Place in the seed tree from which the same runs can be drawn again.
    fresh : bool
        Whether every run had a new copy of the subject. If `parts` is positive, every process had a new copy.
    parts : int
        How many fresh processes the runs came from.
    against : bool
        Whether unfinished runs were counted in favour of the claim.
    distance : int
        The number of neighbour steps between the databases. If it exceeds 1, the witness refutes what the
        claim implies at that distance, and `epsilon_lower` is the loss per step.
    simplest : Witness, optional
        A witness with the simplest pair and event found that still refute the claim.
    simpler_tried : int, optional
        How many simpler pairs were tried, if the claim failed on none of them. It is None if unknown.
    beside : Witness, optional
        If `event` uses a fitted score, a witness on the same databases whose event uses one output entry.
    given : bool
        Whether only given pairs were tried. Then no simpler pair was searched for.
    examples : tuple of tuple of str
        Outputs on the left and on the right, as short texts. If laws are exact, these are the likeliest
        outputs.
    outputs : Outputs, optional
        The outputs of these runs, or the exact laws, in bins.

    Examples
    --------
    >>> Witness(left=[0], right=[1], event=None, p=0.5, q=0.1).on_p, Witness([0], [1], None, 0.5, 0.1).on_q
    ([0], [1])
    """

    left: Any
    right: Any
    event: Any
    p: float
    q: float
    p_interval: tuple[float, float] | None = None
    q_interval: tuple[float, float] | None = None
    runs: int = 0
    direction: str = "left"
    confirmed: bool = True
    confidence: float | None = None
    epsilon_lower: float = 0.0
    foreseen: tuple[float, float] | None = None
    seed: list[int] | None = None
    fresh: bool = False
    parts: int = 0
    against: bool = True
    distance: int = 1
    simplest: "Witness | None" = None
    simpler_tried: int | None = None
    beside: "Witness | None" = None
    given: bool = False
    examples: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    outputs: Outputs | None = None

    _if_any = frozenset({"outputs"})

    @property
    def simpler(self) -> "Witness | None":
        """The simplest witness, or None if nothing simpler was found."""
        if self.simplest is None:
            return None
        same = dataclasses.replace(self, simplest=None) == dataclasses.replace(self.simplest, simplest=None)
        return None if same else self.simplest

    @property
    def on_p(self) -> Any:
        """The database on which the event has probability `p`."""
        return self.left if self.direction == "left" else self.right

    @property
    def on_q(self) -> Any:
        """The database on which the event has probability `q`."""
        return self.right if self.direction == "left" else self.left

    @property
    def replayable(self) -> bool:
        """Whether a file holds the databases and the event unchanged."""
        return encoding.comes_back([self.left, self.right, self.event])


@dataclass(frozen=True, eq=False)
class AuditResult(SavedResult):
    """The outcome of one audit. `str(result)` is the report.

    Attributes
    ----------
    earlier : tuple of int
        The number of runs of each audit that this one continues. `samples` includes these runs.
    remembered : tuple of tuple
        Pairs (left, right) that were tried first because an earlier audit refuted the claim on them. With the
        same seed and `remember=result.remembered` the audit is the same.
    detectable_epsilon : float, optional
        The smallest true ε for which audits like this one refute the claim nine times in ten.
        `detectable_event` describes the pair and event.
    fault : Fault, optional
        What is wrong with a refuted subject, or None if no fault was looked for.
    only_output : str, optional
        The output of every run on every database, as a short text. It is None if outputs vary.
    wealth_course, search_course : Course, optional
        `wealth_course` is the log wealth against runs, after each bet of this audit and of those it
        continues. `search_course` is the largest loss, exact or estimated by the search, against pairs tried.
    assumptions, notes, not_tested : tuple of str
        Sentences for people. Programs should read the `kind` of each, such as ``"stateless"``.

    Examples
    --------
    >>> result = AuditResult("counter", None, Verdict.NOT_REFUTED, Evidence.STATISTICAL)
    >>> AuditResult.from_json(result.to_json()) == result
    True
    """

    relation: str = ""
    epsilon_lower: float = 0.0
    delta_lower: float = 0.0
    epsilon_upper: float | None = None
    delta_upper: float | None = None
    detectable_epsilon: float | None = None
    detectable_event: str | None = None
    ceiling_epsilon: float | None = None
    only_output: str | None = None
    witness: Witness | None = None
    pairs_tried: int = 0
    pairs_total: int | None = None
    tolerance: float | None = None
    law_distance: float | None = None
    earlier: tuple[int, ...] = ()
    remembered: tuple[tuple[Any, Any], ...] = ()
    fault: Fault | None = None
    wealth_course: Course | None = None
    search_course: Course | None = None
    _ended: Any = field(default=None, repr=False, compare=False)

    def to_json(self, *, extend: bool = False) -> dict[str, Any]:
        """Return the document that a file holds, as ``{"schema": 2, ...}``.

        Parameters
        ----------
        extend : bool
            Whether to add ``standing``, the state from which another audit continues. Some results have no
            such state.
        """
        standing = ability("standing")(self) if extend else None
        return {**super().to_json(), **({} if standing is None else {"standing": standing})}

    def extend(self, *, budget: int, **options: Any) -> "AuditResult":
        """Continue this audit with new runs, and return one result for all runs.

        The wealth is kept, and no run is drawn twice. The significance holds for all parts together. To
        continue a result read from a file, call ``audit_privacy(..., extend=result)`` with that audit's other
        arguments.

        Parameters
        ----------
        budget : int
            Most runs to add.
        time_limit, confirm_budget, jobs, progress
            As in `audit_privacy`. By default there is no time limit, and the other options are those of this
            audit.

        Raises
        ------
        InvalidValue
            The claim is refuted or proved, or the result was read from a file.
        """
        found: AuditResult = ability("extend")(self, budget=budget, **options)
        return found

    def replay(
        self,
        subject: Any = None,
        *,
        convert: Callable[[Any], Any] | None = None,
        fresh: bool = False,
        trust: bool = False,
    ) -> "AuditResult":
        """Draw the runs of the witness again, and return a result on these runs.

        Parameters
        ----------
        subject : object, optional
            The mechanism to run. By default the subject of this audit or, with `trust`, the object that
            `target` names.
        convert : callable, optional
            As in `audit_privacy`. It is used only together with `subject`.
        fresh : bool
            Draw new runs instead of the same ones.
        trust : bool
            Allow a result read from a file to import and call the objects that it names as `target` and
            `convert`.
        """
        again: AuditResult = self._again(subject, convert, fresh=fresh, trust=trust)
        return again
