"""Three private learners of any finite class."""
