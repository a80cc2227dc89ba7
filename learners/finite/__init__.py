"""Finite hypothesis classes: tables of labels, samples of few distinct examples, problems with exact errors.

All learners over a finite class use these modules; no learner is defined here.
"""
