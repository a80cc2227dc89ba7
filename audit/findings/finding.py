"""Statements of the source texts, and the numbers that decide whether they hold.

A finding is a function without arguments that computes its figures anew. Installed packages offer findings
through the entry-point group `GROUP`. Each entry point names a callable without arguments. The callable
returns a mapping from names (``"E1"``) to such functions, in page order.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import wraps
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias

from audit.entry_points import by_name, offered
from audit.errors import InvalidValue, NoTruth, check_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Compute: TypeAlias = "Callable[[], Finding]"

GROUP = "dp_audit.findings"

Judgement = Literal["holds", "loose", "not verified", "hidden condition", "proof only", "false", "typo"]
"""Whether a statement holds.

``holds``: true by its proof or an exact law if the `Method` says so; otherwise no tested instance breaks it.
``loose``: true, but a stronger statement is true too. ``not verified``: neither proved nor refuted here.
``hidden condition``: true under a condition that the text omits. ``proof only``: a step of the proof fails,
but the statement survives. ``false``: the printed statement has a counterexample. ``typo``: the text prints
one thing and means another.
"""

Method = Literal["exact", "upper bound", "lower bound", "sampled", "arithmetic"]
"""The method behind the number found.

``exact``: the statement's own quantity, from a law or an enumeration. ``upper bound``: the quantity is at
most this number, by a proof. ``lower bound``: the quantity is at least this number, the worst of the tested
instances, each exact. ``sampled``: the number depends on draws. ``arithmetic``: closed forms alone.
"""


@dataclass(frozen=True)
class Table:
    """The numbers behind a finding.

    Parameters
    ----------
    columns
        The heads of the columns.
    rows
        One tuple of numbers or texts for each row, as long as `columns`.
    caption
        A text that says what is held fixed and how the numbers were obtained.

    Examples
    --------
    >>> Table(("n", "claimed"), ((1, 0.5), (2, 0.25))).columns
    ('n', 'claimed')
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[float | str, ...], ...]
    caption: str = ""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise InvalidValue(f"Each row of a `Table` must have {len(self.columns)} cells, one per column.")


@dataclass(frozen=True)
class Finding(NoTruth):
    """One statement of a source text, and our result on it.

    Parameters
    ----------
    name
        A name unique among the findings: ``"E1"``, ``"N5"``, ``"K11 Lemma 5.6"``.
    source
        The place of the statement in the texts: ``"B Thm 7, C Thm 1"``.
    statement
        The statement, in one sentence of our own.
    judgement
        Whether it holds, a `Judgement`.
    shown
        The result, in one sentence with the numbers.
    corrected
        The correct statement if the printed one is wrong; empty otherwise.
    claimed, found
        The two numbers that decide, if two numbers do; `ratio` is found ÷ claimed.
    method
        The method behind `found`, a `Method`.
    errata
        The names of the findings that describe an error of the statement; this one may be among them.
    tables
        The numbers behind the result.
    command
        The command that computes the finding again; empty for ``dp-audit findings NAME``.
    row
        The number of the system that the finding is about. The package that offers the finding numbers the
        systems. Several numbers are separated by commas: ``"L7, L8"``.
    glossary
        The short names in the finding, in the order in which a page explains them. Each is a pair of a name
        and its meaning. A name is that of a text, or the letter before a number.

    Examples
    --------
    >>> finding = Finding(
    ...     "E8", "K08 footnote 5", "A Laplace variable of scale s has standard deviation √2/s.", "typo",
    ...     "It is √2·s: at s = 2, 2.83 and not 0.71.", claimed=0.7071, found=2.8284,
    ... )
    >>> round(finding.ratio, 3)
    4.0
    """

    _instead = "`finding.judgement`"

    name: str
    source: str
    statement: str
    judgement: Judgement
    shown: str
    _: KW_ONLY
    corrected: str = ""
    claimed: float | None = None
    found: float | None = None
    method: Method = "exact"
    errata: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    command: str = ""
    row: str = ""
    glossary: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        check_word(self.judgement, Judgement, what="The `judgement` of a `Finding`")
        check_word(self.method, Method, what="The `method` of a `Finding`")

    @property
    def ratio(self) -> float | None:
        """The ratio found ÷ claimed.

        None if a number is missing, if `claimed` is 0, or if the signs differ.
        """
        if self.claimed is None or self.found is None or self.claimed == 0:
            return None
        ratio = self.found / self.claimed
        return None if ratio < 0 else ratio

    @property
    def rows(self) -> tuple[str, ...]:
        """The numbers in `row`, one for each system."""
        return tuple(part.strip() for part in self.row.split(",") if part.strip())


def glossary(findings: Iterable[Finding]) -> tuple[tuple[str, str], ...]:
    """Return the short names in findings with their meanings.

    Each pair occurs once. The pairs are sorted by name.

    Examples
    --------
    >>> one, two = (Finding(name, "", "", "holds", "", glossary=(("E", "Errata."),)) for name in ("E1", "E2"))
    >>> glossary([one, two])
    (('E', 'Errata.'),)
    """
    return tuple(sorted({pair for one in findings for pair in one.glossary}))


def load_findings() -> dict[str, Compute]:
    """Return the functions that compute the findings of installed packages.

    The keys are the names of the findings.

    Raises
    ------
    AuditError
        An entry point cannot be imported, or two findings share a name.

    Examples
    --------
    >>> isinstance(load_findings(), dict)
    True
    """
    offers = offered(GROUP, what="findings", make=lambda offer: dict(offer()).items())
    return by_name(chain.from_iterable(offers), what="of findings")


def merged(
    package: str, topics: Iterable[str], *, finish: Callable[[Finding], Finding] | None = None
) -> dict[str, Compute]:
    """Return the findings of a package from its modules.

    Each module has a mapping ``FINDINGS``. `finish` is applied to each computed finding.

    Raises
    ------
    AuditError
        Two findings share a name.
    """
    mappings = (import_module(f"{package}.{topic}").FINDINGS for topic in topics)
    found = by_name(chain.from_iterable(each.items() for each in mappings), what="of findings")
    return found if finish is None else {name: _finished(one, finish) for name, one in found.items()}


def _finished(compute: Compute, finish: Callable[[Finding], Finding]) -> Compute:
    @wraps(compute)
    def finished() -> Finding:
        return finish(compute())

    return finished
