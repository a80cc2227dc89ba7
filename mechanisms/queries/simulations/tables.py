"""Randomized response and the clamped geometric mechanism, as probability tables."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from audit.catalogue import Entry
from audit.errors import finite_number, positive_int
from mechanisms.formulas.losses import whole
from mechanisms.queries.simulations.transparent import TableRandomizer

__all__ = ["binary_response", "clamped_geometric", "kary_response"]


def kary_response(epsilon: float, categories: int) -> TableRandomizer:
    """Return k-ary randomized response as a table.

    The truth has probability e^epsilon/(e^epsilon + k − 1).

    Guarantee
    ---------
    epsilon-local, and no smaller epsilon holds (`mechanisms.KaryRandomizedResponse`).

    Examples
    --------
    >>> kary_response(0.0, 2).epsilon, round(kary_response(1.0, 3).epsilon, 12)
    (0.0, 1.0)
    """
    epsilon = finite_number(epsilon, what="The `epsilon` of `kary_response`", minimum=0)
    count = positive_int(categories, what="The `categories` of `kary_response`", minimum=2)
    said = {"epsilon": epsilon, "categories": count}
    lie = math.exp(-epsilon) / (1.0 + (count - 1) * math.exp(-epsilon))
    table = np.full((count, count), lie)
    np.fill_diagonal(table, 1.0 - (count - 1) * lie)
    return TableRandomizer(
        range(count), range(count), table, claimed=epsilon, name="local-kary-response", parameters=said
    )


def binary_response(epsilon: float) -> TableRandomizer:
    """Return randomized response for one bit as a table.

    Examples
    --------
    >>> bool(np.isclose(binary_response(1.0).table[0][0], np.e / (1 + np.e)))
    True
    """
    return kary_response(epsilon, 2)


def clamped_geometric(epsilon: float, top: int) -> TableRandomizer:
    """Return the clamped geometric mechanism on records 0 … top as a table.

    The mechanism adds two-sided geometric noise to the record and clamps the sum to 0 … top.

    Guarantee
    ---------
    epsilon-local. The noise has rate epsilon/top, so probabilities change by a factor of at most
    e^(epsilon·|u − u′|/top) between records u and u′ (C §2). Clamping is post-processing. At the ends the
    loss is epsilon exactly.

    Examples
    --------
    >>> round(clamped_geometric(1.0, 5).epsilon, 12)
    1.0
    """
    from audit.distributions import Countable, Finite

    epsilon = finite_number(epsilon, what="The `epsilon` of `clamped_geometric`", above=0)
    top = positive_int(top, what="The `top` of `clamped_geometric`")
    laws = [
        Finite.from_clamped(Countable.geometric(record, top / epsilon), 0, top) for record in range(top + 1)
    ]
    table = [[law.pmf(outcome) for outcome in range(top + 1)] for law in laws]
    return TableRandomizer(
        range(top + 1),
        range(top + 1),
        np.array(table),
        claimed=epsilon,
        name="local-clamped-geometric",
        reference="K11 Definition 5.1 with the noise of C §2, clamped",
        parameters={"epsilon": epsilon, "top": top},
    )


_GEOMETRIC = partial(clamped_geometric, epsilon=1.0, top=5)

entry = Entry(
    "local-clamped-geometric",
    _GEOMETRIC,
    reference=_GEOMETRIC().reference,
    summary="a transparent randomizer by its table, that of Claims 5.9 and 5.10",
    formulas=whole,
)
