"""Features: named total functions of *one* output, to a number or to an atom.

An atom is a hashable key that is compared for equality only. Nothing here may look at a batch as a whole:
permuting, splitting or merging batches leaves every value unchanged. Every module of features is loaded here,
so that a saved one is found by its name.
"""

from audit.events.features import atoms, bits, numbers, parts, scores  # noqa: F401 - they register features
