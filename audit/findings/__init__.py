"""Statements of the source texts, recomputed.

`text` prints findings, `saved` stores them in files. This package imports from `privacy`. Only the user
interfaces (`doors`) import from this package.
"""

from audit.findings.finding import GROUP, Finding, Judgement, Method, Table, glossary, load_findings, merged

__all__ = ["GROUP", "Finding", "Judgement", "Method", "Table", "glossary", "load_findings", "merged"]
