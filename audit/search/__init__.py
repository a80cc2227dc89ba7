"""Where to look next: a climb over pairs of databases, and the simplest pair that fails. Proposals only.

Above `evidence` and `databases`; below `verdict`.
"""
