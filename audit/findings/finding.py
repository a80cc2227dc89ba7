"""Findings: what a source text says, beside what was found, with the numbers that decide.

A finding is computed, never copied: each is a function without arguments that derives its figures anew. A
distribution offers its findings through the entry-point group `GROUP`: each entry point resolves to a
callable without arguments that returns a mapping from names (``"E1"``) to such functions, in page order.
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

``holds``: by its proof or an exact law where the `Method` says so; else no instance looked at breaks it.
``loose``: true, and more is true. ``not verified``: neither proved nor refuted here. ``hidden condition``:
true under a condition that the text does not state. ``proof only``: a step of the proof fails, the
statement survives. ``false``: the statement as printed has a counterexample. ``typo``: the text means
something else than it prints.
"""

Method = Literal["exact", "upper bound", "lower bound", "sampled", "arithmetic"]
"""How the number found was obtained.

``exact``: from a law or an enumeration, of the very quantity that the statement is about. ``upper bound``:
the quantity is at most that, by a proof. ``lower bound``: at least that, the worst of the instances looked
at, each exact. ``sampled``: it depends on draws. ``arithmetic``: closed forms alone.
"""


@dataclass(frozen=True)
class Table:
    """The numbers behind a finding.

    Parameters
    ----------
    columns
        The heads.
    rows
        One tuple of numbers or texts a row, as long as `columns`.
    caption
        What is held fixed, and how the numbers were obtained.

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
    """One statement of a source text, and what was found.

    Parameters
    ----------
    name
        Unique among the findings: ``"E1"``, ``"N5"``, ``"K11 Lemma 5.6"``.
    source
        Where the statement stands: ``"B Thm 7, C Thm 1"``.
    statement
        What the text says, in one sentence of our own.
    judgement
        Whether it holds, a `Judgement`.
    shown
        What was found, in one sentence that has the numbers.
    corrected
        The right statement, where the printed one is not; empty otherwise.
    claimed, found
        The two numbers that decide, if two numbers do: `ratio` is found ÷ claimed.
    method
        How `found` was had, a `Method`.
    errata
        The names of the findings that say what is wrong with the statement, this one among them if it does.
    tables
        The numbers behind it.
    command
        What repeats it on the command line; empty for ``dp-audit findings NAME``.
    row
        Which of the systems built it is about, in the numbering of the distribution that offers it; several
        are separated by commas: ``"L7, L8"``.
    glossary
        What the short names in it stand for, in the order in which a page explains them: pairs of a name
        (of a text, or the letter before a number) and its full title or its meaning.

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
        """Found ÷ claimed; None if no two numbers decide, the claimed one is 0, or their signs differ."""
        if self.claimed is None or self.found is None or self.claimed == 0:
            return None
        ratio = self.found / self.claimed
        return None if ratio < 0 else ratio

    @property
    def rows(self) -> tuple[str, ...]:
        """The numbers of `row`, one by one."""
        return tuple(part.strip() for part in self.row.split(",") if part.strip())


def glossary(findings: Iterable[Finding]) -> tuple[tuple[str, str], ...]:
    """Return what the short names in findings stand for, each pair once, in the order of the names.

    Examples
    --------
    >>> one, two = (Finding(name, "", "", "holds", "", glossary=(("E", "Errata."),)) for name in ("E1", "E2"))
    >>> glossary([one, two])
    (('E', 'Errata.'),)
    """
    return tuple(sorted({pair for one in findings for pair in one.glossary}))


def load_findings() -> dict[str, Compute]:
    """Return what computes each finding that the installed distributions offer, by name.

    Raises
    ------
    AuditError
        An entry point does not import, or two findings share a name.

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
    """Return the findings of the modules of a package, each of which has a mapping ``FINDINGS``.

    `finish` is applied to each finding that is computed.

    Raises
    ------
    AuditError
        Two of them share a name.
    """
    mappings = (import_module(f"{package}.{topic}").FINDINGS for topic in topics)
    found = by_name(chain.from_iterable(each.items() for each in mappings), what="of findings")
    return found if finish is None else {name: _finished(one, finish) for name, one in found.items()}


def _finished(compute: Compute, finish: Callable[[Finding], Finding]) -> Compute:
    @wraps(compute)
    def finished() -> Finding:
        return finish(compute())

    return finished
