"""The exponential mechanism, the choosing mechanism and A_dist."""
