"""Ctrl-C stops a command and leaves nothing false; benchmarks/interrupts.py does so to all of them."""

import random


def test_an_audit_that_compares_laws_stops_at_ctrl_c_and_saves_no_verdict(interrupts):
    assert interrupts.interrupted("run", 3, rng=random.Random(0)) == []
