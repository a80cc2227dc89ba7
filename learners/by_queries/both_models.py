"""Catalogue entries of a learner by queries, in two models of noise."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from audit.catalogue import Entry
from learners.finite.at_size import at_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from audit.catalogue import Formulas

__all__ = ["in_both_models"]


def in_both_models(
    kind: Any,
    *,
    summaries: tuple[str, str, str],
    stated: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
    local: Mapping[str, Any] | None = None,
    runs: tuple[int, int] = (20_000, 20_000),
    utility_runs: int = 2_600,
    formulas: Callable[[Any], Formulas] | None = None,
) -> tuple[Entry, ...]:
    """Return four entries of a learner, two for each model of noise.

    For each model there is an entry on few records and an entry on the learner's stated size.

    Parameters
    ----------
    kind
        The class of the learner. Its `model` is ``"central"`` or ``"local"``.
    summaries
        The summaries of the central entry, of the local entry, and of the entries with the stated size.
    stated
        Keywords of `at_size` for the entries with the stated size.
    options
        The audit options of the entries with few records.
    local
        Keywords of the local learner on few records.
    runs, utility_runs
        Runs of the privacy audits with the stated size (central, local), and of their utility audits.
    formulas
        The formulas of the entries with few records.

    Examples
    --------
    >>> from learners import MaskedParityLearner
    >>> made = {"dimension": 4, "calm": ((0,) * 7, 1), "odd": ((0,) * 6 + (1,), -1)}
    >>> entries = in_both_models(MaskedParityLearner, summaries=("one", "two", "d = 4"), stated=made)
    >>> [entry.name.removeprefix("masked-parity-learner") for entry in entries]
    ['', '-local', '-at-size', '-local-at-size']
    """
    entry = partial(Entry, reference=kind.reference)
    small = partial(entry, options=dict(options or {}), formulas=formulas)
    models = (("", "central", 1.0), ("-local", "local", 2.0))
    return (
        small(kind.name, kind, summary=summaries[0]),
        small(f"{kind.name}-local", partial(kind, model="local", **(local or {})), summary=summaries[1]),
        *(
            entry(
                f"{kind.name}{end}-at-size",
                partial(at_size, kind, model=model, epsilon=epsilon, **stated),
                options={"budget": budget},
                utility={"budget": utility_runs},
                summary=f"by runs, with the stated n: {summaries[2]}",
            )
            for (end, model, epsilon), budget in zip(models, runs, strict=True)
        ),
    )
