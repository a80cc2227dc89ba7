"""Mechanisms that compare noisy answers and release only the outcome.

They are the sparse vector technique, noisy max, and the release of keys above a threshold.
"""
