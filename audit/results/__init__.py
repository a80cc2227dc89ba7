"""What an audit hands back, its saved form, and whether a saved refutation agrees with itself.

Above `codec` and `evidence`; below `verdict` and `words`. A result asks for what layers above it do by name
(`audit.values.on_demand`).
"""
