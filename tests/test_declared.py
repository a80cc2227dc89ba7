"""Every subject of the catalogue is as it declares."""

from audit import parametrize_with_checks
from audit.catalogue import load_catalogue


@parametrize_with_checks(load_catalogue())
def test_a_subject_is_as_it_declares_itself_to_be(subject, check):
    check(subject)
