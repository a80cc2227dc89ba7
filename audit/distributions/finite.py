"""Laws on finitely many outcomes."""

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audit.distributions.forms import COARSE, coarse, form_key, least_gap, rows_like, slack, truth_as_numbers
from audit.distributions.law import (
    OUTSIDE,
    Floats,
    Ints,
    Ordered,
    Outputs,
    Partition,
    as_numbers,
    log_add,
    refuse_unless_whole,
)
from audit.distributions.rounding import logarithms, moved_logs, read
from audit.errors import InvalidKind, InvalidValue
from audit.values import canonical

Outcomes: TypeAlias = "range | NDArray[Any] | Sequence[Any]"


class Finite(Ordered):
    """A law on finitely many outcomes, which may be any Python values.

    Parameters
    ----------
    outcomes
        Distinct values (as `audit.values.canonical` compares them). A million outcomes are fast if they are a
        range or a one-dimensional array of numbers.
    probabilities, log_probabilities
        One of the two, with one entry for each of `outcomes`. Probabilities must sum to 1 within 1e-9.
        Comparisons allow for a rounding error of floats (`audit.distributions.rounding`). So give small
        probabilities as logarithms. Fractions must sum to 1 and are compared exactly.

    Attributes
    ----------
    rounding : float
        The largest rounding error of a probability. It is 0 for logarithms and fractions.
    fractions : tuple of Fraction, optional
        The probabilities, if they were given as fractions.

    Raises
    ------
    InvalidValue
        If the probabilities do not sum to 1, are negative or NaN, or do not match the outcomes in number.
        Also if an outcome occurs twice.

    Examples
    --------
    >>> coin = Finite(["no", "yes"], [0.25, 0.75])
    >>> coin.pmf("yes"), coin.pmf("perhaps")
    (0.75, 0.0)
    """

    def __init__(
        self, outcomes: Outcomes, probabilities: Any = None, *, log_probabilities: Any = None
    ) -> None:
        given = read(probabilities, log_probabilities, owner="Finite")
        self.outcomes = _kept(outcomes)
        self.log_probabilities, self.rounding, self.fractions = given
        self.log_probabilities.flags.writeable = False
        self._validate()

    @classmethod
    def from_clamped(cls, law: Any, low: int, high: int) -> "Finite":
        """Return the law of the output of `law` clamped to low..high.

        `low` and `high` get the mass of the tails.

        Examples
        --------
        >>> from audit.distributions import Countable
        >>> clamped = Finite.from_clamped(Countable.geometric(0, 1.0), 0, 2)
        >>> round(clamped.pmf(0), 9) == round(Countable.geometric(0, 1.0).cdf(0), 9)
        True
        """
        if not low <= high:
            raise InvalidValue(f"`Finite.from_clamped` needs low <= high; got {low} and {high}.")
        if low == high:
            return cls(range(low, high + 1), log_probabilities=[0.0])
        logs = np.array(law.logpmf(np.arange(low, high + 1)))
        logs[0], logs[-1] = law.logcdf(low), law.logsf(high - 1)
        return cls(range(low, high + 1), log_probabilities=logs)

    def map(self, function: Callable[[Any], Any]) -> "Finite":
        """Return the law of ``function(outcome)``. Equal values are merged.

        Examples
        --------
        >>> Finite(range(4), [0.25, 0.25, 0.25, 0.25]).map(lambda k: k < 2).pmf(True)
        0.5
        """
        images: dict[Hashable, tuple[Any, list[int]]] = {}
        for place, outcome in enumerate(self.outcomes):
            image = function(outcome)
            images.setdefault(canonical.key(image), (image, []))[1].append(place)
        outcomes, places = [image for image, _ in images.values()], [each for _, each in images.values()]
        if self.fractions is not None:
            return Finite(outcomes, [sum(self.fractions[k] for k in each) for each in places])
        logs = [float(log_add(self.log_probabilities[each])) for each in places]
        merged = Finite(outcomes, log_probabilities=logs)
        merged.rounding = self.rounding
        return merged

    def extreme(self, sign: int) -> "Finite":
        """Return the law with probabilities at one end of their rounding error.

        For −1 it is the lower end, for +1 the upper end.

        Examples
        --------
        >>> Finite("ab", [0.75, 0.25]).extreme(+1).pmf("b") > 0.25
        True
        """
        if not self.rounding:
            return self
        moved = copy(self)
        for each in ("_cumulative", "_masses_below_and_above"):  # caches for the old probabilities
            moved.__dict__.pop(each, None)
        moved.log_probabilities = moved_logs(self.log_probabilities, sign * self.rounding)
        moved.rounding = 0.0
        return moved

    def support(self) -> Outcomes:
        """Return the outcomes that have positive probability, in the given order."""
        possible = np.isfinite(self.log_probabilities)
        if possible.all():
            return self.outcomes
        if isinstance(self.outcomes, np.ndarray):
            return self.outcomes[possible]
        return [self.outcomes[i] for i in np.flatnonzero(possible).tolist()]

    def outcome(self, index: int) -> Any:
        """Return the outcome at a position, with a Python type."""
        value = self.outcomes[index]
        return value.item() if isinstance(value, np.generic) else value

    def pmf(self, outcome: Any) -> float:
        """Return the probability of `outcome`, or 0 if it is not listed."""
        return float(np.exp(self.logpmf(outcome)))

    def logpmf(self, outcome: Any) -> float:
        """Return the log-probability of `outcome`, or −∞ if it is not listed."""
        index = self.locate([outcome])[0]
        return float(self.log_probabilities[index]) if index >= 0 else -np.inf

    def sample(self, size: int, rng: np.random.Generator) -> Outputs:
        """Return `size` independent outcomes, as an array if `outcomes` is no list."""
        index = np.searchsorted(self._cumulative, rng.random(size), side="right")
        if isinstance(self.outcomes, range):
            return np.asarray(self.outcomes.start + self.outcomes.step * index)
        if isinstance(self.outcomes, np.ndarray):
            return self.outcomes[index]
        return [self.outcomes[i] for i in index.tolist()]

    def bins(self, k: int) -> Partition:
        """Return a cell for each outcome, or at most k intervals of outcomes."""
        if len(self.outcomes) <= k:
            return Partition(self.log_probabilities, self.locate)
        upper = self._cumulative
        cell = np.unique(np.minimum((upper * k * (1 - 1e-12)).astype(np.intp), k - 1), return_inverse=True)[1]
        masses = np.bincount(cell, weights=np.exp(self.log_probabilities))

        def locate(outputs: Outputs) -> Ints:
            index = self.locate(outputs)
            return np.where(index >= 0, cell[index], OUTSIDE)

        return Partition(logarithms(masses), locate)

    def locate(self, outputs: Outputs) -> Ints:
        """Return the position of each output among the possible outcomes, else −1."""
        listed = self.outcomes
        numeric = isinstance(listed, range) or (isinstance(listed, np.ndarray) and listed.dtype.kind in "iuf")
        index = self._locate_numbers(truth_as_numbers(outputs)) if numeric else self._locate_keys(outputs)
        impossible = np.isneginf(self.log_probabilities[index])
        return np.where(impossible, OUTSIDE, index)

    @cached_property
    def keys(self) -> list[Hashable]:
        """The form keys of the outcomes, in order (`audit.distributions.forms`)."""
        return [form_key(outcome) for outcome in self.outcomes]

    @cached_property
    def exact_keys(self) -> list[Hashable]:
        """The canonical keys of the outcomes, in order."""
        return [canonical.key(outcome) for outcome in self.outcomes]

    @cached_property
    def ambiguous(self) -> bool:
        """Whether two outcomes have the same form."""
        if isinstance(self.outcomes, range | np.ndarray):
            values, _ = as_numbers(np.unique(self.outcomes).astype(np.float64))
            return bool((np.diff(values) <= least_gap(values[1:])).any())
        return len(set(self.keys)) < len(self.keys)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Finite):
            return NotImplemented
        if self is other:
            return True
        same = np.array_equal(self.log_probabilities, other.log_probabilities)
        return same and self.fractions == other.fractions and same_outcomes(self, other)

    def __hash__(self) -> int:
        return hash((self.log_probabilities + 0.0).tobytes())  # −0 equals 0

    def __repr__(self) -> str:
        return f"Finite({len(self.outcomes)} outcomes)"

    def _validate(self) -> None:
        shape, expected = self.log_probabilities.shape, (len(self.outcomes),)
        if shape != expected:
            raise InvalidValue(f"`Finite` has {expected[0]} outcomes but probabilities of shape {shape}.")
        total = float(np.exp(log_add(self.log_probabilities)))
        refuse_unless_whole(total, what="The probabilities of `Finite`")
        if isinstance(self.outcomes, range):
            return
        if isinstance(self.outcomes, np.ndarray):
            distinct = _count_distinct(self.outcomes)
        else:
            distinct = len(set(self.outcomes if _plain(self.outcomes) else self.exact_keys))
        if distinct != len(self.outcomes):
            raise InvalidValue("The outcomes of `Finite` must be distinct; `Finite.map` merges equal ones.")

    @cached_property
    def _cumulative(self) -> Floats:
        cumulative = np.cumsum(np.exp(self.log_probabilities))
        return np.asarray(cumulative / cumulative[-1])

    def _tails(self, x: Any) -> tuple[Any, Any]:
        values, _ = self._by_value
        below, above = self._masses_below_and_above
        index = np.searchsorted(values, x, side="right")
        return below[index], above[index]

    @cached_property
    def _masses_below_and_above(self) -> tuple[Floats, Floats]:
        """The log-mass below each position, and from it on, in ascending order."""
        values, order = self._by_value
        if np.isnan(values).any():
            raise InvalidKind("A cdf needs numbers as outcomes; this law has others.")
        masses = self.log_probabilities[order]
        below = np.append(-np.inf, np.logaddexp.accumulate(masses))
        return below, np.append(np.logaddexp.accumulate(masses[::-1])[::-1], -np.inf)

    @cached_property
    def _by_value(self) -> tuple[Floats, Ints]:
        """The outcomes as ascending numbers, else NaN, and their positions."""
        values, _ = as_numbers(self.outcomes)
        order = np.argsort(values, kind="stable")
        return values[order], order

    @cached_property
    def by_exact_key(self) -> dict[Hashable, int]:
        """The position of each outcome, by its canonical key."""
        return {key: index for index, key in enumerate(self.exact_keys)}

    @cached_property
    def _by_key(self) -> dict[Hashable, int]:
        return {} if self.ambiguous else {key: index for index, key in enumerate(self.keys)}

    @cached_property
    def _by_coarse_key(self) -> dict[Hashable, int]:
        keys = [form_key(outcome, COARSE) for outcome in self.outcomes]
        return {key: index for index, key in enumerate(keys)} if len(set(keys)) == len(keys) else {}

    @cached_property
    def _gaps(self) -> Floats:
        """Distance of each outcome from the nearest other outcome, at most 1."""
        steps = np.minimum(np.diff(self._by_value[0]), 1.0)
        return np.asarray(np.minimum(np.append(steps, 1.0), np.append(1.0, steps)))

    def _locate_numbers(self, outputs: Outputs) -> Ints:
        wanted, real = as_numbers(outputs)
        values, order = self._by_value
        place = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
        same = values[place] == wanted
        if not same.all():
            place, same = self._nearest(wanted, place, outputs)
        return np.where(real & same, order[place], OUTSIDE)

    def _nearest(self, wanted: Floats, place: Ints, outputs: Outputs) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the nearest outcome of each output, and whether it is equal."""
        values, _ = self._by_value
        before = np.maximum(place - 1, 0)
        with np.errstate(invalid="ignore"):
            closer = np.abs(values[before] - wanted) < np.abs(values[place] - wanted)
            place = np.where(closer, before, place)
            apart = np.abs(values[place] - wanted)
            allowed = slack(outputs, np.maximum(np.abs(values[place]), self._gaps[place]))
        finite = np.isfinite(values[place]) & np.isfinite(wanted)
        return place, (values[place] == wanted) | (finite & (apart <= allowed))

    def _locate_keys(self, outputs: Outputs) -> Ints:
        found: dict[Any, int] = {}
        if isinstance(outputs, np.ndarray) and outputs.ndim > 1:
            outputs = rows_like(outputs, self.outcomes[0])
        return np.array([self._locate_key(output, found) for output in outputs], dtype=np.intp)

    def _locate_key(self, output: Any, found: dict[Any, int]) -> int:
        """Return the position of one output, remembered in `found` if it is plain."""
        kinds = tuple(map(type, output)) if type(output) is tuple else (type(output),)
        if not _PLAIN.issuperset(kinds):
            return self._locate_form(output)
        quick = (type(output), kinds, output)
        if quick not in found:
            found[quick] = self._locate_form(output)
        return found[quick]

    def _locate_form(self, output: Any) -> int:
        """Return the position of the outcome that equals the output, else −1."""
        index = self.by_exact_key.get(canonical.key(output))
        if index is None:
            index = self._by_key.get(form_key(output))
        if index is None and coarse([output]):
            index = self._by_coarse_key.get(form_key(output, COARSE))
        return OUTSIDE if index is None else index


_PLAIN = frozenset({int, float, str, bool, bytes, type(None)})


def same_outcomes(left: Finite, right: Finite) -> bool:
    """Return whether two laws list the same outcomes in the same order."""
    a, b = left.outcomes, right.outcomes
    if a is b:
        return True
    if len(a) != len(b):
        return False
    if isinstance(a, range) and isinstance(b, range):
        return a == b
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b)
    first, second = keys_of((left, right))
    return first == second


def keys_of(laws: Sequence[Finite]) -> list[list[Hashable]]:
    """Return each law's outcomes as keys to compare.

    They are the `exact_keys` if any law is `ambiguous`, else the `keys`.

    Examples
    --------
    >>> keys_of([Finite([(0, 1)], [1.0]), Finite([[0, 1]], [1.0])])[1]
    [('tuple', 0, 1)]
    """
    exact = any(law.ambiguous for law in laws)
    return [law.exact_keys if exact else law.keys for law in laws]


def _kept(outcomes: Outcomes) -> Outcomes:
    """Return outcomes as a range, an array or a list."""
    vector = isinstance(outcomes, np.ndarray) and outcomes.ndim == 1 and outcomes.dtype.kind in "biuf"
    if isinstance(outcomes, range) or vector:
        return outcomes
    if not hasattr(outcomes, "__iter__"):
        raise InvalidKind(f"The `outcomes` of `Finite` must be a sequence; got {type(outcomes).__name__}.")
    kept = list(outcomes)
    kinds = set(map(type, kept))
    if kinds in ({float}, {bool}) or (kinds == {int} and max(map(abs, kept)) < 2**53):
        return np.array(kept)
    return kept


def _count_distinct(numbers: NDArray[Any]) -> int:
    """Return how many distinct numbers there are, where NaN counts as one."""
    ordered = np.sort(numbers)
    new = ordered[1:] != ordered[:-1]
    if ordered.dtype.kind == "f":
        new &= ~np.isnan(ordered[:-1])
    return int(len(ordered) > 0) + int(np.count_nonzero(new))


def _plain(outcomes: Sequence[Any]) -> bool:
    kinds = set(map(type, outcomes))
    return len(kinds) == 1 and kinds <= _PLAIN
