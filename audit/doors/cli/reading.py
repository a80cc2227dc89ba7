"""Read the texts of the command line into keywords of audits."""

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from audit.claims import PAC, Accuracy, ApproximateDP, PrivacyClaim, PureDP
from audit.errors import AuditError, InvalidValue
from audit.relations import Relation
from audit.subject.loading import load_object, reason


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return keywords for an audit from the options that were given.

    Parameters
    ----------
    given
        Values by keyword, with ``pair`` for ``pairs``: numbers as numbers, everything else as text. None or
        an empty tuple means not given.

    Raises
    ------
    AuditError
        A text is not a value of its keyword.

    Examples
    --------
    >>> read_options({"records": "[0, 1]", "size": "1:3", "pair": (("[0]", "[1]"),), "seed": None})
    {'records': [0, 1], 'size': (1, 3), 'pairs': [([0], [1])]}
    """
    options: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or value == ():
            continue
        if name == "pair":
            options["pairs"] = [(_side(left), _side(right)) for left, right in value]
        else:
            options[name] = _READERS[name](value) if name in _READERS else value
    return options


def read_claim(epsilon: float | None, delta: float | None) -> PrivacyClaim | None:
    """Return the claim of ``--epsilon`` and ``--delta``. None if neither is given.

    Examples
    --------
    >>> read_claim(1.0, None)
    PureDP(epsilon=1.0)
    >>> read_claim(None, 0.1)
    Traceback (most recent call last):
    audit.errors.InvalidValue: A claim needs --epsilon; got --delta alone.
    """
    if epsilon is None:
        if delta is not None:
            raise InvalidValue("A claim needs --epsilon; got --delta alone.")
        return None
    return PureDP(epsilon) if delta is None else ApproximateDP(epsilon, delta)


def read_utility_claim(alpha: float | None, beta: float | None, *, own: Any = None) -> Any:
    """Return the claim of ``--alpha`` and ``--beta``.

    None if neither is given. If only one of them is given, the subject's own claim (`own`) supplies the
    other. The claim is a `PAC` if `own` is a `PAC`. Otherwise it is an `Accuracy`, which allows alpha above
    1.

    Examples
    --------
    >>> read_utility_claim(0.1, 0.05), read_utility_claim(None, 0.2, own=PAC(0.1, 0.05))
    (Accuracy(alpha=0.1, beta=0.05), PAC(alpha=0.1, beta=0.2))
    """
    if alpha is None and beta is None:
        return None
    if own is not None:
        kind = type(own) if isinstance(own, (PAC, Accuracy)) else Accuracy
        return kind(own.alpha if alpha is None else alpha, own.beta if beta is None else beta)
    if alpha is None or beta is None:
        raise InvalidValue("A utility claim needs both --alpha and --beta; got only one.")
    return Accuracy(alpha, beta)


def read_parameters(settings: Iterable[str]) -> dict[str, Any]:
    """Return the parameters written as ``name=value``.

    A value is a Python literal, ``true`` or ``false``; any other value is text.

    Examples
    --------
    >>> read_parameters(["epsilon=0.5", "mode=fast", "tight=false"])
    {'epsilon': 0.5, 'mode': 'fast', 'tight': False}
    """
    parameters = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.isidentifier():
            raise InvalidValue(f"A parameter must be `name=value`; got `{setting}`.")
        try:
            parameters[name] = read_literal(value)
        except InvalidValue:
            parameters[name] = {"true": True, "false": False}.get(value.strip(), value)
    return parameters


def read_literal(text: str) -> Any:
    """Return the value of a Python literal.

    NaN and infinity are literals, as JSON or Python writes them.

    Raises
    ------
    InvalidValue
        The text is not a literal.

    Examples
    --------
    >>> read_literal("[1, -inf, 'a', Infinity, NaN, float('nan')]")
    [1, -inf, 'a', inf, nan, nan]
    """
    try:
        return ast.literal_eval(_parsed(text))
    except (ValueError, SyntaxError, TypeError, OverflowError, MemoryError, RecursionError):
        raise InvalidValue(f"`{text}` is not a Python literal{_trouble(text)}.") from None


def _parsed(text: str) -> Any:
    return _SpecialNumbers().visit(ast.parse(text.strip(), mode="eval"))


class _SpecialNumbers(ast.NodeTransformer):
    """Replaces names of special floats, and ``float(literal)``, by numbers.

    The names are `nan`, `inf`, `NaN` and `Infinity`.
    """

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(float(node.id)) if node.id in {"nan", "inf", "NaN", "Infinity"} else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(ast.Name("float"), [ast.Constant(str() | int() | float() as given)], []):
                return ast.Constant(float(given))
        return node


def _trouble(text: str) -> str:
    """Return the end of a message on why a text is not a literal.

    The end is empty if the text shows the reason itself.

    Examples
    --------
    >>> _trouble("[0, 1"), _trouble("[0, one]"), _trouble("one")
    (": '[' was never closed", ': `one` is a name, not a literal', '')
    """
    try:
        tree = _parsed(text)
    except SyntaxError as error:
        return f": {error.msg.rstrip('.?')}"
    except (ValueError, OverflowError, MemoryError, RecursionError):
        return ""
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    name = next(names, text.strip())
    return "" if name == text.strip() else f": `{name}` is a name, not a literal"


def _side(text: str) -> Any:
    try:
        return read_literal(text)
    except InvalidValue:
        said = f"The databases of `--pair` must be Python literals; got `{text}`{_trouble(text)}."
        raise InvalidValue(said) from None


def _made(text: str, *, wanted: str) -> Any:
    """Return the object that a text names. A function or class is called, and its answer is returned."""
    found = _named(text, wanted=wanted)
    if not inspect.isfunction(found) and not inspect.isclass(found):
        return found
    try:
        return found()
    except Exception as error:
        raise InvalidValue(f"`{text}` cannot be called without arguments: {reason(error)}") from error


def _relation(text: str) -> Any:
    return load_object(text) if ":" in text else Relation.from_name(text)


def _size(text: str) -> int | tuple[int, int]:
    try:
        bounds = [int(part) for part in text.split(":")]
    except ValueError:
        bounds = []
    if len(bounds) not in {1, 2}:
        raise InvalidValue(f"The `--size` must be a whole number or MIN:MAX; got `{text}`.")
    return bounds[0] if len(bounds) == 1 else (bounds[0], bounds[1])


def _records(text: str) -> Any:
    wanted = "The `--records` must be a Python list or module:strategy"
    try:
        value = read_literal(text)
    except InvalidValue:
        return _made(text, wanted=wanted)
    if not isinstance(value, (list, tuple)):
        raise InvalidValue(f"{wanted}; got `{text}`.")
    return list(value)


def _named(text: str, *, wanted: str) -> Any:
    written = text.lstrip().startswith(("[", "(", "{"))
    if written or ":" not in text:
        raise InvalidValue(f"{wanted}; got `{text}`{_trouble(text) if written else ''}.")
    try:
        return load_object(text)
    except AuditError as error:
        raise InvalidValue(f"{wanted}: {error}") from error


_READERS: dict[str, Callable[[str], Any]] = {
    "records": _records,
    "databases": partial(_made, wanted="The `--databases` must be module:strategy"),
    "problems": partial(_made, wanted="The `--problems` must be module:object"),
    "convert": partial(_named, wanted="The `--convert` must be module:function, such as numpy:array"),
    "fresh": partial(
        _named, wanted="The `--fresh` must be module:function, a function that makes a new mechanism"
    ),
    "valid": partial(_named, wanted="The `--valid` must be module:function"),
    "relation": _relation,
    "size": _size,
}
