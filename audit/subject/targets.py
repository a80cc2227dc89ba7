"""Find the subject that a target such as ``module:object`` names."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from audit.catalogue import Entry, Expected, load_catalogue
from audit.errors import AuditError
from audit.options import Kind
from audit.subject.loading import load_object, reason
from audit.subject.signatures import parameters_of
from audit.values.nearest import near


@dataclass(frozen=True)
class Target:
    """A subject ready to be audited, with its catalogue entry if it has one.

    Examples
    --------
    >>> Target("math:fsum", subject=sum).name
    'math:fsum'
    """

    text: str
    subject: Any
    entry: Entry | None = None

    @property
    def name(self) -> str:
        """The name of the catalogue entry, or else the text of the target."""
        return self.text if self.entry is None else self.entry.name

    def options_for(self, kind: Kind) -> dict[str, Any]:
        """Return the keywords of the entry for an audit of this kind."""
        return {} if self.entry is None else self.entry.options_for(kind)

    def expects(self, kind: Kind) -> Expected | None:
        """Return the outcome that the entry expects of this kind of audit.

        If the entry plans no such audit, return None.
        """
        return self.entry.expects(kind) if self.entry is not None and kind in self.entry.audits else None


def resolve_target(text: str, parameters: Mapping[str, Any] | None = None) -> Target:
    """Return the subject that a text names, built with parameters.

    Parameters
    ----------
    text
        ``module:object``, ``path.py:object`` or a catalogue name. A class is constructed with the
        parameters; a function gets them as keywords.
    parameters
        The subject's parameters by name.

    Raises
    ------
    AuditError
        The text names nothing, the module cannot be imported, or the subject lacks a parameter.

    Examples
    --------
    >>> resolve_target("statistics:mean").subject([1, 3])
    2
    """
    named = find_object(text)
    if isinstance(named, Entry):
        subject = _construct(named.factory, parameters or {}, name=named.name)
        return Target(text, subject, named)
    return Target(text, _with_parameters(named, parameters or {}, name=text))


def rebuild_subject(text: str, saved: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> Any:
    """Return the subject that a text names, with saved parameters.

    Parameters
    ----------
    text
        The result's `target`.
    saved
        The result's `parameters`. Parameters that the target does not take are left out.
    settings
        Parameters that the target must take.

    Examples
    --------
    >>> rebuild_subject("decimal:Decimal", {"value": "3", "precision": 28})
    Decimal('3')
    """
    found = find_object(text)
    factory = found.factory if isinstance(found, Entry) else found
    known = parameters_of(factory) or {}
    kept = {name: value for name, value in saved.items() if name in known}
    return resolve_target(text, {**kept, **(settings or {})}).subject


def find_object(text: str) -> Any:
    """Return the object, class or catalogue `Entry` that a text names. No subject is built.

    Examples
    --------
    >>> find_object("statistics:mean").__name__
    'mean'
    """
    if ":" in text:
        return load_object(text)
    if text.endswith(".py"):
        raise AuditError(f"`{text}` is a file; add the object to audit: `{text}:object`.")
    entries = {entry.name: entry for entry in load_catalogue()}
    if text not in entries:
        hint = "; `dp-audit list` shows all names. A target of your own is module:object or path.py:object."
        raise AuditError(f"The catalogue has no `{text}`{near(text, entries, otherwise=hint)}")
    return entries[text]


def _with_parameters(named: Any, parameters: Mapping[str, Any], *, name: str) -> Any:
    if inspect.isclass(named):
        return _construct(named, parameters, name=name)
    if not parameters:
        return named
    if dataclasses.is_dataclass(named):
        instance: Any = named
        _refuse_unknown(type(named), parameters, name=name)
        return _construct(functools.partial(dataclasses.replace, instance), parameters, name=name)
    if inspect.isroutine(named) or isinstance(named, functools.partial):
        _refuse_unknown(named, parameters, name=name, skip=2)
        return functools.partial(named, **parameters)
    raise AuditError(f"`{name}` is already an instance of {type(named).__name__}, so it takes no parameters.")


def _construct(factory: Callable[..., Any], parameters: Mapping[str, Any], *, name: str) -> Any:
    _refuse_unknown(factory, parameters, name=name)
    try:
        return factory(**parameters)
    except AuditError:
        raise
    except Exception as error:
        raise AuditError(f"`{name}` cannot be built: {reason(error)}") from error


def _refuse_unknown(
    factory: Callable[..., Any], parameters: Mapping[str, Any], *, name: str, skip: int = 0
) -> None:
    """Raise an error for a parameter that `factory` lacks.

    The first `skip` parameters of `factory` do not count.
    """
    told = parameters_of(factory)  # if None, the call itself will report errors
    accepted = list((told or {}).values())
    if told is None or any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted):
        return
    unnamed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    known = [each.name for each in accepted[skip:] if each.kind not in unnamed]
    for parameter in parameters:
        if parameter not in known:
            have = "its parameters are " + ", ".join(known) if known else "it takes none"
            raise AuditError(f"`{name}` has no parameter `{parameter}`; {have}.")
