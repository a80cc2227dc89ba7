"""The audited subject, a mechanism or a learner.

Here are its declared attributes, its import by name and its surroundings. `subject.adapt` makes a `Subject`.

The package imports from `codec` and the layers below it. Only `sampling`, which imports from this package,
runs subjects.
"""
