"""Which databases are neighbours: five relations and custom ones, records of a database, calls of a relation.

The package is public. It imports only errors and `values`; everything that handles databases imports from it.
"""

from audit.relations.kinds import NeighbourRelation, Relation, check_pair, check_relation, name_of

__all__ = ["NeighbourRelation", "Relation", "check_pair", "check_relation", "name_of"]
