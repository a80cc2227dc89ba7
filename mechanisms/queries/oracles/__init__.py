"""Oracles that answer statistical queries: exactly, as badly as allowed, from a sample, privately, locally.

`oracle` says what every oracle offers; an algorithm is written against that and runs with any of them.
"""
