"""Events (sets of outputs), and the counts of past outputs by feature value that suggest them.

Above `laws`; below `evidence`. An `event.Event` is described in words, saved and replayed.
"""
