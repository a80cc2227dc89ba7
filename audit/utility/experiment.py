"""One run of a utility audit.

A run draws a database, runs the learner on it and computes the error. All of this happens in the learner's
process, so only a few numbers are sent back. Each trial has its own seed for the generators of problem and
learner. So each trial can be repeated alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from audit.claims import PAC, UtilityClaim
from audit.sampling.copies import CHANGES, Watch, changed, copied, spare
from audit.subject.signatures import Calling
from audit.subject.subject import Around, Subject
from audit.values.brief import show
from audit.values.outcomes import Raised

#: An error is a failure if it exceeds alpha by more than this. Errors are sums of rounded numbers.
ROUNDING = 1e-12
#: A law with more outcomes than this is summed only if the problem has a method `errors`.
MOST_OUTCOMES = 4_096
#: A sum of probabilities may exceed 1 by this, because of rounding.
_SUMMED = 1e-9


@dataclass(frozen=True, eq=False)
class Ask:
    """The request for one run.

    Parameters
    ----------
    problem
        The problem that draws the database.
    seed
        The seed of a trial to repeat, or None for a new trial.
    reveal
        Whether to return the database and the output as well.
    seen
        The message of the first run on whether the problem changes its database. Later runs repeat the
        message.

    Examples
    --------
    >>> Ask(None, seed=3).reveal
    False
    """

    problem: Any
    seed: int | None = None
    reveal: bool = False
    seen: list[str] = field(default_factory=list)

    def trouble(self, watch: Watch) -> str:
        """Return a message if the problem changed its database, else an empty text.

        Only the first run is checked.
        """
        if not self.seen:
            self.seen.append(watch.trouble())
        return self.seen[0]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return this object itself, so that the problem keeps its caches."""
        return self


class Trial(NamedTuple):
    """The result of a run, as plain numbers and texts.

    `failure` is 1 or 0. If `exact` is true, it is the probability of failure given the database. If the code
    ran in addition to the law, `ran` says whether the run failed. `trouble` describes a fault of the problem.
    """

    failure: float
    error: float
    seed: int
    size: int | None = None
    raised: str = ""
    changed: bool = False
    exact: bool = False
    trouble: str = ""
    ran: float | None = None


@dataclass(frozen=True)
class Revealed:
    """A trial with its database and its output."""

    database: Any
    output: Any
    trial: Trial


class Conditional(NamedTuple):
    """The exact probability of failure on one database.

    `error` is the mean error there. `output` is an output that fails, if there is one.
    """

    failure: float
    error: float
    output: Any


@dataclass(frozen=True, eq=False)
class Experiment(Around):
    """A learner with its experiment, as a subject.

    The subject takes an `Ask` as database and returns a `Trial`.

    Parameters
    ----------
    inner
        The user's learner.
    calling
        How the learner gets its generator.
    alpha
        The allowed error.
    convert
        Turns a database into the type that the learner takes, or None.
    law
        Returns the learner's exact law on a database. If it is None, the learner runs.
    beside
        Whether the learner runs in addition to its law.
    most
        The largest possible finite error (`largest_error`).

    Examples
    --------
    >>> from audit.problems import FixedProblem
    >>> experiment = Experiment(sum, Calling(takes_rng=False), alpha=0.5)
    >>> problem = FixedProblem("two", [1, 1], lambda output, database: abs(output - 3))
    >>> experiment(Ask(problem), np.random.default_rng(0)).failure
    1.0
    """

    calling: Calling
    alpha: float
    convert: Any = None
    law: Any = None
    beside: bool = False
    most: float = math.inf

    def shell(self) -> Self:
        """Return this experiment without the learner and its law."""
        return replace(self, inner=None, law=None)

    def __call__(self, ask: Ask, rng: np.random.Generator) -> Trial | Revealed:
        """Return the result of one trial."""
        drawn = int(rng.integers(2**63))
        seed = drawn if ask.seed is None else ask.seed
        for_problem, for_learner = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))
        trial = Trial(0.0, 0.0, seed, trouble="".join(ask.seen))
        if trial.trouble:
            return Revealed(None, None, trial) if ask.reveal else trial
        database, raised = attempted(ask.problem.draw, for_problem)
        if raised:
            return trial._replace(trouble=f"cannot draw a database: {raised}")
        trial = trial._replace(size=length(database))
        output, done = self._done(ask, database, for_learner, trial)
        if not ask.reveal:
            return done
        if done.exact and not done.trouble:  # its error is a mean under the law
            error, trouble = self.error_of(ask.problem, output, database)
            done = done._replace(error=error, trouble=trouble)
        return Revealed(database, output, done)

    def _done(self, ask: Ask, database: Any, rng: Any, trial: Trial) -> tuple[Any, Trial]:
        """Return an output and the finished trial.

        They come from the law if there is one, else from a run. The output from a law is the most probable
        output that fails. If none fails, it is the most probable output.
        """
        found = None if self.law is None else self.failure_on(ask, database)[1]
        if found is None:
            return self._by_run(ask, database, rng, trial)
        if isinstance(found, str):
            return None, trial._replace(trouble=found)
        told = trial._replace(failure=found.failure, error=found.error, exact=True)
        if self.beside:
            ran = self._by_run(ask, database, rng, trial)[1]
            told = told._replace(ran=ran.failure, trouble=ran.trouble)
        return found.output, told

    def _by_run(self, ask: Ask, database: Any, rng: Any, trial: Trial) -> tuple[Any, Trial]:
        given = copied(database)
        try:
            prepared = given if self.convert is None else self.convert(given)
            output = self.calling.bind(self.inner)(prepared, rng)
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  a learner that raises on a legal database has failed
            raised = Raised.of(error)
            return raised, trial._replace(failure=1.0, error=math.inf, raised=str(raised))
        trial = trial._replace(changed=changed(given, database))
        watch = Watch(database, look=not ask.seen)
        distance, trouble = measured(ask.problem, output, watch.given, most=self.most)
        trouble = trouble or ask.trouble(watch)
        if trouble:
            return output, trial._replace(trouble=trouble)
        return output, trial._replace(failure=float(fails(distance, self.alpha)), error=distance)

    def failure_on(self, ask: Ask, database: Any) -> tuple[Any, Conditional | str | None]:
        """Return the law on a database, and `failure_given` under it."""
        found = law_on(self.law, database, self.convert)
        if found is None or isinstance(found, str):
            return found, found
        watch = Watch(database, look=not ask.seen)
        failures = failure_given(found, ask.problem, watch.given, self.alpha, most=self.most)
        return found, ask.trouble(watch) or failures

    def error_of(self, problem: Any, output: Any, database: Any) -> tuple[float, str]:
        """Return the error of an output under a law, and why it cannot be measured.

        The second value is empty if the error is valid. If the problem has a method `failure`, the error is
        NaN.
        """
        if callable(getattr(problem, "failure", None)):
            return math.nan, ""
        return measured(problem, output, spare(database), most=self.most)


def as_subject(subject: Subject, claim: UtilityClaim, *, law: bool, beside: bool = False) -> Subject:
    """Return a learner's experiment as a subject. If `law` is true, the learner's law replaces runs."""
    declared = subject.declared_law if law else None
    experiment = Experiment(
        subject.object, subject.calling, claim.alpha, subject.convert, declared, beside, largest_error(claim)
    )
    return Subject(name=subject.name, object=experiment, calling=Calling(takes_rng=True))


def largest_error(claim: UtilityClaim) -> float:
    """Return the largest possible finite error, which is 1 for a `PAC` claim."""
    return 1.0 if isinstance(claim, PAC) else math.inf


def attempted(call: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """Return the result of a call of the user's code, and what the call raised.

    The second value is a text, empty if nothing was raised.

    Examples
    --------
    >>> attempted(math.sqrt, 4.0), attempted(math.sqrt, -4.0)
    ((2.0, ''), (None, 'ValueError: math domain error'))
    """
    try:
        return call(*arguments), ""
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  the user's code may raise anything
        return None, f"{type(error).__name__}: {error}"


def fails(error: Any, alpha: float) -> Any:
    """Return whether an error exceeds alpha by more than rounding.

    An array of errors gives an array.

    Examples
    --------
    >>> fails(0.1 + 0.2, 0.3), fails(0.31, 0.3), fails(math.inf, 0.3)
    (False, True, True)
    """
    return error > alpha + ROUNDING * max(1.0, alpha)


def measured(problem: Any, output: Any, database: Any, *, most: float = math.inf) -> tuple[float, str]:
    """Return the error of an output, and why the error is invalid.

    A valid error is a number of at most `most`, or infinity. The second value is then empty.
    """
    error, raised = attempted(problem.error, output, database)
    if raised:
        return 0.0, f"cannot measure the output {show(output, 40)}: {raised}"
    try:
        number = math.nan if isinstance(error, str | bytes) or np.iscomplexobj(error) else float(error)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number):
        return 0.0, f"must measure errors as numbers; for the output {show(output, 40)} it gave {show(error)}"
    return number, _no_error(output, number, most)


def _no_error(output: Any, error: float, most: float) -> str:
    """Return a text if a number cannot be an error, else an empty text.

    Plus infinity is allowed, as the error of a missing answer.
    """
    if error == -math.inf:
        return f"measures an error of -inf for the output {show(output, 40)}; no error is negative infinity"
    if error == math.inf or not math.isfinite(most) or -_SUMMED <= error <= most * (1.0 + _SUMMED):
        return ""
    return (
        f"measures an error of {show(error)} for the output {show(output, 40)}, but the errors of a `PAC` "
        "claim are probabilities; claim `Accuracy` instead"
    )


def law_on(law: Any, database: Any, convert: Any = None) -> Any:
    """Return a learner's declared law on a database.

    The value is None if the learner declares none there. If the law cannot be computed, the value is a text
    that says why.
    """
    found, raised = attempted(lambda: law(database if convert is None else convert(copied(database))))
    return f"needs the law of the learner, whose `distribution` failed: {raised}" if raised else found


def failure_given(
    law: Any, problem: Any, database: Any, alpha: float, *, most: float = math.inf
) -> Conditional | str | None:
    """Return the exact probability of failure under a law, or None if it is unknown.

    The problem's method `failure` gives the probability. Without this method, it is a sum over the outcomes
    of a finite law. If the problem has a fault, the value is a text that describes the fault.

    Examples
    --------
    >>> from audit.distributions import Finite
    >>> from audit.problems import FixedProblem
    >>> problem = FixedProblem("zero", [0], lambda output, database: abs(output))
    >>> failure_given(Finite([0, 1, 5], [0.5, 0.25, 0.25]), problem, [0], 0.5).failure
    0.5
    """
    from audit.distributions import Finite

    if callable(getattr(problem, "failure", None)):
        return _told(law, problem, database, alpha)
    if not isinstance(law, Finite):
        return None
    outcomes = law.support()
    probabilities = np.exp(law.log_probabilities[np.isfinite(law.log_probabilities)])
    given = spare(database)
    errors = _errors(outcomes, problem, given, most)
    if changed(given, database):  # later errors would refer to another database
        return CHANGES
    if errors is None or isinstance(errors, str):
        return errors
    failing = fails(errors, alpha)
    worst = int(np.argmax(np.where(failing, probabilities, 0.0) if failing.any() else probabilities))
    output = outcomes[worst]
    finite = np.where(np.isfinite(errors), errors, np.maximum(1.0, 2 * alpha))
    return Conditional(
        min(1.0, float(probabilities[failing].sum())),
        float(finite @ probabilities),
        output.item() if isinstance(output, np.generic) else output,
    )


def _told(law: Any, problem: Any, database: Any, alpha: float) -> Conditional | str:
    failure, raised = attempted(lambda: float(problem.failure(law, alpha, spare(database))))
    if raised:
        return f"cannot compute its failure probability: {raised}"
    if not 0.0 <= failure <= 1.0 + ROUNDING:
        return f"must return a failure probability in [0, 1]; got {show(failure)}"
    return Conditional(min(1.0, failure), failure, None)


def _errors(outcomes: Any, problem: Any, database: Any, most: float) -> Any:
    many = getattr(problem, "errors", None)
    if callable(many):
        errors, raised = attempted(lambda: _real(many(outcomes, database)))
        if raised:
            return f"cannot measure many outputs: {raised}"
        if errors.shape != (len(outcomes),) or np.isnan(errors).any():
            return f"must return {len(outcomes)} numbers for {len(outcomes)} outputs; `errors` did not"
        finite = np.where(errors == math.inf, 0.0, errors)
        ends = (int(np.argmin(errors)), int(np.argmax(finite))) if len(errors) else ()
        return next(filter(None, (_no_error(outcomes[k], float(errors[k]), most) for k in ends)), errors)
    if len(outcomes) > MOST_OUTCOMES:
        return None
    measures = [measured(problem, outcome, database, most=most) for outcome in outcomes]
    trouble = next((said for _, said in measures if said), "")
    return trouble or np.array([error for error, _ in measures])


def _real(errors: Any) -> Any:
    """Return errors as floats, with NaN for complex values."""
    found = np.asarray(errors)
    return np.full(1, math.nan) if np.iscomplexobj(found) else found.astype(np.float64)


def length(database: Any) -> int | None:
    """Return the number of records of a database, or None if it is unknown."""
    try:
        return len(database)
    except Exception:  # noqa: BLE001  a database may be anything
        return None
