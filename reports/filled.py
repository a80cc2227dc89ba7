"""Templates filled with the escaped text of a report."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.values.wording import visible

from .glossary import GLOSSARY

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["fill"]

TEMPLATES = Path(__file__).parent / "templates"


def fill(template: str, report: Any, *, index: str = "") -> str:
    """Return one of our templates, filled with a report.

    `index` is the address of the index, if any.
    """
    style, script = (_asset(name) for name in ("style.css", "filter.js"))
    own = {"style": style, "script": script, "policy": _policy(style, script), "glossary": GLOSSARY}
    return _environment().get_template(template).render(report=report, index=index, **own)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),  # not by package name: the package may be loaded under another
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {"prose": prose, "raised": raised}
    return environment


def prose(text: str) -> Any:
    """Return a sentence as markup.

    Text between backticks is code. Exponents are raised.

    Examples
    --------
    >>> prose("Is a `return` < e^(2ε) on {0,1}^d?")
    Markup('Is a <code>return</code> &lt; e<sup>2ε</sup> on {0,1}<sup>d</sup>?')
    """
    from markupsafe import Markup

    parts = [raised(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # one backtick has no partner
        parts = ["`".join(parts)]
    told = "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
    return Markup(told)  # noqa: S704 - every part was escaped


def raised(text: str) -> Any:
    """Return a text as markup with raised exponents.

    Text in quotes is an output, and stays as it is.

    Examples
    --------
    >>> raised("output has bits below 2^−52, or is 'x^2'")
    Markup('output has bits below 2<sup>−52</sup>, or is &#39;x^2&#39;')
    """
    from markupsafe import Markup, escape

    told = _RAISED.sub(_above, str(escape(visible(text))))
    return Markup(told)  # noqa: S704 - escaped


#: Escaped quoted text, or an exponent as in e^ε, e^(20ε), d^3.2, 2^−4, {0,1}^d.
_RAISED = re.compile(
    r"(?<!\w)&#39;.*?&#39;|&#34;.*?&#34;|(?<=[\w)}])\^(?:\(([^()]*)\)|(ε|[a-z]\b|[−-]?\d+(?:\.\d+)?))"
)


def _above(found: re.Match[str]) -> str:
    exponent = found[1] or found[2]
    return f"<sup>{exponent}</sup>" if exponent else found[0]


def _shown(value: Any) -> Any:
    """Return a value; in a text, make invisible characters visible."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _asset(name: str) -> Any:
    """Return one of our own files as markup, not escaped."""
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def _policy(style: str, script: str) -> str:
    """Return a content security policy for the page's own style and script only."""
    own = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return f"default-src 'none'; style-src 'sha256-{own[0]}'; script-src 'sha256-{own[1]}'; base-uri 'none'"
