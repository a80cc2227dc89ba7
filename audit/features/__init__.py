"""Features: named total functions of *one* output, to a number or to an atom.

Nothing here may look at a batch as a whole: permuting, splitting or merging batches leaves every value
unchanged.
"""

from audit.features.atoms import Keys, Kind, Type, Whole
from audit.features.base import AtomFeature, Feature, NumberFeature, feature_from_json
from audit.features.bits import FinestBit, HighestBit, LastBits, PatternEnd, ZeroSign
from audit.features.numbers import (
    ArgMax,
    Coordinate,
    Count,
    Difference,
    Entry,
    First,
    Largest,
    Last,
    Length,
    Missing,
    Norm,
    PairSum,
    Smallest,
    Spread,
    Sum,
    Value,
)
from audit.features.parts import Part, PartIs, PartsDifference, PartsScore, PartsSum
from audit.features.scores import TableScore
from audit.features.views import View

__all__ = [
    "ArgMax",
    "AtomFeature",
    "Coordinate",
    "Count",
    "Difference",
    "Entry",
    "Feature",
    "FinestBit",
    "First",
    "HighestBit",
    "Keys",
    "Kind",
    "Largest",
    "Last",
    "LastBits",
    "Length",
    "Missing",
    "Norm",
    "NumberFeature",
    "PairSum",
    "Part",
    "PartIs",
    "PartsDifference",
    "PartsScore",
    "PartsSum",
    "PatternEnd",
    "Smallest",
    "Spread",
    "Sum",
    "TableScore",
    "Type",
    "Value",
    "View",
    "Whole",
    "ZeroSign",
    "feature_from_json",
]
