"""Everything people read of a result, and nothing else: one wording for terminal, page and failed tests.

Above `results`; below `utility` and the doors. A function of results alone.
"""
