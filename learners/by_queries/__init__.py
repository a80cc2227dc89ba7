"""Learners that ask statistical queries, run privately with central or local noise."""
