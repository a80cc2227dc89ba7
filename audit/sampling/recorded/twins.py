"""Recording generators that replace those of a subject in a copy of it."""

from typing import Any

from audit.sampling.recorded.everywhere import Reel
from audit.sampling.remake.reseeding import Reseeding, StandIn
from audit.sampling.seeds import FAULT


class Twins(Reseeding):
    """Makes recording generators that replace a subject's generators.

    These generators ("twins") go into a copy of the subject. The context `recorded_everywhere` must be open.
    As in an audit, the subject's own seeds are not used. Each generator that a subject holds gets a new seed.

    **Guarantee.** A twin draws the same numbers as numpy's or Python's own generator with the reel's seed.

    Parameters
    ----------
    reel
        The reel on which the twins record.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.sampling.recorded.everywhere import recorded_everywhere
    >>> from audit.sampling.recorded.generator import Tape
    >>> from audit.sampling.remake.state import Pristine
    >>> pristine = Pristine([np.random.default_rng(7)])
    >>> with recorded_everywhere() as reel:
    ...     tape = Tape()
    ...     reel.start(tape, seed=1)
    ...     [rng] = pristine.copy(Twins(reel))
    ...     _ = rng.laplace()
    >>> [(draw.method, draw.own) for draw in tape.draws]
    [('laplace', False)]
    """

    def __init__(self, reel: Reel) -> None:
        super().__init__(reel.seed, (FAULT,))
        self._reel = reel
        self._states: list[Any] = []

    def make(self, stand_in: StandIn) -> Any:
        """Return the recording generator for a placeholder. For a bit generator, nothing is recorded."""
        found = super().make(stand_in)
        if stand_in.kind in {"Generator", "RandomState", "Random"}:
            found.own = False
        if stand_in.kind == "RandomState":
            self._states.append(found)
        return found

    def start(self) -> None:
        """Set the state of all recording generators for the run that has started."""
        self.again(self._reel.seed)
        for state in self._states:  # the old state may hold the second half of a normal draw
            state.set_state({**state.get_state(legacy=False), "has_gauss": 0, "gauss": 0.0})
