"""What is wrong with a refuted subject: recorded runs of it on the simplest pair, and rules that name it.

Above `words` and `verdict`, whose verdict it explains and never changes; below `utility` and `privacy`.
"""

from audit.faults.examine import examined, fault_behind

__all__ = ["examined", "fault_behind"]
