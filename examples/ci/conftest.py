"""Leave audits out of ordinary test runs.

`pytest -m audit` runs the audits. Copy this file beside your tests.
"""


def pytest_collection_modifyitems(config, items):
    """Deselect audits, unless `-m`, `-k` or the name of a test is given.

    An audit is a test that uses the fixture `auditor`.
    """
    asked = config.getoption("markexpr") or config.getoption("keyword") or "::" in "".join(config.args)
    audits = [] if asked else [item for item in items if item.get_closest_marker("audit")]
    if audits:
        config.hook.pytest_deselected(items=audits)
        items[:] = [item for item in items if item not in audits]
