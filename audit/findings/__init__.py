"""Findings: what became of a source text's statement, in words (`text`) and in a file (`saved`)."""

from audit.findings.finding import GROUP, Finding, Judgement, Method, Table, glossary, load_findings, merged

__all__ = ["GROUP", "Finding", "Judgement", "Method", "Table", "glossary", "load_findings", "merged"]
