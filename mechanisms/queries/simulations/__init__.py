"""Local algorithms simulated by statistical queries: K11 Lemma 5.8, Claims 5.9 and 5.10.

The modules hold randomizers as tables, rejection sampling of one access, whole protocols, and the distance of
a simulated law from the true one.
"""
