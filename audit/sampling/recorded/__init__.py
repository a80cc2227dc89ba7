"""Generators that record the random draws of a run and leave its random numbers unchanged.

The records serve to explain a run. Runs that are bet on are never recorded.
Import from its modules, because the package itself exports nothing.
"""
