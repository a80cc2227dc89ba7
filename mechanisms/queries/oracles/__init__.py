"""Oracles that answer statistical queries.

Answers are exact, as bad as allowed, from a sample, private, or local. The module `oracle` has the interface.
"""
