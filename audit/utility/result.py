"""The result of a utility audit."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from audit.codec import encoding
from audit.results.result import PrivacyRefuted, SavedResult
from audit.results.saved_value import SavedValue


class UtilityRefuted(PrivacyRefuted):
    """An audited utility claim was refuted.

    The message describes the finding in less than one screen.

    Examples
    --------
    >>> issubclass(UtilityRefuted, AssertionError)
    True
    """


@dataclass(frozen=True)
class ProblemFinding(SavedValue):
    """What an audit found on one problem.

    Parameters
    ----------
    name
        The problem's name.
    runs, failures
        The number of runs bet on, and how many failed. If the learner's law is exact, `failures` is a sum of
        failure probabilities.
    upper
        An upper bound on the failure probability, at confidence 1 − significance for this problem alone. It
        is None if nothing was bet on the problem.
    exact
        The exact failure probability, if it is known.
    met
        Whether the failure probability was shown to be at most beta.

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
    """A failure on a database drawn from a problem.

    Attributes
    ----------
    problem : str
        The name of the problem.
    database, output : object
        The database drawn, and the learner's output on it.
    error : float
        The error of the output.
    failure : float
        The exact probability of failure on this database, or 1 if it is unknown.
    seed : int, optional
        The seed with which the run can be repeated (see `UtilityResult.replay`).
    repeats : bool, optional
        Whether a repeated run with this seed gave the same output. It is None if no run was repeated, or if a
        file holds only the text of the old output.
    source : object, optional
        The problem itself, or None if the result's file does not hold it.
    refutes : bool, optional
        In a replay by exact laws, whether the failure probability is still above beta. It is None in other
        replays, because one run cannot refute a claim.
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
        """Whether the failure can be reproduced from its seed or its database."""
        return self.seed is not None or encoding.comes_back(self.database)

    def _stored(self) -> dict[str, Any]:
        kept = encoding.comes_back(self.source)
        return super()._stored() | ({} if kept else {"source": None})


@dataclass(frozen=True, eq=False)
class UtilityResult(SavedResult):
    """The outcome of one utility audit. `str(result)` is the report.

    `NOT_REFUTED` means that the claim was met on the named problems. This is exact, or holds with confidence
    1 − significance. A claim neither refuted nor met is INCONCLUSIVE.

    Attributes
    ----------
    beta_lower, beta_upper : float
        Bounds on the failure probability on the worst problem. Each bound alone has confidence 1 −
        significance. With EXACT evidence the bounds are equal.
    worst : str, optional
        The name of the problem on which the learner failed most.
    sample_size : int, optional
        The number of records in the databases of that problem.
    samples : int
        The number of all runs drawn, including those of the search.
    samples_to_refutation : int, optional
        The number of runs drawn until the claim was refuted, including those of the search.
    problems_tried : int
        The number of problems searched. `problems` lists those that were bet on or compared with exact laws.
    family : str
        A text that names the family of problems searched.

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
        """Run the failing trial again, and return the failure. The error is measured again.

        Parameters
        ----------
        subject : object, optional
            The learner. By default it is that of this audit or, with `trust`, the one that `target` names.
        problems : optional
            As in the audit; by default the learner's own.
        convert : callable, optional
            As in the audit. It is used only if `subject` is given.
        trust : bool
            Allow a result read from a file to import and call the `target` and the `convert` that it names.
        """
        again: UtilityWitness = self._again(subject, convert, problems=problems, trust=trust)
        return again
