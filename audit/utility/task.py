"""What the parts of a utility audit are told."""

from dataclasses import dataclass

import numpy as np

from audit.claims import UtilityClaim
from audit.subject.subject import Subject
from audit.task import Task
from audit.utility.experiment import as_subject
from audit.utility.families import Family


@dataclass(frozen=True, kw_only=True)
class UtilityTask(Task):
    """Everything that a utility audit needs to know."""

    claim: UtilityClaim
    family: Family
    exact: bool

    @property
    def against(self) -> bool:
        """Whether a run that did not finish counts for neither side, and is no failure."""
        return self.options.unfinished == "against"

    def experiment(self, *, law: bool, beside: bool = False) -> Subject:
        """Return the experiment around the learner; `law` and `beside` as for `as_subject`."""
        return as_subject(self.subject, self.claim, law=law, beside=beside)

    def search_rng(self) -> np.random.Generator:
        """Return the generator of what is proposed: of a branch of the seed tree that no run uses."""
        return np.random.default_rng(np.random.SeedSequence((self.options.seed, 2**31 - 2)))
