"""The audited subject, a mechanism or learner: its declared attributes, its import by name, its surroundings.

`subject.adapt` makes a `Subject`. Imports from the public vocabulary and `codec`. Only `sampling` runs
subjects; it imports from this package.
"""
