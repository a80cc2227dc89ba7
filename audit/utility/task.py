"""What the parts of a utility audit are told."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit.claims import PAC
from audit.task import Task

if TYPE_CHECKING:
    from audit.claims import UtilityClaim
    from audit.sampling import Sampler
    from audit.subject.subject import Subject
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

    def sampler(self, subject: Subject) -> Sampler:
        """Return what draws runs of the learner, or of an experiment around it.

        A learner that takes no generator stays in one process: its own generator would repeat in each worker.
        """
        from audit.sampling import Sampler

        options = self.options
        return Sampler(
            subject,
            seed=options.seed,
            jobs=options.jobs if self.subject.takes_rng else 1,
            isolate=options.isolate,
            run_time_limit=options.run_time_limit,
        )

    def search_seed(self) -> Any:
        """Give the seed of what is proposed: a branch of the seed tree that no run uses."""
        import numpy as np

        return np.random.SeedSequence((self.options.seed, 2**31 - 2))
