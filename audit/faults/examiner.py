"""One examination of a subject, in the process that records its runs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from audit.faults.asked import Asked
from audit.faults.rules import fault_of
from audit.faults.scene import RIGHT, Scene
from audit.results.fault import Fault, FaultKind
from audit.sampling.recorded import recorded_everywhere
from audit.sampling.recorded.leaves import TooLargeError
from audit.sampling.remake.state import Pristine
from audit.sampling.seeds import FAULT
from audit.sampling.snapshots import Input
from audit.sampling.watch import ComputedTooLong, computing_for
from audit.subject.signatures import Calling
from audit.subject.subject import Around
from audit.words import fault_words as words


@dataclass(frozen=True, eq=False)
class Examiner(Around):
    """Examines a subject by recorded runs. It is run like a mechanism: each call is one examination.

    Parameters
    ----------
    calling
        How the subject gets its generator.
    limit
        Seconds of processor time that one examination may take; waiting does not count.
    """

    calling: Calling
    limit: float = math.inf

    def __call__(self, question: tuple[Mapping[str, Any], Asked], _: Any = None) -> Fault:
        """Return the fault that the runs on these databases show."""
        databases, asked = question
        try:
            with computing_for(self.limit):
                return looked_at(self.inner, self.calling, databases, asked)
        except ComputedTooLong:
            return Fault(FaultKind.UNKNOWN, None, words.TOO_LONG.format(self.limit))


def looked_at(mechanism: Any, calling: Calling, databases: Mapping[str, Any], asked: Asked) -> Fault:
    """Return the fault that runs of a mechanism show, each from the mechanism's first state."""
    pristine, given = (
        Pristine(mechanism),
        {name: Input(each, every_run=True) for name, each in databases.items()},
    )
    call = calling.bind(mechanism)
    try:
        with recorded_everywhere() as reel:
            scene = Scene(call, given, reel)
            for seed in range(2):
                scene.run(RIGHT, seed)
            if pristine.copies and pristine.differs_from(mechanism) is not False:
                scene = Scene(partial(_from_first, pristine, calling), given, reel)
            return fault_of(scene, asked)
    except TooLargeError:
        return Fault(FaultKind.UNKNOWN, None, words.NOT_LOOKED.format("an output has too many parts"))


def _from_first(pristine: Pristine, calling: Calling, database: Any, rng: Any) -> Any:
    return calling.bind(pristine.copy(seed=0, path=(FAULT,)))(database, rng)
