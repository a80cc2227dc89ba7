"""Import an object from a user's module or file by its name."""

import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle  # type: ignore[import-untyped]  # it has no stubs

from audit.codec.files import source_of
from audit.entry_points import new_module
from audit.errors import AuditError
from audit.values.nearest import near


def load_object(text: str) -> Any:
    """Return the object named by ``module:object`` or ``path.py:object``.

    The folder of the file is put at the front of ``sys.path``, as for a script. For a module, this is the
    working folder. So the file can import its neighbours.

    Raises
    ------
    AuditError
        Nothing has that name, or the import fails.

    Examples
    --------
    >>> load_object("operator:add")(1, 2)
    3
    """
    place, _, name = text.rpartition(":")
    if not place or not name:
        raise AuditError(f"A target must be `module:object` or `path.py:object`; got `{text}`.")
    found: Any = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise AuditError(
                f"`{place}` has no `{name}`{near(part, (each for each in dir(found) if each[0] != '_'))}"
            ) from None
    return found


def _load_module(name: str) -> ModuleType:
    _put_first_on_path(Path.cwd())
    return _imported(lambda: importlib.import_module(name), what=name)


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        others = (file.name for file in path.parent.glob("*.py"))
        raise AuditError(f"There is no file `{path}`{near(path.name, others)}")
    path = path.resolve()
    name = _module_name(path)
    known = sys.modules.get(name)
    if known is not None:
        return known
    _put_first_on_path(path.parent)
    return _imported(lambda: _execute(name, path), what=path.name)


def _module_name(path: Path) -> str:
    """Return the module name of a file, the same in every process."""
    name = f"dp_audit_target_{path.stem}"
    while name in sys.modules and Path(str(sys.modules[name].__file__)) != path:
        name += "_"
    return name


def _execute(name: str, path: Path) -> ModuleType:
    module, run = new_module(name, path)
    try:
        run()
    except BaseException:
        del sys.modules[name]
        raise
    cloudpickle.register_pickle_by_value(module)  # a child process cannot import it by this name
    return module


def _imported(load: Callable[[], ModuleType], *, what: str) -> ModuleType:
    """Return the imported module, with its prints sent to stderr."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return load()
    except (Exception, SystemExit) as error:
        raise AuditError(f"`{what}` cannot be imported: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """Return the type of an error, its first line, and where it was raised.

    The place is left out if it is not in the user's code.

    Examples
    --------
    >>> reason(ValueError("no such table"))
    'ValueError: no such table'
    """
    said = next(iter(str(error).splitlines()), "")
    words = f"{type(error).__name__}: {said}"
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) or not frames:  # a syntax error already names its place
        return words
    file = Path(frames[-1].filename)
    theirs = file.suffix == ".py" and file.parent != Path(__file__).parent
    return f"{words} ({file.name}, line {frames[-1].lineno})" if theirs else words


def _put_first_on_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def locate_target(target: str, witness: str | os.PathLike[str], *, source: str | None = None) -> str:
    """Return the saved target of a witness file with its full path.

    A target ``path.py:object`` is relative to the folder from which it was saved. The file is looked for in
    the folder of the witness file, in its parents, and then in the working folder.

    The first file with the digest `source` is taken, because it is unchanged (`audit.codec.files.source_of`).
    If no file has this digest, the first file found is taken.

    Raises
    ------
    AuditError
        None of these folders has the file.

    Examples
    --------
    >>> locate_target("statistics:mean", "witnesses/mean.json")
    'statistics:mean'
    """
    place, _, name = target.rpartition(":")
    if not place.endswith(".py"):
        return target
    beside = Path(witness).resolve().parent
    folders = (beside, *beside.parents, Path.cwd())
    found = [f"{(folder / place).resolve()}:{name}" for folder in folders if (folder / place).is_file()]
    if found:
        return next((each for each in found if source and source_of(each) == source), found[0])
    raise AuditError(
        f"There is no file `{place}`, the target of {Path(witness).name}, in `{beside}`, the folders above "
        f"it or `{Path.cwd()}`; name another subject by check_witness(witness, subject) or "
        "`dp-audit replay FILE TARGET`."
    )


def require_trust(name: object, *, what: str, trust: bool) -> None:
    """Raise an error if code would be imported from an untrusted file.

    Loading a saved file imports and calls no code that the file names. A replay calls a subject and a
    `convert` on the databases of the file. If the caller does not give these two, the file names them. A
    malicious file may name any function, such as ``os:system``, with arguments of its choice.

    Parameters
    ----------
    name
        The name that the file gives.
    what
        The name of the argument with which the caller may give the object instead.
    trust
        Whether the file is trusted.

    Raises
    ------
    AuditError
        The file is not trusted.

    Examples
    --------
    >>> require_trust("os:system", what="`convert`", trust=False)
    Traceback (most recent call last):
    audit.errors.AuditError: The saved result names `os:system` as its `convert`, and a replay would import
    and call it; give `convert`, or trust the file (`trust=True`, `--trust`).
    """
    if not trust:
        raise AuditError(
            f"The saved result names `{name}` as its {what}, and a replay would import and call it; "
            f"give {what}, or trust the file (`trust=True`, `--trust`)."
        )
