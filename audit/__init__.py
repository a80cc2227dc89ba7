"""Privacy auditing: from a mechanism and its claim to a verdict with evidence."""
