"""Local algorithms simulated by statistical queries.

This is K11 Lemma 5.8 with Claims 5.9 and 5.10.
"""
