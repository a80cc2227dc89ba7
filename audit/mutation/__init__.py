"""The mutation check, which tells whether an audit would refute a smaller claim.

`check` runs it, `result` defines its result. This package imports from `privacy`. Only `doors` imports from
this package. Reading a result does not import the audit.
"""
