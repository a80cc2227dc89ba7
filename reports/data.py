"""The saved results that a page was made from, kept in the page with all digits."""

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from audit.codec.stored import dumps, loads
from audit.errors import CorruptFile

__all__ = ["PARTS", "embedded", "extracted"]

#: The parts of a page: names of the arguments of `reports.html.render`.
PARTS = ("documents", "findings", "studies", "self_audits", "not_audited")
_DATA = re.compile(r'<script type="application/json" id="dp-audit-data">(.*?)</script>', re.DOTALL)
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def embedded(parts: Mapping[str, Any]) -> Markup:
    """Return the documents and the title of a page as text for a ``<script>`` element.

    The text is JSON in ASCII, escaped so that no tag can begin or end in it.
    """
    return Markup(dumps(dict(parts)).translate(_UNSAFE))  # noqa: S704 - no markup is left in it


def extracted(page: str) -> dict[str, Any]:
    """Return what `embedded` put into a page, as arguments of `reports.html.render`.

    Raises
    ------
    CorruptFile
        The page holds no results, or damaged ones.

    Examples
    --------
    >>> from reports.html import render
    >>> extracted(render([], title="<b>"))["title"]
    '<b>'
    """
    held = _DATA.search(page)
    if held is None:
        raise CorruptFile("no saved results are inside: give a page that this version or a newer one wrote.")
    parts = loads(held[1])
    known = {"title": str, **dict.fromkeys(PARTS, list)}
    if not isinstance(parts, dict) or not {*parts} <= {*known}:
        raise CorruptFile("the data inside are not results as a page holds them.")
    for name, value in parts.items():
        within = value if name == "not_audited" and isinstance(value, list) else ()
        if not isinstance(value, known[name]) or not all(isinstance(each, str) for each in within):
            raise CorruptFile(f"the {name} inside are damaged.")
    return parts
