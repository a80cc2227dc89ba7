"""Finite hypothesis classes: tables of labels, samples of few distinct examples, problems with exact errors.

All learners over a finite class are built on these; no learner is here.
"""
