"""The generators that a subject holds, made anew in a copy of it so that they record."""

from typing import Any

from audit.sampling.recorded.everywhere import Reel
from audit.sampling.remake.reseeding import Reseeding, StandIn
from audit.sampling.seeds import FAULT


class Twins(Reseeding):
    """Makes generators that record, in the place of those that a subject holds.

    The context `recorded_everywhere` must be open. How the subject seeded a generator is not asked: an audit
    seeds those that a subject holds anew too.

    **Guarantee.** A twin has numpy's or Python's own stream of its seed, which is that of the reel.

    Parameters
    ----------
    reel
        Where they record.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.sampling.recorded import Tape, recorded_everywhere
    >>> from audit.sampling.remake.state import Pristine
    >>> pristine = Pristine([np.random.default_rng(7)])
    >>> with recorded_everywhere() as reel:
    ...     tape = Tape()
    ...     reel.start(tape, seed=1)
    ...     [rng] = pristine.copy_with(Twins(reel))
    ...     _ = rng.laplace()
    >>> [(draw.method, draw.own) for draw in tape.draws]
    [('laplace', False)]
    """

    def __init__(self, reel: Reel) -> None:
        super().__init__(reel.seed, (FAULT,))
        self._reel = reel
        self._states: list[Any] = []

    def make(self, stand_in: StandIn) -> Any:
        """Return the twin for `stand_in`; of a bit generator without a generator nothing is recorded."""
        found = super().make(stand_in)
        if stand_in.kind in {"Generator", "RandomState", "Random"}:
            found.own = False
        if stand_in.kind == "RandomState":
            self._states.append(found)
        return found

    def start(self) -> None:
        """Give the twins their state for the run that the reel has started."""
        self.again(self._reel.seed)
        for state in self._states:  # a half of a normal draw may be left in it
            state.set_state({**state.get_state(legacy=False), "has_gauss": 0, "gauss": 0.0})
