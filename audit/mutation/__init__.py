"""The mutation check (`check`): would the audit refute a smaller claim? `result` defines its result.

This package imports from `privacy`; only `doors` imports from this package. Reading a result does not import
the audit itself.
"""
