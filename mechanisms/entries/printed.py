"""Catalogue entries of selection mechanisms as printed, with too little utility."""

from __future__ import annotations

import math
from functools import partial

from audit.catalogue import Entry
from mechanisms.formulas import selection
from mechanisms.selection.choosing import SHARED, ChoosingMechanism
from mechanisms.selection.stability import StableSelection

_GAP = partial(StableSelection, epsilon=5.0, delta=20.0 * math.exp(-15.0))
"""With this delta, epsilon = 5 and beta = 0.1, the printed gap is 12."""

entries = (
    Entry(
        "stable-selection-printed-gap",
        _GAP,
        options={"pairs": _GAP().suggested_pairs()[:4]},
        utility={"problems": _GAP().printed_problems()},
        utility_expected="refuted",
        reference=StableSelection.reference,
        formulas=selection.stable,
        summary="A_dist at the gap of Proposition 2(ii), ε = 5: fails 3 times β",
    ),
    Entry(
        "choosing-printed-clause",
        ChoosingMechanism,
        options={"pairs": [*ChoosingMechanism().suggested_pairs()[:4], SHARED]},
        utility={"problems": ChoosingMechanism().printed_problems()},
        utility_expected="refuted",
        reference=ChoosingMechanism.reference,
        formulas=selection.choosing,
        summary="Lemma 4 as printed, where nothing is to be found: answers ⊥",
    ),
)
