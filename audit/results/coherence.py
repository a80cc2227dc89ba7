"""Check that a saved refutation does not contradict itself.

Damaged or edited files often do. A file that contradicts itself is refused. As a regression test, it would
guard against a fault that no audit found. Passing this check proves nothing, because a replay decides by its
own runs.
"""

import numpy as np
from numpy.typing import NDArray

from audit.claims import at_distance
from audit.errors import CorruptFile
from audit.evidence.bets import clopper_pearson, log_payoffs, matched
from audit.results.result import AuditResult, Evidence, Verdict, Witness

#: A fair coin decides the side of each call. Numbers of calls on a side are tried up to this many standard
#: deviations from half of all calls.
_APART = 10.0
_EQUAL = 1e-9


def is_refutation(result: AuditResult) -> bool:
    """Return whether a saved result is a confirmed refutation.

    Refutations by exact laws count as confirmed.

    Examples
    --------
    >>> from audit.results.result import AuditResult
    >>> is_refutation(AuditResult("m", None, Verdict.REFUTED, Evidence.EXACT))
    False
    """
    witness = result.witness
    return result.verdict is Verdict.REFUTED and witness is not None and witness.confirmed


def check_coherent(result: AuditResult) -> None:
    """Refuse a saved refutation that contradicts itself.

    Its numbers must fit each other and refute the claim.

    Raises
    ------
    CorruptFile
        The numbers are contradictory.

    Examples
    --------
    >>> from audit import PureDP
    >>> from audit.results.result import AuditResult, Witness
    >>> witness = Witness([0], [1], None, 0.5, 0.25, runs=100, p_interval=(0.4, 0.6), q_interval=(0.1, 0.2))
    >>> said = PureDP(0.1), Verdict.REFUTED, Evidence.STATISTICAL
    >>> check_coherent(AuditResult("m", *said, witness=witness))
    Traceback (most recent call last):
    audit.errors.CorruptFile: the result contradicts itself: no counts of 200 runs give p = 0.5 and q = 0.25
    with these intervals.
    """
    witness = result.witness
    if witness is None or not is_refutation(result):
        return
    trouble = _by_law(result) if result.evidence is Evidence.EXACT else _by_runs(result, witness)
    if trouble:
        raise CorruptFile(f"the result contradicts itself: {trouble}.")


def _by_law(result: AuditResult) -> str:
    claim = result.claim
    if result.epsilon_lower > claim.epsilon or result.delta_lower > claim.delta:
        return ""
    return f"its exact ε of {result.epsilon_lower:.6g} does not refute {claim}"


def _by_runs(result: AuditResult, witness: Witness) -> str:
    counts = counts_of(witness)
    if counts is None:
        return (
            f"no counts of {2 * witness.runs:,} runs give p = {witness.p:.6g} and q = {witness.q:.6g} with "
            "these intervals"
        )
    claimed = at_distance(result.claim.epsilon, result.claim.delta, witness.distance)
    p, q = np.clip(witness.foreseen or (witness.p, witness.q), 1e-12, 1 - 1e-12)
    # No stake on the same payoff h would have earned more on these counts.
    most = float(matched(counts, log_payoffs(np.array(p), np.array(q), *claimed)).max())
    if most >= -np.log(result.significance):
        return ""
    shown = f"p = {witness.p:.6g} and q = {witness.q:.6g} in {2 * witness.runs:,} runs"
    return f"{shown} do not refute {result.claim}"


def counts_of(witness: Witness) -> NDArray[np.float64] | None:
    """Return the counts behind p, q and their intervals, shape (4,).

    These are the calls on the p side inside and outside the event, then the same counts on the q side. A file
    does not store the number of calls on each side. So possible numbers are tried, and the first one that
    gives p, q and the intervals is used. Return None if no number does.

    Examples
    --------
    >>> from audit.evidence.bets import clopper_pearson
    >>> from audit.results.result import Witness
    >>> p, q = clopper_pearson(60, 96, 0.99), clopper_pearson(26, 104, 0.99)
    >>> saved = Witness([0], [1], None, 0.625, 0.25, runs=100, p_interval=p, q_interval=q, confidence=0.99)
    >>> counts_of(saved).tolist()
    [60.0, 36.0, 26.0, 78.0]
    """
    if witness.p_interval is None or witness.q_interval is None or not witness.confidence:
        return None
    reach = int(_APART * np.sqrt(witness.runs / 2)) + 1
    calls = np.arange(max(1, witness.runs - reach), min(2 * witness.runs, witness.runs + reach + 1))
    calls = calls[_is_share(witness.p, calls) & _is_share(witness.q, 2 * witness.runs - calls)]
    calls = calls[_is_interval(witness.p_interval, witness.p, calls, witness.confidence)]
    calls = calls[_is_interval(witness.q_interval, witness.q, 2 * witness.runs - calls, witness.confidence)]
    if not len(calls):
        return None
    p_calls, q_calls = float(calls[0]), float(2 * witness.runs - calls[0])
    p_hits, q_hits = float(np.rint(witness.p * p_calls)), float(np.rint(witness.q * q_calls))
    return np.array([p_hits, p_calls - p_hits, q_hits, q_calls - q_hits])


def _is_share(share: float, calls: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray(np.abs(np.rint(share * calls) / calls - share) <= _EQUAL)


def _is_interval(
    interval: tuple[float, float], share: float, calls: NDArray[np.int64], level: float
) -> NDArray[np.bool_]:
    """Return for which numbers of calls `interval` is the interval of `share`."""
    low, high = clopper_pearson(np.rint(share * calls), calls, level)
    return np.asarray((np.abs(low - interval[0]) <= _EQUAL) & (np.abs(high - interval[1]) <= _EQUAL))
