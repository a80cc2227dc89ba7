"""Divergences of declared output laws: privacy loss, δ(ε), the worst event; and a test of runs against a law.

`audit.distributions` defines the laws, and `verdict` decides by these comparisons.
"""
