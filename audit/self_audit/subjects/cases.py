"""Mechanisms in a user's file, each with its claim and a pair.

The file defines a mapping ``CASES`` from names to cases. A case is a mapping with these keys. ``fn`` is a
mechanism (database, rng) -> output. ``claim`` is a mapping with ``epsilon``, ``delta`` and ``neighbours`` (a
key of `RELATIONS`). ``example_pair`` is the pair, and ``broken`` says whether the claim is false. Two keys
are optional. ``by_counting`` is false for a fault that counting outputs cannot show in an affordable number
of runs. ``kind`` is a text that names the fault.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from audit.claims import ApproximateDP, PureDP, private
from audit.errors import InvalidValue
from audit.relations import Relation
from audit.subject.loading import load_object

RELATIONS = {
    "replace": Relation.REPLACE_ONE,
    "add-remove": Relation.ADD_OR_REMOVE_ONE,
    "label": Relation.REPLACE_LABEL,
}


@dataclass(frozen=True)
class Case:
    """One case of a file.

    Parameters
    ----------
    mechanism
        The audited mechanism.
    claim
        Its claim.
    broken
        Whether the claim is false.
    by_counting
        Whether an audit can show by counting outputs that the claim is false.
    options
        The keywords of `audit_privacy` for its pair and its relation. For a case of the kind "floating point"
        they also ask for the low bits.
    kind
        A text that names the fault.
    """

    mechanism: Any
    claim: PureDP | ApproximateDP
    _: KW_ONLY
    broken: bool
    by_counting: bool
    options: dict[str, Any]
    kind: str = ""


def load_cases(path: Path) -> dict[str, Case]:
    """Return the cases of a file by name. The code in the file is run.

    Raises
    ------
    AuditError
        The file cannot be loaded, or a case lacks a part; the message names the part.

    Examples
    --------
    >>> load_cases(Path("no-such-file.py"))
    Traceback (most recent call last):
    audit.errors.AuditError: There is no file `no-such-file.py`...
    """
    held = load_object(f"{path}:CASES")
    if not isinstance(held, Mapping) or not held:
        raise InvalidValue(f"`CASES` of {path} must be a mapping from names to cases, not empty.")
    return {f"{name}": _case(f"{name}", told, path) for name, told in held.items()}


def _case(name: str, told: Any, path: Path) -> Case:
    try:
        claim, pair = told["claim"], tuple(told["example_pair"])
        options = {"relation": RELATIONS[claim["neighbours"]], "pairs": [pair]}
        if told.get("kind") == "floating point":
            options["numerics"] = "float"
        delta = claim.get("delta", 0.0)
        return Case(
            told["fn"],
            private(claim["epsilon"], delta),
            broken=bool(told["broken"]),
            by_counting=bool(told.get("by_counting", True)),
            options=options,
            kind=f"{told.get('kind', '')}",
        )
    except KeyError as error:
        raise InvalidValue(f"The case `{name}` of {path} has no {error}, or one that is not known.") from None
    except (TypeError, AttributeError):
        raise InvalidValue(
            f"The case `{name}` of {path} must be a mapping; see `--cases` in the docs."
        ) from None
