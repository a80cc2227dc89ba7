"""Examples of a Hypothesis strategy: the same ones in every process, and none of its files left behind."""

from __future__ import annotations  # what is drawn hangs on the source and the signature of `collect`

import threading
import warnings
from typing import Any

from audit.errors import InvalidKind, InvalidValue
from audit.values import canonical
from audit.values.brief import show
from audit.values.compat import plain_hypothesis

#: Draw this many examples first: if the strategy rejects most tries, these are slow already.
_FIRST_DRAWN = 50
#: A strategy that needs more tries than this for a value rejects nearly everything.
_REJECTS = 5
#: Fewer values than this are too few.
_TOO_FEW = 8
_BUILD = (
    "Build the values instead of filtering them, for example even numbers as "
    "`st.integers(0, 9).map(lambda n: 2 * n)`."
)
#: What is changed of Hypothesis while examples are drawn is changed by one audit at a time.
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
    """Draw distinct examples, the same in every process; few of a strategy that rejects nearly everything.

    Parameters
    ----------
    strategy
        A Hypothesis strategy.
    what
        What the user calls it: the name of the argument.
    most
        How many at most.

    Raises
    ------
    InvalidValue, InvalidKind
        One line: what, which value, what would be right.

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
    """Return the distinct values among up to `most` examples, how many there were, and in how many tries.

    Derandomised, without example database or deadline.
    """
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a strategy's own warnings are no business of an audit
            collect()
    except Unsatisfiable:
        pass  # nothing was found, which the caller says
    except HypothesisException as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InvalidValue(f"The strategy `{what}` generates no usable values: {reason}") from None
    except Exception as error:  # noqa: BLE001 - a strategy is the user's code
        raise InvalidValue(f"The strategy `{what}` failed: {type(error).__name__}: {error}") from None
    return list(found.values()), drawn, max(tries, 1)
