"""Judge the claims of a session together.

e-BH judges e-values, and Holm's procedure judges their p-values. A verdict has the significance of its own
audit. For K audits together, e-BH keeps the false discovery rate at most `rate`. This is the expected share
of true claims among those rejected. Holm keeps the family-wise error rate at most `rate`. This is the chance
that any true claim is rejected.

**Guarantee.** The wealth W of an audit at its stop is an e-value: E[W] ≤ 1 if the claim holds
(`audit.evidence.bets`). e-BH rejects the k claims with the largest wealth, for the largest k with W_(k) ≥
K/(k·rate). A true claim that is rejected has 1/k ≤ rate·W/K. So the expected share of true claims among those
rejected is at most Σ rate·E[W]/K ≤ rate. This holds under any dependence (Wang and Ramdas 2022, Theorem 5.1).
By Markov's inequality min(1, 1/W) is a p-value. Holm's procedure on these p-values keeps the chance of
rejecting any true claim at most `rate`, again under any dependence (Holm 1979).

The claim here is the one that is bet on: the claim about each call, given the state of the subject. If this
claim is rejected here but its audit did not refute it, fresh processes have not confirmed the rejection. If a
mechanism keeps its noise between calls, its claim may be rejected here even if its first answer in each
process is private (`audit.verdict.judge`).
"""

from collections.abc import Sequence

import numpy as np

from audit.distributions.law import Flags


def e_bh(log_wealths: Sequence[float], *, rate: float = 0.05) -> Flags:
    """Return which claims e-BH rejects at a false discovery rate.

    Parameters
    ----------
    log_wealths
        Natural logarithms of the final wealths, one for each audit; ∞ for a refutation by exact laws.
    rate
        The largest expected share of true claims among those rejected.

    Examples
    --------
    >>> e_bh([14.0, 3.5, 0.0]).tolist()
    [True, True, False]
    """
    logs = np.asarray(log_wealths, float)
    order = np.argsort(-logs, kind="stable")
    needed = np.log(logs.size / (np.arange(1, logs.size + 1) * rate))
    named = np.zeros(logs.size, bool)
    named[order[: 1 + np.max(np.flatnonzero(logs[order] >= needed), initial=-1)]] = True
    return named


def holm(log_wealths: Sequence[float], *, rate: float = 0.05) -> Flags:
    """Return which claims Holm's procedure rejects at a family-wise error rate.

    Parameters
    ----------
    log_wealths
        Natural logarithms of the final wealths, one for each audit; ∞ for a refutation by exact laws.
    rate
        The largest probability that any true claim is rejected.

    Examples
    --------
    >>> holm([14.0, 3.5, 0.0]).tolist()
    [True, False, False]
    """
    from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

    p_values = np.exp(-np.maximum(log_wealths, 0))
    return np.asarray(multipletests(p_values, alpha=rate, method="holm")[0])
