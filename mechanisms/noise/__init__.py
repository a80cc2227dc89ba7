"""Mechanisms that answer a numeric query with noise, Laplace or geometric, on a number or a vector.

`noises` holds the two noises and the law of an answer that carries one; the others are subjects.
"""
