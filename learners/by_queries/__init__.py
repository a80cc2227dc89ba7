"""Learners that ask statistical queries, run privately: each query is answered from its own records.

The noise is central or local. The learners of conjunctions, the perceptron and k-means are here, with the
problems that test them.
"""
