"""Divergences of declared output laws (privacy loss, δ(ε), worst event), and a test of runs against a law.

It imports from `audit.distributions`, which defines the laws, and `subject`. `verdict` imports from it and
decides by these comparisons.
"""
