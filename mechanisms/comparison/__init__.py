"""Mechanisms that compare noisy answers and release only the outcome."""
