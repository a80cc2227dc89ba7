"""The source texts, and the words and numbers of the findings."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from audit.findings import Finding

__all__ = ["NUMBERED", "TEXTS", "WORDS", "explained"]

TEXTS = {
    "K08": "S. P. Kasiviswanathan, H. K. Lee, K. Nissim, S. Raskhodnikova, A. Smith: What Can We Learn "
    "Privately? 49th IEEE Symposium on Foundations of Computer Science (FOCS), pp. 531–540, 2008.",
    "K11": "S. P. Kasiviswanathan, H. K. Lee, K. Nissim, S. Raskhodnikova, A. Smith: What Can We Learn "
    "Privately? SIAM Journal on Computing 40(3), pp. 793–826, 2011; the journal version of K08.",
    "B": "A. Blum: Differential Privacy and Statistical Query Learning. Lecture notes, undated.",
    "C": "S. O. Chan: CSCI4230 Computational Learning Theory, Notes 21: Differential privacy and Statistical "
    "Query model. Lecture notes, based on notes of M.-F. Balcan and slides of G. Cormode, Spring 2021.",
    "BNS": "A. Beimel, K. Nissim, U. Stemmer: Private Learning and Sanitization: Pure vs. Approximate "
    "Differential Privacy. APPROX/RANDOM 2013, LNCS 8096, pp. 363–378. Springer, 2013.",
}
"""The source texts by their short names."""

NUMBERED = {
    "M": "The mechanisms of these texts, M1 to M15 in our own count: noise, selection, local randomizers, "
    "statistical queries and the simulations between them.",
    "L": "The learners, sanitizers and studies built on them, L1 to L20 in our own count.",
    "E": "Errata of these texts that were noticed first, E1 to E15 in our own count.",
    "N": "Errata that were noticed later, while the systems were built and audited, N1 to N27.",
}
"""What a letter before a number means."""

WORDS = {
    "SQ": "Statistical queries, each of which asks for the mean of a function and gets it up to a tolerance. "
    "Also the class of what they can learn.",
    "NASQ": "What can be learned by statistical queries that are all fixed before the first answer.",
    "LI": "What can be learned by interactive local algorithms: every record is randomized separately, in "
    "any number of rounds.",
    "LNI": "What can be learned by non-interactive local algorithms: every record is randomized separately, "
    "in one round.",
    "PPAC": "What can be learned by private algorithms. PAC: the same without privacy.",
    "A_dist": "Selection by stability: the best solution is returned only if it is far ahead of all others "
    "(BNS Proposition 2).",
    "Rec": "Selection by recursion, for qualities that rise to a peak and then fall, on a range of any size "
    "(BNS §3.3).",
    "log*": "The number of times that log2 must be taken until a number is at most 1.",
}
"""The meaning of the texts' own short words."""

_SHORT = re.compile(r"\b(?:K08|K11|BNS|B|C)\b")
_COUNTED = re.compile(r"\b[EN](?=\d)")
_WORD = re.compile(r"\b(?:SQ|NASQ|LI|LNI|PPAC|A_dist|Rec|log\*)(?!\w)")


def explained(finding: Finding) -> Finding:
    """Return the finding with a glossary of the short names in it.

    Examples
    --------
    >>> from audit.findings import Finding
    >>> one = Finding("E8", "K08 footnote 5", "√2/s.", "typo", "√2·s.", row="M1")
    >>> [name for name, _ in explained(one).glossary]
    ['K08', 'M', 'E']
    """
    named = "; ".join((finding.name, finding.source, *finding.errata))
    told = f"{named}; {finding.statement}; {finding.shown}; {finding.corrected}"
    heads = "; ".join(each for table in finding.tables for each in (*table.columns, table.caption))
    used = {*_SHORT.findall(named), *_COUNTED.findall(told), *(row[:1] for row in finding.rows)}
    used |= {*_WORD.findall(f"{told}; {heads}")}
    known = TEXTS | NUMBERED | WORDS
    return replace(finding, glossary=tuple((name, text) for name, text in known.items() if name in used))
