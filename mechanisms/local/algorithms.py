"""Interactive local algorithms, whose later questions depend on earlier answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mechanisms.local.laplace import LocalLaplace
from mechanisms.local.sign import SignResponse
from mechanisms.responses.binary import RandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["mean_then_share", "poll_twice"]


def poll_twice(size: int, *, epsilon: float = 1.0) -> Generator[Any, Any, tuple[int, ...]]:
    """Ask all entries for their bit, and those that answered 0 again.

    If more than half answered 0, the second question has a smaller budget.

    Parameters
    ----------
    size
        Number of entries.
    epsilon
        The budget of an entry. Round 1 gets a half of it, round 2 a half or a quarter.

    Returns
    -------
    tuple of int
        All first answers, then all second answers.

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> from mechanisms.local import InteractiveProtocol
    >>> protocol = InteractiveProtocol(algorithm=partial(poll_twice, epsilon=1.0), epsilon=1.0)
    >>> 2 <= len(protocol([1, 0], np.random.default_rng(0))) <= 4
    True
    """
    first = (yield range(size), RandomizedResponse(epsilon=epsilon / 2.0)).tolist()
    denied = [place for place, bit in enumerate(first) if bit == 0]
    if not denied:
        return tuple(first)
    share = 0.25 if 2 * len(denied) > size else 0.5
    again = yield denied, RandomizedResponse(epsilon=share * epsilon)
    return (*first, *again.tolist())


def mean_then_share(size: int, *, epsilon: float = 1.0) -> Generator[Any, Any, tuple[float, float]]:
    """Estimate the mean of values in [−1, 1], then the share of entries above it.

    Parameters
    ----------
    size
        Number of entries.
    epsilon
        The budget of an entry. Each round gets half of it.

    Returns
    -------
    tuple of float
        The mean, and the share of entries above it.

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> from mechanisms.local import InteractiveProtocol
    >>> protocol = InteractiveProtocol(
    ...     algorithm=partial(mean_then_share, epsilon=800.0), epsilon=800.0, size=4
    ... )
    >>> mean, share = protocol([-1, 0, 0, 1], np.random.default_rng(0))
    >>> abs(mean) < 0.05, share in (0.25, 0.75)
    (True, True)
    """
    values = yield range(size), LocalLaplace(epsilon=epsilon / 2.0)
    mean = math.fsum(values.tolist()) / size
    above = SignResponse(epsilon=epsilon / 2.0, query=lambda value: 1 if value > mean else -1)
    reports = yield range(size), above
    return mean, 0.5 + float(reports.mean()) / (2.0 * above.shrinkage)
