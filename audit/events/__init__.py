"""Events (sets of outputs). They are suggested by counts of the values that features had on past outputs.

The package imports from `laws`; `evidence` imports from this package.
An `event.Event` can be described in words, saved and replayed.
"""
