"""Check whether a subject keeps state. It is run again from the same generator states, later or elsewhere."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from audit.errors import AuditError
from audit.sampling.blocks import Block, Task
from audit.sampling.isolated.fresh import draw_anew
from audit.sampling.seeds import RNG_CHECK
from audit.sampling.shipping import Parcel
from audit.values.canonical import same
from audit.values.outcomes import Unfinished, is_refusal

#: The number of generator states in a check; each is used for one pair of runs. With more states, a check
#: detects kept state more reliably.
_STATES: Final = 2
#: This many further pairs of runs are made before a subject is said to ignore its generator.
_MORE: Final = 16


@dataclass
class Answers:
    """The outputs of a subject from a few generator states.

    As in any block of runs, there is a left and a right side. Normally both sides have the same database.

    Examples
    --------
    >>> Answers([Block(left=[0.5, 0.25], right=[1.0])]).vary, Answers([Block(left=[None], right=[])]).refused
    (True, True)
    """

    blocks: list[Block] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def outputs(self) -> list[Any]:
        """The outputs of all runs of both sides."""
        return [output for block in self.blocks for side in (block.left, block.right) for output in side]

    @property
    def refused(self) -> bool:
        """Whether no output is an answer."""
        return all(map(is_refusal, self.outputs))

    @property
    def vary(self) -> bool:
        """Whether outputs differ between generator states on some side."""
        lefts = [output for block in self.blocks for output in block.left]
        rights = [output for block in self.blocks for output in block.right]
        return any(not same(side[0], output) for side in (lefts, rights) for output in side)

    def are(self, others: "Answers") -> bool:
        """Return whether others have the same outputs.

        Their generators must also have advanced equally far.
        """
        mine, theirs = (
            [(each.left, each.right, each.rest) for each in answers.blocks] for answers in (self, others)
        )
        return same(mine, theirs)


class Questions:
    """The runs that show whether a subject keeps state.

    A stateless subject gives the same output from the same generator state. From different states it gives
    different outputs.

    This is checked before and after the audit's runs, on the same object and on copies of its first state. If
    the subject may have drawn data when it was made, a fresh process checks it too.

    Parameters
    ----------
    draw
        Makes the runs of a task and counts them.
    task
        Makes a task from two databases, half the number of runs, and a place.
    """

    def __init__(self, draw: Callable[[Task], Block], task: Callable[..., Task]) -> None:
        self._draw = draw
        self._task = task
        self._database: Any = None
        self._first = Answers()

    def repeat(self, database: Any) -> tuple[bool, float]:
        """Return whether repeated runs agree, and the seconds of loading.

        The loading time is how much longer the first block of runs took than the last block.
        """
        self._database, self._first = database, self._ask(database)
        first = self._first
        stuck = any(type(output) is Unfinished for output in first.outputs)  # then do not run it again
        return stuck or first.are(self._ask(database)), max(0.0, first.seconds[0] - first.seconds[-1])

    def refused_now(self) -> bool:
        """Return whether the subject gives no answer now, but did at first."""
        return not self._first.refused and self._ask(self._database).refused

    def answered_alike(self, databases: list[Any]) -> bool:
        """Return whether the subject and its copies repeat the first outputs.

        Outputs must also vary with the generator.
        """
        if not all(self._ask(self._database, fresh=fresh).are(self._first) for fresh in (False, True)):
            return False
        answers = [self._ask(database) for database in databases]
        copies = [self._ask(database, fresh=True) for database in databases]
        if not all(here.are(there) for here, there in zip(answers, copies, strict=True)):
            return False
        more = self._task(*databases, _MORE, (RNG_CHECK, _STATES))
        return any(each.vary for each in answers) or Answers([self._draw(more)]).vary

    def answered_alike_in(self, recipe: Parcel, databases: list[Any]) -> bool:
        """Return whether fresh processes repeat the outputs of this process.

        If no process can be started, return True.
        """
        for database in databases:
            here = self._ask(database)
            try:
                there = Answers(list(draw_anew(recipe, self._states(database, copy_inputs=True))))
            except (AuditError, TypeError, AttributeError):  # no process, or the database cannot be sent
                return True
            if not there.are(here):
                return False
        return True

    def _ask(self, database: Any, *, fresh: bool = False) -> Answers:
        answers = Answers()
        for task in self._states(database, fresh=fresh):
            start = time.monotonic()
            answers.blocks.append(self._draw(task))
            answers.seconds.append(time.monotonic() - start)
            if any(type(output) is Unfinished for output in answers.outputs):
                break
        return answers

    def _states(self, database: Any, **ways: bool) -> list[Task]:
        return [self._task(database, database, 1, (RNG_CHECK, index), **ways) for index in range(_STATES)]
