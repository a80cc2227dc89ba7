"""A witness run afresh: an event that was fixed before, and what calls drawn for it alone say of it."""

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
from audit.verdict.terms import Terms

#: Of the interval of p and of that of q, each by itself: both hold with 0.98 at least.
CONFIDENCE = 0.99
#: The most level at which single runs in fresh processes confirm. What keeps its noise crosses in nearly
#: every audit, so that this alone decides; each process costs little where a few refute at 0.05.
_ALONE_LEVEL = 1e-3
#: Seconds that all single runs in fresh processes may take by what the first of them took.
SECONDS_ALONE = 120.0
#: Fresh processes by whose time that of all is foreseen, after the first, for which others may have to start.
_TIMED = 8
#: Significant digits of the outputs that are shown.
_DIGITS = 4
#: Draws of the exact test whether an event is as frequent in every process.
_SHUFFLES = 20_000


@dataclass(frozen=True)
class Plan:
    """How many calls are drawn for a witness, and where.

    Parameters
    ----------
    runs
        Half the number of calls.
    parts
        Fresh processes that share them; 0 for none, where this process makes the calls.
    copies
        Whether every call is one of a copy of the subject: how witnesses of the first release were drawn.

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
        """Whether every call has a fresh process of its own."""
        return self.parts >= 2 * self.runs

    @property
    def sizes(self) -> list[int]:
        """Half the number of calls of each process; 0 if each makes a single one."""
        if self.is_single:
            return [0] * (2 * self.runs)
        return [self.runs * (k + 1) // self.parts - self.runs * k // self.parts for k in range(self.parts)]

    def draw(self, sampler: Sampler, pair: Pair, path: tuple[int, ...]) -> Iterator[Runs]:
        """Yield the calls, each with a coin of its own, block by block."""
        if self.parts:
            return sampler.draw_anew(*pair, self.sizes, path)
        return sampler.draw(*pair, self.runs, path, fresh=self.copies, singly=not self.copies, by_call=True)


@dataclass
class Drawn:
    """What was drawn for a witness.

    Parameters
    ----------
    witness
        The witness.
    bet
        The bet on its event, which these calls alone decided.
    blocks
        Calls of the p side inside the event and outside, of the q side inside and outside, block by block.
    plan
        How the calls were shared.
    log_limit
        The log wealth that confirms.
    silent
        What the calls of the left database did if none of them gave an answer, and those of the right one;
        empty texts if one did.
    """

    witness: Witness
    bet: Bet
    blocks: Floats
    plan: Plan
    log_limit: float
    silent: tuple[str, str] = ("", "")


def terms_of(terms: Terms, k: int, *, single: bool) -> Terms:
    """Return the terms of the k-th witness of an audit, k from 1: the level of the audit, times 2^−k.

    Single runs in fresh processes (`Plan.is_single`) are held to `_ALONE_LEVEL` at most.

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
    """Draw the calls of a plan, all fixed beforehand, and judge a witness by these alone.

    The claim is that about databases as far apart as the candidate says. If each call has a fresh process,
    all may take this many `seconds`, by what the first `_TIMED` of them took.

    Raises
    ------
    TimeIsOver
        The deadline of `terms` passed before all were drawn.
    SubjectError
        The subject cannot be made in a fresh process, or that takes too long.
    """
    started = math.inf
    examples: tuple[list[str], list[str]] = ([], [])
    digits = None if reads_bits_of_floats(candidate.event) else _DIGITS
    blocks, answers = [], np.zeros(2)
    for block in plan.draw(sampler, pair, path):
        counted, answered = _counted(block, candidate, against=terms.against)
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
    )
    left, right = (
        texts[0] if texts and not count else "" for texts, count in zip(examples, answers, strict=True)
    )
    return Drawn(witness, bet, np.array(blocks), plan, terms.log_limit, silent=(left, right))


def loss(p: float, q: float, delta: float) -> float:
    """Return the ε that p and q show at this δ: ln((p − δ)/q), at least 0, infinite for q = 0.

    Examples
    --------
    >>> loss(0.5, 0.25, 0.25), loss(0.5, 0.0, 0.0)
    (0.0, inf)
    """
    if p - delta <= q:
        return 0.0
    return math.inf if q == 0 else math.log((p - delta) / q)


def _counted(block: Runs, candidate: Candidate, *, against: bool) -> tuple[Floats, Floats]:
    """Return the counts of a block, and how many of its calls gave an answer on the left and on the right.

    An unfinished call settles by its known coin: the p side's as outside the event, the q side's as inside.
    """
    counts, answers = np.zeros(4), np.zeros(2)
    for side, outputs in enumerate((block.left, block.right)):
        view = View(outputs)
        inside = candidate.event.members(view)
        if against and len(view.unfinished):
            inside[view.unfinished] = side != candidate.side
        first = 0 if side == candidate.side else 2
        counts[first : first + 2] = inside.sum(), len(inside) - inside.sum()
        refused = sum(type(output) in (Raised, Unfinished) for _, output in view.rest)
        answers[side] = len(inside) - refused
    return counts, answers


def spread_evenly(hits: Floats, calls: Floats) -> float:
    """Return the p-value of an exact test that an event is as frequent in every process.

    Parameters
    ----------
    hits, calls
        How often the event happened in each process, and how many calls each made, shape (processes,).

    **Guarantee.** Given the total, hits of exchangeable calls fall on the processes like balls of an urn
    drawn without replacement. The statistic Σ hits²/calls is compared with that of `_SHUFFLES` draws of that
    urn; the share of draws at least as large, the observed one included, is a p-value whatever the number of
    draws: Pr[p-value ≤ x] ≤ x.

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
