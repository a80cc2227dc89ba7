"""Find the fault behind a refutation in a separate process.

No failure of this process can break the result.
"""

import math
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import numpy as np

from audit.errors import AuditError, SubjectError
from audit.events.features.bits import reads_bits_of_floats
from audit.faults.asked import ELSEWHERE, FAR, MIDDLE, Asked
from audit.faults.examiner import Answers, Examiner
from audit.faults.scene import LEFT, RIGHT
from audit.relations import Relation, check_relation
from audit.results.fault import Fault, FaultKind
from audit.results.result import AuditResult, Witness
from audit.sampling.blocks import Block, Task
from audit.sampling.isolated.fresh import can_start, draw_once
from audit.sampling.isolated.recipes import recipe_of
from audit.sampling.recorded.leaves import Leaves, leaves_of
from audit.sampling.seeds import FAULT
from audit.sampling.shipping import Parcel
from audit.subject.signatures import Calling
from audit.subject.subject import Subject
from audit.task import PrivacyTask
from audit.values.canonical import same
from audit.values.outcomes import Raised, Unfinished
from audit.values.wording import short
from audit.words import fault_words as words

#: Limit of an examination in seconds of processor time, for a subject that never ends. The limit is large:
#: most subjects reach the limit of runs (`scene.MOST_RUNS`) first, also on a slow machine.
LIMIT: Final = 10.0
#: Limit of an examination in seconds of real time, for a subject that sleeps or hangs in compiled code.
PATIENCE: Final = 60.0
#: A fault of these kinds is reported only if no noise was drawn before the run.
_STEADY: Final = frozenset({FaultKind.UNNOISED_PART, FaultKind.FIXED_SEED})


def fault_behind(task: PrivacyTask, result: AuditResult) -> Fault | None:
    """Return the fault behind a refutation, or None if nothing is refuted.

    Parameters
    ----------
    task
        The audit.
    result
        The result of the audit.
    """
    if not (result.refuted and result.witness is not None and task.options.recorded):
        return None
    try:
        return _asked_of(task, result.witness)
    except Exception as error:  # noqa: BLE001  the result stands without its explanation
        return Fault(FaultKind.UNKNOWN, None, words.NOT_LOOKED.format(short(str(error).rstrip("."), 120)))


def _asked_of(task: PrivacyTask, strongest: Witness) -> Fault:
    witness = strongest.simplest or strongest
    subject, left, right = task.subject, witness.left, witness.right
    if not can_start():
        raise AuditError("this system cannot start a process for it")
    asked = Asked(
        epsilon=witness.distance * task.claim.epsilon,
        delta=task.claim.delta,
        bits=reads_bits_of_floats(witness.event),
        nan=_has_nan(left, right),
    )
    databases = {LEFT: left, RIGHT: right, **_middle(left, right, task.relation), **_far(task, left, right)}
    databases |= zip(ELSEWHERE, (strongest.left, strongest.right, *_both(left, right)), strict=False)
    prepared = {name: subject.prepare(database) for name, database in databases.items()}
    found = _answered(task, Examiner(subject.object, subject.calling, LIMIT), (prepared, asked))
    assert isinstance(found, Fault)
    if found.kind in _STEADY:
        kept = [
            _answered(task, Answers(subject.object, subject.calling, first), prepared, place=first)
            for first in (1, 2)
        ]
        if _differ(*kept):
            return Fault(FaultKind.UNKNOWN, None, words.KEPT)
    return found


def _answered(task: PrivacyTask, examiner: Any, question: Any, *, place: int = 0) -> Any:
    """Return an examiner's answer from a fresh process.

    The generators of the process are seeded from `place`.
    """
    left_over = math.inf if task.deadline is None else task.deadline - time.monotonic()
    if left_over <= 0:
        raise AuditError("time was over")
    asking = Task(
        left=question,
        right=question,
        size=1,
        seed=task.options.seed,
        path=(FAULT, place) if place else (FAULT,),
        alone=True,
        limit=min(PATIENCE, left_over),
    )
    block = _drawn(replace(task.subject, object=examiner, calling=Calling(takes_rng=True)), asking)
    found: Any = next(iter([*block.left, *block.right]))
    if isinstance(found, Unfinished):
        raise AuditError(found.reason)
    if isinstance(found, Raised):
        raise AuditError(f"{found.kind}: {found.message}")
    return found


def _differ(one: dict[str, Leaves], other: dict[str, Leaves]) -> bool:
    """Return whether the answers of two processes differ in a common part."""
    return any(
        place in other[side] and not same(leaf, other[side][place])
        for side in one
        for place, leaf in one[side].items()
    )


def _drawn(subject: Subject, asking: Task) -> Block:
    """Return a run in a fresh process. The process makes the subject anew or, if this fails, runs a copy."""
    recipe = recipe_of(subject.object, subject.calling, seed=asking.seed)
    if recipe is not None:
        with suppress(SubjectError):  # for example, the script defines the subject after an audit
            return draw_once(recipe, asking)
    return draw_once(Parcel.of(subject, seed=asking.seed), asking)


def _differing(left: Any, right: Any) -> tuple[int, int]:
    """Return the index of the differing record in the left and in the right list.

    In a list without this record the index is −1. If the record is unknown, both are −1.
    """
    if not isinstance(left, list | tuple) or not isinstance(right, list | tuple):
        return -1, -1
    shorter = min(len(left), len(right))
    at = next((i for i in range(shorter) if not same(left[i], right[i])), shorter)
    if len(left) == len(right):
        return (at, at) if at < shorter else (-1, -1)
    return (at, -1) if len(left) > len(right) else (-1, at)


def _has_nan(left: Any, right: Any) -> bool:
    """Return whether the differing record has NaN in exactly one database.

    The record is NaN or contains NaN.
    """
    places = zip((left, right), _differing(left, right), strict=True)
    leaves = [leaves_of(side[at]).values() if at >= 0 else () for side, at in places]
    nans = [
        any(isinstance(leaf, float | np.floating) and math.isnan(leaf) for leaf in each) for each in leaves
    ]
    return nans[0] != nans[1]


def _middle(left: Any, right: Any, relation: Any) -> dict[str, Any]:
    """Return the database without the replaced record, as `MIDDLE`.

    If no record was replaced, the dict is empty.
    """
    at, other = _differing(left, right)
    if at < 0 or other < 0 or check_relation(relation) is not Relation.REPLACE_ONE:
        return {}
    return {MIDDLE: [*left[:at], *left[at + 1 :]] if isinstance(left, list) else left[:at] + left[at + 1 :]}


def _both(left: Any, right: Any) -> list[Any]:
    """Return the left database with the differing record of the right one added.

    The result is a list with this database. If the database cannot be built, the list is empty.
    """
    _, at = _differing(left, right)
    return [left + right[at : at + 1]] if at >= 0 and type(left) is type(right) else []


def _far(task: PrivacyTask, left: Any, right: Any) -> dict[str, Any]:
    """Return the right database with its differing record times 1000, as `FAR`.

    The record must be a finite number other than 0. The new database must be in the domain and a neighbour of
    the left one. Otherwise the dict is empty.
    """
    _, at = _differing(left, right)
    record = right[at] if at >= 0 else None
    if isinstance(record, bool) or not isinstance(record, float | int):
        return {}
    if not math.isfinite(record) or record == 0:
        return {}
    scaled = type(right)([*right[:at], record * 1000, *right[at + 1 :]])
    return {FAR: scaled} if task.databases.allowed(scaled) and task.databases.relates(left, scaled) else {}
