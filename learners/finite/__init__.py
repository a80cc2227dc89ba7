"""Finite hypothesis classes: tables of labels, samples of few distinct examples, problems with exact errors.

No learner is defined here.
"""
