"""Local algorithms simulated by statistical queries (K11 Lemma 5.8)."""
