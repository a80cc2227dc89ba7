"""Constructors of the catalogue refuse bad arguments with an `AuditError`.

Each field of each class gets each bad value. If the field allows the value, the subject's claim is read
too, because some arguments are first used there.
"""

import dataclasses
import math
import warnings

import numpy as np
import pytest

from audit.catalogue import load_catalogue
from audit.errors import AuditError

BAD = {
    "None": None,
    "a text": "x",
    "nan": math.nan,
    "inf": math.inf,
    "-1": -1,
    "0": 0,
    "1e300": 1e300,
    "10^400": 10**400,
    "no members": [],
    "a mapping": {},
    "numbers": [0.5, 2.5],
    "an array": np.array([1.0, 2.0]),
    "an object": object(),
}

"""What a field may be given."""

RAW = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, MemoryError)


def subjects():
    """Return one subject for each dataclass of the catalogue."""
    made = (entry.factory() for entry in load_catalogue())
    kinds = {type(subject): subject for subject in made if dataclasses.is_dataclass(subject)}
    return [pytest.param(subject, id=kind.__name__) for kind, subject in kinds.items()]


def used(subject):
    for name in ("claim", "utility_claim", "relation", "parameters"):
        getattr(subject, name, None)


@pytest.mark.parametrize("subject", subjects())
def test_a_bad_argument_is_refused_in_words(subject):
    given = {each.name: getattr(subject, each.name) for each in dataclasses.fields(subject) if each.init}
    raw = []
    for name in given:
        for said, value in BAD.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    used(type(subject)(**{**given, name: value}))
            except AuditError:
                continue
            except (
                TypeError,
                ValueError,
                ArithmeticError,
                LookupError,
                AttributeError,
                MemoryError,
            ) as error:
                raw.append(f"{name} = {said}: {type(error).__name__}: {error}")
    assert not raw
