"""Three learners of any finite class: the exponential mechanism, a label-private learner, and compression.

They need only the class, the sample and `learners.finite`.
"""
