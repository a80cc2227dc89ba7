"""Findings about unnumbered remarks."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.findings import Finding, Table
from learners.concepts import IntervalClass
from learners.generic.agnostic import GenericLearner, generic_size
from learners.parity.plans import derived_plan
from learners.pure import pure_size
from mechanisms import RandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "FINDINGS",
    "bns_good_interval",
    "k11_parity_price",
    "k11_price",
    "k11_query_price",
    "k11_stability",
]


def k11_price() -> Finding:
    """Return the finding on the cost of privacy for finite classes (K11 §3.1).

    Examples
    --------
    >>> k11_price().judgement
    'holds'
    """
    rows = []
    for alpha, epsilon in product((0.4, 0.1, 0.01), (1.0, 0.1, 0.01)):
        told: dict[str, float] = {"alpha": alpha, "beta": 0.1, "epsilon": epsilon}
        nats = math.log(2.0**64 / 0.1)
        plain = nats / -math.log1p(-alpha)
        agnostic = 2.0 / alpha**2 * math.log(2.0**65 / 0.1)
        rows.append(
            (
                *(alpha, epsilon),
                pure_size(2**64, **told) / plain * epsilon,
                generic_size(2**64, **told) / agnostic / max(1.0, alpha / epsilon),
            )
        )
    realizable, unrealizable = ([row[place] for row in rows] for place in (2, 3))
    return Finding(
        "K11 §3.1, price",
        "K11 §3.1, the remark on Occam's razor; §1.1.1",
        "Privacy multiplies the sample of a generic learner by O(1/ε) for PAC learning, where it is of the "
        "order 1/α, and by O(max{1, α/ε}) for agnostic learning.",
        "holds",
        "The text gives orders only. For |H| = 2^64 the quotient of the proved sizes with and without "
        f"privacy is {min(realizable):.2f}/ε to {max(realizable):.2f}/ε if the target is in the class (ε ≤ "
        f"1), and {min(unrealizable):.2f} to {max(unrealizable):.2f} times max{{1, α/ε}} if it need not be.",
        row="L1",
        method="arithmetic",
        tables=(
            Table(
                ("α", "ε", "PAC: quotient times ε", "agnostic: quotient ÷ max{1, α/ε}"),
                tuple(rows),
                "β = 0.1, |H| = 2^64. PAC: ln(|H|/β) over −ln(1 − α(1 − e^(−ε/2))), and over −ln(1 − α); "
                "agnostic: K11's constant with ln(3/β), and (2/α²)·ln(2|H|/β)",
            ),
        ),
    )


def k11_parity_price() -> Finding:
    """Return the finding on the cost of privacy for PARITY (K11 §4).

    Examples
    --------
    >>> k11_parity_price().judgement
    'holds'
    """
    rows = []
    for d, beta, epsilon in product((4, 64), (0.1, 1e-3, 1e-9), (0.1, 1.0)):
        told: dict[str, Any] = {"dimension": d, "epsilon": epsilon, "alpha": 0.1, "beta": beta}
        unit = (d * math.log(2.0) - math.log(beta)) / 0.1 * -math.log(beta) / epsilon
        again = derived_plan("retry", tight=False, **told).sample_size("retry")
        tested = derived_plan("held-out", tight=False, **told).sample_size("held-out")
        rows.append((d, beta, epsilon, again / unit, tested / unit))
    retry, held = ([row[place] for row in rows] for place in (3, 4))
    return Finding(
        "K11 §4, price",
        "K11 §4, the remark at its end; §1.1.1, where the factor is “roughly 1/ε”",
        "The sizes of private and non-private samples for PARITY differ by a factor of O(ln(1/β)/ε) only.",
        "holds",
        f"The text gives orders only. From β = 0.1 to 1e-9 the factor is {min(retry):.0f} to "
        f"{max(retry):.0f} times ln(1/β)/ε with K08's A*, which tries again, and {min(held):.0f} to "
        f"{max(held):.0f} times with K11's A*. At fixed d the test set of K11's A*, of the order "
        "ln²(1/β)/ε, exceeds the claim for even smaller β (N3).",
        row="L4",
        method="arithmetic",
        errata=("N3",),
        tables=(
            Table(
                ("d", "β", "ε", "K08's A*", "K11's A*"),
                tuple(rows),
                "α = 0.1; the quotient with (d·ln 2 + ln(1/β))/α, which is enough without privacy, divided "
                "by ln(1/β)/ε",
            ),
        ),
    )


def k11_query_price() -> Finding:
    """Return the finding on the cost of private answers (K11 §1.1.1).

    Examples
    --------
    >>> k11_query_price().judgement
    'not verified'
    """
    rows = []
    for queries, tau in product((10, 1000, 100_000), (0.1, 0.5)):
        plain = 2.0 / tau**2 * math.log(4.0 * queries / 0.1)
        each = _share(queries, delta=1e-6)
        noisy = 2.0 / (tau * each) * math.log(2.0 * queries / 0.1)
        pure = 2.0 * queries / tau * math.log(2.0 * queries / 0.1)
        unit = math.sqrt(queries)
        rows.append((queries, tau, max(plain, noisy) / plain / unit, max(plain, pure) / plain / unit))
    return Finding(
        "K11 §1.1.1, price",
        "K11 §1.1.1",
        "Blum et al. answer t queries privately from about √t/ε times the data needed without privacy.",
        "not verified",
        "The text quotes this from another paper, as an order. Laplace noise on t averages of one sample "
        f"takes {min(row[2] for row in rows):.2g} to {max(row[2] for row in rows):.2g} times √t/ε with δ = "
        "1e-6, by advanced composition. With pure privacy, by the sum, it takes a factor of the order t: "
        f"up to {max(row[3] for row in rows):.3g} times √t/ε at t = 100000.",
        row="M10, M12",
        method="arithmetic",
        tables=(
            Table(
                ("t", "τ", "δ = 1e-6: quotient ÷ (√t/ε)", "pure: quotient ÷ (√t/ε)"),
                tuple(rows),
                "ε = 1, β = 0.1, half of τ for the sampling and half for the noise; the sample without "
                "privacy: (2/τ²)·ln(4t/β)",
            ),
        ),
    )


def k11_stability() -> Finding:
    """Return the finding that privacy implies error stability (K11 §1.2).

    Examples
    --------
    >>> round(k11_stability().ratio, 9)
    1.0
    """
    rows = []
    for epsilon in (0.1, 1.0, 3.0):
        survey = RandomizedResponse(epsilon=epsilon)
        answers = np.array([[survey.distribution([truth]).pmf(said) for said in (0, 1)] for truth in (0, 1)])
        rows.append(
            (
                epsilon,
                math.tanh(epsilon / 2.0),
                float(np.ptp(answers[:, 0])),
                _error_shift(epsilon=epsilon, size=2),
            )
        )
    return Finding(
        "K11 §1.2, stability",
        "K11 §1.2",
        "Differential privacy implies change-one error stability.",
        "holds",
        "One record moves the expected error, on any law, by at most tanh(ε/2), the largest statistical "
        f"distance of ε-close laws. Randomized response meets this with equality ({rows[1][2]:.4f} at ε = "
        f"1). For the generic learner on two examples the error moves by {rows[1][3]:.4f}.",
        row="L1, M7",
        claimed=rows[1][1],
        found=rows[1][2],
        tables=(
            Table(
                ("ε", "tanh(ε/2)", "randomized response", "generic learner, n = 2"),
                tuple(rows),
                "the largest change of the expected error, over all neighbours and laws of an example "
                "(intervals of {0, 1}; the extreme laws have one example)",
            ),
        ),
    )


def bns_good_interval() -> Finding:
    """Return the finding that a 4-good interval has an accurate threshold (BNS §3.2).

    Examples
    --------
    >>> bns_good_interval().ratio
    1.0
    """
    rows = []
    for width in (4, 8):
        counts = np.array(list(product(range(3), repeat=width)))
        for switch in range(1, width):
            ones, zeros = counts.copy(), counts.copy()
            ones[:, switch:], zeros[:, :switch] = 0, 0
            many = _both(ones, zeros, width // 4)
            errors = np.min(
                [zeros[:, :h].sum(axis=1) + ones[:, h:].sum(axis=1) for h in range(0, width + 1, width // 4)],
                axis=0,
            )
            rows.append((width, switch, len(counts), int((errors > many).sum()), int((errors == many).sum())))
    wrong, equal = (sum(row[place] for row in rows) for place in (3, 4))
    return Finding(
        "BNS §3.2, k-good intervals",
        "BNS §3.2, the figure's five hypotheses",
        "Take five thresholds, evenly spread over a 4-good interval in which the target switches. One of "
        "them errs on no more than the number of ones and zeros that a quarter of the interval holds at "
        "once.",
        "holds",
        f"{sum(row[2] for row in rows)} samples were tried, with at most 2 examples per point, on intervals "
        f"of 4 and 8 points: {wrong} exceptions, and equality {equal} times. The switch lies in one "
        "quarter. Its two ends err only on its ones and only on its zeros.",
        row="L10",
        claimed=1.0,
        found=1.0 if not wrong and equal else math.inf,
        tables=(
            Table(
                ("points", "target", "samples", "exceptions", "equal"),
                tuple(rows),
                "errors of the best of five thresholds, beside the most ones and zeros (the smaller number) "
                "that an interval of a quarter's length holds",
            ),
        ),
    )


def _share(queries: int, *, delta: float) -> float:
    """Return the largest ε per answer for a total of at most 1."""
    low, high = 0.0, 1.0
    while high - low > 1e-9 * high:
        each = (low + high) / 2.0
        mean = queries * each * math.tanh(each / 2.0)
        whole = min(queries * each, mean + each * math.sqrt(-2.0 * queries * math.log(delta)))
        low, high = (each, high) if whole <= 1.0 else (low, each)
    return low


def _error_shift(*, epsilon: float, size: int) -> float:
    """Return by how much one record can change the expected error."""
    concepts = IntervalClass(1)
    learner = GenericLearner(concepts=concepts, epsilon=epsilon, size=size)
    names, examples = list(concepts.concepts), list(learner.records)
    wrong = np.array([[float(concepts.label(name, x) != y) for x, y in examples] for name in names])
    laws: dict[Any, NDArray[np.float64]] = {}
    for rows in combinations_with_replacement(examples, size):
        law = learner.distribution(list(rows))
        laws[rows] = np.array([law.pmf(name) for name in names]) @ wrong
    shifts = [
        np.abs(laws[one] - laws[other]).max()
        for one, other in product(laws, repeat=2)
        if (Counter(one) - Counter(other)).total() <= 1
    ]
    return float(max(shifts))


def _both(ones: NDArray[Any], zeros: NDArray[Any], length: int) -> NDArray[Any]:
    """Return each sample's largest min(ones, zeros) over intervals of this length."""
    starts = range(ones.shape[1] - length + 1)
    held = [
        np.minimum(*(part[:, low : low + length].sum(axis=1) for part in (ones, zeros))) for low in starts
    ]
    return np.asarray(np.max(held, axis=0))


FINDINGS: dict[str, Callable[[], Finding]] = {
    "K11 §3.1, price": k11_price,
    "K11 §4, price": k11_parity_price,
    "K11 §1.1.1, price": k11_query_price,
    "K11 §1.2, stability": k11_stability,
    "BNS §3.2, k-good intervals": bns_good_interval,
}
