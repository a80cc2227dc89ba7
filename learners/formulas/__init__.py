"""Laws and sizes of learners and sanitizers, written from the texts alone; no learner is imported here.

Every function takes a subject and returns `Formulas`, computed from the subject's parameters. The sizes that
the subject computes are read only for comparison. Concept classes alone are called, to label points:
a class is its own definition.
"""
