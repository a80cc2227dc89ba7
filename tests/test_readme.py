"""The README's first screen runs, and prints what it says it prints."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

from hypothesis import HealthCheck, settings

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_the_refutation_that_the_readme_shows():
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(example.group(1), {"__name__": "readme"})
    assert printed.getvalue().strip() == shown.group(1).strip()


def test_the_example_has_eight_lines():
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    assert len(example.strip().splitlines()) <= 8


def test_the_example_of_utility_refutes_and_meets_what_its_comments_say():
    [example] = [
        each for each in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "audit_utility" in each
    ]
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(example, {"__name__": "readme"})
    verdicts = re.findall(r"^([A-Z_]+)  noisy_mean", printed.getvalue(), re.MULTILINE)
    assert verdicts == ["REFUTED", "NOT_REFUTED"]


def test_the_example_of_a_test_defines_what_it_tests():
    [example] = [
        each for each in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "def test_release" in each
    ]
    names = {"__name__": "readme"}
    exec(example, names)
    assert {*names["test_release_is_private"].__code__.co_names} & {"release", "PureDP"} <= {*names}


def test_the_example_of_a_property_keeps_its_claim():
    [example] = [each for each in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "@given" in each]
    names = {"__name__": "readme"}
    exec(example, names)
    patient = settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    patient(names["test_any_neighbours_keep_the_claim"])()


def test_every_page_that_the_readme_links_to_exists():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (Path(__file__).parents[1] / link).exists()] == []


def test_the_examples_that_the_readme_names_exist():
    named = re.findall(r"(examples/\w+\.py):(\w+)", README)
    assert named
    root = Path(__file__).parents[1]
    assert [
        name
        for file, name in named
        if not re.search(rf"^(def |class )?{name}\b", (root / file).read_text(), re.MULTILINE)
    ] == []
