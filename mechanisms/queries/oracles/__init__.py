"""Oracles that answer statistical queries.

They answer exactly, as badly as allowed, from a sample, privately, or locally. The module `oracle` has their
interface.
"""
