"""The search for a pair of databases on which the claim fails.

The search also looks for the simplest such pair. It only proposes pairs. It imports from `evidence` and
`databases`; `verdict` imports from it.
"""
