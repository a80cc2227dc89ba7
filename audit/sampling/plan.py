"""How a draw is cut into blocks: by its size alone, never by who draws them."""

from typing import Final

LARGEST_BLOCK: Final = 2**18  # pairs; bounds memory
_HEAVIEST_BLOCK: Final = 2**27  # bytes, both sides
_VECTORISED_BLOCK: Final = 2**16
_WORKERS: Final = 8
_SMALLEST_BLOCK: Final = 8


def block_sizes(size: int, *, vectorised: bool, weight: int = 0) -> list[int]:
    """Return the numbers of pairs in the blocks of a draw.

    Per-run calls are cut into up to eight blocks for workers to share. A vectorised sampler is fast and
    its calls cost the same for one run as for many: only large draws are cut. A block of outputs of
    `weight` bytes each, as far as they are known, holds at most 128 MB.

    Examples
    --------
    >>> block_sizes(20, vectorised=False), block_sizes(20, vectorised=True), block_sizes(0, vectorised=True)
    ([10, 10], [20], [])
    >>> block_sizes(3, vectorised=False, weight=10**8)
    [1, 1, 1]
    """
    if vectorised:
        count = -(-size // _VECTORISED_BLOCK)
    else:
        count = max(min(_WORKERS, size // _SMALLEST_BLOCK), -(-size // LARGEST_BLOCK), min(size, 1))
    most = max(1, _HEAVIEST_BLOCK // (2 * max(1, weight)))
    count = max(count, -(-size // most))
    return [size * (i + 1) // count - size * i // count for i in range(count)]
