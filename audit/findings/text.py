"""The text of a finding for a terminal."""

import shutil
from collections.abc import Iterable

from audit.findings.finding import Finding
from audit.values.wording import apart, hanging, number, short, visible

_LEAST, _MOST = 80, 120  # the least and the most characters of a line
_NAME, _JUDGEMENT, _RATIO = 26, 16, 13


def header() -> str:
    """Return the header of the table of findings.

    Examples
    --------
    >>> header().split()
    ['finding', 'judgement', 'found/claimed', 'statement']
    """
    return _line("finding", "judgement", "found/claimed", "statement")


def row(finding: Finding) -> str:
    """Return the finding as one line of the terminal's width.

    Examples
    --------
    >>> from audit.findings import Finding
    >>> one = Finding("E8", "K08", "It is √2/s.", "typo", "√2·s.", claimed=1.0, found=4.0)
    >>> " ".join(row(one).split())
    'E8 typo 4 It is √2/s.'
    """
    ratio = "" if finding.ratio is None else ratio_words(finding.ratio)
    return _line(finding.name, finding.judgement, ratio, finding.statement)


def detail(finding: Finding) -> str:
    """Return everything about the finding except its tables.

    Examples
    --------
    >>> from audit.findings import Finding
    >>> print(detail(Finding("E8", "K08", "It is √2/s.", "typo", "It is √2·s.", claimed=1.0, found=4.0)))
    E8: typo
      Source     K08
      Statement  It is √2/s.
      Claimed    1; found 4 (exact), 4 times that
      Found      It is √2·s.
    """
    said = (
        ("Source", finding.source),
        ("Statement", finding.statement),
        ("Claimed", _numbers(finding)),
        ("Found", finding.shown),
        ("Corrected", finding.corrected),
        ("Errata", ", ".join(finding.errata)),
        ("System", finding.row),
    )
    lines = [line for label, text in said if text for line in _labelled(label, text)]
    return "\n".join([visible(f"{finding.name}: {finding.judgement}"), *lines])


def ratio_words(ratio: float) -> str:
    """Return a ratio as a text.

    It has three digits, or as many as distinguish it from 1.

    Examples
    --------
    >>> ratio_words(0.51083), ratio_words(0.999999996), ratio_words(1.0)
    ('0.511', '0.999999996', '1')
    """
    return apart(ratio, 1.0)[0] if round(ratio, 3) == 1 else number(ratio)


def titles(glossary: Iterable[tuple[str, str]]) -> str:
    """Return the short names with their meanings as lines of text.

    Examples
    --------
    >>> print(titles([("B", "A. Blum: Notes.")]))
    B          A. Blum: Notes.
    """
    return "\n".join(line for name, text in glossary for line in _labelled(name, text, indent=0))


def _numbers(finding: Finding) -> str:
    if finding.claimed is None or finding.found is None:
        return ""
    found, claimed = apart(finding.found, finding.claimed)
    ratio = "" if finding.ratio is None else f", {ratio_words(finding.ratio)} times that"
    return f"{claimed}; found {found} ({finding.method}){ratio}"


def _line(name: str, judgement: str, ratio: str, statement: str) -> str:
    start = f"{short(name, _NAME):<{_NAME}}  {judgement:<{_JUDGEMENT}}  {ratio:>{_RATIO}}  "
    return (start + short(statement, _width() - len(start))).rstrip()


def _labelled(label: str, text: str, *, indent: int = 2) -> list[str]:
    line = visible(" ".join(text.split()))
    return hanging(" " * indent + f"{label:<11}", line, width=min(_width(), 100))


def _width() -> int:
    return min(max(shutil.get_terminal_size((_MOST, 24)).columns, _LEAST), _MOST)
