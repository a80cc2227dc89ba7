"""Every form of output is read: noise with a secret bit at one place.

Each form is audited twice at ε = 1. A bit released at ε = 3 has to be refuted. A bit released at ε = ½ is
refuted with probability at most 1e-6. The file is long because it lists every form.
"""

import array
import collections
import collections.abc
import datetime as dt
import decimal
import enum
import math
import pathlib
import uuid
from fractions import Fraction

import numpy as np
import pytest

from audit import ApproximateDP, PureDP, Verdict, audit_privacy
from audit.events.features.stand_ins import stand_in
from audit.values.weights import weigh

DAY = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - a moment without a zone is one of the forms


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Labelled(np.ndarray):
    """A subclass of arrays."""


def letters(rng, size=12):
    return "".join(map(chr, rng.integers(97, 123, size)))


def nested(value, rng, depth):
    for _ in range(depth):
        value = (value, rng.random())
    return value


def frame(rng, *, values=None, index=None, columns="ab", dtype=float, name=None):
    pd = pytest.importorskip("pandas")
    values = rng.laplace(size=(3, 2)) if values is None else values
    made = pd.DataFrame(values, index=index, columns=list(columns)).astype(dtype)
    made.index.name = name
    return made


def series(rng, *, values=None, **options):
    pd = pytest.importorskip("pandas")
    return pd.Series(rng.laplace(size=3) if values is None else values, **options)


def pandas(name, *arguments, **options):
    return getattr(pytest.importorskip("pandas"), name)(*arguments, **options)


def vector(rng, size, *, entries=None):
    made = rng.laplace(size=size)
    for at, value in (entries or {}).items():
        made[at] = value
    return made


def tied(rng, bit, *, sign):
    made = rng.laplace(size=40)
    if bit:
        made[31] = sign * made[17]
    return made


def with_nans(rng, count):
    made = rng.laplace(size=40)
    made[rng.choice(40, size=count, replace=False)] = math.nan
    return made


def hidden_by_masks(bit, rng):
    return np.ma.masked_array(rng.laplace(size=4), [0, bit, 0, 0])


#: The released output as a function of the bit and the generator.
FORMS = {
    "datetime": lambda bit, rng: DAY + dt.timedelta(seconds=bit + rng.random()),
    "datetime with a zone": lambda bit, rng: (DAY + dt.timedelta(rng.random())).replace(
        tzinfo=dt.timezone(dt.timedelta(hours=bit))
    ),
    "date": lambda bit, rng: (dt.date(2024, 1, 1 + bit), rng.random()),
    "time": lambda bit, rng: dt.time(12 + bit, 0, 0, int(rng.integers(10**6))),
    "timedelta": lambda bit, rng: dt.timedelta(seconds=bit + rng.random()),
    "datetime64": lambda bit, rng: np.datetime64(10**18 + 10**9 * bit + int(rng.integers(10**9)), "ns"),
    "timedelta64": lambda bit, rng: np.timedelta64(10**9 * bit + int(rng.integers(10**9)), "ns"),
    "last bit of datetime64": lambda bit, rng: np.datetime64(
        10**18 + 2 * int(rng.integers(10**9)) + bit, "ns"
    ),
    "NaT": lambda bit, rng: (np.datetime64("NaT") if bit else np.datetime64("2024"), rng.random()),
    "array of datetime64": lambda bit, rng: (
        np.array([0, 10**6 * bit], "M8[us]") + rng.integers(10**6, size=2).astype("m8[us]")
    ),
    "Timestamp": lambda bit, rng: pandas("Timestamp", 10**18 + 10**9 * bit + int(rng.integers(10**9))),
    "Timedelta": lambda bit, rng: pandas("Timedelta", 10**9 * bit + int(rng.integers(10**9))),
    "Series of datetimes": lambda bit, rng: pandas(
        "Series",
        (np.array([0, 10**6 * bit]) + rng.integers(10**6, size=2)).astype("M8[us]"),
    ),
    "Period": lambda bit, rng: (pandas("Period", f"202{3 + bit}-01", freq="M"), rng.random()),
    "Interval": lambda bit, rng: pandas("Interval", 0.0, bit + 1 + rng.random()),
    "Categorical": lambda bit, rng: (pandas("Categorical", ["xy"[bit], "y"]), rng.random()),
    "index of a frame": lambda bit, rng: frame(rng, index=[0, 1, 2 + bit]),
    "noisy index of a frame": lambda bit, rng: frame(rng, index=[0.0, 1.0, bit + rng.random()]),
    "name of an index": lambda bit, rng: frame(rng, name="xy"[bit]),
    "columns of a frame": lambda bit, rng: frame(rng, columns=["ab", "ac"][bit]),
    "order of columns": lambda bit, rng: frame(rng, columns=["ab", "ba"][bit]),
    "dtype of a frame": lambda bit, rng: frame(rng, dtype=["float64", "float32"][bit]),
    "cell of a frame": lambda bit, rng: frame(
        rng, values=rng.random((3, 2)) + bit * np.outer([0, 0, 1], [0, 1])
    ),
    "text in a frame": lambda bit, rng: frame(
        rng, values=[[rng.random(), "xy"[bit]], [rng.random(), "z"]], dtype=object
    ),
    "name of a series": lambda bit, rng: series(rng, name="xy"[bit]),
    "index of a series": lambda bit, rng: series(rng, index=["a", "b", "cd"[bit]]),
    "dtype of a series": lambda bit, rng: series(rng, dtype=["float64", "float32"][bit]),
    "int or float": lambda bit, rng: (int if bit else float)(rng.integers(10**6)),
    "int or float in a tuple": lambda bit, rng: ((int if bit else float)(rng.integers(10**6)), rng.random()),
    "int or float inside": lambda bit, rng: {"a": [(int if bit else float)(rng.integers(10**6))]},
    "list or tuple": lambda bit, rng: (list if bit else tuple)(rng.laplace(size=2).tolist()),
    "list or tuple inside": lambda bit, rng: {"a": (list if bit else tuple)(rng.laplace(size=2).tolist())},
    "float32 or float64": lambda bit, rng: (np.float32 if bit else np.float64)(np.float32(rng.laplace())),
    "array of float32 or float64": lambda bit, rng: rng.laplace(size=2).astype(["f4", "f8"][bit]),
    "list or array": lambda bit, rng: (np.array if bit else list)(rng.laplace(size=2)),
    "shape": lambda bit, rng: rng.laplace(size=4).reshape([(2, 2), (4, 1)][bit]),
    "class of an array": lambda bit, rng: rng.laplace(size=2).view([np.ndarray, Labelled][bit]),
    "mask": hidden_by_masks,
    "under the mask": lambda bit, rng: np.ma.masked_array([bit + rng.random(), rng.random()], [1, 0]),
    "mask inside": lambda bit, rng: {"a": hidden_by_masks(bit, rng)},
    "memoryview": lambda bit, rng: memoryview(bytes([bit, *rng.integers(256, size=8)])),
    "bytes": lambda bit, rng: bytes([*rng.integers(256, size=8), bit]),
    "bytearray": lambda bit, rng: bytearray([*rng.integers(256, size=8), bit]),
    "array.array": lambda bit, rng: array.array("d", [rng.random(), bit + rng.random()]),
    "typecode of array.array": lambda bit, rng: array.array("id"[bit], rng.integers(10**6, size=3).tolist()),
    "deque": lambda bit, rng: collections.deque([rng.random(), bit + rng.random()]),
    "maxlen of a deque": lambda bit, rng: collections.deque([rng.random()], maxlen=3 + bit),
    "first letter": lambda bit, rng: "xy"[bit] + letters(rng),
    "last letter": lambda bit, rng: letters(rng) + "xy"[bit],
    "last letter inside": lambda bit, rng: {"a": letters(rng) + "xy"[bit], "b": rng.random()},
    "last letter of an error": lambda bit, rng: (
        fail(letters(rng) + "xy"[bit]) if rng.random() < 0.5 else rng.random()
    ),
    "last bit of a whole number": lambda bit, rng: 2 * int(rng.integers(10**6)) + bit,
    "last bit of a large whole number": lambda bit, rng: 2 * int(rng.integers(2**62)) * 2**40 + bit,
    "last bit of an entry": lambda bit, rng: [int(rng.integers(10**9)), 2 * int(rng.integers(2**62)) + bit],
    "last bit inside": lambda bit, rng: {"a": {"b": 2 * int(rng.integers(2**62)) + bit}},
    "last bit of an array": lambda bit, rng: 2 * rng.integers(2**61, size=3) + np.array([0, bit, 0]),
    "last digit of a decimal": lambda bit, rng: decimal.Decimal(f"{rng.random()}12345678901234567890{bit}"),
    "denominator": lambda bit, rng: Fraction(2 * int(rng.integers(2**60)) + 1, 2**70) + Fraction(bit, 3**50),
    "complex": lambda bit, rng: complex(rng.random(), bit + rng.random()),
    "UUID": lambda bit, rng: uuid.UUID(int=2 * int(rng.integers(2**62)) + bit),
    "Enum": lambda bit, rng: (list(Colour)[bit], rng.random()),
    "Path": lambda bit, rng: pathlib.PurePosixPath("/home", letters(rng), "xy"[bit]),
    "range": lambda bit, rng: range(bit, int(rng.integers(10**6)) + 5),
    "slice": lambda bit, rng: slice(float(rng.random()), bit),
    "depth 8": lambda bit, rng: nested(bit + rng.random(), rng, 8),
    "depth 12": lambda bit, rng: nested(bit + rng.random(), rng, 12),
    "NaN in a tuple": lambda bit, rng: (math.nan if bit else 1.0,),
    "NaN two tuples deep": lambda bit, rng: ((math.nan if bit else 1.0,),),
    "NaN for noise two deep": lambda bit, rng: ((math.nan if bit and rng.random() < 0.1 else rng.random(),),),
    "entry 31 is entry 17": lambda bit, rng: tied(rng, bit, sign=1),
    "entry 31 is minus entry 17": lambda bit, rng: tied(rng, bit, sign=-1),
    "entry 31 is plus or minus entry 17": lambda bit, rng: tied(rng, bit, sign=rng.choice([-1, 1])),
    "entry 31 goes with entry 17": lambda bit, rng: (
        (v := rng.laplace(size=40)) + 3 * bit * v[17] * (np.arange(40) == 31)
    ),
    "number of NaNs": lambda bit, rng: with_nans(rng, 1 + bit),
}
FLOATS = {
    "sign of zero": lambda bit, rng: -0.0 if bit else 0.0,
    "sign of zero beside noise": lambda bit, rng: (-0.0 if bit else 0.0, rng.random()),
    "sign of zero in a dict": lambda bit, rng: {"a": -0.0 if bit else 0.0, "b": rng.random()},
    "sign of zero inside": lambda bit, rng: {"a": [-0.0 if bit else 0.0], "b": rng.random()},
    "low bits in a dict": lambda bit, rng: {"a": grid(bit, rng)},
    "low bits inside": lambda bit, rng: {"a": (grid(bit, rng), "text")},
    "low bits of an entry": lambda bit, rng: (rng.random(), grid(bit, rng)),
    "last bits": lambda bit, rng: float(2**52 + 4 * int(rng.integers(2**48)) + 1 + 2 * bit) / 2**52,
}


def grid(bit, rng):
    """Return a number whose last bits reveal the given bit, but not its size."""
    return float(rng.integers(2**40)) / 2**40 + 2.0 ** -(44 + bit)


def fail(message):
    raise ValueError(message)


def audit(form, *, keeps, numerics="ideal", budget=20_000):
    """Return an audit at ε = 1 of a form that releases one bit at ε = `keeps`."""

    def release(database, rng):
        truthful = rng.random() < 1 / (1 + math.exp(-keeps))
        return form(database[0] if truthful else 1 - database[0], rng)

    return audit_privacy(
        release,
        PureDP(epsilon=1.0),
        pairs=[([0], [1])],
        numerics=numerics,
        budget=budget,
        confirm_budget=min(600, budget),
        recorded=False,  # the refutation is tested here, not the fault that it names
    )


@pytest.mark.parametrize("name", FORMS)
def test_a_bit_that_sits_in_one_place_is_found(name):
    assert audit(FORMS[name], keeps=3.0).verdict is Verdict.REFUTED


def test_a_row_of_a_table_is_read_by_its_label_wherever_it_stands():
    """A count with noise of scale 0.4 loses 2.5.

    If rows were read by place, the noise of other rows would hide it.
    """

    def release(database, rng):
        towns = ["Bonn", "Mainz", "Ulm"][int(rng.integers(3)) :]
        values = [rng.normal(scale=50.0) for _ in towns[1:]]
        return series(rng, index=towns, values=[*values, database[0] + rng.laplace(scale=0.4)])

    result = audit_privacy(release, PureDP(epsilon=1.0), pairs=[([0], [1])], budget=20_000)
    assert result.verdict is Verdict.REFUTED
    assert "output['Ulm']" in str(result)


@pytest.mark.parametrize("name", FLOATS)
def test_a_bit_in_the_low_bits_is_found_if_floats_are_attacked(name):
    assert audit(FLOATS[name], keeps=3.0, numerics="float").verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", FORMS | FLOATS)
def test_a_bit_that_keeps_less_than_the_claim_is_not_refuted(name):
    numerics = "float" if name in FLOATS else "ideal"
    assert (
        audit((FORMS | FLOATS)[name], keeps=0.5, numerics=numerics, budget=200).verdict is not Verdict.REFUTED
    )


class RaisingDict(dict):
    def __iter__(self):
        raise RuntimeError("no")

    def keys(self):
        raise RuntimeError("no")


class Shy:
    def __getattribute__(self, name):
        raise RuntimeError("no")


class LyingShape(np.ndarray):
    shape = (7, 7)
    ndim = 0
    size = 10**9
    dtype = None


class LyingClass:
    @property
    def __class__(self):
        return float


class RaisingClass:
    @property
    def __class__(self):
        raise RuntimeError("no")


class LyingList(list):
    def __len__(self):
        return 10**6

    def __iter__(self):
        raise RuntimeError("no")


class RaisingEverywhere:
    def _raise(self, *_):
        raise RuntimeError("no")

    __eq__ = __repr__ = __len__ = __iter__ = __float__ = __bool__ = __array__ = __reduce_ex__ = _raise
    __hash__ = None


class RaisingHash(float):
    def __hash__(self):
        raise RuntimeError("no")

    __eq__ = __lt__ = __gt__ = __ne__ = __hash__


class RaisingPickle:
    def __init__(self):
        self.noise = 1.0

    def __reduce_ex__(self, protocol):
        raise RuntimeError("no")

    __deepcopy__ = __getstate__ = __reduce_ex__


class EndlessMapping(collections.abc.Mapping):
    def __getitem__(self, key):
        return 1

    def __len__(self):
        return 3

    def __iter__(self):
        raise RuntimeError("no")


HOSTILE = {
    "dict whose __iter__ raises": lambda rng: RaisingDict(a=rng.random()),
    "__getattribute__ raises": lambda rng: Shy(),
    "array that lies about its shape": lambda rng: rng.random(3).view(LyingShape),
    "object that lies about its class": lambda rng: LyingClass(),
    "__class__ raises": lambda rng: RaisingClass(),
    "list that lies about its length": lambda rng: LyingList([rng.random()]),
    "everything raises": lambda rng: RaisingEverywhere(),
    "number whose hash raises": lambda rng: RaisingHash(rng.random()),
    "pickling raises": lambda rng: RaisingPickle(),
    "mapping whose __iter__ raises": lambda rng: EndlessMapping(),
}


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "inside"])
@pytest.mark.parametrize("name", HOSTILE)
def test_an_object_that_resists_reading_has_an_outcome(name, inside):
    def release(database, rng):
        return {"a": [HOSTILE[name](rng)], "b": rng.random()} if inside else HOSTILE[name](rng)

    result = audit_privacy(release, PureDP(epsilon=1.0), pairs=[([0], [1])], budget=600)
    assert result.verdict is not Verdict.REFUTED
    assert result.verdict is not Verdict.ERROR
    assert str(result)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_bit_beside_an_object_that_resists_reading_is_found(name):
    assert audit(lambda bit, rng: (HOSTILE[name](rng), bit), keeps=3.0).verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", ["everything raises", "__getattribute__ raises"])
def test_contents_that_cannot_be_read_are_named_as_not_tested(name):
    result = audit_privacy(
        lambda database, rng: (HOSTILE[name](rng), rng.random()),
        PureDP(epsilon=1.0),
        pairs=[([0], [1])],
        budget=2_000,
    )
    kind = type(HOSTILE[name](None)).__name__
    assert f"the contents of a {kind}, which the audit cannot read" in result.not_tested


def test_letters_that_are_not_read_are_named():
    result = audit_privacy(
        lambda database, rng: letters(rng, 40), PureDP(epsilon=1.0), pairs=[([0], [1])], budget=2_000
    )
    assert "single letters of a string beyond its first 8 and last 8" in result.not_tested


HUGE = {
    "sum of an array": lambda bit, rng: np.full(140_000, bit + rng.random()),
    "text": lambda bit, rng: "x" * 140_000 + "yz"[bit ^ int(rng.random() < 0.05)],
}


@pytest.mark.parametrize("name", HUGE)
def test_a_bit_in_a_huge_output_is_found_although_only_its_ends_are_kept(name):
    assert audit(HUGE[name], keeps=math.inf, budget=250).verdict is Verdict.REFUTED


def test_an_entry_of_a_wide_vector_is_found():
    form = lambda bit, rng: vector(rng, 20_000, entries={12_345: 9.0 * bit})  # noqa: E731
    assert audit(form, keeps=math.inf, budget=400).verdict is Verdict.REFUTED


def test_the_digest_of_a_huge_output_does_not_depend_on_its_type_or_width():
    """A sampler's rows have the dtype and width of their batch."""
    whole = np.arange(200_000)
    assert stand_in(whole).digest == stand_in(whole.astype(float)).digest != stand_in(whole[::-1]).digest
    texts = np.array(["a"] * 200_000)
    assert stand_in(texts).digest == stand_in(texts.astype("U9")).digest


def test_only_the_ends_of_a_huge_output_are_kept_in_memory():
    ends = stand_in(np.zeros(10**6))
    assert (ends.first.base, ends.last.base) == (None, None)
    assert weigh(ends) < 10_000


@pytest.mark.parametrize("entries", [(), (2,)], ids=["numbers", "rows"])
def test_types_that_a_sampler_gives_a_whole_batch_refute_nothing(entries):
    """One NaN turns all numbers of its batch into floats."""

    class Counts:
        def __call__(self, database, rng):
            return self.sample(database, 1, rng)[0]

        def sample(self, database, size, rng):
            made = np.ones((size, *entries), dtype=int)
            missing = rng.random(size) < 0.01 * database[0]
            if missing.any():
                made = made.astype(float)
                made[missing] = math.nan
            return made

    claim = ApproximateDP(epsilon=0.5, delta=0.01)
    result = audit_privacy(Counts(), claim, pairs=[([0], [1])], budget=20_000, significance=1e-6)
    assert result.log_wealth < result.log_limit
