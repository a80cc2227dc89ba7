"""Compare an entry's code with the formulas of its source text.

Losses, laws, calls and other numbers are compared.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from audit.catalogue import Entry, Formulas, TextLaw
from audit.options import Kind
from audit.results.agreement import Agreement
from audit.results.result import AuditResult, Evidence
from audit.utility.saved import Saved
from audit.values.brief import show
from audit.words.allowance import claimed

#: Two ways of computing one number may differ by this relative rounding error.
ROUNDING: Final = 1e-6
#: Runs contradict a law if −log10 of their p-value exceeds this. The catalogue makes fewer than 300 such
#: tests: the chance that any of them contradicts a law that holds is at most 3e-5.
LEAST_P: Final = 7.0
_BINS, _LEAST_EXPECTED, _CAP = 20, 8.0, 300.0
_FAINT: Final = -600.0  # log-probabilities below this count as equal
_GRID: Final = 1e-4


def with_formulas(result: Saved, entry: Entry, kind: Kind, made: Any) -> Saved:
    """Return a result with comparisons of code and formulas added.

    Only the result of the entry's first kind of audit gets them.

    Guarantee
    ---------
    Suppose the calls of a subject follow the formula's law. Then each comparison of calls reports a
    difference with probability at most 1e-7, by the chi-square approximation. There is one comparison for
    each way of running the subject and each database. All other comparisons are exact.
    """
    if entry.formulas is None or kind != entry.audits[0]:
        return result
    formulas = entry.formulas(made)
    return replace(result, agreements=(*_losses(formulas, result), *compared(formulas, made)))


def compared(formulas: Formulas, made: Any) -> list[Agreement]:
    """Return the comparisons of code with formulas that need no audit.

    These are all comparisons except those of the losses.

    Examples
    --------
    >>> class Fair:
    ...     def __call__(self, database, rng):
    ...         return int(rng.integers(2))
    >>> law = {0: np.log(0.5), 1: np.log(0.5)}
    >>> formulas = Formulas(law=lambda database: law, databases=[[0]], calls=1_000)
    >>> [each.agrees for each in compared(formulas, Fair())]
    [True]
    """
    return [*_numbers(formulas), *_laws(formulas, made)]


def _losses(formulas: Formulas, result: Saved) -> Iterator[Agreement]:
    """Yield comparisons of the audit's largest exact ε and δ with the formulas."""
    if not isinstance(result, AuditResult) or result.evidence is not Evidence.EXACT:
        return
    epsilon, delta = claimed(result)
    told = (
        ("largest loss over all databases", result.epsilon_lower, formulas.epsilon, epsilon),
        ("largest delta over all databases", result.delta_lower, formulas.delta, delta),
    )
    for what, found, worst, most in told:
        if worst is not None:
            within = worst * (1.0 - formulas.reach), worst * (1.0 + ROUNDING)
            yield Agreement(what, found, worst, *within, source=formulas.source, claimed=most)


def _numbers(formulas: Formulas) -> Iterator[Agreement]:
    for what, (code, text) in formulas.numbers.items():
        off = formulas.rounding * abs(text)
        yield Agreement(what, float(code), float(text), float(text) - off, float(text) + off)


def _laws(formulas: Formulas, made: Any) -> Iterator[Agreement]:
    law_of = formulas.law
    if law_of is None:
        return
    at_once = getattr(made, "sample", None)
    for place, database in enumerate(formulas.databases):
        text, where = law_of(database), show(database, 40)
        declared = made.distribution(database) if hasattr(made, "distribution") else None
        if declared is not None:
            off = _apart(declared, text)
            yield Agreement(f"largest log-ratio of the laws on {where}", off, 0.0, 0.0, ROUNDING)
        drawn = {}
        if formulas.calls and (not place or at_once is None):
            rng = np.random.default_rng([place, 0])
            drawn["calls"] = [made(database, rng) for _ in range(formulas.calls)]
        if formulas.calls and at_once is not None:
            drawn["`sample`"] = list(at_once(database, formulas.calls, np.random.default_rng([place, 1])))
        for name, outputs in drawn.items():
            what = f"−log10 p of {formulas.calls:,} outputs of {name} on {where}"
            yield Agreement(what, misfit(outputs, text), 0.0, 0.0, LEAST_P)


def _apart(law: Any, text: TextLaw) -> float:
    """Return the largest difference between log-probabilities of two laws.

    One law is declared by the code. The other law is that of the text.
    """
    if isinstance(text, Mapping):
        off = max(_difference(float(law.logpmf(outcome)), log) for outcome, log in text.items())
        whole = math.fsum(math.exp(float(law.logpmf(outcome))) for outcome in text)
        return max(off, abs(whole - math.fsum(map(math.exp, text.values()))))
    if callable(text):
        probes = np.asarray(law.sample(200, np.random.default_rng(0)), dtype=float).tolist()
        return max(
            _difference(math.log(low), math.log(high))
            for x in probes
            for low, high in _both_tails(float(law.cdf(x)), text(x))
        )
    return max(_apart(factor, one) for factor, one in zip(law.factors, text, strict=True))


def _both_tails(code: float, text: float) -> Iterator[tuple[float, float]]:
    """Yield two values of a cdf, then both values of 1 − cdf. Tiny pairs are omitted."""
    for one, other in ((code, text), (1.0 - code, 1.0 - text)):
        if max(one, other) > _GRID:
            yield max(one, _GRID / 10), max(other, _GRID / 10)


def _difference(one: float, other: float) -> float:
    if max(one, other) < _FAINT:
        return 0.0
    return abs(one - other)


def misfit(outputs: list[Any], text: TextLaw) -> float:
    """Return −log10(p) of a test of the outputs against a law.

    The test is a chi-square test with p-value p. The largest value returned is 300.

    Examples
    --------
    >>> fair = {0: math.log(0.5), 1: math.log(0.5)}
    >>> misfit([0, 1] * 50, fair) < 1, misfit([0] * 100, fair) > 20
    (True, True)
    """
    chi, freedom = _chi_square(outputs, text)
    if freedom == 0:
        return min(chi, _CAP)
    from scipy.special import chdtrc

    return min(_CAP, -math.log10(max(float(chdtrc(freedom, chi)), 10.0**-_CAP)))


def _chi_square(outputs: list[Any], text: TextLaw) -> tuple[float, int]:
    if isinstance(text, Mapping):
        return _of_counts(_counts(outputs, text), len(outputs))
    if callable(text):
        shares = np.array([text(float(output)) for output in outputs])
        places = np.minimum((shares * _BINS).astype(int), _BINS - 1)
        expected = len(outputs) / _BINS
        return float(((np.bincount(places, minlength=_BINS) - expected) ** 2).sum() / expected), _BINS - 1
    columns = [_chi_square([output[k] for output in outputs], one) for k, one in enumerate(text)]
    return sum(chi for chi, _ in columns), sum(freedom for _, freedom in columns)


def _counts(outputs: list[Any], text: Mapping[Any, float]) -> list[tuple[float, float]]:
    """Return the count and the expectation of each outcome.

    Rare and unlisted outcomes share the last cell.
    """
    plain = (each.item() if isinstance(each, np.generic) else each for each in outputs)
    seen = Counter(tuple(each.tolist()) if isinstance(each, np.ndarray) else each for each in plain)
    n = len(outputs)
    cells = [(seen[outcome], n * math.exp(log)) for outcome, log in text.items()]
    large = [cell for cell in cells if cell[1] >= _LEAST_EXPECTED]
    counted, expected = (sum(column) for column in zip((0, 0.0), *large, strict=True))
    return [*large, (n - counted, max(0.0, n - expected))]


def _of_counts(cells: list[tuple[float, float]], n: int) -> tuple[float, int]:
    """Return the chi-square statistic and its degrees of freedom.

    A last cell of small expectation is left out. If its count is far too large, the statistic is `_CAP`.
    """
    *large, (count, expected) = cells
    if expected < _LEAST_EXPECTED:  # a Poisson count of this mean is above the bound with probability < 1e-14
        if count > expected + 8.0 * math.sqrt(expected) + 8.0:
            return _CAP, 0
        scale = n - count
        whole = sum(wanted for _, wanted in large)
        large = [(seen, wanted * scale / whole) for seen, wanted in large]
    else:
        large = [*large, (count, expected)]
    return sum((seen - wanted) ** 2 / wanted for seen, wanted in large), max(0, len(large) - 1)
