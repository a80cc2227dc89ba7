"""Checks of the README in addition to those of `test_docs`."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_example_has_eight_lines():
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    assert len(example.strip().splitlines()) <= 8


def test_the_utility_example_gives_the_verdicts_of_its_comments():
    [example] = [
        each for each in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "audit_utility" in each
    ]
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(example, {"__name__": "readme"})
    verdicts = re.findall(r"^([A-Z_]+)  noisy_mean", printed.getvalue(), re.MULTILINE)
    assert verdicts == ["REFUTED", "NOT_REFUTED"]


def test_the_examples_that_the_readme_names_exist():
    named = re.findall(r"(examples/\w+\.py):(\w+)", README)
    assert named
    root = Path(__file__).parents[1]
    assert [
        name
        for file, name in named
        if not re.search(rf"^(def |class )?{name}\b", (root / file).read_text(), re.MULTILINE)
    ] == []
