"""The learners' part of the catalogue: a module for each entry point of `pyproject.toml`.

Here alone right learners and their flawed twins stand side by side; `at_size` audits one at its own sample
size.
"""
