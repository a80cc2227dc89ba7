"""Mechanisms composed of others, their joint claims, and a privacy budget."""
