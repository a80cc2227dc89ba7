"""Reports: pages that are pure functions of saved audit results."""

# What `audit` looks for before it takes a package of this common name for ours.
DP_AUDIT_REPORT = 1
