"""Local algorithms simulated by statistical queries: K11 Lemma 5.8, Claims 5.9 and 5.10.

Randomizers as tables, rejection sampling of one access, whole protocols, and how far a simulated law is off.
"""
