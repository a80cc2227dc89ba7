"""Reports: pages that are pure functions of saved audit results."""

# `audit` looks for this mark: other packages have this common name too.
DP_AUDIT_REPORT = 1
