"""Local algorithms simulated by statistical queries: K11 Lemma 5.8, Claims 5.9 and 5.10.

The modules hold randomizers as tables, rejection sampling of one access, whole protocols, and the distance
from a simulated law to the true one.
"""
