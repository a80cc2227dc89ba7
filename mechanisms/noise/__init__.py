"""Mechanisms that answer a numeric query with Laplace or geometric noise."""
