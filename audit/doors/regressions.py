"""Saved refutations as regression tests. One test replays each witness file of a folder."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.codec.files import file_of, source_of
from audit.errors import AuditError, CorruptFile
from audit.subject.loading import locate_target, require_trust
from audit.values.said import Said, Says

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from audit.results.result import AuditResult
    from audit.subject.subject import Subject
    from audit.utility.saved import Saved


def parametrize_with_witnesses(folder: str | os.PathLike[str]) -> Callable[[Any], Any]:
    """Return a decorator that runs a test once for each witness file.

    The file is passed as the argument ``witness``. The tests carry the marker ``audit``.

    Parameters
    ----------
    folder
        The folder of results saved as JSON, relative to the file of the test.

    Raises
    ------
    AuditError
        There is no such folder.

    Examples
    --------
    >>> @parametrize_with_witnesses("../tests/audit/data")  # doctest: +SKIP
    ... def test_fault_stays_away(witness, auditor):
    ...     auditor.check_witness(witness, trust=True)
    """
    import pytest

    beside = Path(inspect.stack(0)[1].frame.f_globals.get("__file__", ".")).parent
    cases = [
        pytest.param(file, id=file.stem, marks=pytest.mark.audit) for file in witness_files(beside / folder)
    ]
    return pytest.mark.parametrize("witness", cases)


def witness_files(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the JSON files of a folder, sorted by name.

    Examples
    --------
    >>> witness_files("no/such/folder")
    Traceback (most recent call last):
    audit.errors.AuditError: The folder `no/such/folder` of witness files does not exist.
    """
    place = Path(folder)
    if not place.is_dir():
        raise AuditError(f"The folder `{place}` of witness files does not exist.")
    return sorted(place.glob("*.json"))


def load_witness(path: str | os.PathLike[str]) -> AuditResult:
    """Return the saved result at `path`, a consistent refutation.

    Raises
    ------
    AuditError
        The file is damaged, holds no refutation, or contradicts itself (`audit.results.coherence`).

    Examples
    --------
    >>> load_witness("no/such/file.json")
    Traceback (most recent call last):
    audit.errors.CorruptFile: no/such/file.json cannot be read: No such file or directory.
    """
    from audit.results.coherence import check_coherent
    from audit.results.saved import load

    result = load(path)
    if result.witness is None:
        raise AuditError(f"{path} holds no refutation, so there is nothing to replay.")
    try:
        check_coherent(result)
    except CorruptFile as error:
        raise CorruptFile(f"{path}: {error}") from None
    return result


def saved_subject(
    result: Saved,
    file: str | os.PathLike[str],
    *,
    target: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    convert: Any = None,
    what: str = "subject",
    trust: bool = False,
) -> tuple[Subject, str]:
    """Return the subject on which a result is replayed, and its place.

    Parameters
    ----------
    result, file
        The result, and its file.
    target
        What to run; by default, with `trust`, the target that the result names.
    parameters
        Parameters of the subject, in addition to those of the result.
    convert
        As for `replay_file`.
    what
        The name of `target` in messages.
    trust
        Import and call what the file names.

    Raises
    ------
    AuditError
        There is nothing to run, or the file is not trusted.
    """
    from audit.subject.conversion import saved_convert  # loads numpy and more: only for a replay
    from audit.subject.subject import adapt
    from audit.subject.targets import rebuild_subject

    name = target or result.target
    if name is None:
        raise AuditError(f"{file} does not say what was audited; give the {what} too.")
    if target is None:
        require_trust(name, what=what, trust=trust)
    if convert is None:
        convert = saved_convert(result.environment, file=file, trust=trust)
    place = target or locate_target(name, file, source=result.environment.get("source"))
    return adapt(rebuild_subject(place, result.parameters, parameters), convert=convert), place


def with_source(again: AuditResult, saved: AuditResult, place: str) -> AuditResult:
    """Return a replay with a note on the file of its subject.

    The note says whether that file has changed.

    Parameters
    ----------
    again
        The result of the replay.
    saved
        The result that was replayed. The ``source`` in its environment is compared, if there is one.
    place
        The target as `locate_target` found it.

    Examples
    --------
    >>> from audit.results.result import AuditResult, Evidence, Verdict
    >>> result = AuditResult("m", None, Verdict.REFUTED, Evidence.EXACT)
    >>> with_source(result, result, "laplace").notes
    ()
    """
    said = drawn_from(saved, place)
    environment = {**again.environment, "source": source_of(place)}
    return replace(again, notes=(*again.notes, said), environment=environment) if said else again


def drawn_from(saved: Saved, place: str) -> Said | None:
    """Return the note on the source file of a target. None if the target has no file.

    Examples
    --------
    >>> from audit.results.result import AuditResult, Evidence, Verdict
    >>> drawn_from(AuditResult("m", None, Verdict.REFUTED, Evidence.EXACT), "mine.py:release")
    'drawn from mine.py'
    """
    file, before = file_of(place), saved.environment.get("source")
    if file is None:
        return None
    said = Says.FILE_CHANGED if before and before != source_of(place) else Says.DRAWN_FROM
    return said(file=file)


def replay_file(
    path: str | os.PathLike[str],
    *,
    subject: Any = None,
    convert: Any = None,
    fresh: bool = False,
    trust: bool = False,
) -> AuditResult:
    """Return the result of replaying a saved refutation.

    Parameters
    ----------
    path
        A result saved as JSON.
    subject, convert, fresh, trust
        As for `Auditor.check_witness`.

    Raises
    ------
    AuditError
        The file holds no confirmed refutation, or there is nothing to run.

    Examples
    --------
    >>> replay_file("no/such/file.json")
    Traceback (most recent call last):
    audit.errors.CorruptFile: no/such/file.json cannot be read: No such file or directory.
    """
    from audit.results.coherence import is_refutation
    from audit.subject.conversion import saved_convert
    from audit.subject.subject import adapt
    from audit.verdict.replay import replay_witness

    result = load_witness(path)
    if not is_refutation(result):
        raise AuditError(
            f"{path} holds no refutation confirmed by fresh runs, so it cannot be a regression test; audit "
            "again with a larger `confirm_budget` or `time_limit`."
        )
    if subject is None:
        subject, place = saved_subject(result, path, convert=convert, trust=trust)
        return with_source(replay_witness(result, subject, target=result.target, fresh=fresh), result, place)
    convert = saved_convert(result.environment, file=path, trust=trust) if convert is None else convert
    return replay_witness(result, adapt(subject, convert=convert), fresh=fresh)
