"""Named functions of *one* output, called features.

A feature is defined for every output. Its values are numbers or atoms. An atom is a hashable key that is only
compared for equality. The value of a feature for an output does not depend on the other outputs of a block.

All modules of features are imported here, so that a saved feature is found by its name.
"""

from audit.events.features import atoms, bits, numbers, parts, scores  # noqa: F401 - they register features
