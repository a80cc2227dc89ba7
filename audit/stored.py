"""What is common to writing and reading tagged JSON: its text, and the values that are text only."""

import dataclasses
import json
import math
from types import MappingProxyType
from typing import Any

from audit.errors import AuditError

# Our own values keep their tag when their module moves, and may be imported to be read.
OURS = MappingProxyType(
    {
        "Raised": "audit.outcomes",
        "Unfinished": "audit.outcomes",
    }
)
ARRAY_KINDS = frozenset({*"?bhilqBHILQefdFD"})


class CorruptFile(AuditError):  # noqa: N818 - named by what is wrong, as in a sentence
    """A saved value cannot be read; the text says what is wrong and where.

    Examples
    --------
    >>> from audit.encoding import decode
    >>> decode({"$": "bytes", "hex": "zz"}, where="result.witness.left")
    Traceback (most recent call last):
    audit.stored.CorruptFile: result.witness.left is no valid "bytes": non-hexadecimal number found in ...
    """


@dataclasses.dataclass(frozen=True)
class Opaque:
    """A value that was saved as text only, and the JSON it came from.

    Examples
    --------
    >>> from audit.encoding import decode, encode
    >>> decode(encode(object()))
    Opaque(text='<object object>')
    """

    text: str
    stored: Any = dataclasses.field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class ForeignClaim(Opaque):
    """A claim of somebody else's kind, as far as it can be known without its code.

    Examples
    --------
    >>> str(ForeignClaim("zCDP(rho=0.5)", epsilon=1.0, delta=1e-6))
    'zCDP(rho=0.5)'
    """

    epsilon: float = math.inf
    delta: float = 0.0


def dumps(stored: Any) -> str:
    """Return JSON text of what `encode` returned: ASCII, no NaN, the same bytes for the same value.

    Examples
    --------
    >>> dumps([0.1, None])
    '[0.1, null]'
    """
    return json.dumps(stored, allow_nan=False)


def is_replayable(stored: Any) -> bool:
    """Tell whether nothing inside the encoded value is mere text.

    Examples
    --------
    >>> is_replayable([1, 2]), is_replayable([{"$": "opaque", "text": "len"}])
    (True, False)
    """
    if isinstance(stored, dict):
        return stored.get("$") != "opaque" and all(is_replayable(item) for item in stored.values())
    return not isinstance(stored, list) or all(is_replayable(item) for item in stored)
