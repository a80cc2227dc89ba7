"""Edge values by type: what each list holds, and that leaks of them are found."""

import datetime as dt
import math
import subprocess
import sys

import pytest

from audit import PureDP, audit_privacy, edges
from audit.errors import AuditError
from audit.values import canonical


def test_floats_have_the_bounds_their_next_floats_and_every_kind_of_float():
    found = edges.floats(-2, 3)
    assert found[:2] == [-2.0, 3.0]
    beside = {math.nextafter(bound, way) for bound in (-2.0, 3.0) for way in (-math.inf, math.inf)}
    assert {*beside, 0.0, 5e-324, -5e-324, sys.float_info.max, -sys.float_info.max} <= {*found}
    assert {math.inf, -math.inf} <= {*found}
    assert any(map(math.isnan, found))
    assert any(x == 0 and math.copysign(1, x) < 0 for x in found)
    assert min(x for x in found if x > -1e300) < -4 < 4 < max(x for x in found if x < 1e300)
    # an audit tries up to 20 edge values one at a time
    assert len({repr(x) for x in found}) == len(found) <= 20


def test_other_types_have_their_known_traps():
    assert {0, 7, -1, 8, 2**31, 2**53 + 1, 2**63, 10**400} <= {*edges.integers(0, 7)}
    assert all(type(number) is int for number in edges.integers(0, 7))
    assert {"", " ", "nan", "\0", "é", "e\u0301"} <= {*edges.text()}
    assert edges.categories(["a", "b"])[:2] == ["a", "b"]
    assert {"A", "", None} <= {*edges.categories(["a", "b"])}
    assert {"1", None} <= {*edges.categories([1, 2])}
    days = edges.dates(dt.date(2024, 1, 1), dt.date(2024, 12, 31))
    assert {dt.date(2023, 12, 31), dt.date(2025, 1, 1), dt.date.min, dt.date.max} <= {*days}
    moments = edges.dates(dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime(2024, 1, 2, tzinfo=dt.UTC))
    assert all(moment.tzinfo is dt.UTC for moment in moments)
    assert dt.date.max in edges.dates(dt.date(2024, 1, 1), dt.date.max)  # the last day that exists
    assert edges.missing()[0] is None


@pytest.mark.parametrize("strange", [x for x in edges.floats(0, 1)[2:] if x != 0], ids=repr)
def test_a_leak_of_any_edge_is_refuted_by_a_small_budget(strange):
    """At significance 1e-6 the refutation takes about 200 runs.

    The leak is certain and the noise small.
    """
    wanted = canonical.key(strange)

    def release(database, rng):
        return float(any(canonical.key(record) == wanted for record in database)) + rng.laplace(scale=0.01)

    result = audit_privacy(
        release, PureDP(1.0), records=edges.floats(0, 1), size=3, budget=2_000, confirm_budget=4
    )
    assert result.log_wealth >= result.log_limit


def test_the_public_modules_are_reached_from_the_package_and_importing_it_loads_nothing_heavy():
    code = (
        "import sys, audit; heavy = {'numpy', 'scipy', 'hypothesis', 'pandas'};"
        "assert audit.edges.floats(0, 1)[1] == 1; print(heavy & set(sys.modules));"
        "assert audit.strategies.databases and audit.adapters.sklearn and audit.assert_private"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: edges.floats(1, 0), "`low` must be below the `high`; got 1.0 and 0.0"),
        (lambda: edges.floats(0, math.inf), "`high` must be a finite number"),
        (lambda: edges.integers(0, 1.5), r"`high` must be a whole number; got 1\.5"),
        (lambda: edges.integers(2, 2), "must be below"),
        (lambda: edges.categories("abc"), "must be a list of categories; got 'abc'"),
        (lambda: edges.categories([]), "give at least one"),
        (lambda: edges.dates("2024-01-01", dt.date.max), "`low` must be a date"),
        (lambda: edges.dates(dt.date.min, dt.datetime(2024, 1, 1, tzinfo=dt.UTC)), "both be dates"),
        (lambda: edges.dates(dt.date.max, dt.date.min), "must be below"),
    ],
)
def test_bad_bounds_are_refused_in_one_line(make, words):
    with pytest.raises(AuditError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)
