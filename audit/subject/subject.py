"""The audited subject, a user's mechanism with everything that it declares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any

from audit.errors import InvalidKind, Parameter, SubjectError, blamed
from audit.subject.signatures import Calling, instance_of, read_calling, spoken_name
from audit.subject.surroundings import put_back
from audit.values.brief import show

Convert = Callable[[Any], Any]
_AS_DECLARED = ("claim", "relation", "records", "size", "databases", "reference", "expected")


@dataclass(frozen=True, eq=False)
class Around:
    """A wrapper of ours around a user's object.

    Its state and construction are those of the user's object.

    Parameters
    ----------
    inner
        The user's object.

    Examples
    --------
    >>> Around(len).inner is len
    True
    """

    inner: Any


@dataclass(frozen=True, eq=False)
class Renewed:
    """A subject that makes a new object for every run.

    Parameters
    ----------
    factory
        Makes the object for a run.
    calling
        How that object gets its generator.

    Examples
    --------
    >>> Renewed(lambda: len, Calling(takes_rng=False))([1, 2], None)
    2
    """

    factory: Callable[[], Any]
    calling: Calling

    def __call__(self, database: Any, rng: Any = None) -> Any:
        """Return one output of a new object."""
        return self.calling.bind(self.factory())(database, rng)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Subject:
    """A mechanism and what it declares.

    Parameters
    ----------
    name
        The name in reports.
    object
        The user's own object.
    calling
        How the object gets its generator.
    convert
        Turns a database into the type that the mechanism takes. If None, the mechanism takes the database
        itself.
    claim, relation, records, size, databases, reference, expected
        The object's attributes of these names, or None.
    aligned
        Whether run i uses the same random draws on every database. The generator must start from the same
        state.
    declared_sampler, declared_law, suggested_pairs
        The object's `sample`, `distribution` and `suggested_pairs`, or None.
    parameters
        The object's own parameters by name, for the report.
    family
        A name such as "databases of every size". It is given if the claim is derived for more databases than
        the domain has.
    symmetric
        Whether the object declares that its law does not depend on the order of the records.

    Examples
    --------
    >>> subject = adapt(lambda database: sum(database))
    >>> subject.call([1, 2], None), subject.takes_rng
    (3, False)
    """

    name: str
    object: Any
    calling: Calling
    convert: Convert | None = None
    claim: Any = None
    relation: Any = None
    records: Any = None
    size: Any = None
    databases: Any = None
    aligned: bool = False
    declared_sampler: Callable[..., Any] | None = None
    declared_law: Callable[..., Any] | None = None
    suggested_pairs: Callable[[], Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reference: str | None = None
    expected: str | None = None
    family: str | None = None
    symmetric: bool = False

    def __repr__(self) -> str:
        return self.name

    @property
    def takes_rng(self) -> bool:
        """Whether the subject takes a generator. If so, a seed can repeat its runs.

        Examples
        --------
        >>> adapt(lambda database, rng: 0).takes_rng
        True
        """
        return self.calling.takes_rng

    def prepare(self, database: Any) -> Any:
        """Return a database in the form that the mechanism takes.

        Raises
        ------
        SubjectError
            `convert` failed; the message is that of its exception.

        Examples
        --------
        >>> adapt(len, convert=tuple).prepare([1, 2])
        (1, 2)
        """
        if self.convert is None:
            return database
        with blamed("`convert` failed on a database"), put_back():
            return self.convert(database)

    def call(self, database: Any, rng: Any) -> Any:
        """Return one output of the mechanism on a database.

        Examples
        --------
        >>> adapt(lambda rows, rng: (rows, rng), convert=tuple).call([1], "generator")
        ((1,), 'generator')
        """
        return self.calling.bind(self.object)(self.prepare(database), rng)

    @property
    def distribution(self) -> Callable[[Any], Any] | None:
        """The declared law of the output as a function of a database, or None.

        Examples
        --------
        >>> adapt(len).distribution is None
        True
        """
        law = self.declared_law
        return None if law is None else lambda database: law(self.prepare(database))


def adapt(
    mechanism: Any,
    *,
    convert: Convert | None = None,
    fresh: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Subject:
    """Return a mechanism as a subject.

    Parameters
    ----------
    mechanism
        A callable (database, rng) -> output or (database) -> output (`read_calling`). It may also be a class
        of such callables whose constructor needs no arguments. It may have the attributes `claim`,
        `relation`, `records`, `size`, `databases`, `aligned`, `name`, `reference`, `parameters`, `expected`,
        `family`, `symmetric`, `sample(database, size, rng)`, `distribution(database)` and
        `suggested_pairs()`.
    convert
        Turns the list of records into the type that the mechanism takes.
    fresh
        Makes a new mechanism for every run. Then `mechanism` only declares the claim, and its `sample` is not
        used.
    name
        The name in results. Give one if the mechanism's own name says little.

    Raises
    ------
    InvalidKind
        `name` is not a text.
    SubjectError
        The mechanism cannot be called with a database and a generator.

    Examples
    --------
    >>> def noisy_count(database, rng):
    ...     return len(database) + rng.laplace()
    >>> adapt(noisy_count).name
    'noisy_count'
    """
    subject = mechanism if isinstance(mechanism, Subject) else _read(instance_of(mechanism))
    if convert is not None:
        if not callable(convert):
            raise SubjectError(
                Parameter("convert"), " must be a function that turns a list of records into a database."
            )
        subject = replace(subject, convert=convert)
    if name is not None:
        if not isinstance(name, str) or not name.strip():
            raise Parameter("name").wrong(f"must be a text; got {show(name)}.", kind=InvalidKind)
        subject = replace(subject, name=name)
    return subject if fresh is None else _renewed(subject, fresh)


def _read(mechanism: Any) -> Subject:
    """Return the subject that an object's attributes declare."""
    declared = partial(_declared, mechanism)
    family = declared("family")
    return Subject(
        name=spoken_name(mechanism),
        object=mechanism,
        calling=read_calling(mechanism),
        **{name: declared(name) for name in _AS_DECLARED},
        aligned=declared("aligned") is True,
        declared_sampler=None if _outdated(type(mechanism)) else _declared_function(mechanism, "sample"),
        declared_law=_declared_function(mechanism, "distribution"),
        suggested_pairs=_declared_function(mechanism, "suggested_pairs"),
        parameters=_parameters(mechanism),
        family=family if isinstance(family, str) else None,
        symmetric=declared("symmetric") is True,
    )


def _renewed(subject: Subject, fresh: Callable[[], Any]) -> Subject:
    """Return a subject with a new object for every run.

    It has no `sample`, because the runs of one call of `sample` would share an object.
    """
    if not callable(fresh):
        raise SubjectError("`fresh` must be a function without arguments that makes a new mechanism.")
    calling = Calling(takes_rng=subject.calling.takes_rng)
    return replace(subject, object=Renewed(fresh, subject.calling), calling=calling, declared_sampler=None)


def _outdated(kind: type) -> bool:
    """Return whether an inherited `sample` is older than the class's `__call__`."""
    definers = {name: [c for c in kind.__mro__ if name in vars(c)] for name in ("sample", "__call__")}
    if not definers["sample"] or len(definers["__call__"]) < 2:
        return False
    order, written_for = kind.__mro__.index, definers["sample"][0]
    newest, *older = definers["__call__"]
    return order(newest) < order(written_for) and any(order(c) >= order(written_for) for c in older)


def _declared(mechanism: Any, name: str) -> Any:
    with blamed(f"The `{name}` of `{spoken_name(mechanism)}` cannot be read"):
        return getattr(mechanism, name, None)


def _declared_function(mechanism: Any, name: str) -> Callable[..., Any] | None:
    value = _declared(mechanism, name)
    return value if callable(value) else None


def _parameters(mechanism: Any) -> dict[str, Any]:
    if isinstance(mechanism, partial):
        return {**_parameters(mechanism.func), **mechanism.keywords}
    declared = _declared(mechanism, "parameters")
    if isinstance(declared, Mapping):
        return {str(name): value for name, value in declared.items()}
    if is_dataclass(mechanism) and not isinstance(mechanism, type):
        return {f.name: getattr(mechanism, f.name) for f in fields(mechanism)}
    return {}
