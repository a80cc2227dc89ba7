"""Drawn examples do not depend on loaded modules, and Hypothesis is unchanged."""

import math
import os
import subprocess
import sys

import pytest
from hypothesis import strategies as st

from audit.databases.strategies import examples

#: The text of a module that Hypothesis takes for a local one. It is full of constants that Hypothesis would
#: mix into examples.
ODDITIES = "\n".join(
    [f"i{k} = {7919 * k + 1_000_003}" for k in range(40)]
    + [f"f{k} = {k}.71828182e-7" for k in range(1, 40)]
    + [f"s{k} = 'oddity number {k}'" for k in range(40)]
)
DRAW = """
from audit.databases.strategies import examples
for strategy in (st.integers(), st.floats(), st.lists(st.integers(), min_size=2)):
    print(ascii(examples(strategy, "records", 100)))
"""
#: An audit of a mechanism that leaks whether the sum is 7 modulo 11. Whether a database shows the leak
#: depends on every example.
AUDIT = """
from audit import PureDP, audit_privacy
from audit.databases.strategies import examples
from audit.results.saved import layout
examples(st.text(), "records", 50)
def release(database, rng):
    return float(sum(database) % 11 == 7) + rng.laplace(scale=0.1)
result = audit_privacy(release, PureDP(1.0), records=st.integers(), size=(1, 2), budget=4_000)
assert result.refuted
document = result.to_json()
del document["environment"]
print(layout(document))
"""
OWN = """
from hypothesis import given, settings
@settings(derandomize=True, database=None, max_examples=300)
@given(st.integers(), st.floats())
def own(number, real):
    print(ascii((number, real)))
own()
"""


def printed(code, folder, *, modules=()):
    """Run code in a separate process with local modules loaded; return what it prints."""
    folder.mkdir(exist_ok=True)
    for name in modules:
        (folder / f"{name}.py").write_text(ODDITIES)
    loading = "".join(f"import {name}\n" for name in modules)
    source = f"from hypothesis import strategies as st\n{loading}{code}"
    plain = {name: value for name, value in os.environ.items() if not name.startswith("HYPOTHESIS")}
    paths = os.pathsep.join(filter(None, (str(folder), plain.get("PYTHONPATH", ""))))
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        cwd=folder,
        env={**plain, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout
    return ended.stdout


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Return what a process draws if it has loaded no other module."""
    return printed(DRAW, tmp_path_factory.mktemp("alone"))


@pytest.fixture(scope="module")
def ours_first(tmp_path_factory):
    """Return the folder and the outputs of a process that draws ours before a test."""
    folder = tmp_path_factory.mktemp("first")
    return folder, *printed(f"{DRAW}print('own'){OWN}", folder, modules=["oddities"]).split("own\n")


@pytest.fixture(scope="module")
def ours_between(tmp_path_factory):
    """Return the outputs of a user's test, our draws, and the same test again."""
    code = f"import audit.databases.strategies{OWN}print('ours'){DRAW}print('own')\nown()"
    first, rest = printed(code, tmp_path_factory.mktemp("between"), modules=["oddities"]).split("ours\n")
    return first, *rest.split("own\n")


def test_other_loaded_modules_change_no_example(drawn, ours_first):
    assert ours_first[1] == drawn


def test_other_loaded_modules_change_no_byte_of_a_result_and_no_folder_is_left_behind(tmp_path):
    folder = tmp_path / "b"
    assert printed(AUDIT, tmp_path / "a") == printed(AUDIT, folder, modules=["oddities"])
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == {"oddities.py"}


def test_tests_of_the_user_change_no_example(drawn, ours_between):
    assert ours_between[1] == drawn


def test_tests_of_the_user_see_the_same_examples_before_and_after(ours_first, ours_between):
    """The examples contain constants of the user's modules.

    The tests also keep their `.hypothesis` folder.
    """
    alone, _, again = ours_between
    assert any(str(7919 * k + 1_000_003) in alone for k in range(40))
    folder, _, after = ours_first
    assert again == after == alone
    assert (folder / ".hypothesis").is_dir()


def test_special_values_of_a_type_are_among_the_examples():
    found = examples(st.floats(), "records", 400)
    assert any(math.isnan(x) for x in found)
    assert {math.inf, -math.inf, 0.0} <= set(found)


def test_a_failing_strategy_leaves_hypothesis_unchanged():
    from hypothesis import configuration

    providers = pytest.importorskip("hypothesis.internal.conjecture.providers")
    before = [dict(vars(module)) for module in (providers, configuration)]
    cached = dict(providers.CONSTANTS_CACHE.cache)

    def broken(value):
        raise ZeroDivisionError

    with pytest.raises(Exception, match="ZeroDivisionError"):
        examples(st.integers().map(broken), "records", 10)
    for module, names in zip((providers, configuration), before, strict=True):
        assert {name: vars(module)[name] for name in names} == names
    assert dict(providers.CONSTANTS_CACHE.cache) == cached
