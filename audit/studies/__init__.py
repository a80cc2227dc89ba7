"""Studies of sample size: declaring them (`study`), running them (`run`, `least_size`), files (`saved`).

Above `privacy` and `utility`; below the doors.
"""

from audit.studies.study import GROUP, Curve, Expected, Shape, Study, load_studies, load_study

__all__ = ["GROUP", "Curve", "Expected", "Shape", "Study", "load_studies", "load_study"]
