"""The local model's part of the catalogue."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from audit.catalogue import Entry
from audit.claims import Accuracy
from mechanisms.composition.processing import Undeclared
from mechanisms.flawed import local as flawed
from mechanisms.local.algorithms import mean_then_share, poll_twice
from mechanisms.local.averaging.averages import LaplaceAverage, SignAverage
from mechanisms.local.laplace import LocalLaplace
from mechanisms.local.protocols import InteractiveProtocol, NonInteractiveProtocol
from mechanisms.local.sign import SignResponse
from mechanisms.responses.binary import RandomizedResponse
from mechanisms.responses.kary import KaryRandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["entries"]

_CORNERS = ((-1, -1), (-1, 1), (1, 1))
_ONE_HOT = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def entries() -> list[Entry]:
    """Return an entry for every randomizer, protocol and average: the right ones, then those to be refuted.

    Examples
    --------
    >>> {entry.name: entry.expected for entry in entries()}["local-laplace"]
    'not refuted'
    """
    return [*_right(), *_flawed()]


def _right() -> Iterator[Entry]:
    yield _entry("local-laplace", LocalLaplace, "R_g: a value in [−b, b] with noise of scale 2b/ε")
    vector = partial(LocalLaplace, dimension=2, records=_CORNERS)
    yield _entry("local-laplace-vector", vector, "R_g for two coordinates, ε split evenly")
    one_hot = partial(LocalLaplace, dimension=3, norm=1.0, records=_ONE_HOT)
    yield _entry("local-laplace-one-hot", one_hot, "R_g for one-hot vectors, of L1 sensitivity 2")
    yield _entry("local-sign-response", SignResponse, "randomized response to a ±1 query")
    average = partial(LaplaceAverage, records=(-1, 1))
    yield _entry("local-laplace-average", average, "A_g: the average of all entries' R_g")
    signs = partial(SignAverage, size=4)
    yield _entry("local-sign-average", signs, "the average of all entries' randomized responses")
    answering = partial(LaplaceAverage, tolerance=0.5)
    summary = "A_g on 268 entries, within 0.5 of the mean but for 5 % (no law)"
    yield _entry("local-laplace-average-query", answering, summary, budget=20_000, utility={})
    telling = partial(SignAverage, epsilon=3.0, tolerance=0.5)
    summary = "±1 responses, within 0.5 of the mean but for 5 %"
    yield _entry("local-sign-average-query", telling, summary, utility={})
    yield Entry(
        "local-laplace-average-printed-size",
        partial(LaplaceAverage, epsilon=4.0, size=293),
        options={"budget": 20_000},
        utility={"claim": Accuracy(0.08, 0.05)},
        utility_expected="refuted",
        reference="K11 Lemma 5.6 as printed, c = 10, for ε = 4",
        summary="private, but misses 0.08 in 26 % for 5 %: the printed size for a large ε",
    )
    fixed = partial(NonInteractiveProtocol, queries=_listed_questions())
    yield _entry("local-noninteractive", fixed, "three questions handed over before any answer")
    polled = partial(InteractiveProtocol, algorithm=poll_twice, epsilon=1.0)
    yield _entry("local-interactive", polled, "two rounds, the second in view of the first")
    by_runs = partial(Undeclared, part=InteractiveProtocol(algorithm=poll_twice, epsilon=1.0))
    yield _entry("local-interactive-by-runs", by_runs, "the same two rounds (no law)", budget=30_000)
    shared = partial(InteractiveProtocol, algorithm=mean_then_share, epsilon=1.0, records=(-1, 0, 1), size=3)
    summary = "the mean, then the share of entries above it (no law)"
    yield _entry("local-mean-then-share", shared, summary, budget=10_000)


def _flawed() -> Iterator[Entry]:
    kinds: dict[Any, str] = {
        flawed.TruthfulLie: "lies with a coin that may tell the truth: loss ln 5 for ln 2",
        flawed.HalfRangeLocalLaplace: "noise b/ε for a query in [−b, b]: loss 2ε",
        flawed.UnsplitLocalLaplace: "spends ε on each of two coordinates: loss 2ε",
        flawed.ShiftedUniform: "u + Uniform[0, 1], private by single outcomes only: unbounded",
    }
    for kind, summary in kinds.items():
        yield _entry(kind.name, kind, summary, refuted=True)
    again = partial(flawed.PerRoundProtocol, algorithm=partial(poll_twice, epsilon=2.0), epsilon=1.0, size=2)
    summary = "the budget anew in each of two rounds: loss 2ε"
    yield _entry(flawed.PerRoundProtocol.name, again, summary, refuted=True, budget=20_000)


def _listed_questions() -> tuple[tuple[Any, Any], ...]:
    return (
        (range(2), RandomizedResponse(epsilon=0.25)),
        (0, KaryRandomizedResponse(epsilon=0.5, categories=3)),
        ([1, 0], LocalLaplace(epsilon=0.25, query=_centred, records=(0, 1))),
    )


def _centred(bit: int) -> int:
    return 2 * bit - 1


def _entry(
    name: str,
    factory: Any,
    summary: str,
    *,
    refuted: bool = False,
    budget: int | None = None,
    utility: dict[str, Any] | None = None,
) -> Entry:
    kind: Any = factory.func if isinstance(factory, partial) else factory
    reference = InteractiveProtocol.reference if kind is Undeclared else kind.reference
    return Entry(
        name,
        factory,
        options={} if budget is None else {"budget": budget},
        expected="refuted" if refuted else "not refuted",
        utility=utility,
        reference=reference,
        summary=summary,
    )
