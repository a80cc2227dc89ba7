"""Plain values: what a run may come to, when two values are the same, how one is shown in a few letters.

Everything may import from here; nothing here imports another room. Names stand in the modules.
"""
