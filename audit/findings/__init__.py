"""Findings: statements of the source texts, recomputed; their text (`text`) and their files (`saved`).

The user interfaces (`doors`) import this package.
"""

from audit.findings.finding import GROUP, Finding, Judgement, Method, Table, glossary, load_findings, merged

__all__ = ["GROUP", "Finding", "Judgement", "Method", "Table", "glossary", "load_findings", "merged"]
