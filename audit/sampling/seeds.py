"""The seed tree, in which every block of runs has a place. Seed and place determine the block's generator."""

from typing import Final

import numpy as np

EXPLORE: Final = 0
BET: Final = 1
CONFIRM: Final = 2
LAW: Final = 4
RNG_CHECK: Final = 5
SHRINK: Final = 6
CALLS: Final = 7
FAULT: Final = 8

# The index of a block's first child in the seed tree. It exceeds every index of a stage, a pair or a block,
# so no two places coincide.
COINS: Final = 2**31
RUNS: Final = 2**31 + 1
RESTART: Final = 2**31 + 2
COPIES: Final = 2**31 + 3

Path = tuple[int, ...]


def generator(seed: int, path: Path) -> np.random.Generator:
    """Return the random generator of a place in the seed tree.

    Parameters
    ----------
    seed
        The audit's seed, a non-negative int.
    path
        The place, as non-negative ints from the root downwards. The first int is the stage of the audit.

    Notes
    -----
    **Guarantee.** Different paths give streams that are independent for all practical purposes, as different
    spawn keys of numpy's ``SeedSequence`` do.

    Examples
    --------
    >>> float(generator(0, (BET, 3)).random()) == float(generator(0, (BET, 3)).random())
    True
    >>> float(generator(0, (BET, 3)).random()) == float(generator(0, (BET, 4)).random())
    False
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=path)))
