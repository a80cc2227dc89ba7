"""Files written atomically, and checked to be writable before hours of work."""

import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from audit.errors import AuditError

_MARK = re.compile(r"-[0-9a-f]{12}$")
_LONGEST = 120


class Unwritable(AuditError):  # noqa: N818  says what happened, as `CorruptFile` does
    """What was found cannot be saved: the disk is full, or the place has gone since it was checked.

    Examples
    --------
    >>> issubclass(Unwritable, AuditError)
    True
    """


def check_writable(path: str | os.PathLike[str]) -> None:
    """Make sure that a file can be written at `path`: call it before hours of work.

    A folder that does not exist is made inside the working directory, and nowhere else.

    Raises
    ------
    AuditError
        If it cannot; the message says why.

    Examples
    --------
    >>> check_writable("/dev/null/report.html")
    Traceback (most recent call last):
    audit.errors.AuditError: /dev/null/report.html cannot be written: ...
    """
    try:
        target = _behind(path)
        if target.is_dir():
            raise AuditError(f"{path} cannot be written: it is a folder.")
        if _is_stream(target):
            if not os.access(target, os.W_OK):
                raise AuditError(f"{path} cannot be written: Permission denied.")
            return
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".dp-audit-"):
            pass
        with suppress(FileNotFoundError):
            target.stat()  # a name that is no name, or too long, is found here
            target.open("ab").close()
    except (OSError, ValueError) as error:
        raise AuditError(f"{path} cannot be written: {why(error)}.") from None


def check_apart(*paths: str | os.PathLike[str] | None) -> None:
    """Make sure that no two of the files of a command are the same, so that it overwrites none of its own.

    Raises
    ------
    AuditError
        Two are; the message names it. None stands for a file that was not asked for.

    Examples
    --------
    >>> check_apart("a.json", None, "./a.json")
    Traceback (most recent call last):
    audit.errors.AuditError: a.json is named twice; each input and each output needs a file of its own.
    """
    seen: set[Path] = set()
    for path in paths:
        if path is None:
            continue
        try:
            whole = Path(path).resolve()
        except (OSError, ValueError) as error:
            raise AuditError(f"{path} cannot be used as a file name: {why(error)}.") from None
        if whole in seen:
            raise AuditError(
                f"{Path(path)} is named twice; each input and each output needs a file of its own."
            )
        seen.add(whole)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` (UTF-8) to `path` through a temporary file beside it: readers see all or nothing.

    A link stays, and the file that it leads to is written. A device or a pipe is written to as it is.

    Raises
    ------
    Unwritable
        It cannot be written; the message says why.

    Examples
    --------
    >>> write_text("/dev/null", "nothing is kept")
    """
    content = text.encode("utf-8", "backslashreplace")
    try:
        target = _behind(path)
        if _is_stream(target):
            target.write_bytes(content)
            return
        beside = target.parent / f".dp-audit-{secrets.token_hex(8)}"
        try:
            with beside.open("xb") as file:
                with suppress(FileNotFoundError):  # before anything is in it: what is private stays so
                    shutil.copymode(target, beside)
                file.write(content)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise Unwritable(f"{path} cannot be written: {why(error)}.") from None


def _behind(path: str | os.PathLike[str]) -> Path:
    """Return the place that is written: the end of a link, in folders that exist."""
    target = Path(path)
    if not target.parent.is_dir() and not target.parent.resolve().is_relative_to(Path.cwd()):
        raise ValueError(f"the folder {target.parent} does not exist")  # perhaps a slip of the pen
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.is_symlink() or _is_stream(target):
        return target
    if target.absolute().parts[1] in {"dev", "proc"}:  # /dev/stdout: its own writer does not see ours
        raise ValueError("it is redirected to a file; name that file, or another")
    return Path(os.path.realpath(target))


def _is_stream(target: Path) -> bool:
    """Return whether a path is a stream (a device, a pipe), which is written to and never replaced."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def file_name(text: str, *, ending: str = ".json") -> str:
    """Return a name for the file of what `text` names: another one for every text, on any system.

    Letters, digits, and the signs ``-_.=`` stay. Where anything else is replaced or left out, or the name
    would look as if it were, a digest of the whole text tells it from others.

    Examples
    --------
    >>> file_name("laplace"), file_name("a/b")
    ('laplace.json', 'a_b-c14cddc033f6.json')
    """
    safe = re.sub(r"[^A-Za-z0-9_.=-]+", "_", text)
    if safe == text and 0 < len(text) <= _LONGEST and text[0] != "." and not _MARK.search(text):
        return text + ending
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{safe[-_LONGEST:].lstrip('.')}-{digest}{ending}"


def why(error: OSError | ValueError) -> str:
    """Return the system's words; a name with a null byte is a ValueError."""
    return getattr(error, "strerror", None) or str(error)


def file_of(target: str) -> str | None:
    """Return the file of ``path.py:object``, or of ``module:object`` once it is imported; None without one.

    Examples
    --------
    >>> file_of("mine.py:release"), file_of("laplace")
    ('mine.py', None)
    """
    place, _, _ = target.rpartition(":")
    return place if place.endswith(".py") else getattr(sys.modules.get(place), "__file__", None)


def source_of(target: str) -> str | None:
    """Return a digest of the file of a target, to tell whether it is still the one audited.

    None if it cannot be read. Modules that the file imports are not compared.

    Examples
    --------
    >>> source_of("laplace") is None
    True
    """
    file = file_of(target)
    if file is None:
        return None
    try:
        return f"sha256:{hashlib.sha256(Path(file).read_bytes()).hexdigest()}"
    except OSError:
        return None
