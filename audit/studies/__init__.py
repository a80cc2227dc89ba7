"""Studies of sample size: how to declare (`study`), run (`run`, `least_size`) and save them (`saved`).

This package imports from `privacy` and `utility`; only the user interfaces (`doors`) import from it.
"""

from audit.studies.study import GROUP, Curve, Expected, Shape, Study, load_studies, load_study

__all__ = ["GROUP", "Curve", "Expected", "Shape", "Study", "load_studies", "load_study"]
