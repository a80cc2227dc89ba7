"""The laws and sizes of learners and sanitizers, written from the texts alone: nothing here imports one.

Every function takes a subject, reads its parameters and none of its methods, and returns `Formulas`. Only
concepts are called, for their label of a point: a class is its own definition.
"""
