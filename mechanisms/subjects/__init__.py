"""What makes a mechanism a subject of an audit: its claim, its parameters, its queries, its worst neighbours.

Nothing here adds noise. Every mechanism of this package is built on these modules.
"""
