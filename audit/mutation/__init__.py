"""The mutation check (`check`) shows whether the audit would refute a smaller claim; its result (`result`).

Imports from `privacy`; only the doors import from it. Reading a result does not import the audit itself.
"""
