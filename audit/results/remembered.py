"""A folder of saved refutations, whose pairs the next audit tries first.

Each file is a saved result. So `parametrize_with_witnesses` and `dp-audit replay` take the folder too. The
pairs that an audit tried first are part of its input, and its result holds them. To repeat the audit with the
same seed, give these pairs, or the result's file, as `remember`. The folder may have changed since the audit.

**Guarantee.** An audit tries only neighbours that its domain contains. Its runs come from a place of the seed
tree that depends on the pairs (`first_batch`). This is not the place of the runs that found the pairs. So,
given the pairs, a true claim is refuted with probability at most the significance. There is one exception.
Two different sets of pairs share a place with probability 1/1,023. Then an audit with the same seed may
repeat runs that found a pair. A true claim suffers from this only if the folder already holds a refutation of
it. This has probability at most the significance.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.codec.encoding import comes_back
from audit.codec.files import Unwritable, check_writable, file_name
from audit.errors import InvalidKind, InvalidValue, Parameter
from audit.relations import name_of
from audit.relations.records import kind_of
from audit.relations.relating import are_neighbours
from audit.results.coherence import is_refutation
from audit.results.result import AuditResult, Witness
from audit.results.saved import load, save
from audit.task import PrivacyTask
from audit.values.brief import show
from audit.values.canonical import key
from audit.values.said import Says

Pair = tuple[Any, Any]

REMEMBER = Parameter("remember")
#: An audit that tried more remembered pairs than this saves no new pair, so that the folder stops growing.
_MOST = 16
#: Each set of remembered pairs has a range of places in the seed tree. These are the length of a range and
#: the number of ranges: 2^30 places in all.
_PLACES, _SETS = 2**20, 2**10


def remembering(task: PrivacyTask, remember: Any, extended: AuditResult | None) -> PrivacyTask:
    """Return the task with remembered pairs as the first pairs to try.

    Pairs outside its domain are left out.

    Parameters
    ----------
    task
        The audit.
    remember
        A folder of saved refutations, the file of a saved result, pairs, or None.
    extended
        The result of the audit that this one continues. Its remembered pairs replace `remember`.

    Raises
    ------
    AuditError
        `remember` is neither a folder, the file of a saved result nor pairs. Or a file is damaged. Or the
        folder cannot be written to.
    """
    folder = _folder_of(remember)
    if folder is not None:
        check_writable(folder / "_.json")
    if extended is not None:
        found = list(extended.remembered)
    else:
        found = list(_read(remember) if folder is None else _refuted_in(folder, task))
    known = {_key(pair): pair for pair in found if _is_of(pair, task)}
    if not known:
        return task
    databases = task.databases
    given = tuple({**known, **{_key(pair): pair for pair in databases.given}}.values())
    return replace(task, databases=replace(databases, given=given), remembered=tuple(known.values()))


def first_batch(task: PrivacyTask) -> int:
    """Return the place in the seed tree where an audit's runs begin. It depends on the remembered pairs."""
    if not task.remembered:
        return 0
    return _PLACES * (int(_digest([*map(list, task.remembered)]), 16) % (_SETS - 1) + 1)


def _folder_of(remember: Any) -> Path | None:
    """Return the folder that keeps new refutations, or None."""
    path = Path(remember) if isinstance(remember, (str, os.PathLike)) else None
    return None if path is None or path.is_file() else path


def kept(result: AuditResult, remember: Any) -> AuditResult:
    """Save a refutation for later audits, and return the result.

    If it cannot be saved, the result has a note.
    """
    folder, witness = _folder_of(remember), _confirmed(result)
    if folder is None or witness is None or len(result.remembered) > _MOST:
        return result
    digest = _digest([result.relation, witness.left, witness.right])
    try:
        save(result, folder / file_name(f"{result.subject}-{digest}"))
    except Unwritable as error:
        return replace(result, notes=(*result.notes, Says.NOT_REMEMBERED(why=str(error))))
    return result


def _read(remember: Any) -> Iterator[Pair]:
    """Yield the pairs in `remember`, which may be the file of a result."""
    if remember is None:
        return
    pairs = load(remember).remembered if isinstance(remember, (str, os.PathLike)) else remember
    if not isinstance(pairs, (list, tuple)):
        wanted = "a folder, the file of a saved result, or pairs (left, right)"
        raise REMEMBER.wrong(f"must be {wanted}; got {show(remember)}.", kind=InvalidKind)
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise InvalidValue("Each of the ", REMEMBER, f" pairs must be (left, right); got {show(pair)}.")
        yield pair[0], pair[1]


def _refuted_in(folder: Path, task: PrivacyTask) -> Iterator[Pair]:
    """Yield the pairs on which claims of this subject were refuted."""
    for file in sorted(folder.glob("*.json")):
        result = load(file)
        alike = (result.subject, result.relation) == (task.subject.name, name_of(task.relation))
        if alike and (witness := _confirmed(result)) is not None:
            for each in filter(None, (witness, witness.simpler)):
                yield each.left, each.right


def _confirmed(result: AuditResult) -> Witness | None:
    """Return the witness of a confirmed refutation that a file can hold, or None."""
    witness = result.witness
    known = witness is not None and is_refutation(result) and comes_back([witness.left, witness.right])
    return witness if known else None


def _is_of(pair: Pair, task: PrivacyTask) -> bool:
    """Return whether a pair may be tried."""
    databases = task.databases
    if any(_key(pair) == _key(given) for given in databases.given):
        return True
    if databases.only_given or not are_neighbours(task.relation, *pair):
        return False
    kinds = {kind_of(each) for each in databases.whole} or {"list"}
    return all(kind_of(each) in kinds and databases.allowed(each) is True for each in pair)


def _key(pair: Pair) -> Any:
    return key(list(pair))


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(key(value)).encode()).hexdigest()[:8]
