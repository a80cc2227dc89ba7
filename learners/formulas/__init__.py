"""Laws and sizes of learners and sanitizers, from the texts alone.

Every function takes a subject and returns `Formulas`. No learner's code is used, except that concept classes
label points.
"""
