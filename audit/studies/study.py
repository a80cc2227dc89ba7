"""What a study of sample size is.

A `Study` describes learners, problems and a parameter with its values. For comparison it has the sample size
of a theorem. Installed packages offer studies through the entry-point group `GROUP`. Each entry point names a
callable without arguments that returns `Study` objects, in the order of the page. `run` runs a study.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self

from audit.claims import UtilityClaim, check_utility_claim
from audit.entry_points import by_name, offered
from audit.errors import AuditError, InvalidKind, InvalidValue, check_word, finite_number, positive_int
from audit.subject.loading import load_object, reason

GROUP = "dp_audit.studies"

Expected = Literal["grows", "does not grow", ""]
"""The growth of the least m over the parameter according to the literature; empty if it says nothing."""


Shape = Literal["", "exponential"]
"""The growth of the bound over the axis, if it matters to the fit; "exponential" fits a line to ln m."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One learner, for all values of the study's parameter.

    Parameters
    ----------
    name
        A name that is unique in the study: ``"pure, proper"``.
    learner
        (value, m) -> the learner for databases of m records at this value of the parameter.
    problems
        (value, m) -> the problems on which the learner must be accurate. Each has databases of m records.
        They are a sequence, or an object with `problems()` and optionally `vary` and `random`. The object is
        searched at every step (`audit_utility`).
    bound
        value -> the sample size that the theorem requires; None without a theorem.
    source
        The source of the bound.
    failure
        (value, m) -> the exact probability of failure on the worst problem, by a closed form. It decides
        without runs. At both ends of the bracket it is compared with runs of the learner.
    family
        (value, m) -> problems as in `problems`. They are searched at the least m that meets the claim by the
        closed form. If one of them refutes the claim there, audits of this family search for a larger m.
    least
        value -> the fewest records that the learner accepts.
    start
        value -> the first m; by default an eighth of the bound.
    values
        The values of the parameter for this learner, if it cannot handle all values of the study.
    expected
        The growth of the curve according to the literature.
    law
        Whether the learner's exact law, if it declares one, replaces its runs.
    budget
        The most runs of one step, if they differ from the study's `budget`.
    compared
        The most records that the comparison of `failure` with runs may draw in all; 0 for no comparison.
    shape
        "exponential" if the bound grows exponentially over the axis; then a line is fitted to ln m.

    Examples
    --------
    >>> Curve("all", lambda value, m: None, lambda value, m: [], bound=lambda value: 8 * value).begin(2.0)
    2
    """

    name: str
    learner: Callable[[float, int], Any]
    problems: Callable[[float, int], Any]
    _: KW_ONLY
    bound: Callable[[float], float] | None = None
    source: str = ""
    failure: Callable[[float, int], float] | None = None
    family: Callable[[float, int], Any] | None = None
    least: Callable[[float], int] | None = None
    start: Callable[[float], int] | None = None
    values: tuple[float, ...] = ()
    expected: Expected = ""
    law: bool = True
    budget: int | None = None
    compared: int = 2_000_000
    shape: Shape = ""

    def __post_init__(self) -> None:
        check_word(self.expected, Expected, what="The `expected` of a `Curve`")
        check_word(self.shape, Shape, what="The `shape` of a `Curve`")

    def begin(self, value: float) -> int:
        """Return the number of records m of the first step at this value."""
        if self.start is not None:
            return max(1, int(self.start(value)))
        return 16 if self.bound is None else max(1, int(self.bound(value) / 8))

    def refuses(self, value: float, size: int) -> bool:
        """Return whether the learner refuses databases of this size."""
        return self.least is not None and size < self.least(value)


@dataclass(frozen=True, eq=False)
class Study:
    """The least m at which learners meet a claim, for several values of a parameter.

    Parameters
    ----------
    name
        The study's name on the command line.
    summary
        One sentence.
    claim
        The claim that the least m must meet: `PAC(alpha, beta)` or similar.
    parameter
        The name of the parameter: ``"d"``.
    values
        The values of the parameter, ascending.
    curves
        The learners.
    fixed
        A text on what is the same for all values: the other parameters and the problems.
    source
        The statements of the literature that the study checks.
    axis
        The quantity against which the least m is plotted and fitted: ``"ln|H|"``. By default the parameter.
    at
        value -> the place of that value on the axis.
    budget
        The most runs of a step.
    search
        The most runs of an audit that searches the `family` of a curve.
    largest
        The largest m tried.
    resolution
        A bracket is narrow enough if the ratio of its ends is at most this factor. Open steps are neither
        refuted nor met. They split a bracket into a side below them and a side above them. Then each side
        must be narrow enough.
    steps
        The most steps of a cell.
    whole
        Whether the parameter takes whole numbers only, because it counts something.
    chosen
        Whether the user requested these values instead of the study's own (`over`).
    target
        The study's name on the command line, if it differs from `name`: ``"mean.py:study"``.

    Raises
    ------
    InvalidValue, InvalidKind
        A field is out of range.

    Examples
    --------
    >>> from audit.claims import PAC
    >>> curve = Curve("all", lambda value, m: None, lambda value, m: [])
    >>> Study("demo", "All.", PAC(0.1, 0.1), "d", (1.0, 2.0), (curve,)).cells
    2
    """

    name: str
    summary: str
    claim: UtilityClaim
    parameter: str
    values: tuple[float, ...]
    curves: tuple[Curve, ...]
    _: KW_ONLY
    fixed: str = ""
    source: str = ""
    axis: str = ""
    whole: bool = False
    at: Callable[[float], float] | None = None
    budget: int = 2_000
    search: int = 4_000
    largest: int = 1_000_000
    resolution: float = 1.1
    steps: int = 16
    chosen: bool = False
    target: str = ""

    def __post_init__(self) -> None:
        check_utility_claim(self.claim)
        if not self.curves or not all(isinstance(curve, Curve) for curve in self.curves):
            raise InvalidKind("The `curves` of a `Study` must be one or more `Curve` values.")
        names = [curve.name for curve in self.curves]
        if len({*names}) < len(names):
            raise InvalidValue("The names of the `curves` of a `Study` must differ.")
        for values in (self.values, *(curve.values for curve in self.curves if curve.values)):
            _check_values(values)
        for name in ("budget", "search", "largest", "steps"):
            positive_int(getattr(self, name), what=f"The `{name}` of a `Study`")
        finite_number(self.resolution, what="The `resolution` of a `Study`", above=1)

    @property
    def cells(self) -> int:
        """The number of cells, one for each curve and value."""
        return sum(len(self.values_of(curve)) for curve in self.curves)

    def over(self, values: Sequence[float]) -> Self:
        """Return the study with other values of the parameter. Every curve gets the same values.

        Raises
        ------
        InvalidValue
            There are no values, or they do not ascend. Or the parameter must be whole and a value is not.

        Examples
        --------
        >>> from audit.claims import PAC
        >>> curve = Curve("all", lambda value, m: None, lambda value, m: [])
        >>> Study("demo", "All.", PAC(0.1, 0.1), "d", (1.0, 2.0), (curve,)).over([3, 5, 7]).cells
        3
        """
        part = next((value for value in values if value != int(value)), None) if self.whole else None
        if part is not None:
            raise InvalidValue(f"The values of `{self.parameter}` must be whole numbers; got {part:g}.")
        curves = tuple(replace(curve, values=()) for curve in self.curves)
        return replace(self, values=tuple(values), curves=curves, chosen=True)

    def values_of(self, curve: Curve) -> tuple[float, ...]:
        """Return the values of the parameter for a curve."""
        return curve.values or self.values

    def place(self, value: float) -> float:
        """Return the place of a parameter value on the axis."""
        return float(value) if self.at is None else float(self.at(value))


def _check_values(values: Sequence[float]) -> None:
    for value in values:
        finite_number(value, what="Each of the `values` of a `Study`")
    if not values or list(values) != sorted({*values}):
        raise InvalidValue("The `values` of a `Study` must be one or more, ascending and without repeats.")


def load_studies() -> dict[str, Study]:
    """Return the studies that installed distributions offer, by name.

    Raises
    ------
    AuditError
        An entry point cannot be imported or offers something else, or two studies share a name.

    Examples
    --------
    >>> isinstance(load_studies(), dict)
    True
    """
    offers = offered(GROUP, what="studies", make=_studies)
    return by_name(((study.name, study) for offer in offers for study in offer), what="of studies")


def load_study(text: str) -> Study:
    """Return the study that ``module:object`` or ``path.py:object`` names.

    The object is a `Study`, or a function without arguments that returns one.

    Raises
    ------
    AuditError
        Nothing has that name. The import or the call fails. Or the object is not a study.

    Examples
    --------
    >>> load_study("math:tau")
    Traceback (most recent call last):
    audit.errors.InvalidKind: `math:tau` must be a `Study`, or a function ... one; got float.
    """
    named = load_object(text)
    if not isinstance(named, Study) and callable(named):
        try:
            named = named()
        except AuditError:
            raise
        except Exception as error:
            raise AuditError(f"`{text}` cannot be called without arguments: {reason(error)}") from error
    if not isinstance(named, Study):
        raise InvalidKind(
            f"`{text}` must be a `Study`, or a function without arguments that returns one; "
            f"got {type(named).__name__}."
        )
    return replace(named, target=text)


def _studies(offer: Any) -> tuple[Study, ...]:
    studies = tuple(offer())
    if not all(isinstance(study, Study) for study in studies):
        raise InvalidKind("an offer of studies must be `Study` values.")
    return studies
