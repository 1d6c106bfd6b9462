"""Output distributions: one as a mapping, many as a table that can be compared row by row.

Probabilities live in three precisions: float logs for screening millions of pairs, exact
rationals where the law was enumerated, and balls (intervals with exact ends) for certificates.

No memo may hide a mechanism that changes its answers, so laws that decide are computed anew, once
for each dataset. But all that is said of one pair rests on the same two laws: the check of a law
that is known, a comparison, its witness, each point of a curve and what would hold instead of a
claim.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import ball, precision
from liptest.data.domains import IntArray
from liptest.errors import InputError, LawError, UnsupportedForm, quote

if TYPE_CHECKING:
    from liptest.mechanisms.likelihood_cells import PairCells

Output = Hashable
FloatArray = NDArray[np.float64]
Indices = NDArray[np.int64]
#: -inf as a finite number: differences stay free of NaN (theory 1.4).
ZERO_LOG = -1e300
#: Losses beyond this are infinite: only a difference with ZERO_LOG is that large.
INFINITE_LOSS = 1e299
_ULP = 2.0**-52
_RELEASED_BITS = 200
_SMALLEST_NORMAL = math.log(2.0**-1022)
_SMALLEST_POSITIVE = math.log(2.0**-1074) - 0.5
# NumPy reduces short rows slowly: narrower tables are reduced along their long axis.
_NARROW = 64
# Numbers of each of two laws that are compared at once: they stay in a cache of the processor.
_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class Raised:
    """The output "an exception of this type was raised"; the message is not part of it."""

    exception: str

    def __repr__(self) -> str:
        return f"Raised({self.exception!r})"


@dataclass(frozen=True)
class AtPlace:
    """The event "the output has this at one of its places", whatever the others are."""

    place: int
    output: Output

    def __repr__(self) -> str:
        return f"{self.output!r} at place {self.place}"


def integer_weights(probabilities: Sequence[Fraction]) -> list[int]:
    """Whole numbers in exactly the given proportions."""
    common = math.lcm(*(p.denominator for p in probabilities))
    return [p.numerator * (common // p.denominator) for p in probabilities]


class _InLowestTerms(NamedTuple):
    """Taken by ``Fraction`` as it is, as every rational number: no common divisor is looked for."""

    numerator: int
    denominator: int


numbers.Rational.register(_InLowestTerms)


def find_quotient(numerator: int, denominator: int) -> Fraction:
    """The quotient; quick where the denominator is a large power of 2, as of products of draws."""
    if not numerator or denominator & (denominator - 1):
        return Fraction(numerator, denominator)
    shift = min(_twos(abs(numerator)), _twos(denominator))
    lowest: Any = _InLowestTerms(numerator >> shift, denominator >> shift)
    return Fraction(lowest)


def sum_of_fractions(fractions: Iterable[Fraction]) -> Fraction:
    """The sum; quick where denominators differ by powers of 2, as those of products of draws do."""
    sums: dict[tuple[int, int], int] = {}
    for fraction in fractions:
        shift = _twos(fraction.denominator)
        key = fraction.denominator >> shift, shift
        sums[key] = sums.get(key, 0) + fraction.numerator
    odd = math.lcm(*{own for own, _ in sums})
    most = max((shift for _, shift in sums), default=0)
    total = sum(by * (odd // own) << most - shift for (own, shift), by in sums.items())
    return Fraction(total, odd << most)


def _twos(number: int) -> int:
    """How often 2 divides a number above 0."""
    return (number & -number).bit_length() - 1


def log_fraction(value: Fraction) -> float:
    """Natural log of a positive rational to 4 ulp, also where it underflows as a float."""
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    if abs(shift) < 1000:
        return math.log(value.numerator / value.denominator)
    if shift > 0:
        scaled = value.numerator / (value.denominator << shift)
    else:
        scaled = (value.numerator << -shift) / value.denominator
    return math.log(scaled) + shift * math.log(2.0)


def default_error(log_probabilities: FloatArray) -> FloatArray:
    """4 ulp of max(1, |value|): the bound on a careful float formula (design: ClosedForm)."""
    return np.asarray(4.0 * _ULP * np.maximum(1.0, np.abs(log_probabilities)))


def exact_ball(value: Fraction | arb) -> arb:
    """A rational as a ball at the current precision; a ball as it is."""
    return value if isinstance(value, arb) else ball(value)


class OutputLaw(Mapping[Output, float]):
    """The law of the output on one dataset: a mapping from outputs to probabilities.

    Parameters
    ----------
    outputs
        k distinct hashable outputs.
    log_probabilities
        (k,) natural logs, normalised; ignored where ``fractions`` are given.
    errors
        (k,) absolute bounds on the logs.
    fractions
        k exact probabilities, or None.
    unexplored
        Mass that no output accounts for (budgets, unbounded outputs).
    source
        "declared", "enumerated", "integrated" or "sampled".
    exact_zeros
        Whether -inf means probability 0, or merely something too small for a float.
    """

    #: Of an enumerated law: runs that ended, and runs among them repeated with real numbers.
    leaves: int | None = None
    repeated: int | None = None
    #: How many runs that took, each leaf as it was and with real numbers.
    again: int = 0
    #: Of whole numbers with noise without an end: lines that tell the law of all of them.
    formula: tuple[str, ...] = ()

    def __init__(
        self,
        outputs: Sequence[Output],
        log_probabilities: FloatArray,
        errors: FloatArray,
        *,
        fractions: Sequence[Fraction] | None = None,
        unexplored: Fraction = Fraction(0),
        source: str = "declared",
        exact_zeros: bool = True,
    ) -> None:
        self.outputs = tuple(outputs)
        self.log_probabilities = log_probabilities
        self.errors = errors
        self.fractions = None if fractions is None else tuple(fractions)
        self.unexplored = unexplored
        self.source = source
        self.exact_zeros = exact_zeros
        self._position = {output: k for k, output in enumerate(self.outputs)}

    @classmethod
    def from_fractions(
        cls,
        probabilities: Mapping[Output, Fraction],
        *,
        unexplored: Fraction = Fraction(0),
        source: str = "enumerated",
    ) -> OutputLaw:
        """An exact law; LawError unless it sums to 1 with the unexplored mass."""
        # Very many outputs often share few probabilities, each of them one object.
        every = (*probabilities.values(), unexplored)
        shared, times = {id(p): p for p in every}, Counter(map(id, every))
        # At once over a common denominator: adding fractions takes a gcd each time.
        common = math.lcm(*(p.denominator for p in shared.values()))
        total = sum(times[i] * p.numerator * (common // p.denominator) for i, p in shared.items())
        if total != common or any(p.numerator < 0 for p in shared.values()):
            raise LawError(f"the probabilities sum to {total / common!r}, or one is negative")
        log_of = {key: log_fraction(p) for key, p in shared.items() if p}
        positive = {o: p for o, p in probabilities.items() if id(p) in log_of}
        logs = np.array([log_of[id(p)] for p in positive.values()], dtype=np.float64)
        return cls(
            tuple(positive),
            logs,
            default_error(logs),
            fractions=tuple(positive.values()),
            unexplored=unexplored,
            source=source,
        )

    def __getitem__(self, output: Output) -> float:
        position = self._position[output]
        if self.fractions is not None:
            return float(self.fractions[position])
        return math.exp(self.log_probabilities[position])

    def __iter__(self) -> Iterator[Output]:
        return iter(self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    def __repr__(self) -> str:
        return f"OutputLaw({quote(dict(self), 200)}, source={self.source!r})"

    @property
    def error(self) -> float:
        """Largest absolute error of a log probability; 0 for an exact law."""
        if self.fractions is not None or len(self.errors) == 0:
            return 0.0
        return float(np.max(self.errors))

    def exact(self, output: Output) -> Fraction | arb:
        """The probability as a Fraction, or as a ball that contains it; 0 off the outputs."""
        if self.fractions is not None:
            position = self._position.get(output)
            return Fraction(0) if position is None else self.fractions[position]
        lower, upper = (bound.exp() for bound in self.log_bounds(output))
        return lower.union(upper)

    def say_of(self, output: Output) -> Hashable:
        """The same for outputs of which the law says the same; maybe not for all of these."""
        position = self._position.get(output)
        if position is None:
            return None
        if self.fractions is not None:
            return id(self.fractions[position])
        return self.log_probabilities[position], self.errors[position]

    def is_zero(self, output: Output) -> bool:
        """Whether the probability is certainly 0."""
        if output not in self._position:
            return not self.unexplored
        position = self._position[output]
        return self.log_probabilities[position] == -math.inf and self.exact_zeros

    def log_bounds(self, output: Output) -> tuple[arb, arb]:
        """Certain lower and upper bounds of the log probability; (-inf, -inf) for a zero."""
        if self.is_zero(output):
            return arb("-inf"), arb("-inf")
        position = self._position.get(output)
        if position is None:
            return arb("-inf"), exact_ball(self.unexplored).log().upper()
        if self.fractions is not None:
            ball = exact_ball(self.fractions[position]).log()
        elif self.log_probabilities[position] == -math.inf:
            # 0, or below the smallest positive float (theory 1.4).
            return arb("-inf"), (arb(2).log() * -1074).upper()
        else:
            ball = arb(float(self.log_probabilities[position]), float(self.errors[position]))
        return ball.lower(), ball.upper()


class ComparableLaws(ABC):
    """Laws of q queries, some of which share one of u distinct laws.

    ``left`` and ``right`` are (p,) indices of distinct laws.
    """

    #: (q,) which of the u laws each query has; None means query i has law i.
    rows: Indices | None = None
    #: Whether a probability that is listed as 0 is 0.
    zeros_exact: bool = True
    #: (u,) probability that no output accounts for; None means none.
    unexplored: FloatArray | None = None

    def distinct(self, positions: Indices) -> Indices:
        """Distinct law of each queried position."""
        return positions if self.rows is None else self.rows[positions]

    @abstractmethod
    def losses(self, left: Indices, right: Indices) -> FloatArray:
        """Loss of each pair, natural log units; infinite from INFINITE_LOSS on; (p,)."""

    @abstractmethod
    def hockey_sticks(self, left: Indices, right: Indices, epsilon: float) -> FloatArray:
        """Hockey-stick divergence of each pair, the larger direction (theory 3); (p,)."""

    @abstractmethod
    def screen_error(self, left: Indices, right: Indices) -> FloatArray:
        """Bound on the error of each of ``losses``; (p,)."""

    def has_uncertain_zeros(self, left: Indices, right: Indices) -> NDArray[np.bool_]:
        """Whether both laws of a pair have a zero at one output that may be an underflow; (p,)."""
        return np.zeros(len(left), dtype=bool)

    def is_answered(self) -> bool:
        """False when every output is a raised exception."""
        return True

    def cells(self, left: int, right: int) -> PairCells:
        """Two distinct laws as cells; UnsupportedForm where they are not compared so."""
        raise UnsupportedForm("these laws are compared by their largest loss and deltas only")

    def pair_kind(self, left: int, right: int) -> Hashable:
        """Equal for pairs of distinct laws, in either order, only where no measure tells them."""
        return (left, right) if left <= right else (right, left)

    def new_distinct(self) -> Any:
        """What collects distinct laws of this kind; None: that of laws that list their outputs."""
        return None


@dataclass(frozen=True, eq=False)
class LawTable(ComparableLaws):
    """Many finite laws over common outputs.

    Parameters
    ----------
    outputs
        k outputs.
    logs
        (u, k) natural logs of the distinct laws, normalised; probability 0 is ZERO_LOG.
    rows
        (q,) which of the u laws each of the q queries has; None means query i has law i.
    errors
        (u,) largest absolute error of a log in each law, for screening; infinite for partial laws.
    zeros_exact
        Whether ZERO_LOG means probability 0.
    exact
        u keys, equal only for equal laws, where laws with equal logs may differ; else None.
    unexplored
        (u,) probability that no output accounts for; None means none.
    """

    outputs: tuple[Output, ...]
    logs: FloatArray
    rows: Indices | None = field()
    errors: FloatArray = field()
    zeros_exact: bool = True
    exact: tuple[Hashable, ...] | None = None
    unexplored: FloatArray | None = None

    def only(self, output: Output) -> LawTable:
        """The table of one output's probabilities (the paper's lambda_o)."""
        if output in self.outputs:
            column = self.logs[:, [self.outputs.index(output)]]
        else:
            column = np.full((len(self.logs), 1), ZERO_LOG)
        return LawTable(
            (output,), column, self.rows, self.errors, self.zeros_exact, unexplored=self.unexplored
        )

    def losses(self, left: Indices, right: Indices) -> FloatArray:
        """max_o |ln mu - ln mu'| of pairs of laws, (p,); infinite from INFINITE_LOSS on."""
        width = self.logs.shape[1]
        if width < _NARROW:
            gaps = np.take(self.logs, left, axis=0)
            gaps -= np.take(self.logs, right, axis=0)
            return np.asarray(np.abs(gaps.T, order="C").max(axis=0, initial=0.0))
        losses = np.empty(len(left))
        for some, gaps, others in self._logs_of_pairs(left, right):
            gaps -= others
            np.abs(gaps, out=gaps).max(axis=1, initial=0.0, out=losses[some])
        return losses

    def hockey_sticks(self, left: Indices, right: Indices, epsilon: float) -> FloatArray:
        """Larger of the two hockey-stick divergences at ``epsilon`` (theory 3); (p,)."""
        factor = math.exp(min(epsilon, 700.0))
        sticks = np.empty(len(left))
        for some, p, q in self._logs_of_pairs(left, right):
            np.exp(p, out=p)
            np.exp(q, out=q)
            forth = np.maximum(p - factor * q, 0.0).sum(axis=1)
            back = np.maximum(q - factor * p, 0.0).sum(axis=1)
            np.maximum(forth, back, out=sticks[some])
        return sticks

    def _logs_of_pairs(
        self, left: Indices, right: Indices
    ) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """The logs of some pairs at once, in two arrays that are written anew for the next ones.

        They are small enough to stay in the processor's cache.
        """
        width = self.logs.shape[1]
        step = max(1, _AT_ONCE // max(1, width))
        rows = np.empty((2, min(step, len(left)), width))
        for start in range(0, len(left), step):
            some = slice(start, start + step)
            first, second = rows[:, : len(left[some])]
            # Indices are known to be inside; "raise" would gather into another array first.
            np.take(self.logs, left[some], axis=0, out=first, mode="clip")
            np.take(self.logs, right[some], axis=0, out=second, mode="clip")
            yield some, first, second

    def screen_error(self, left: Indices, right: Indices) -> FloatArray:
        """Bound on the error of ``losses``; (p,)."""
        return np.asarray(self.errors[left] + self.errors[right])

    def has_uncertain_zeros(self, left: Indices, right: Indices) -> NDArray[np.bool_]:
        """(p,) whether both laws have a zero at one output that may be an underflow."""
        if self.zeros_exact or not self._has_zeros:
            return super().has_uncertain_zeros(left, right)
        both = (self.logs[left] == ZERO_LOG) & (self.logs[right] == ZERO_LOG)
        return np.asarray(both.any(axis=1))

    @cached_property
    def _has_zeros(self) -> bool:
        return bool(self.logs.min(initial=0.0) == ZERO_LOG)

    def is_answered(self) -> bool:
        """Whether some law gives positive probability to an output that is not an exception."""
        return self._is_answered

    @cached_property
    def _is_answered(self) -> bool:
        raised = [isinstance(output, Raised) for output in self.outputs]
        if not any(raised):
            return len(self.logs) > 0
        return bool(np.any(self.logs[:, ~np.array(raised)] > ZERO_LOG))


def normalise_logs(
    log_probabilities: Any, outputs: int, count: int, error: Any, who: str, *, each: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Check and normalise a (count, outputs) array of log probabilities.

    Returns the normalised logs with ZERO_LOG for -inf, and the absolute errors of the logs, (count,
    1) or with ``each`` (count, outputs): the declared ones plus what normalisation moved, so that
    both the declared law and the normalised one, which is released, lie within them.

    Raises
    ------
    LawError
        Wrong shape, NaN, a probability above 1, or a sum off 1 by more than the error allows.
    """
    logs = _floats(log_probabilities, who)
    if logs.shape != (count, outputs):
        raise LawError(
            f"{who}: log_pmf gave shape={logs.shape} for {count} datasets and {outputs} outputs; "
            f"return natural logs of shape ({count}, {outputs})"
        )
    lowest, highest = float(logs.min(initial=0.0)), float(logs.max(initial=0.0))
    if math.isnan(lowest) or highest == math.inf:
        wrong = "NaN" if math.isnan(lowest) else "inf"
        raise LawError(f"{who}: log_pmf gave {wrong}; return natural logs, -inf for probability 0")
    if lowest < ZERO_LOG:
        np.maximum(logs, ZERO_LOG, out=logs)
    # One number for all: an array of errors costs as much as the laws.
    sizes = np.asarray(max(1.0, -lowest, highest))
    if each or lowest <= ZERO_LOG:
        sizes = np.maximum(1.0, np.abs(np.where(logs == ZERO_LOG, 0.0, logs)))
        sizes = sizes if each else np.asarray(sizes.max(initial=1.0))
    declared = 4.0 * _ULP * sizes if error is None else check_error(error, outputs)
    excess = _check_sums(logs, declared, who)
    if error is None and lowest < _SMALLEST_NORMAL:
        underflow = _underflow_errors(logs)
        declared = declared + (underflow if each else underflow.max(axis=1, keepdims=True))
    # Leaves ZERO_LOG as it is: an excess is below its last digit by far.
    logs -= excess[:, None]
    # What normalising moved, and the rounding of the sum, its log and the subtraction.
    rounding = _ULP * (logs.shape[1] + 4 + sizes)
    return logs, declared + np.abs(excess)[:, None] + rounding


def _floats(log_probabilities: Any, who: str) -> FloatArray:
    try:
        return np.array(log_probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise LawError(
            f"{who}: log_pmf gave {quote(log_probabilities)}; return an array of natural logs, a "
            f"row per dataset"
        ) from None


def _underflow_errors(logs: FloatArray) -> FloatArray:
    """What rounding did to the logs that are logs of floats below the normal range; like ``logs``.

    Such floats are multiples of 2**-1074, so the log of a probability that is about to underflow
    is wrong by far more than its last digits. Logs from a formula in logs are not.
    """
    errors = np.zeros_like(logs)
    low = np.nonzero((logs < _SMALLEST_NORMAL) & (logs > _SMALLEST_POSITIVE))
    values = logs[low]
    floats = np.exp(values)
    rounded = np.abs(np.log(floats) - values) <= np.spacing(np.abs(values))
    errors[low] = np.where(rounded, 2.0 * 2.0**-1074 / floats, 0.0)
    return errors


def check_error(error: Any, outputs: int) -> FloatArray:
    """Declared bounds as an array; InputError unless one or ``outputs`` numbers, 0 or more."""
    given = np.asarray(error)
    numeric = given.dtype.kind in "iuf" and given.shape in ((), (outputs,))
    if not numeric or not np.all(np.isfinite(given) & (given >= 0)):
        raise InputError(
            f"error={quote(error)} must be a finite number of 0 or more, or {outputs} of them, one "
            f"for each output",
            name="error",
            value=error,
        )
    return given.astype(np.float64)


def _check_sums(logs: FloatArray, declared: FloatArray, who: str) -> FloatArray:
    with np.errstate(over="ignore", divide="ignore"):
        excess = np.log(np.einsum("ij->i", np.exp(logs)))
    allowed = declared if declared.ndim == 0 else declared.max(axis=-1)
    wrong = np.flatnonzero(~(np.abs(excess) <= allowed + logs.shape[1] * _ULP))
    if len(wrong):
        total = np.exp(min(float(excess[wrong[0]]), 700.0))
        raise LawError(
            f"{who}: an output distribution sums to {float(total)!r}, not 1, off by more than the "
            f"declared error; log_pmf must give natural logs of normalised probabilities"
        )
    return np.asarray(excess)


def find_released_weights(law: OutputLaw) -> list[Fraction]:
    """Rational weights of the law that was tested, one per output.

    Exact for enumerated laws. A law given by float logs v is the law with weights exp(v); each
    is evaluated to 200 bits, which moves a loss by less than 1e-59.
    """
    if law.fractions is not None:
        return list(law.fractions)
    with precision(_RELEASED_BITS):
        logs = map(float, law.log_probabilities)
        return [Fraction(0) if v == -math.inf else as_fraction(arb(v).exp()) for v in logs]


def as_fraction(value: Fraction | arb) -> Fraction:
    """The exact value, or the exact midpoint of a ball."""
    if isinstance(value, Fraction):
        return value
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


T = TypeVar("T")
# Laws of both datasets, and of a pair between them; what was found of pairs of laws.
_KEPT, _MOST_FOUND = 4, 64


@dataclass(eq=False)
class _Decision:
    """What is known in the decision that is under way."""

    #: Laws, with the mechanism, whose id would be used again.
    laws: dict[Hashable, tuple[Any, Any]] = field(default_factory=dict)
    #: What was found of laws, by all that it depends on.
    found: dict[Hashable, Any] = field(default_factory=dict)
    #: Of what is on trial: what it is decided for, which knows laws that are not.
    outer: _Decision | None = None
    #: What is on trial (``laws_on_trial``).
    trial: _Decision | None = None
    #: Whether a run that was repeated has answered otherwise, so that nothing is on trial any more.
    is_distrusted: bool = False


_decision: ContextVar[_Decision | None] = ContextVar("_decision", default=None)


@contextmanager
def _deciding(decision: _Decision | None) -> Iterator[None]:
    token = _decision.set(decision)
    try:
        yield
    finally:
        _decision.reset(token)


@contextmanager
def laws_of_one_decision() -> Iterator[None]:
    """Within, a law is computed anew once."""
    with _deciding(_decision.get() or _Decision()):
        yield


@contextmanager
def laws_on_trial() -> Iterator[None]:
    """Within, laws tell where to look, and nothing that a verdict says rests on them.

    No run is repeated for such a law. What is found with its help is to be computed anew without.
    Nothing is on trial outside of a decision, or where a run that was repeated answered otherwise.
    """
    decision = _decision.get()
    if decision is not None and decision.outer is None and not decision.is_distrusted:
        decision.trial = decision.trial or _Decision(outer=decision)
        decision = decision.trial
    with _deciding(decision):
        yield


@contextmanager
def laws_in_earnest() -> Iterator[None]:
    """Within, nothing is on trial."""
    decision = _decision.get()
    with _deciding(decision and (decision.outer or decision)):
        yield


def is_on_trial() -> bool:
    """Whether a law is computed for ``laws_on_trial``."""
    decision = _decision.get()
    return decision is not None and decision.outer is not None


def distrust_trials() -> None:
    """Put nothing on trial for the rest of the decision."""
    decision = _decision.get()
    if decision is not None:
        decision.is_distrusted = True


def of_one_decision(
    mechanism: object, dataset: IntArray, make: Callable[[], T], *, anew: bool = False
) -> T:
    """The law that ``make`` computes anew, or that of the same decision; ``anew`` makes another."""
    decision = _decision.get()
    if decision is None:
        return make()
    laws = decision.laws
    key = id(mechanism), dataset.dtype.str, dataset.tobytes()
    known = laws if decision.outer is None else {**decision.outer.laws, **laws}
    if key in known and not anew:
        return cast(T, known[key][1])
    law = make()
    while len(laws) >= _KEPT:
        laws.pop(next(iter(laws)))
    laws[key] = mechanism, law
    return law


def find_once(key: Hashable, find: Callable[[], T]) -> T:
    """What ``find`` gives, or the same of this decision; the key has all that it depends on."""
    decision = _decision.get()
    if decision is None:
        return find()
    remembered = decision.found
    if key not in remembered:
        while len(remembered) >= _MOST_FOUND:
            remembered.pop(next(iter(remembered)))
        remembered[key] = find()
    return cast(T, remembered[key])
