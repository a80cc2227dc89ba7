"""Mechanisms that compare noisy answers with a threshold or with each other, and release only the outcome.

They are the sparse vector technique, noisy max, and the release of keys above a threshold.
`laplace_integrals` computes the integrals that give their laws.
"""
