"""A counter that answers after every event, by a binary tree.

The tree is that of Dwork et al. and of Chan et al. (2010).

    dp-audit run examples/stream_counter.py:wrong --html wrong.html
    dp-audit run examples/stream_counter.py:right

An event is in one node of each level of the tree, so every node needs noise for ε/levels. `wrong` adds
noise for ε to every node.
"""

import math
from dataclasses import dataclass

from audit import PureDP


@dataclass(frozen=True)
class TreeCounter:
    """Noisy counts of a stream of bits, one after every event.

    Guarantee: if `scale` is levels/epsilon, the counts are epsilon-differentially private when one event is
    replaced. An event changes one node of each level, by at most 1.
    """

    claim: PureDP
    scale: float
    records, size = (0, 1), 8

    def __call__(self, events, rng):
        """Return the noisy count after each event."""
        nodes: dict[tuple[int, int], float] = {}
        answers = []
        for time in range(1, len(events) + 1):
            total, start = 0.0, 0
            for level in reversed(range(time.bit_length())):
                if time >> level & 1:
                    if (level, start) not in nodes:
                        nodes[level, start] = sum(events[start : start + 2**level]) + rng.laplace(
                            scale=self.scale
                        )
                    total += nodes[level, start]
                    start += 2**level
            answers.append(total)
        return answers


LEVELS = int(math.log2(TreeCounter.size)) + 1
wrong = TreeCounter(claim=PureDP(epsilon=1.0), scale=1.0)
right = TreeCounter(claim=PureDP(epsilon=1.0), scale=float(LEVELS))
