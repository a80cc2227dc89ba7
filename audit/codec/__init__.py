"""The codec: it writes Python values as tagged JSON and reads them back, and checks saved fields and files.

It imports only `audit.values`, `audit.errors` and `audit.claims`. Each class of the toolkit that is saved
registers itself here (`encoding.register`).
"""
