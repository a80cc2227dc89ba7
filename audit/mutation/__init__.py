"""A mutation check: would the audit notice a smaller claim? What it does (`check`) and hands back (`result`).

Above `privacy`; below the doors. The result is read without the engine.
"""
