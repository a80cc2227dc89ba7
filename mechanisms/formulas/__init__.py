"""What the texts make of the mechanisms, written from the texts: nothing here imports a mechanism.

Every function takes a subject, reads its parameters and none of its methods, and returns `Formulas`.
"""
