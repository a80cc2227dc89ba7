"""Every Python block of the pages runs and prints what the page shows."""

import doctest
import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: A Python block, and directly after it the block of its output.
BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\s*```text\n(?P<shown>.*?)```)?", re.DOTALL)
#: The first line of a block that the reader should save as a file.
FILE = re.compile(r"# (\w+\.py)\n")
ALIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def told(page):
    return page.read_text(encoding="utf-8")


def ids(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in told(page)], ids=ids)
def test_the_examples_of_a_page_run_and_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some blocks save files
    monkeypatch.syspath_prepend(tmp_path)  # some blocks import saved files
    names = {"__name__": page.stem}
    for block in BLOCK.finditer(told(page)):
        if named := FILE.match(block["code"]):
            (tmp_path / named[1]).write_text(block["code"], encoding="utf-8")
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(block["code"], str(page), "exec"), names)
        shown = block["shown"]
        if shown is not None:
            assert doctest.OutputChecker().check_output(shown, printed.getvalue(), ALIKE), printed.getvalue()
    if [*tmp_path.glob("test_*.py")]:
        assert pytest.main(["-q", "-p", "no:cacheprovider", str(tmp_path)]) == 0


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_page_that_a_page_links_to_exists(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", told(page))
    assert [link for link in links if not (page.parent / link).exists()] == []
