"""One examination of a subject, in the process that records its runs.

The first rule that returns a fault decides. A rule names only what its runs show. What a side always does is
checked on every plain run. What a side must not be able to do is checked on runs whose draws are pushed to
their ends.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from audit.faults.asked import SIDES, Asked, Rule
from audit.faults.counted import low_bits, too_likely
from audit.faults.covered import moves_too_far
from audit.faults.noise import noise_from_data, scales_from_data
from audit.faults.outputs import constant_part, exact_weights, one_sided_outputs, raises_or_missing
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

RULES: Final[tuple[Rule, ...]] = (
    raises_or_missing,
    constant_part,
    exact_weights,
    scales_from_data,
    one_sided_outputs,
    noise_from_data,
    moves_too_far,
    too_likely,
    low_bits,
)


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
    pristine = Pristine(mechanism)
    given = {name: Input(each, every_run=True) for name, each in databases.items()}
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


def fault_of(scene: Scene, asked: Asked) -> Fault:
    """Return the fault that the runs show; UNKNOWN if none."""
    for rule in RULES:
        found = rule(scene, asked)
        if found is not None:
            return found
    seen = any(run.draws for side in SIDES for run in scene.plain(side))
    return Fault(FaultKind.UNKNOWN, None, words.NOT_SHOWN if seen else words.NOTHING_SEEN)
