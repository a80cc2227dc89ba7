"""Findings: statements of the source texts, recomputed; their text (`text`) and their files (`saved`).

It imports from `privacy`; only the user interfaces (`doors`) import from it.
"""

from audit.findings.finding import GROUP, Finding, Judgement, Method, Table, glossary, load_findings, merged

__all__ = ["GROUP", "Finding", "Judgement", "Method", "Table", "glossary", "load_findings", "merged"]
