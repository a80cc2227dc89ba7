"""Mechanisms that answer a numeric query with noise, Laplace or geometric, on a number or a vector.

`noises` holds both kinds of noise and the law of a noisy answer; the other modules hold subjects.
"""
