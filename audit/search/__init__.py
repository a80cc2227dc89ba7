"""Where to look next: a climb over pairs of databases, and the simplest pair that fails. It only proposes.

Above `evidence` and `databases`; below `verdict`.
"""
