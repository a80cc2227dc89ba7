"""The audited subject, a mechanism or learner: its declared attributes, its import by name, its surroundings.

`subject.adapt` makes a `Subject`. The package imports from `codec` and the layers below it. Only `sampling`,
which imports from this package, runs subjects.
"""
