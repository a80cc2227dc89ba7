"""What is audited: a mechanism or learner, adapted, imported by name, found again; settings it may change.

Above the public vocabulary and `codec`; below `sampling`, which alone runs it. `subject.adapt` makes a
`Subject`.
"""
