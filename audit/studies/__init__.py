"""Studies of sample size.

`study` declares them, `run` and `least_size` run them, and `saved` saves them. This package imports from
`privacy` and `utility`. Only the user interfaces (`doors`) import from it.
"""

from audit.studies.study import GROUP, Curve, Expected, Shape, Study, load_studies, load_study

__all__ = ["GROUP", "Curve", "Expected", "Shape", "Study", "load_studies", "load_study"]
