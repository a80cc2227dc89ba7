"""Oracles that answer statistical queries.

They answer exactly, as badly as allowed, from a sample, privately, or in the local model. The module `oracle`
has their common interface.
"""
