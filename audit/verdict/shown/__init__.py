"""The choice of the event that a witness shows: of the strong events, the easiest to read first.

`candidates` chooses, `plainer` learns simpler events beside a fitted score, `readable` ranks events by how
hard they are to read. The confirmation of a refutation uses this package; it reads the memory of pairs.
"""
