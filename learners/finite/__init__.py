"""Finite hypothesis classes: tables of labels, samples of few distinct examples, problems with exact errors.

What all learners over a finite class are built on; no learner is here.
"""
