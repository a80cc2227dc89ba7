"""The catalogue's code agrees with the texts: laws, calls, thresholds and sizes, by independent formulas."""

import pytest

from audit.catalogue import load_catalogue
from audit.doors.formulas import compared

ENTRIES = [entry for entry in load_catalogue() if entry.formulas is not None]


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.name) for entry in ENTRIES])
def test_the_code_of_an_entry_is_what_its_text_says(entry):
    made = entry.factory()
    assert [str(each) for each in compared(entry.formulas(made), made) if not each.agrees] == []
