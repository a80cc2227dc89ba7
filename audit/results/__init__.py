"""What an audit returns, and its saved form.

The package imports from `codec` and `evidence`. `verdict` and `words` import from this package. A result
calls functions of higher layers by name (`audit.values.on_demand`).
"""
