"""The test of a witness by new calls on a fixed event. These calls alone decide."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from audit.databases.chosen import Pair
from audit.distributions.law import Floats
from audit.errors import SubjectError
from audit.events.features.bits import reads_bits_of_floats
from audit.events.features.views import View
from audit.evidence.bets import Bet, clopper_pearson
from audit.results.result import Witness
from audit.sampling import Runs, Sampler, TimeIsOver
from audit.values.outcomes import Raised, Unfinished
from audit.verdict.examples import MOST_EXAMPLES, output_words
from audit.verdict.shown.candidates import Candidate
from audit.verdict.shown.outputs import Seen
from audit.verdict.terms import Terms

#: The confidence of the interval of p, and of that of q; both hold together with probability at least 0.98.
CONFIDENCE = 0.99
#: The largest level of a test by single runs in fresh processes. If a mechanism keeps its noise, the bets
#: refute in nearly every audit, so this test alone protects it. A larger level needs fewer processes, but
#: refutes more such mechanisms.
_ALONE_LEVEL = 1e-3
#: The most seconds that all single runs in fresh processes may take, estimated from the first of them.
SECONDS_ALONE = 120.0
#: The seconds of all single runs are estimated from this many processes. The first process is left out,
#: because other processes may have been started with it.
_TIMED = 8
#: The number of significant digits of shown outputs.
_DIGITS = 4
#: The number of random draws in the exact test that an event is equally frequent in all processes; more give
#: finer p-values.
_SHUFFLES = 20_000


@dataclass(frozen=True)
class Plan:
    """The number of calls of a witness, and the processes that make them.

    Parameters
    ----------
    runs
        Half the number of calls.
    parts
        The number of fresh processes that share the calls; 0 if this process makes them all.
    copies
        Whether every call uses a new copy of the subject, as witnesses of the first release did.

    Examples
    --------
    >>> Plan(200).parts, Plan(45, parts=90).sizes[:2], Plan(200, parts=16).sizes[:2]
    (0, [0, 0], [12, 13])
    """

    runs: int
    parts: int = 0
    copies: bool = False

    @property
    def is_single(self) -> bool:
        """Whether every call is made in a fresh process of its own."""
        return self.parts >= 2 * self.runs

    @property
    def sizes(self) -> list[int]:
        """For each process, half its number of calls. 0 stands for a single call."""
        if self.is_single:
            return [0] * (2 * self.runs)
        return [self.runs * (k + 1) // self.parts - self.runs * k // self.parts for k in range(self.parts)]

    def draw(self, sampler: Sampler, pair: Pair, path: tuple[int, ...]) -> Iterator[Runs]:
        """Return an iterator over the blocks of calls. A coin chooses the database of each call."""
        if self.parts:
            return sampler.draw_anew(*pair, self.sizes, path)
        return sampler.draw(*pair, self.runs, path, fresh=self.copies, singly=not self.copies, by_call=True)


@dataclass
class Drawn:
    """The calls made for a witness, and their evidence.

    Parameters
    ----------
    witness
        The witness.
    bet
        The bet on the witness's event, settled by these calls alone.
    blocks
        The number of calls inside and outside the event, shape (blocks, 4). The p side comes first.
    plan
        How the calls were divided among processes.
    log_limit
        The log wealth from which the witness is confirmed.
    silent
        What the calls on the left and on the right database did, if none of them answered; else empty.
    """

    witness: Witness
    bet: Bet
    blocks: Floats
    plan: Plan
    log_limit: float
    silent: tuple[str, str] = ("", "")


def terms_of(terms: Terms, k: int, *, single: bool) -> Terms:
    """Return the terms for the k-th witness of an audit, k ≥ 1.

    The level of this witness is the audit's times 2^−k. For single runs in fresh processes (`Plan.is_single`)
    the level is at most `_ALONE_LEVEL`·2^−k.

    Examples
    --------
    >>> from audit.verdict.terms import Terms
    >>> terms = Terms(epsilon=1.0, delta=0.0, significance=0.05, budget=1_000)
    >>> terms_of(terms, 1, single=False).significance, terms_of(terms, 2, single=True).significance
    (0.025, 0.00025)
    """
    level = min(terms.significance, _ALONE_LEVEL) if single else terms.significance
    return replace(terms, significance=level / 2.0**k)


def run_witness(
    sampler: Sampler,
    pair: Pair,
    candidate: Candidate,
    terms: Terms,
    *,
    plan: Plan,
    path: tuple[int, ...],
    seconds: float = SECONDS_ALONE,
) -> Drawn:
    """Return the calls of a plan, and a witness based on these calls alone.

    The plan was fixed beforehand. The claim is the one at the candidate's distance. If each call has a fresh
    process, all processes together may take at most `seconds`. This time is estimated from `_TIMED` processes
    after the first.

    Raises
    ------
    TimeIsOver
        The deadline of `terms` passed before all calls were made.
    SubjectError
        The subject cannot be made in a fresh process, or the processes would take too long.
    """
    started = math.inf
    examples: tuple[list[str], list[str]] = ([], [])
    digits = None if reads_bits_of_floats(candidate.event) else _DIGITS
    blocks, answers, seen = [], np.zeros(2), Seen(candidate.event)
    for block in plan.draw(sampler, pair, path):
        counted, answered = _counted(block, candidate, seen, against=terms.against)
        blocks.append(counted)
        answers += answered
        for texts, outputs in zip(examples, (block.left, block.right), strict=True):
            texts += [output_words(output, digits) for output in outputs[: MOST_EXAMPLES - len(texts)]]
        if terms.is_late(sampler.loading):
            raise TimeIsOver
        spent = time.monotonic() - started
        foreseen = spent / _TIMED * plan.parts if len(blocks) == 1 + _TIMED else spent
        if plan.is_single and foreseen > seconds:
            raise SubjectError(
                f"that takes {plan.parts:,} processes and more than {seconds:.0f} seconds here"
            )
        started = min(started, time.monotonic())
    counts = np.sum(blocks, axis=0)
    bet = Bet.on_one(candidate.p, candidate.q, 2 * candidate.past, counts, candidate.distance)
    _, delta = terms.at(candidate.distance)
    p_hits, p_misses, q_hits, q_misses = (int(count) for count in counts)
    p_interval = clopper_pearson(p_hits, p_hits + p_misses, CONFIDENCE)
    q_interval = clopper_pearson(q_hits, q_hits + q_misses, CONFIDENCE)
    witness = Witness(
        left=pair[0],
        right=pair[1],
        event=candidate.event,
        p=p_hits / max(1, p_hits + p_misses),
        q=q_hits / max(1, q_hits + q_misses),
        p_interval=p_interval,
        q_interval=q_interval,
        confidence=CONFIDENCE,
        runs=plan.runs,
        direction="left" if candidate.side == 0 else "right",
        confirmed=bet.log_growth(terms.epsilon, terms.delta) >= terms.log_limit,
        epsilon_lower=loss(p_interval[0], q_interval[1], delta) / candidate.distance,
        foreseen=(float(candidate.p), float(candidate.q)),
        seed=list(path),
        fresh=plan.copies or plan.parts > 0,
        parts=plan.parts,
        against=terms.against,
        distance=candidate.distance,
        examples=(tuple(examples[0]), tuple(examples[1])),
        outputs=seen.outputs(),
    )
    left, right = (
        texts[0] if texts and not count else "" for texts, count in zip(examples, answers, strict=True)
    )
    return Drawn(witness, bet, np.array(blocks), plan, terms.log_limit, silent=(left, right))


def loss(p: float, q: float, delta: float) -> float:
    """Return the ε that p and q show at this δ.

    It is ln((p − δ)/q), at least 0, and infinite for p > δ and q = 0.

    Examples
    --------
    >>> loss(0.5, 0.25, 0.25), loss(0.5, 0.0, 0.0)
    (0.0, inf)
    """
    if p - delta <= q:
        return 0.0
    return math.inf if q == 0 else math.log((p - delta) / q)


def _counted(block: Runs, candidate: Candidate, seen: Seen, *, against: bool) -> tuple[Floats, Floats]:
    """Return the four counts of a block, and how many calls of each side answered.

    `seen` stores the outputs. If unfinished calls count in favour of the claim, they are outside the event on
    the p side and inside it on the q side.
    """
    counts, answers = np.zeros(4), np.zeros(2)
    for side, outputs in enumerate((block.left, block.right)):
        view = View(outputs)
        inside = candidate.event.members(view)
        if against and len(view.unfinished):
            inside[view.unfinished] = side != candidate.side
        seen.add(side, view, inside)
        first = 0 if side == candidate.side else 2
        counts[first : first + 2] = inside.sum(), len(inside) - inside.sum()
        refused = sum(type(output) in (Raised, Unfinished) for _, output in view.rest)
        answers[side] = len(inside) - refused
    return counts, answers


def spread_evenly(hits: Floats, calls: Floats) -> float:
    """Return the p-value of a test that all processes have equal frequencies.

    The test is exact. The frequency is that of an event in the calls of a process.

    Parameters
    ----------
    hits, calls
        For each process, the number of calls inside the event and of all calls, shape (processes,).

    **Guarantee.** Suppose calls are exchangeable. Given the total number of hits, the hits are then
    distributed over the processes like balls drawn from an urn without replacement. The statistic Σ
    hits²/calls is compared with its value in `_SHUFFLES` random draws from that urn. The p-value is (1 +
    k)/(1 + `_SHUFFLES`), where k counts the draws whose value is at least the observed one. For any number of
    draws, Pr[p-value ≤ x] ≤ x if the event is equally frequent.

    Examples
    --------
    >>> spread_evenly(np.array([5.0, 5.0]), np.array([10.0, 10.0])) > 0.5
    True
    >>> spread_evenly(np.array([10.0, 0.0]), np.array([10.0, 10.0])) < 0.001
    True
    """
    used = calls > 0
    hits, calls = hits[used], calls[used]
    total, colours = int(hits.sum()), calls.astype(np.int64)
    if len(calls) < 2 or total in (0, int(calls.sum())):
        return 1.0
    rng = np.random.default_rng(0)
    urn = rng.multivariate_hypergeometric(colours, total, size=_SHUFFLES, method="marginals")
    observed = float((hits**2 / calls).sum())
    spread = (urn.astype(float) ** 2 / calls).sum(axis=1)
    return float((1 + (spread >= observed * (1 - 1e-12)).sum()) / (1 + _SHUFFLES))
