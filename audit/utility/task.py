"""What the parts of a utility audit are told."""

from dataclasses import dataclass

import numpy as np

from audit.claims import UtilityClaim
from audit.sampling import Sampler
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
        """Whether what did not finish speaks for neither side, and is no failure."""
        return self.options.unfinished == "against"

    def experiment(self, *, law: bool, beside: bool = False) -> Subject:
        """Return the experiment around the learner; `law` and `beside` as for `as_subject`."""
        return as_subject(self.subject, self.claim, law=law, beside=beside)

    def sampler(self, subject: Subject) -> Sampler:
        """Return what draws runs of the learner, or of an experiment around it.

        A learner that takes no generator stays in one process: its own generator would repeat in each worker.
        """
        options = self.options
        return Sampler(
            subject,
            seed=options.seed,
            jobs=options.jobs if self.subject.takes_rng else 1,
            isolate=options.isolate,
            run_time_limit=options.run_time_limit,
        )

    def search_rng(self) -> np.random.Generator:
        """Return the generator of what is proposed: of a branch of the seed tree that no run uses."""
        return np.random.default_rng(np.random.SeedSequence((self.options.seed, 2**31 - 2)))
