"""Saved values as tagged JSON, and checks of saved fields and files.

The package imports only `audit.values`, `audit.errors` and `audit.claims`. Each class of the toolkit that is
saved registers itself here (`encoding.register`).
"""
