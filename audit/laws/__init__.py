"""Divergences of declared output laws: privacy loss, δ(ε), the worst event; and a test of runs against a law.

Above `audit.distributions`, which defines the laws, and `subject`. Below `verdict`, which decides by them.
"""
