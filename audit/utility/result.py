"""The result of a utility audit: a frozen value with the methods of `AuditResult`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from audit.codec import encoding
from audit.results.result import PrivacyRefuted, SavedResult
from audit.results.saved_value import SavedValue


class UtilityRefuted(PrivacyRefuted):
    """An audited utility claim was refuted; the message describes the finding on less than a screen.

    Examples
    --------
    >>> issubclass(UtilityRefuted, AssertionError)
    True
    """


@dataclass(frozen=True)
class ProblemFinding(SavedValue):
    """The findings on one problem.

    Parameters
    ----------
    name
        The problem's name.
    runs, failures
        The runs bet on, and the sum of their failures (of exact conditional probabilities if the learner's
        law is exact).
    upper
        An upper bound on its failure probability at confidence 1 − significance, valid for this problem
        alone; None if nothing was bet.
    exact
        Its exact failure probability, if known.
    met
        Whether its failure probability was shown to be at most beta.

    Examples
    --------
    >>> ProblemFinding("uniform", 200, 1.0, 0.08, met=True).exact is None
    True
    """

    name: str
    runs: int = 0
    failures: float = 0.0
    upper: float | None = None
    exact: float | None = None
    met: bool = False


@dataclass(frozen=True, eq=False)
class UtilityWitness(SavedValue):
    """A failure: the problem, a database drawn from it, and an output whose error is above alpha.

    Attributes
    ----------
    problem : str
        The name of the problem.
    database, output : object
        The database drawn, and the learner's output on it.
    error : float
        The error of the output.
    failure : float
        The exact probability of failure on this database if known, else 1.
    seed : int, optional
        The seed that draws the failure again (see `UtilityResult.replay`).
    repeats : bool, optional
        Whether the seed gave the same output again, in the audit itself or in a replay. None if it was not
        tried, or if the old output was read from a file that could keep only its text.
    source : object, optional
        The problem itself; None if it came from a file that could not keep it.
    refutes : bool, optional
        In a replay by exact laws, whether the problem's failure probability is still above beta. None in
        other replays, because one run refutes nothing.
    """

    problem: str
    database: Any
    output: Any
    error: float
    failure: float = 1.0
    seed: int | None = None
    repeats: bool | None = None
    source: Any = field(default=None, repr=False, compare=False)
    refutes: bool | None = None

    @property
    def replayable(self) -> bool:
        """Whether its seed, or the database in a file, can reproduce it."""
        return self.seed is not None or encoding.comes_back(self.database)

    def _stored(self) -> dict[str, Any]:
        kept = encoding.comes_back(self.source)
        return super()._stored() | ({} if kept else {"source": None})


@dataclass(frozen=True, eq=False)
class UtilityResult(SavedResult):
    """The outcome of one utility audit. `str(result)` is the report for a terminal.

    `NOT_REFUTED` always means that the claim was met on the named problems (`met`), at confidence
    1 − significance or exactly. A claim neither refuted nor met is INCONCLUSIVE.

    Attributes
    ----------
    beta_lower, beta_upper : float
        Bounds on the failure probability of the worst problem. Each holds at confidence 1 − significance,
        not both together. With EXACT evidence both are the exact value.
    worst : str, optional
        The problem that failed most.
    sample_size : int, optional
        The length of that problem's databases.
    samples : int
        All runs drawn, search included.
    samples_to_refutation : int, optional
        Runs drawn until the wealth crossed, search included.
    problems_tried : int
        The number of problems searched; `problems` has those that were bet on or compared.
    family : str
        The searched family.

    Examples
    --------
    >>> from audit.results.result import Evidence, Verdict
    >>> result = UtilityResult("counter", None, Verdict.NOT_REFUTED, Evidence.STATISTICAL)
    >>> UtilityResult.from_json(result.to_json()) == result
    True
    """

    _kind: ClassVar[str] = "_utility"
    _only: ClassVar[str] = "--only utility "
    _refutation: ClassVar[type[PrivacyRefuted]] = UtilityRefuted

    witness: UtilityWitness | None = None
    met: bool = False
    beta_lower: float = 0.0
    beta_upper: float = 1.0
    worst: str | None = None
    sample_size: int | None = None
    problems: tuple[ProblemFinding, ...] = ()
    problems_tried: int = 0
    conditional: bool = False
    raised: int = 0

    def _stored(self) -> dict[str, Any]:
        return {"kind": "utility", **super()._stored()}

    def replay(
        self,
        subject: Any = None,
        *,
        problems: Any = None,
        convert: Callable[[Any], Any] | None = None,
        trust: bool = False,
    ) -> UtilityWitness:
        """Return the failure drawn again from its seed, with its error measured anew.

        Parameters
        ----------
        subject : object, optional
            The learner; by default the one of this audit, or with `trust` the one that `target` names.
        problems : optional
            As in the audit; by default the learner's own.
        convert : callable, optional
            As in the audit; by default the audit's own. It applies to a given `subject`.
        trust : bool
            Import and call the target and the `convert` that a result from a file names.
        """
        again: UtilityWitness = self._again(subject, convert, problems=problems, trust=trust)
        return again
