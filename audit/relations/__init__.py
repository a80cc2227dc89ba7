"""Which databases are neighbours, and how to read and change records.

The package is public. It imports only errors and `values`.
"""

from audit.relations.kinds import NeighbourRelation, Relation, check_pair, check_relation, name_of

__all__ = ["NeighbourRelation", "Relation", "check_pair", "check_relation", "name_of"]
