"""From the text of a target to the subject it names."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import importlib
import importlib.util
import inspect
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import cloudpickle  # type: ignore[import-untyped]  # it has no stubs

from audit.catalogue import Entry, load_catalogue
from audit.errors import AuditError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import ModuleType

__all__ = ["Target", "find_object", "load_object", "resolve_target"]


@dataclass(frozen=True)
class Target:
    """A subject ready to be audited, and what its catalogue entry says of it.

    Examples
    --------
    >>> Target("math:fsum", subject=sum).options
    {}
    """

    text: str
    subject: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    expected: Literal["refuted", "not refuted"] | None = None
    reference: str | None = None


def resolve_target(text: str, parameters: Mapping[str, Any] | None = None) -> Target:
    """Return the subject that `text` names, built with `parameters`.

    Parameters
    ----------
    text
        ``module:object``, ``path.py:object`` or a catalogue name. A class is called with the parameters,
        a function gets them as keywords.
    parameters
        The subject's parameters by name.

    Raises
    ------
    AuditError
        The text names nothing, the module does not import, or the subject has no such parameter.

    Examples
    --------
    >>> resolve_target("statistics:mean").subject([1, 3])
    2
    """
    named = find_object(text)
    if isinstance(named, Entry):
        subject = _construct(named.factory, parameters or {}, name=named.name)
        return Target(text, subject, named.options, named.name, named.expected, named.reference or None)
    return Target(text, _with_parameters(named, parameters or {}, name=text))


def find_object(text: str) -> Any:
    """Return what `text` names, not built yet: an object, a class or a catalogue `Entry`.

    Examples
    --------
    >>> find_object("statistics:mean").__name__
    'mean'
    """
    return load_object(text) if ":" in text else _find_entry(text)


def load_object(text: str) -> Any:
    """Return the object named by ``module:object`` or ``path.py:object``.

    A file's folder, and for a module the working folder, go to the front of ``sys.path``, as Python does for
    a script, so that imports of its siblings work.

    Raises
    ------
    AuditError
        Nothing has that name, or the import fails; the message carries the import's own.

    Examples
    --------
    >>> load_object("operator:add")(1, 2)
    3
    """
    place, _, name = text.rpartition(":")
    if not place or not name:
        raise AuditError(f"A target is `module:object` or `path.py:object`; got `{text}`.")
    module = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    found: Any = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise AuditError(f"`{place}` has no `{name}`{_near(part, _public(found))}") from None
    return found


def _find_entry(name: str) -> Entry:
    if name.endswith(".py"):
        raise AuditError(f"A file needs the object to audit behind it: `{name}:object`.")
    entries = {entry.name: entry for entry in load_catalogue()}
    if name not in entries:
        hint = "; `dp-audit list` shows it, and a target of your own is module:object or path.py:object."
        raise AuditError(f"The catalogue has no `{name}`{_near(name, entries, otherwise=hint)}")
    return entries[name]


def _load_module(name: str) -> ModuleType:
    _put_first_on_path(Path.cwd())
    return _imported(lambda: importlib.import_module(name), what=name)


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        near = _near(path.name, (file.name for file in path.parent.glob("*.py")))
        raise AuditError(f"There is no file `{path}`{near}")
    path = path.resolve()
    name = _module_name(path)
    known = sys.modules.get(name)
    if known is not None:
        return known
    _put_first_on_path(path.parent)
    return _imported(lambda: _execute(name, path), what=path.name)


def _module_name(path: Path) -> str:
    """Return the same name for the same file in every process; never one that an import statement finds."""
    name = f"dp_audit_target_{path.stem}"
    while name in sys.modules and Path(str(sys.modules[name].__file__)) != path:
        name += "_"
    return name


def _execute(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    cloudpickle.register_pickle_by_value(module)  # a child process cannot import it by this name
    return module


def _imported(load: Callable[[], ModuleType], *, what: str) -> ModuleType:
    """Run the import; what it prints goes to stderr, because stdout carries results."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return load()
    except (Exception, SystemExit) as error:
        raise AuditError(f"`{what}` does not import: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    """Return the error's kind, the first line it says, and the line it was raised on."""
    said = next(iter(str(error).splitlines()), "")
    words = f"{type(error).__name__}: {said}"
    frames = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)]
    theirs = bool(frames) and frames[-1].suffix == ".py" and frames[-1] != Path(__file__)
    if isinstance(error, SyntaxError) or not theirs:  # a syntax error says its own place
        return words
    return f"{words} ({frames[-1].name}, line {lines[-1]})"


def _put_first_on_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _with_parameters(named: Any, parameters: Mapping[str, Any], *, name: str) -> Any:
    if inspect.isclass(named):
        return _construct(named, parameters, name=name)
    if not parameters:
        return named
    if dataclasses.is_dataclass(named):
        instance: Any = named
        change = functools.partial(dataclasses.replace, instance)
        return _construct(change, parameters, name=name, like=type(named))
    if inspect.isroutine(named) or isinstance(named, functools.partial):
        _refuse_unknown(named, parameters, name=name, skip=2)
        return functools.partial(named, **parameters)
    raise AuditError(
        f"`{name}` is an instance of {type(named).__name__}, which takes no parameters any more."
    )


def _construct(
    factory: Callable[..., Any],
    parameters: Mapping[str, Any],
    *,
    name: str,
    like: Callable[..., Any] | None = None,
) -> Any:
    _refuse_unknown(like or factory, parameters, name=name)
    try:
        return factory(**parameters)
    except AuditError:
        raise
    except Exception as error:
        raise AuditError(f"`{name}` cannot be built: {_reason(error)}") from error


def _refuse_unknown(
    factory: Callable[..., Any],
    parameters: Mapping[str, Any],
    *,
    name: str,
    skip: int = 0,
) -> None:
    """Refuse a parameter that `factory` does not have; `skip` leaves out a mechanism's database and rng."""
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # unreadable: the call itself will say what is wrong
        return
    accepted = list(signature.parameters.values())
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted):
        return
    unnamed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    known = [each.name for each in accepted[skip:] if each.kind not in unnamed]
    for parameter in parameters:
        if parameter not in known:
            have = "its parameters are " + ", ".join(known) if known else "it has none"
            raise AuditError(f"`{name}` has no parameter `{parameter}`; {have}.")


def _public(found: Any) -> list[str]:
    return [name for name in dir(found) if not name.startswith("_")]


def _near(name: str, known: Iterable[str], *, otherwise: str = ".") -> str:
    """Return the end of a sentence that says what `name` may have meant."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean `{near[0]}`?" if near else otherwise
