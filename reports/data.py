"""What a page holds besides its words: the saved results that it was made from, with all digits."""

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
    """Return the documents of a page, and its title, as text that can stand inside ``<script>``.

    It is JSON in ASCII in which no tag can begin or end; a browser runs none of it.
    """
    return Markup(dumps(dict(parts)).translate(_UNSAFE))  # noqa: S704 - no sign of markup is left in it


def extracted(page: str) -> dict[str, Any]:
    """Return what `embedded` put into a page: arguments of `reports.html.render`.

    Raises
    ------
    CorruptFile
        The page holds no results, or damaged ones; one line.

    Examples
    --------
    >>> from reports.html import render
    >>> extracted(render([], title="<b>"))["title"]
    '<b>'
    """
    held = _DATA.search(page)
    if held is None:
        raise CorruptFile(
            "no saved results are inside: give a page that this version, or a newer one, wrote."
        )
    parts = loads(held[1])
    known = {"title": str, **dict.fromkeys(PARTS, list)}
    if not isinstance(parts, dict) or not {*parts} <= {*known}:
        raise CorruptFile("the results inside are not those of a page.")
    for name, value in parts.items():
        within = value if name == "not_audited" and isinstance(value, list) else ()
        if not isinstance(value, known[name]) or not all(isinstance(each, str) for each in within):
            raise CorruptFile(f"the {name} inside are damaged.")
    return parts
