"""Which events a witness may show: those that promise enough, the ones that are easiest to read first.

Imported by what confirms a refutation; imports what is known of pairs. Exports `candidates`, which chooses,
with `plainer` (simpler events that do as well) and `readable` (how hard an event is to read).
"""
