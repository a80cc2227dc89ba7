"""HTML pages made from saved results alone."""

# `audit` looks for this mark: other packages have this common name too.
DP_AUDIT_REPORT = 1
