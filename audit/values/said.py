"""The sentences of a result. Each sentence has a kind. People read the words, and programs read the kind."""

from enum import Enum, unique
from typing import Self


class Said(str):
    """A sentence of a result. `kind` is empty if it is unknown.

    Examples
    --------
    >>> said = Says.RAISED(raised=51, drawn=100)
    >>> said, said.kind
    ('51 of 100 runs raised an exception.', 'raised')
    """

    __slots__ = ("kind",)
    kind: str

    def __new__(cls, text: str, kind: str = "") -> Self:
        """Return the text as a sentence of this kind."""
        made = super().__new__(cls, text)
        made.kind = kind
        return made


@unique
class Says(Enum):
    """All sentences of results. Call a member to get its sentence, with values for the names in braces."""

    # Assumptions about runs: why they are independent trials, and how they were counted.
    EACH_CALL = "the claim applies to each call, given the {subject}'s state at that call"
    STATELESS = "the {subject} keeps no state between runs"
    FRESH = (
        "fresh processes share no state (through absolute paths or remote services); they confirmed the "
        "verdict, each with its own {subject}"
    )
    RENEWED = "the {subject}s made by `fresh=` share no state (not checked)"
    UNCHECKED = (
        "the {subject} keeps no noise between calls (not checked: give `fresh=`, or a function that can be "
        "imported)"
    )
    OWN_RANDOMNESS = "the subject draws its own randomness: the seed does not reproduce its runs"
    UNFINISHED_AGAINST = "{runs} runs did not finish; they count against the refutation"
    UNFINISHED_OUTPUTS = "{runs} runs did not finish; they are outputs"
    LOW_BITS = "real-number arithmetic: the low bits of float outputs were not attacked"

    # Assumptions about a declared law.
    REAL_LAWS = "real-number arithmetic: the laws are those of the mechanism without rounding"
    LAW_NOT_COMPARED = "the declared law, which was not compared with the code"
    LAW_COMPARED = "the declared law, which {runs:,} runs of the code{where} did not contradict"
    LAW_REPLAYED = "the declared law, which {runs:,} runs on each of the two databases did not contradict"
    CODE_BETS = "the code satisfies the claim: bets against it on {runs:,} more runs did not refute it"
    NO_CODE_BETS = "the code satisfies the claim where its law does: with this budget no bets could refute it"
    SYMMETRIC = "lists that differ only in order count as one: the subject is declared `symmetric`"

    # Assumptions about a learner.
    ERROR_MEASURED = "the error is what each problem's `error` measures"
    LEARNER_LAW = "the declared law, which was compared with runs of the code"
    DRAWS = "each problem's `draw` gives independent databases"
    NEW_CALLS = "the claim applies to each call of a new learner, given its state at that call"
    FIRST_CALL = "the claim applies to the first call of a new learner"
    IMPORTED = "importing the learner's code drew nothing at random"
    CACHED = (
        "the data that the learner keeps between runs made no difference: copies of its first state gave the "
        "same outputs, run for run"
    )
    LEARNER_NO_GENERATOR = "the learner takes no generator: the seed may not reproduce its runs"

    # What was not tested.
    FLOATS = 'the floats as returned (numerics="float")'
    SIDE_CHANNELS = "timing, memory and other side channels"
    OTHER_PAIRS = "pairs of databases that were not tried"
    OTHER_DATABASES = "databases outside the compared pairs"
    OTHER_RECORDS = "records other than {many} given ({records})"
    UNKNOWN_NEIGHBOURS = "neighbours known to be in the domain: the audit found none (give `valid=`)"
    NOT_GENERATED = "databases that the strategy did not generate here (`valid=` lets the audit build others)"
    ONLY_SAVED = "events and pairs of databases other than the saved ones"
    NO_SINGLE_CALLS = "single calls: all runs came from its `sample`, many at once"
    FEW_SINGLE_CALLS = (
        "single calls beyond {compared:,} on each database of one pair, which agreed: all other runs came "
        "from its `sample`, many at once"
    )
    FAR_PARTS = "parts of an output beyond the first {leaves}, or more than {depth} levels deep"
    INNER_LETTERS = "single letters of a string beyond its first {letters} and last {letters}"
    CLOSED_PARTS = "the contents of a {name}, which the audit cannot read"
    OTHER_PROBLEMS = "problems outside the family"
    OTHER_SIZES = "sample sizes other than the problems' own"

    # Notes on runs.
    NO_GENERATOR = (
        "The subject takes no generator, so the seed does not reproduce its runs, and one process draws them "
        "all."
    )
    UNSTEADY = (
        "The subject gave different outputs from the same generator state, so the seed does not reproduce "
        "its runs, and one process draws them all."
    )
    STATE_UNKNOWN = (
        "The audit cannot check whether the subject keeps state: the subject, or something it uses, cannot "
        "be pickled."
    )
    NO_TIME_LIMIT = "Runs had no time limit: a limit needs the main thread, or isolate=True."
    PRINTS = "The mechanism prints text; the audit discarded it."
    SAMPLE_FAILED = "`sample` failed ({error}); the runs it failed on were drawn by single calls"
    SAMPLE_ENDED = "`sample` ended its process; the runs it failed on were drawn by single calls"
    CHANGES_INPUT = "The mechanism changes the database that it is given."
    RESTARTED = (
        "The mechanism changes the database that it is given. The {what} restarted with a new copy of the "
        "database for every run."
    )
    LEARNER_CHANGES_INPUT = "The learner changes its database; every run received its own copy."
    LEARNER_UNSTEADY = "The counted failures do not repeat from their seeds."
    RAISED = "{raised:,} of {drawn:,} runs raised an exception."
    COUPLED = (
        "In {runs:,} runs both databases of a pair were run from the same generator state; the numbers of a "
        "witness come from independent runs."
    )
    COUPLED_DROPPED = (
        "The bounds leave out the runs from the same generator state: the audit could not show that the "
        "subject keeps no state between runs. An audit that was stopped within a run cannot."
    )
    STOPPED = "Stopped by Ctrl-C after {spent:,} of {budget:,} runs."
    OUT_OF_TIME = "Stopped by the time limit after {spent:,} of {budget:,} runs."

    # Notes on pairs.
    NOT_REMEMBERED = "the refuted pair was not kept for later audits: {why}"
    WORST_PAIR = "The worst pair: {pair}, with {loss}."
    FAR_FAILED = (
        "at distance {distance} the claim failed: {event} with p = {p}, q = {q}; at most {allowed} is allowed"
    )
    FAR_CONFIRMED = (
        "separate runs confirm that ({runs:,} on each side); the witness is the single step that fails most"
    )
    FAR_NOT_CONFIRMED = (
        "separate runs did not confirm that ({runs:,} on each side); the witness is the single step that "
        "fails most"
    )
    FAR_ALONE = "at distance {distance} the claim failed; no single step was confirmed separately"
    FAR_AND_STEP = (
        "at distance {distance} the claim failed; the simplest witness is a single step, confirmed separately"
    )

    # Notes on laws, and on why a verdict is not a proof.
    LAW_HID = (
        "The declared law hid this: it satisfies the claim, and {runs:,} runs of the code did not "
        "contradict it. Bets on the code itself refute the claim."
    )
    ROUNDED = (
        "Not a proof: some probabilities are no larger than their floating-point rounding error; give the "
        "law accurate `log_probabilities`, or fractions."
    )
    FEW_COMPARED = (
        "Not a proof: the law was compared with only {runs} runs of a database, fewer than {least}; raise "
        "`budget`."
    )
    MAY_KEEP_STATE = "Not a proof: the {subject} keeps state between runs, or may do so."
    FEW_CODE_BETS = "Not a proof: time ran out before all bets against the code were placed."
    NOT_FINITE = (
        "Not a proof: laws that are not finite are computed in floating point, to within {tolerance:g} of "
        "beta."
    )

    # Notes on a replay.
    REPRODUCED = "the saved counts were reproduced exactly"
    RUNS_DIFFER = "these runs differ from the saved ones"
    NEW_RUNS = "new runs, from seeds that no audit uses"
    LAW_REPRODUCED = "the saved probabilities were reproduced"
    LAW_CHANGED = "the law has changed"
    OTHER_SUBJECT = "the replayed witness was saved by an audit of {saved}"
    DRAWN_FROM = "drawn from {file}"
    FILE_CHANGED = "drawn from {file}, which has changed since the audit"

    @property
    def kind(self) -> str:
        """The kind, as in files, for example ``"own-randomness"``."""
        return self.name.lower().replace("_", "-")

    def __call__(self, **values: object) -> Said:
        """Return the sentence with these values filled in."""
        return Said(self.value.format(**values), self.kind)


#: The kinds of the sentences which say that a subject's runs do not depend on the seed alone.
UNSEEDED = frozenset(
    each.kind for each in (Says.OWN_RANDOMNESS, Says.LEARNER_NO_GENERATOR, Says.NO_GENERATOR, Says.UNSTEADY)
)
