"""Features: named functions of *one* output, defined for every output. Their values are numbers or atoms.

An atom is a hashable key; atoms are only compared for equality. A feature must not depend on the batch:
permuting, splitting or merging batches leaves every value unchanged. All modules of features are imported
here, so that a saved feature is found by its name.
"""

from audit.events.features import atoms, bits, numbers, parts, scores  # noqa: F401 - they register features
