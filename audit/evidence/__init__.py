"""Evidence against a claim.

Imports from `events`. `search` and `verdict` import from it: `search` chooses pairs of databases by this
evidence, and `verdict` decides by it.
"""
