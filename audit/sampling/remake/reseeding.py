"""Generators inside a subject.

They are removed when the subject is pickled, and made anew when it is loaded.
"""

import random
from typing import Any, Final, NamedTuple

import numpy as np

from audit.sampling.seeds import COPIES, Path


class StandIn(NamedTuple):
    """The placeholder of a generator in a pickle.

    Parameters
    ----------
    kind
        The name of the generator's class.
    number
        The number of the generator's source of randomness. Two generators may share a source.
    bits
        The class of a numpy bit generator.

    Examples
    --------
    >>> Sources().stand_in(np.random.default_rng(1)).number
    0
    """

    kind: str
    number: int = 0
    bits: type | None = None


#: The original classes: while draws are recorded, the module `random` has other classes under these names.
_RANDOM: Final = random.Random
_SYSTEM: Final = random.SystemRandom
#: Values of these types are never generators, classes or handles, so they are not checked. These types are
#: the most common ones.
ORDINARY = frozenset({int, float, str, bytes, bool, tuple, list, dict, type(None), np.ndarray})


class Sources:
    """Gives a number to each source of randomness in a subject.

    The numbers follow the order of pickling.

    Examples
    --------
    >>> sources, rng = Sources(), random.Random(1)
    >>> sources.stand_in(rng) == sources.stand_in(rng), sources.stand_in("no generator")
    (True, None)
    """

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[int, Any]] = {}

    def stand_in(self, value: Any) -> StandIn | None:
        """Return the placeholder of a generator, or None if the value is not a generator."""
        if type(value) in ORDINARY:
            return None
        if isinstance(value, np.random.Generator):
            return self._numpy("Generator", value.bit_generator)
        if isinstance(value, np.random.RandomState):
            return self._numpy("RandomState", value._bit_generator)  # noqa: SLF001  it has no public name
        if isinstance(value, np.random.BitGenerator):
            return self._numpy("BitGenerator", value)
        if type(value) is _RANDOM:
            return StandIn("Random", self._number(value))
        return StandIn("SystemRandom") if type(value) is _SYSTEM else None

    def __len__(self) -> int:
        return len(self._numbers)

    def reseed(self, seed: int, path: Path) -> None:
        """Reseed every source that has a number, in place.

        The new seeds come from `seed` and `path`.

        Examples
        --------
        >>> sources, rng = Sources(), random.Random(1)
        >>> _ = sources.stand_in(rng)
        >>> sources.reseed(0, (1,))
        >>> first = rng.random()
        >>> sources.reseed(0, (1,))
        >>> first == rng.random()
        True
        """
        for number, source in self._numbers.values():
            _restart(source, _seeds(seed, path, number))

    def _numpy(self, kind: str, bits: Any) -> StandIn:
        return StandIn(kind, self._number(bits), type(bits))

    def _number(self, source: Any) -> int:
        number, _ = self._numbers.setdefault(id(source), (len(self._numbers), source))  # keeps its id in use
        return number


class Reseeding:
    """Makes the generators that replace placeholders.

    Their seeds come from one place in the seed tree: `seed` and `path`.

    Examples
    --------
    >>> stand_in = Sources().stand_in(np.random.default_rng(1))
    >>> bool(Reseeding(0, (1,)).make(stand_in).random() == Reseeding(0, (1,)).make(stand_in).random())
    True
    >>> bool(Reseeding(0, (1,)).make(stand_in).random() == Reseeding(0, (2,)).make(stand_in).random())
    False
    """

    def __init__(self, seed: int, path: Path) -> None:
        self._seed = seed
        self._path = path
        self._made: dict[int, Any] = {}

    def make(self, stand_in: StandIn) -> Any:
        """Return the generator for a placeholder. Placeholders of equal `number` share a source."""
        kind, number, bits = stand_in
        if kind == "SystemRandom":
            return random.SystemRandom()
        if number not in self._made:
            seeds = _seeds(self._seed, self._path, number)
            self._made[number] = bits(seeds) if bits else random.Random(_whole(seeds))  # noqa: S311  the subject's choice
        source = self._made[number]
        if kind == "Generator":
            return np.random.Generator(source)
        return np.random.RandomState(source) if kind == "RandomState" else source

    def again(self, seed: int) -> None:
        """Reseed the generators made so far, in place.

        They are then as if they had been made with this seed.
        """
        for number, source in self._made.items():
            _restart(source, _seeds(seed, self._path, number))


def _restart(source: Any, seeds: np.random.SeedSequence) -> None:
    if isinstance(source, _RANDOM):
        source.seed(_whole(seeds))
    else:
        source.state = type(source)(seeds).state


def reseed_process(seed: int, path: Path) -> None:
    """Reseed the global generators of Python and numpy.

    Call this in a process that only draws runs. Otherwise a mechanism that uses these generators would make
    the same draws in every process.
    """
    seeds = _seeds(seed, path, 0)
    random.seed(_whole(seeds))
    np.random.seed(seeds.generate_state(4))  # noqa: NPY002  the generator that mechanisms use


def _seeds(seed: int, path: Path, number: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(*path, COPIES, number))


def _whole(seeds: np.random.SeedSequence) -> int:
    return int.from_bytes(seeds.generate_state(4).tobytes(), "little")
