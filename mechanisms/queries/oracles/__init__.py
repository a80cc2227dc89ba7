"""Oracles that answer statistical queries: exactly, as badly as allowed, from a sample, privately, locally.

The module `oracle` has the interface of all oracles. An algorithm that uses only this runs with any of them.
"""
