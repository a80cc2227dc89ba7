"""Events (sets of outputs), and counts of past outputs by feature value, which suggest events.

Above `laws`; below `evidence`. An `event.Event` is described in words, saved and replayed.
"""
