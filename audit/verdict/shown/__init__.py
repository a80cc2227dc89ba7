"""The choice of the event that a witness shows.

It is the easiest to read of the events with strong evidence.

`candidates` chooses the event. `plainer` learns simpler events to show instead of a fitted score. `readable`
ranks events by how hard they are to read. The confirmation of a refutation uses this package, which reads the
memory of pairs.
"""
