"""The library parts that `audit.values.compat` patches still need the patch."""

import io
import os
import subprocess
import sys
from importlib import import_module

import cloudpickle
import numpy as np
import pytest

from audit.values.compat import class_by_value, packed_state, pcg64_memory, plain_hypothesis

#: A script that prints which constants of a loaded module Hypothesis drew as integers.
CONSTANTS = """
import contextlib
from hypothesis import Phase, given, settings, strategies as st
from audit.values.compat import plain_hypothesis
import constants
found = set()

@settings(max_examples=300, derandomize=True, database=None, phases=[Phase.generate])
@given(st.integers())
def collect(value):
    found.add(value)

with {}():
    collect()
print(sorted(found & set(constants.ODD)))
"""


@pytest.mark.parametrize(
    ("changed", "mixed"), [("contextlib.nullcontext", True), ("plain_hypothesis", False)]
)
def test_hypothesis_mixes_constants_of_loaded_modules_into_its_examples(tmp_path, changed, mixed):
    odd = ", ".join(str(7919 * k + 1_000_003) for k in range(60))
    (tmp_path / "constants.py").write_text(f"ODD = [{odd}]")
    ran = subprocess.run(
        [sys.executable, "-c", CONSTANTS.format(changed)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert (ran.stdout.strip() != "[]") is mixed
    assert (tmp_path / ".hypothesis").exists() is mixed


def test_hypothesis_has_what_is_changed():
    providers = import_module("hypothesis.internal.conjecture.providers")
    configuration = import_module("hypothesis.configuration")
    own, home = providers._get_local_constants, configuration.__hypothesis_home_directory
    with plain_hypothesis():
        assert providers._get_local_constants is not own
        assert not providers.CONSTANTS_CACHE.cache
    assert (providers._get_local_constants, configuration.__hypothesis_home_directory) == (own, home)


def test_cloudpickle_forgets_the_full_name_of_a_class():
    class Local:
        pass

    reduced = cloudpickle.Pickler(io.BytesIO()).reducer_override(Local)
    assert "__qualname__" not in reduced[2][0]
    named = class_by_value(Local, reduced, tracked=True)
    assert named[2][0]["__qualname__"] == Local.__qualname__
    assert (named[0], named[1][-2]) == (reduced[0], reduced[1][-2])
    assert class_by_value(Local, reduced)[1][-2] is None


def test_numpy_keeps_the_state_of_its_generator_where_it_is_written():
    bits, other = np.random.PCG64(1), np.random.PCG64(2)
    np.random.Generator(bits).integers(9, dtype=np.uint32)
    state, spare = pcg64_memory(bits)
    assert bits.state["has_uint32"] == spare[0] == 1
    state[:], spare[:] = packed_state(other), bytes(8)
    assert bits.state == other.state
