"""Examples of a Hypothesis strategy: the same ones in every process, and none of its files left behind."""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import InvalidKind, InvalidValue
from audit.values import canonical
from audit.values.brief import show

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["examples", "is_strategy"]

#: Examples of a strategy that are drawn first: where most are rejected, these take their time already.
_FIRST_DRAWN = 50
#: A strategy with more tries than so many a value rejects nearly everything; that few values are too few.
_REJECTS = 5
_TOO_FEW = 8
_BUILD = (
    "Build the values instead of filtering them: for even numbers `st.integers(0, 9).map(lambda n: 2 * n)`."
)
#: What is changed of Hypothesis while examples are drawn is changed by one audit at a time.
_ALONE = threading.RLock()


def is_strategy(value: Any) -> bool:
    """Tell whether a value is a Hypothesis strategy, without importing Hypothesis.

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
    with _ALONE, _no_local_constants(), _no_folder():
        found, drawn, tries = _collect(strategy, what, _FIRST_DRAWN)
        rejects = tries > _REJECTS * drawn
        if not found:
            raise InvalidValue(
                f"The strategy `{what}` gives no values: it rejects everything, or is empty. {_BUILD}"
            )
        if rejects and len(found) < _TOO_FEW:
            raise InvalidValue(
                f"The strategy `{what}` rejects nearly everything: {len(found)} different values in {tries} "
                f"tries. {_BUILD}"
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
        raise InvalidValue(f"The strategy `{what}` gives no usable values: {reason}") from None
    except Exception as error:  # noqa: BLE001 - a strategy is the user's code
        raise InvalidValue(f"The strategy `{what}` fails: {type(error).__name__}: {error}") from None
    return list(found.values()), drawn, max(tries, 1)


class _NoConstants:
    """Constants of local modules where there are none."""

    def set_for_type(self, kind: Any) -> tuple[()]:
        """Return the constants of a type."""
        del kind
        return ()


@contextlib.contextmanager
def _no_local_constants() -> Iterator[None]:
    """Keep Hypothesis, in this thread, from mixing the constants of loaded modules into its examples.

    It does so to find faults in the modules under test; here it would make the examples, and with them an
    audit of the same seed, depend on whatever else the process has loaded. Constants that tell of every type
    (NaN, infinities, …) stay. There is no setting for it, and a backend of our own would lose what only the
    default one has: no example twice, and values repeated within one. So the one function that collects them
    is replaced, and the cache that mixes them emptied and put back; where Hypothesis has neither (it began
    with 6.131), nothing is done.
    """
    providers = _providers()
    collected = getattr(providers, "_get_local_constants", None)
    cache = getattr(getattr(providers, "CONSTANTS_CACHE", None), "cache", None)
    if collected is None or cache is None:
        yield
        return
    here, kept = threading.get_ident(), dict(cache)

    def constants() -> Any:
        return _NoConstants() if threading.get_ident() == here else collected()

    cache.clear()
    providers._get_local_constants = constants  # noqa: SLF001 - there is no public way
    try:
        yield
    finally:
        providers._get_local_constants = collected  # noqa: SLF001 - as it was
        cache.clear()
        cache.update(kept)


def _providers() -> Any:
    """Return the module of Hypothesis that draws what examples are made of, None where it has none."""
    try:
        return importlib.import_module("hypothesis.internal.conjecture.providers")
    except ImportError:
        return None


@contextlib.contextmanager
def _no_folder() -> Iterator[None]:
    """Keep Hypothesis from making its folder `.hypothesis` here, where there is none yet."""
    from hypothesis import configuration

    known: dict[str, Any] = vars(configuration)
    change, default = known.get("set_hypothesis_home_dir"), known.get("__hypothesis_home_directory_default")
    before = known.get("__hypothesis_home_directory")
    folder = before or os.getenv("HYPOTHESIS_STORAGE_DIRECTORY") or default
    if change is None or folder is None or Path(folder).exists():
        yield
        return
    with tempfile.TemporaryDirectory() as elsewhere:
        change(elsewhere)
        try:
            yield
        finally:
            change(before)
