"""Three learners of any finite class: the exponential mechanism, a label-private learner, and compression."""
