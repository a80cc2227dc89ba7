"""Files written whole or not at all, and asked for before hours of work."""

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from audit.errors import AuditError

__all__ = ["check_apart", "check_writable", "file_of", "source_of", "why", "write_text"]


def check_writable(path: str | os.PathLike[str]) -> None:
    """Make sure that a file can be written at `path`, creating its folders: call it before hours of work.

    Raises
    ------
    AuditError
        If it cannot; one line that says why.

    Examples
    --------
    >>> check_writable("/dev/null/report.html")
    Traceback (most recent call last):
    audit.errors.AuditError: /dev/null/report.html cannot be written: ...
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise AuditError(f"{target} cannot be written: it is a folder.")
        handle, probe = tempfile.mkstemp(dir=target.parent, prefix=".dp-audit-")
        os.close(handle)
        Path(probe).unlink()
        with suppress(FileNotFoundError):
            target.stat()  # a name that is no name, or too long, is found here
            target.open("ab").close()
    except (OSError, ValueError) as error:
        raise AuditError(f"{target} cannot be written: {why(error)}.") from None


def check_apart(*paths: str | os.PathLike[str] | None) -> None:
    """Make sure that no two of the files of a command are the same, so that it overwrites none of its own.

    Raises
    ------
    AuditError
        Two are; one line that names it. None stands for a file that was not asked for.

    Examples
    --------
    >>> check_apart("a.json", None, "./a.json")
    Traceback (most recent call last):
    audit.errors.AuditError: a.json is named twice: what is read and what is written need files of their own.
    """
    seen: set[Path] = set()
    for path in paths:
        if path is None:
            continue
        try:
            whole = Path(path).resolve()
        except (OSError, ValueError) as error:
            raise AuditError(f"{path} is no usable name: {why(error)}.") from None
        if whole in seen:
            raise AuditError(
                f"{Path(path)} is named twice: what is read and what is written need files of their own."
            )
        seen.add(whole)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` (UTF-8) to `path` through a temporary file beside it: readers see all or nothing."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".dp-audit-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
            Path(name).chmod(_usual_mode())
            Path(name).replace(target)
        finally:
            with suppress(FileNotFoundError):
                Path(name).unlink()
    except (OSError, ValueError) as error:
        raise AuditError(f"{target} cannot be written: {why(error)}.") from None


def why(error: OSError | ValueError) -> str:
    """Return the system's words; a name with a null byte is a ValueError."""
    return getattr(error, "strerror", None) or str(error)


def _usual_mode() -> int:
    """Return the mode that a plain `open` would give (temporary files are private)."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


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

    None where there is none to read. What the file imports is not looked at.

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
