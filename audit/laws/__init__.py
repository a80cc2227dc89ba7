"""Divergences of declared output laws, and a test of runs against a law.

The package imports from `audit.distributions`, which defines the laws, and `subject`. `verdict` imports from
it.
"""
