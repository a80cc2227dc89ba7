"""The audited subject: a mechanism or learner, adapted, imported by name, found again; its surroundings.

Above the public vocabulary and `codec`; below `sampling`, which alone runs it. `subject.adapt` makes a
`Subject`.
"""
