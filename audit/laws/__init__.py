"""Declared output laws: the loss of a pair, comparisons with a claim, regions of outputs, runs against a law.

Above `audit.distributions` and `subject`; below `verdict`, which decides by them.
"""
