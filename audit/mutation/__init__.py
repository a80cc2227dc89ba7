"""The mutation check (`check`): would the audit notice a smaller claim? And its result (`result`).

Reading a result does not import the audit itself.
"""
