"""Laws and sizes of learners and sanitizers, written from the texts alone; no learner is imported here.

Every function takes a subject and returns `Formulas`, computed from the subject's parameters. The sizes that
the subject computes are read only for comparison. Concept classes are the only code that is called:
they label points, and a class is its own definition.
"""
