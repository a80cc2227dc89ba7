"""Learners that ask statistical queries, run privately, each query on its own chunk.

The noise is central or local. Conjunctions, the perceptron and k-means are next to the problems that they
are tried on.
"""
