"""Features: named total functions of *one* output, to a number or to an atom.

Nothing here may look at a batch as a whole: permuting, splitting or merging batches leaves every value
unchanged.
"""

from audit.events.features.atoms import Keys, Kind, Type, Whole
from audit.events.features.base import AtomFeature, Feature, NumberFeature, feature_from_json
from audit.events.features.bits import FinestBit, HighestBit, LastBits, PatternEnd, ZeroSign
from audit.events.features.numbers import (
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
from audit.events.features.parts import Part, PartIs, PartsDifference, PartsScore, PartsSum
from audit.events.features.scores import TableScore
from audit.events.features.views import View

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
