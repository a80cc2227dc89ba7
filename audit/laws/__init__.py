"""Divergences of declared output laws: privacy loss, δ(ε), the worst event; and runs against a law.

Above `audit.distributions`, which defines the laws, and `subject`; below `verdict`, which decides by them.
"""
