"""One examination of a subject, in the process that records its runs.

The first rule that returns a fault decides. A rule names only what its runs show. If a rule says that a side
always does something, every plain run (with unchanged draws) must show it. If a rule says that a side cannot
do something, it also checks runs with draws pushed to the ends of their ranges.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from audit.faults.asked import SIDES, Asked, Rule
from audit.faults.counted import low_bits, too_likely
from audit.faults.covered import moves_too_far
from audit.faults.noise import noise_from_data, scales_from_data
from audit.faults.outputs import constant_part, exact_weights, one_sided_outputs, raises_or_missing
from audit.faults.scene import LEFT, RIGHT, Scene, TooManyRunsError
from audit.results.fault import Fault, FaultKind
from audit.sampling.recorded.everywhere import Reel, recorded_everywhere
from audit.sampling.recorded.leaves import Leaves, TooLargeError
from audit.sampling.recorded.twins import Twins
from audit.sampling.remake.state import Pristine
from audit.sampling.snapshots import Input
from audit.sampling.watch import ComputedTooLong, computing_for
from audit.subject.signatures import Calling
from audit.subject.subject import Around
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


@dataclass(frozen=True, eq=False)
class Examiner(Around):
    """Examines a subject in recorded runs, and is called like a mechanism.

    Each call is one examination and returns what it found.

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
        """Return the fault that runs show. `question` holds the databases and facts of the refutation."""
        databases, asked = question
        try:
            with computing_for(self.limit):
                return looked_at(self.inner, self.calling, databases, asked)
        except ComputedTooLong:
            return Fault(FaultKind.UNKNOWN, None, words.TOO_LONG.format(self.limit))


@dataclass(frozen=True, eq=False)
class Answers(Around):
    """Answers of a subject on both databases, after runs on other draws.

    The answers are on the draws of seed 0. Two processes that make the subject anew get the same answers,
    unless these contain other noise. Such noise is drawn when the subject is made, taken from a clock, or
    kept from an earlier run.

    Parameters
    ----------
    calling
        How the subject gets its generator.
    first
        The seed of the earlier runs.
    """

    calling: Calling
    first: int

    def __call__(self, databases: Mapping[str, Any], _: Any = None) -> dict[str, Leaves]:
        """Return, for each side, the parts of the answer that are the same in two runs."""
        found = {}
        with _ready(self.inner, self.calling, databases, first=self.first) as scene:
            for side in (LEFT, RIGHT):
                scene.run(side, self.first)
                one, other = (scene.run(side, 0).leaves for _ in range(2))
                found[side] = {p: leaf for p, leaf in one.items() if p in other and same(leaf, other[p])}
        return found


def looked_at(mechanism: Any, calling: Calling, databases: Mapping[str, Any], asked: Asked) -> Fault:
    """Return the fault that runs of a mechanism show. Each run starts from the mechanism's first state."""
    try:
        with _ready(mechanism, calling, databases, first=0) as scene:
            return fault_of(scene, asked)
    except TooLargeError:
        return Fault(FaultKind.UNKNOWN, None, words.NOT_LOOKED.format("an output has too many parts"))
    except TooManyRunsError as error:
        return Fault(FaultKind.UNKNOWN, None, words.TOO_MANY.format(*error.args))


def fault_of(scene: Scene, asked: Asked) -> Fault:
    """Return the fault that the runs show. If they show none, its kind is UNKNOWN."""
    found = next(filter(None, (rule(scene, asked) for rule in RULES)), None)
    if found is not None:
        return found
    if not any(run.draws for side in SIDES for run in scene.plain(side)):
        return Fault(FaultKind.UNKNOWN, None, words.NOTHING_SEEN)
    repeats = all(same(scene.run(side, 0).output, scene.plain(side)[0].output) for side in SIDES)
    return Fault(FaultKind.UNKNOWN, None, words.NOT_SHOWN if repeats else words.UNSEEN_TOO)


@contextmanager
def _ready(mechanism: Any, calling: Calling, databases: Mapping[str, Any], *, first: int) -> Iterator[Scene]:
    """Yield the `Scene` in which the mechanism runs from its first state each time.

    Two runs, the first with seed `first`, show what this takes: nothing, new copies, or new generators.
    """
    pristine = Pristine(mechanism)
    given = {name: Input(each, every_run=True) for name, each in databases.items()}
    with recorded_everywhere() as reel:
        scene = Scene(calling.bind(mechanism), given, reel)
        for seed in range(first, first + 2):
            scene.run(RIGHT, seed)
        if pristine.copies and pristine.differs_from(mechanism) is not False:
            scene = Scene(_from_first(pristine, calling, reel), given, reel)
        elif pristine.copies and pristine.sources:
            scene = Scene(_with_twins(pristine, calling, reel), given, reel)
        yield scene


def _from_first(pristine: Pristine, calling: Calling, reel: Reel) -> Callable[[Any, Any], Any]:
    """Return a function that makes each run on a new copy of the mechanism."""

    def from_first(database: Any, rng: Any) -> Any:
        return calling.bind(pristine.copy(Twins(reel)))(database, rng)

    return from_first


def _with_twins(pristine: Pristine, calling: Calling, reel: Reel) -> Callable[[Any, Any], Any]:
    """Return a function that calls one copy, whose generators start anew each time."""
    twins = Twins(reel)
    call = calling.bind(pristine.copy(twins))

    def from_seed(database: Any, rng: Any) -> Any:
        twins.start()
        return call(database, rng)

    return from_seed
