"""Mechanisms of the source texts as subjects: claim, sampler, exact law."""
