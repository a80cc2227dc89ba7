"""What an audit returns, its saved form, and whether a saved refutation is consistent.

Above `codec` and `evidence`; below `verdict` and `words`. A result calls functions of higher layers by name
(`audit.values.on_demand`).
"""
