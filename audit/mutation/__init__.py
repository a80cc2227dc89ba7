"""The mutation check (`check`): would the audit refute a smaller claim? `result` defines its result.

It imports from `privacy`; only the doors import from it. Reading a result does not import the audit itself.
"""
