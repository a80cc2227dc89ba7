"""The `convert` of an audit, saved by name and found again for a replay."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from operator import attrgetter
from typing import Any

from audit.errors import AuditError
from audit.subject.loading import load_object, locate_target, require_trust
from audit.subject.subject import Convert, Subject


def said_of_convert(convert: Convert | None) -> dict[str, str]:
    """Return the entry for `convert` in a result's environment.

    The value of the entry is ``module:function`` if this name finds the function again. Otherwise the value
    is an empty text. Without a `convert`, return an empty dict.

    Examples
    --------
    >>> said_of_convert(tuple), said_of_convert(lambda rows: rows), said_of_convert(None)
    ({'convert': 'builtins:tuple'}, {'convert': ''}, {})
    """
    if convert is None:
        return {}
    module, name = (str(getattr(convert, each, "")) for each in ("__module__", "__qualname__"))
    found = None
    with contextlib.suppress(Exception):  # a user's module may raise anything
        found = attrgetter(name)(import_module(module))
    return {"convert": f"{module}:{name}" if found is convert and module != "__main__" else ""}


def saved_convert(
    environment: Mapping[str, Any], *, file: str | os.PathLike[str] | None = None, trust: bool = False
) -> Convert | None:
    """Return the `convert` of the audit that made a saved result.

    If the audit had none, return None.

    Parameters
    ----------
    environment
        The result's environment.
    file
        The file of the result. A user's file with `convert` is located relative to it, as a target is.
    trust
        Whether the function that the result names may be imported (`require_trust`).

    Raises
    ------
    AuditError
        The audit's `convert` has no name to import it by, or may not be imported.

    Examples
    --------
    >>> saved_convert({}), saved_convert({"convert": "builtins:tuple"}, trust=True)
    (None, <class 'tuple'>)
    """
    name = environment.get("convert")
    if name is None:
        return None
    if not isinstance(name, str) or ":" not in name:
        raise AuditError("The audit's `convert` cannot be imported by name; pass `convert=` again.")
    require_trust(name, what="`convert`", trust=trust)
    if file is not None:
        name = locate_target(name, file)
    found: Convert = load_object(name)
    return found


def converting(
    subject: Subject, environment: Mapping[str, Any], *, live: Subject | None = None, trust: bool = False
) -> Subject:
    """Return the subject with the audit's `convert`.

    If the subject has its own `convert`, return the subject unchanged.

    Parameters
    ----------
    subject
        The subject.
    environment
        The environment of the result.
    live
        The subject of the audit, if the result was not read from a file.
    trust
        As for `saved_convert`.

    Raises
    ------
    AuditError
        As `saved_convert`.

    Examples
    --------
    >>> from audit.subject.subject import adapt
    >>> converting(adapt(len), {"convert": "builtins:tuple"}, trust=True).convert
    <class 'tuple'>
    """
    if subject.convert is not None:
        return subject
    convert = saved_convert(environment, trust=trust) if live is None else live.convert
    return subject if convert is None else replace(subject, convert=convert)
