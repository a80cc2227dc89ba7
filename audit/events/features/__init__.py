"""Features: named total functions of *one* output, to a number or to an atom.

An atom is a hashable key that is compared for equality only. A feature must not depend on the batch:
permuting, splitting or merging batches leaves every value unchanged. All modules of features are imported
here, so that a saved feature is found by its name.
"""

from audit.events.features import atoms, bits, numbers, parts, scores  # noqa: F401 - they register features
