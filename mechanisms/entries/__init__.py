"""The mechanisms' part of the catalogue: the functions that the entry points of `pyproject.toml` name.

Right mechanisms and their flawed twins stand side by side here, with what an audit of each needs.
"""
