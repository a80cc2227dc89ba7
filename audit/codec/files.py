"""Check that files can be written, and write them all or nothing."""

import hashlib
import os
import re
import secrets
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from audit.errors import AuditError

_MARK = re.compile(r"-[0-9a-f]{12}$")
_LONGEST = 120


class Unwritable(AuditError):  # noqa: N818  says what happened, as `CorruptFile` does
    """A result cannot be saved.

    For example, the disk is full, or the folder has disappeared since it was checked.

    Examples
    --------
    >>> issubclass(Unwritable, AuditError)
    True
    """


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written at a path.

    Call this before hours of work. Missing folders are created. Outside the working directory, only the last
    folder of the path is created.

    Raises
    ------
    AuditError
        The file cannot be written; the message says why.

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
            target.stat()  # finds names that are invalid or too long
            target.open("ab").close()
    except (OSError, ValueError) as error:
        raise AuditError(f"{path} cannot be written: {why(error)}.") from None


def check_apart(*paths: str | os.PathLike[str] | None) -> None:
    """Check that the files of a command are all different.

    None stands for a file that was not asked for.

    Raises
    ------
    AuditError
        Two files are the same; the message names the file.

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
    """Write a text to a file in UTF-8; readers see all or nothing.

    A link stays, and its target is written. A device or a pipe is written to directly.

    Raises
    ------
    Unwritable
        The file cannot be written; the message says why.

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
                with suppress(FileNotFoundError):  # before writing, so that others never see private content
                    shutil.copymode(target, beside)
                file.write(content)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise Unwritable(f"{path} cannot be written: {why(error)}.") from None


def _behind(path: str | os.PathLike[str]) -> Path:
    """Return the path to write, after making its folders. If the path is a link, return the link's target."""
    target = Path(path)
    above = target.parent.parent
    if not above.is_dir() and not above.resolve().is_relative_to(Path.cwd()):
        raise ValueError(f"the folder {above} does not exist")  # perhaps a misspelt path
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.is_symlink() or _is_stream(target):
        return target
    if target.absolute().parts[1] in {"dev", "proc"}:  # /dev/stdout: replacing its file would detach stdout
        raise ValueError("it is redirected to a file; name that file, or another")
    return Path(os.path.realpath(target))


def _is_stream(target: Path) -> bool:
    """Return whether a path is a stream, such as a device or a pipe."""
    return target.exists() and not target.is_file() and not target.is_dir()


def file_name(text: str, *, ending: str = ".json") -> str:
    """Return a file name for a text.

    The name is valid on every system and different for every text.

    Letters, digits, and the signs ``-_.=`` stay. If other characters are replaced or left out, a digest of
    the whole text is appended. A text that already looks like a name with a digest gets a digest too.

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
    """Return the system's words for an error, or the error's own text if the system has none."""
    return getattr(error, "strerror", None) or str(error)


def file_of(target: str) -> str | None:
    """Return the file of a target, or None if it is unknown.

    A target is ``path.py:object``, or ``module:object`` if the module is imported.

    Examples
    --------
    >>> file_of("mine.py:release"), file_of("laplace")
    ('mine.py', None)
    """
    place, _, _ = target.rpartition(":")
    return place if place.endswith(".py") else getattr(sys.modules.get(place), "__file__", None)


def source_of(target: str) -> str | None:
    """Return a digest of the file of a target.

    If the file cannot be read, return None. Modules that the file imports are not included.

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
