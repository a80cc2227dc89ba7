"""What an audit returns, the saved form of a result, and the check that a saved refutation is consistent.

The package imports from `codec` and `evidence`; `verdict` and `words` import from this package. A result
calls functions of higher layers by name (`audit.values.on_demand`).
"""
