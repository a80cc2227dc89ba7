"""What the parts of a utility audit are told."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit.claims import PAC
from audit.task import Task

if TYPE_CHECKING:
    from audit.claims import UtilityClaim
    from audit.utility.families import Family


@dataclass(frozen=True, kw_only=True)
class UtilityTask(Task):
    """Everything that a utility audit needs to know."""

    claim: UtilityClaim
    family: Family
    exact: bool

    @property
    def most(self) -> float:
        """The largest finite error that can be: 1 of a claim about errors that are probabilities."""
        return 1.0 if isinstance(self.claim, PAC) else math.inf

    def search_seed(self) -> Any:
        """Give the seed of what is proposed: a branch of the seed tree that no run uses."""
        import numpy as np

        return np.random.SeedSequence((self.options.seed, 2**31 - 2))
