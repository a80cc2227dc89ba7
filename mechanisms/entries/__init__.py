"""The mechanisms' part of the catalogue: a module for each entry point of `pyproject.toml`.

Here alone right mechanisms and their flawed twins stand side by side.
"""
