"""Algorithms that ask statistical queries, and subjects that run them.

The subjects run an algorithm privately in the central model, in the local model, or on noisy labels. The
module `against` runs an algorithm against every valid oracle.
"""
