"""What the texts make of the learners and sanitizers, written from the texts: nothing here imports one.

Every function takes a subject, reads its parameters and none of its methods, and returns `Formulas`. Concepts
are asked what they say of a point: a class is its own definition.
"""
