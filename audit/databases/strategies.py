"""Draw examples of a strategy. They are the same in every process, and Hypothesis leaves no files."""

from __future__ import annotations  # keep: the draws depend on the source and signature of `collect`

import threading
import warnings
from typing import Any

from audit.errors import InvalidKind, InvalidValue
from audit.values import canonical
from audit.values.brief import show
from audit.values.compat import plain_hypothesis

#: Number of examples drawn first, to see whether the strategy rejects most tries. Larger: such a strategy
#: takes longer.
_FIRST_DRAWN = 50
#: Larger: fewer strategies count as rejecting nearly everything. A strategy counts as such if it needs more
#: tries than this for each example.
_REJECTS = 5
#: Larger: more strategies are refused. A strategy that rejects nearly everything must give at least this many
#: values.
_TOO_FEW = 8
_BUILD = (
    "Build the values instead of filtering them, for example even numbers as "
    "`st.integers(0, 9).map(lambda n: 2 * n)`."
)
#: Lock that an audit holds while it changes Hypothesis's settings to draw examples.
_ALONE = threading.RLock()


def is_strategy(value: Any) -> bool:
    """Return whether a value is a Hypothesis strategy, without importing Hypothesis.

    Examples
    --------
    >>> is_strategy([0, 1])
    False
    """
    return hasattr(value, "example") and hasattr(value, "validate")


def examples(strategy: Any, what: str, most: int) -> list[Any]:
    """Return distinct examples of a strategy.

    They are the same in every process. If the strategy rejects nearly everything, there are few.

    Parameters
    ----------
    strategy
        A Hypothesis strategy.
    what
        The name of the user's argument.
    most
        Maximum number of examples.

    Raises
    ------
    InvalidValue, InvalidKind
        `strategy` is not a strategy, fails, or gives too few values; the message says which.

    Examples
    --------
    >>> from hypothesis import strategies as st
    >>> sorted(examples(st.sampled_from("abc"), "records", 10))
    ['a', 'b', 'c']
    """
    if not is_strategy(strategy):
        raise InvalidKind(f"The `{what}` must be a Hypothesis strategy; got {show(strategy)}.")
    with _ALONE, plain_hypothesis():
        found, drawn, tries = _collect(strategy, what, _FIRST_DRAWN)
        rejects = tries > _REJECTS * drawn
        if not found:
            raise InvalidValue(
                f"The strategy `{what}` generates no values: it rejects everything, or is empty. {_BUILD}"
            )
        if rejects and len(found) < _TOO_FEW:
            raise InvalidValue(
                f"The strategy `{what}` rejects nearly everything: {tries} tries gave {len(found)} different "
                f"values. {_BUILD}"
            )
        if not rejects and drawn >= _FIRST_DRAWN:
            found, _, _ = _collect(strategy, what, 2 * most)
    return found[:most]


def _collect(strategy: Any, what: str, most: int) -> tuple[list[Any], int, int]:
    """Return the distinct examples, and how many examples and tries there were."""
    from hypothesis import HealthCheck, Phase, given, settings, strategies
    from hypothesis.errors import HypothesisException, Unsatisfiable

    found: dict[Any, Any] = {}
    drawn = tries = 0

    @strategies.composite
    def counted(draw: Any) -> Any:
        nonlocal tries
        tries += 1
        return draw(strategy)

    @settings(
        max_examples=most,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(counted())
    def collect(value: Any) -> None:
        nonlocal drawn
        drawn += 1
        found.setdefault(canonical.key(value), value)

    try:
        with warnings.catch_warnings(action="ignore"):  # a strategy's warnings do not concern the audit
            collect()
    except Unsatisfiable:
        pass  # the caller reports that nothing was found
    except HypothesisException as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InvalidValue(f"The strategy `{what}` generates no usable values: {reason}") from None
    except Exception as error:  # noqa: BLE001 - a strategy is the user's code
        raise InvalidValue(f"The strategy `{what}` failed: {type(error).__name__}: {error}") from None
    return list(found.values()), drawn, max(tries, 1)
