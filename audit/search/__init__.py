"""The search for a pair of databases on which the claim fails, and for the simplest such pair.

The search only proposes pairs. It imports from `evidence` and `databases`; `verdict` imports from it.
"""
