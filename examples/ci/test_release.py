"""The audits of this example."""

import pytest
from release import Mean


@pytest.mark.audit(significance=1e-4)  # one alarm in 10,000 pushes, if the claim holds
def test_the_mean_keeps_its_claim(auditor):
    """Fails on REFUTED, ERROR and INCONCLUSIVE."""
    auditor.check(Mean())
