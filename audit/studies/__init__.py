"""Studies of sample size: declared (`study`), carried out (`run`, `least_size`) and saved (`saved`).

Above `privacy` and `utility`; below the doors.
"""

from audit.studies.study import GROUP, Curve, Expected, Shape, Study, load_studies, load_study

__all__ = ["GROUP", "Curve", "Expected", "Shape", "Study", "load_studies", "load_study"]
