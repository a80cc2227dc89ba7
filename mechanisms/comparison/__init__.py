"""Comparisons of noisy answers with a threshold or with one another; only the outcome is released.

The sparse vector technique, noisy max, the release of keys above a threshold, and the integrals behind their
laws.
"""
