"""PARITY's part of the catalogue."""

from __future__ import annotations

from functools import partial
from typing import Any

from audit.catalogue import Entry
from learners.entries.at_size import at_size
from learners.parity import flawed
from learners.parity.amplified import AmplifiedParityLearner
from learners.parity.large import telling_pairs
from learners.parity.learner import ParityLearner
from learners.parity.multisets import ParityLearnerMultisets
from learners.parity.plans import Form, Plan

__all__ = ["entries"]

_FEW = Plan(candidates=2, training=1, test=1)
"""Numbers so small that every sample can be gone through."""

_DIMENSION = 16

_FORMS: tuple[tuple[Form, bool], ...] = (("retry", False), ("held-out", True), ("selection", True))
"""Of A* at size: the form, whether tight."""

_ON_ALL = ((1, 12, True), (2, 5, False), (3, 2, True))
"""Of A on all multisets of n examples of d bits: d, n, whether tight. `benchmarks/parity.py` goes further."""

_ALONE = {"budget": 20_000}
"""A alone, with β = 3/4, on 33 or 15 examples."""


def entries() -> list[Entry]:
    """Return the entries of the learners of parities, then of their flawed twins.

    Examples
    --------
    >>> [entry.name for entry in entries() if entry.expected == "not refuted"][:3]
    ['parity', 'parity-tight', 'parity-d1-n12']
    """
    tight, retry = partial(ParityLearner, tight=True), Plan(candidates=2, training=2)
    return [
        _right(
            "parity", ParityLearner, "A, p = ε/4, d = 2, all samples of 3: loss ln((4 + ε)/(4 − ε))", _ALONE
        ),
        _right("parity-tight", tight, "A, p = tanh(ε/2), d = 2, all samples of 3: its claim", _ALONE),
        *(_on_all(dimension, size, tight=tight) for dimension, size, tight in _ON_ALL),
        _alone_at_size(),
        _amplified("retry", retry, "A*, retry: 2 runs, d = 2, all samples of 2"),
        _amplified("held-out", _FEW, "A*, test set with noise: 2 candidates, d = 1", dimension=1),
        _amplified("selection", _FEW, "A*, exponential choice of 2 candidates, d = 1", dimension=1),
        *(_useful(form, tight=tight) for form, tight in _FORMS),
        _flawed(flawed.UncheckedParityLearner, "p = ε/4 at ε = 3.9: loss 4.369"),
        _flawed(flawed.BoldParityLearner, "refuses half as often as it must: loss 1.589 for 1"),
        _flawed(flawed.NaiveParityLearner, "solves for all examples: loss ∞"),
        _flawed(flawed.OverspentParityRetry, "5 rounds of ε/log2(20): loss 1.157 for 1"),
    ]


def _right(name: str, factory: Any, summary: str, utility: Any = None) -> Entry:
    return Entry(name, factory, utility=utility, reference=ParityLearner.reference, summary=summary)


def _on_all(dimension: int, examples: int, *, tight: bool) -> Entry:
    """Return A on all samples of a size, whose name and summary say which size is proved."""
    factory = partial(ParityLearnerMultisets, dimension, examples=examples, tight=tight)
    kind = "tight A" if tight else "A"
    summary = f"{kind}, d = {dimension}, all samples of {examples}, as multisets"
    return _right(f"parity-d{dimension}-n{examples}", factory, summary)


def _amplified(form: Any, made: Plan, summary: str, *, dimension: int = 2) -> Entry:
    factory = partial(AmplifiedParityLearner, dimension, form=form, tight=True, made=made)
    reference = AmplifiedParityLearner.reference
    return Entry(f"parity-amplified-{form}", factory, reference=reference, summary=summary)


def _alone_at_size() -> Entry:
    """Return A on 64 bits: its privacy on 2,000 examples, its accuracy on as many as it states."""
    return Entry(
        "parity-at-size",
        partial(ParityLearner, 64, size=2_000),
        options={"pairs": telling_pairs(64, 2_000), "budget": 10_000},
        utility={"budget": 20_000},
        reference=ParityLearner.reference,
        summary="by runs: A, p = ε/4, d = 64, n = 2,000; its accuracy with the stated n",
    )


def _useful(form: Form, *, tight: bool) -> Entry:
    """Return A* with the sample that it asks for at d = 16: both claims by runs."""
    zero, unit = (0,) * _DIMENSION, (1, *(0,) * (_DIMENSION - 1))
    settings: dict[str, Any] = {"dimension": _DIMENSION, "form": form, "tight": tight}
    settings |= {"calm": (zero, 0), "odd": (unit, 1)}
    name = "parity-amplified" + ("" if form == "held-out" else f"-{form}") + "-at-size"
    size = AmplifiedParityLearner(_DIMENSION, form=form, tight=tight).sample_size
    pairs = telling_pairs(_DIMENSION, size, places=(0,) if form == "retry" else (0, -1))
    return Entry(
        name,
        partial(at_size, AmplifiedParityLearner, **settings),
        options={"pairs": pairs, "budget": 10_000},
        utility={"budget": 20_000},
        reference=AmplifiedParityLearner.reference,
        summary=f"by runs, with the stated n: A*, {form}, d = 16, α = β = 0.1",
    )


def _flawed(factory: Any, summary: str) -> Entry:
    return Entry(factory.name, factory, expected="refuted", reference=factory.reference, summary=summary)
