"""How an audit's `convert` is found again: a witness holds records, the mechanism takes something else."""

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
    """Return what the environment of a result says of its audit's `convert`; empty if there was none.

    That is ``module:function`` where this leads to the function again, else an empty text.

    Examples
    --------
    >>> said_of_convert(tuple), said_of_convert(lambda rows: rows), said_of_convert(None)
    ({'convert': 'builtins:tuple'}, {'convert': ''}, {})
    """
    if convert is None:
        return {}
    module, name = (str(getattr(convert, each, "")) for each in ("__module__", "__qualname__"))
    found = None
    with contextlib.suppress(Exception):  # a module of the user's may fail in any way
        found = attrgetter(name)(import_module(module))
    return {"convert": f"{module}:{name}" if found is convert and module != "__main__" else ""}


def saved_convert(
    environment: Mapping[str, Any], *, file: str | os.PathLike[str] | None = None, trust: bool = False
) -> Convert | None:
    """Return the `convert` of the audit that a saved result is from; None if it had none.

    Parameters
    ----------
    environment
        The result's.
    file
        Where the result was saved; a convert in a file of the user's is looked for as its target is.
    trust
        Whether what the result names may be imported (`require_trust`).

    Raises
    ------
    AuditError
        It had one that cannot be found by a name, or may not be imported.

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
    """Give a subject the audit's `convert` where it has none: it would be called with something else.

    Parameters
    ----------
    subject
        The subject.
    environment
        That of the result.
    live
        The subject of the audit itself, where the result comes from no file.
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
