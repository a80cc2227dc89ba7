"""The task of a utility audit."""

from dataclasses import dataclass

import numpy as np

from audit.claims import UtilityClaim
from audit.task import Task
from audit.utility.families import Family


@dataclass(frozen=True, kw_only=True)
class UtilityTask(Task):
    """The subject, claim, problems and options of a utility audit."""

    claim: UtilityClaim
    family: Family
    exact: bool

    @property
    def against(self) -> bool:
        """Whether unfinished runs support neither the claim nor a refutation."""
        return self.options.unfinished == "against"

    def search_rng(self) -> np.random.Generator:
        """Return the random generator for proposed problems.

        It is from a branch of the seed tree that no run uses.
        """
        return np.random.default_rng(np.random.SeedSequence((self.options.seed, 2**31 - 2)))
