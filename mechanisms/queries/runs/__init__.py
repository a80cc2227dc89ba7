"""Algorithms that ask statistical queries, and their runs as subjects: private, local, from noisy labels.

The module `against` runs an algorithm against every valid oracle.
"""
