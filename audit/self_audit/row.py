"""The result of a self-audit."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

from audit.errors import InvalidValue, NoTruth, check_word, positive_int, probability

Kind = Literal["share", "runs", "ratio"]
"""The kind of `Row.measured`: a share of `Row.n`, a number of runs, or a ratio of two figures."""

Spread = Literal["interval", "range"]
"""The kind of `Row.low` and `Row.high`: an interval for the truth, or the least and the greatest figure."""

Side = Literal["", "at most", "at least"]
"""The side of the limit on which the truth must lie; empty for a row that is measured but not judged."""


@dataclass(frozen=True)
class Row(NoTruth):
    """One figure of a self-audit, with its interval and its limit.

    Parameters
    ----------
    part
        The measure: ``"false alarms"``.
    what
        The measured quantity.
    n
        The number of audits, or of intervals, from which the figure was computed.
    measured
        The figure; None if nothing could be measured.
    low, high
        The interval or range of the figure; None for an unbounded end.
    kind, spread
        A `Kind` for the figure, and a `Spread` that says what `low` and `high` are.
    side, limit
        The limit that the true value must keep: a `Side` and a number.
    chance
        An upper bound on the chance that a correct auditor fails the row; 0 for a row that is not judged.
    note
        A further sentence, such as which result makes the row fail, or which auditor would fail.
    details
        The parts of the figure, as pairs of a name and a text.

    Examples
    --------
    >>> row = Row("false alarms", "laplace at 0.1", 50, 0.04, 0.001, 0.2, side="at most", limit=0.1)
    >>> row.kept, row.verdict
    (True, 'kept')
    """

    _instead = "`row.kept`"

    part: str
    what: str
    n: int
    measured: float | None
    low: float | None = None
    high: float | None = None
    _: KW_ONLY
    kind: Kind = "share"
    spread: Spread = "interval"
    side: Side = ""
    limit: float | None = None
    chance: float = 0.0
    note: str = ""
    details: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        check_word(self.kind, Kind, what="The `kind` of a `Row`")
        check_word(self.spread, Spread, what="The `spread` of a `Row`")
        check_word(self.side, Side, what="The `side` of a `Row`")
        if bool(self.side) and self.limit is None:
            raise InvalidValue("A `Row` with a `side` must have a `limit`.")
        positive_int(self.n, what="The `n` of a `Row`", minimum=0)
        if self.kind == "share" and self.measured is not None:
            probability(self.measured, what="The share that is `measured` in a `Row`")

    @property
    def kept(self) -> bool | None:
        """Whether some value in the interval keeps the limit. None if the row is not judged."""
        if not self.side or self.limit is None:
            return None
        if self.side == "at most":
            return self.low is None or self.low <= self.limit
        return self.high is None or self.high >= self.limit

    @property
    def verdict(self) -> str:
        """A text that says whether the row keeps its limit."""
        return {True: "kept", False: "NOT KEPT", None: "measured"}[self.kept]


@dataclass(frozen=True)
class SelfAudit(NoTruth):
    """The result of a self-audit.

    Parameters
    ----------
    rows
        The rows, in the order of measurement.
    extent
        ``"quick"`` or ``"full"``.
    seed
        The root of all randomness.
    planned
        The number of judged rows of a complete self-audit of this extent; it determines `level`.
    level
        The probability with which each end of each interval may be wrong.
    cases
        The path of the file of cases; empty if none was given.
    errors
        A sentence for each measure that ended with an error, with the reason.

    Examples
    --------
    >>> SelfAudit((), "quick", 0, planned=3, level=1e-6).kept
    True
    """

    _instead = "`result.kept`"

    rows: tuple[Row, ...]
    extent: str
    seed: int
    _: KW_ONLY
    planned: int
    level: float
    cases: str = ""
    errors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        probability(self.level, what="The `level`", zero=False, one=False)

    @property
    def judged(self) -> tuple[Row, ...]:
        """The rows with a limit."""
        return tuple(row for row in self.rows if row.kept is not None)

    @property
    def failed(self) -> tuple[Row, ...]:
        """The rows that do not keep their limit."""
        return tuple(row for row in self.rows if row.kept is False)

    @property
    def kept(self) -> bool:
        """Whether all judged rows keep their limits."""
        return not self.failed

    @property
    def chance(self) -> float:
        """A bound on the chance that a correct auditor fails any row."""
        return sum(row.chance for row in self.rows)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the measures that have rows, in order."""
        return tuple(dict.fromkeys(row.part for row in self.rows))
