"""Laws and sizes of learners and sanitizers, written from the texts alone.

Every function takes a subject and returns `Formulas`, computed from the subject's parameters. No learner's
code is used, except for concept classes, which label points. Sizes that the subject computes are read only
for comparison.
"""
