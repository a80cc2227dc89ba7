"""What is audited: a mechanism or learner, adapted, loaded by its text, found again; what it changes.

Above the public vocabulary and `codec`; below `sampling`, which alone runs it. `subject.adapt` makes a
`Subject`.
"""
