"""Events, which are sets of outputs, and the counts that suggest them.

Counts are by the value of a feature, a function of one output. An `event.Event` can be described in words,
saved and replayed. The package imports from `laws`; `evidence` imports from this package.
"""
