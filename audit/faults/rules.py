"""From recorded runs to the fault: the first rule that returns a fault decides.

A rule names only what its runs show. What a side always does is checked on every plain run. What a side must
not be able to do is checked on runs whose draws are pushed to their ends.
"""

from typing import Final

from audit.faults.asked import SIDES, Asked, Rule
from audit.faults.counted import low_bits, too_likely
from audit.faults.covered import moves_too_far
from audit.faults.noise import noise_from_data, scales_from_data
from audit.faults.outputs import constant_part, exact_weights, one_sided_outputs, raises_or_missing
from audit.faults.scene import Scene
from audit.results.fault import Fault, FaultKind
from audit.values.canonical import same
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


def fault_of(scene: Scene, asked: Asked) -> Fault:
    """Return the fault that the runs show; UNKNOWN if none."""
    for rule in RULES:
        found = rule(scene, asked)
        if found is not None:
            return found
    if not any(run.draws for side in SIDES for run in scene.plain(side)):
        return Fault(FaultKind.UNKNOWN, None, words.NOTHING_SEEN)
    repeats = all(same(scene.run(side, 0).output, scene.plain(side)[0].output) for side in SIDES)
    return Fault(FaultKind.UNKNOWN, None, words.NOT_SHOWN if repeats else words.UNSEEN_TOO)
