"""The learners' part of the catalogue: the functions that the entry points of `pyproject.toml` name.

Right learners and their flawed twins stand side by side here, with what an audit of each needs; `at_size`
makes an entry of a learner at its own sample size.
"""
