"""Each sentence of a result has a kind, and gets the values that its words name."""

import ast
import copy
import pickle
import string
from pathlib import Path

import pytest

import audit
from audit.values.said import UNSEEDED, Said, Says


def says(node):
    """Return the member of `Says` that a piece of code names, or None."""
    of_says = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Says"
    return node.attr if of_says else None


def test_each_sentence_is_used_somewhere_and_given_the_values_that_its_words_name():
    files = [file for file in Path(audit.__file__).parent.rglob("*.py") if file.stem != "said"]
    texts = [text for text in (file.read_text() for file in files) if "Says" in text]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    calls = [(says(node.func), node) for node in nodes if isinstance(node, ast.Call) and says(node.func)]
    assert len(calls) > 40
    for name, call in calls:
        named = {field for _, field, _, _ in string.Formatter().parse(Says[name].value) if field}
        assert {word.arg for word in call.keywords} == named, name
    assert {member.name for member in Says} == {says(node) for node in nodes if says(node)}


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda said: pickle.loads(pickle.dumps(said))])
def test_a_copy_keeps_its_kind(way):
    again = way(Says.PRINTS())
    assert (type(again), again, again.kind) == (Said, Says.PRINTS.value, "prints")


def test_runs_that_no_seed_repeats_are_reported():
    assert {each.kind for each in Says if "not reproduce" in each.value} == UNSEEDED
