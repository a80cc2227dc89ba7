"""Sets of outputs: how past outputs are counted by what features say of them, and the events this suggests.

Above `features`; below `evidence`. `event.Event` says itself in words and is saved.
"""
