"""Algorithms that ask statistical queries, and mechanisms that run them.

Runs are private in the central or the local model, on noisy labels, or against every valid oracle
(`against`).
"""
