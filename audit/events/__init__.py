"""Sets of outputs, called events, and the counts of past outputs that suggest them.

Counts are by the value of a feature, which is a function of one output. The package imports from `laws`.
`evidence` imports from this package.

An `event.Event` can be described in words, saved and replayed.
"""
