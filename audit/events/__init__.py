"""Events (sets of outputs), and the counts of past outputs by feature value that suggest them.

It imports from `laws`; `evidence` imports from it.
An `event.Event` can be described in words, saved and replayed.
"""
