"""Mechanisms that answer a numeric query (a number or a vector) with Laplace or geometric noise.

`noises` holds both kinds of noise and the law of a noisy answer; the other modules hold subjects.
"""
