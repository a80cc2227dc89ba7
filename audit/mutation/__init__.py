"""The mutation check (`check`): would the audit notice a smaller claim? And its result (`result`).

Imports from `privacy`; only the doors import from it. Reading a result does not import the audit itself.
"""
