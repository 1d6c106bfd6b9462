"""Witnesses against privacy claims: certified probabilities, distinguishing events, JSON."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import CERTIFIED_BITS, precision
from liptest.data.domains import IntArray
from liptest.errors import quote
from liptest.mechanisms.base import (
    Balls,
    ClosedFormLosses,
    Mechanism,
    check_mechanism,
    through_densities,
    to_refute,
)
from liptest.mechanisms.laws import AtPlace, Output, OutputLaw, Raised, as_fraction, exact_ball
from liptest.mechanisms.product_laws import comparable
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer, certify_comparison
from liptest.privacy.divergences.likelihoods import enclose_probability
from liptest.privacy.notions import MuClaim, RenyiClaim, RhoClaim, StatedClaim
from liptest.symbolic.work import TooDearError, limit_work
from liptest.verdicts import (
    Count,
    Json,
    Positive,
    Record,
    Scalar,
    Share,
    Size,
    Text,
    as_number,
    as_text,
    as_tuple,
)


def outputs_schema(core: Any, handler: Any) -> Any:
    """A list of outputs in the notation of ``output_to_json``."""
    return core.tuple_schema(
        [handler.generate_schema(_output_type())],
        variadic_item_index=0,
        serialization=core.plain_serializer_function_ser_schema(
            lambda event: [output_to_json(output) for output in event]
        ),
    )


@cache
def _output_type() -> Any:
    """An output in JSON, which may be a tuple of outputs."""
    from typing_extensions import TypeAliasType

    return TypeAliasType("output", Annotated[Any, Json(_output)])


def _output(core: Any, handler: Any) -> Any:
    contents = {
        "tuple": core.list_schema(handler.generate_schema(_output_type())),
        "raised": core.str_schema(strict=True),
        "float": core.literal_schema(["inf", "-inf", "nan"]),
        "repr": core.str_schema(strict=True),
    }
    tagged = [
        core.typed_dict_schema({key: core.typed_dict_field(content)}, extra_behavior="forbid")
        for key, content in contents.items()
    ]
    at_place = {
        "place": core.typed_dict_field(core.int_schema(strict=True, ge=0)),
        "output": core.typed_dict_field(handler.generate_schema(_output_type())),
    }
    tagged.append(core.typed_dict_schema(at_place, extra_behavior="forbid"))
    plain = handler.generate_schema(Scalar)
    return core.no_info_after_validator_function(
        output_from_json, core.union_schema([plain, *tagged])
    )


def _trace(core: Any, handler: Any) -> Any:
    """The choices on both datasets as they are written, or None."""
    count = core.int_schema(strict=True, ge=0)
    branches = [core.int_schema(strict=True, ge=1), core.list_schema(count, min_length=1)]
    choice = core.typed_dict_schema(
        {
            "branches": core.typed_dict_field(core.union_schema(branches)),
            "chosen": core.typed_dict_field(count),
            "draw": core.typed_dict_field(core.str_schema(strict=True), required=False),
        },
        extra_behavior="forbid",
    )
    sides = {key: core.typed_dict_field(core.list_schema(choice)) for key in SIDES}
    return core.nullable_schema(core.typed_dict_schema(sides, extra_behavior="forbid"))


SIDES = ("dataset", "neighbour")
#: {"dataset": choices, "neighbour": choices}: branches or weights, and the number chosen.
Trace = dict[str, list[dict[str, Any]]]
#: A fraction p/q, or a decimal number such as 3.3e-1 that is the end of an interval.
Mass = Annotated[
    str,
    as_text(pattern=r"^([0-9]{1,4000}(/[0-9]{1,4000})?|[0-9](\.[0-9]{1,80})?e-?[0-9]{1,6})$"),
]
#: At least one value.
Dataset = Annotated[tuple[int, ...], as_tuple(Count, min_length=1)]


class Printed(str):
    """An output that JSON knows only by how it prints."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def changed_records(
    one: Any, left: NDArray[Any], right: NDArray[Any]
) -> tuple[int, NDArray[Any], NDArray[Any]] | None:
    """The place of the only record in which two datasets differ, and what it is in each.

    None where they differ in more; ``one`` is the mechanism of one record.
    """
    records = [side.reshape(-1, one.record_width) for side in (left, right)]
    places = np.flatnonzero((records[0] != records[1]).any(axis=1))
    if len(places) != 1:
        return None
    [place] = places.tolist()
    return place, records[0][place], records[1][place]


@dataclass(frozen=True, repr=False)
class PrivacyWitness(Record):
    """Two neighbouring datasets and an output that break the claim.

    Parameters
    ----------
    dataset, neighbour
        Whole-number tuples at ``distance`` (1 for neighbours).
    event
        The output that decides; for delta > 0 the set of outputs.
    probability, neighbour_probability
        Of the event, as floats; ``exact`` holds both as "p/q" or as a certified ball.
    loss_lower, loss_upper
        Certified enclosure of |ln probability - ln neighbour_probability|.
    excess
        For delta > 0: certified lower bound of mu(event) - e^epsilon' mu'(event).
    bounds
        For each output of the event: lower and upper bound of its probability, then of that on
        the neighbour, as text: "p/q" twice where it is exact, decimal numbers otherwise.
    unexplored
        Of both laws: mass that no output accounts for, which may lie on the event as well.
    trace
        Random choices that lead to the output on the dataset and on the neighbour, or None.
    order
        Where the claim is one of Renyi divergences: ``loss_lower`` and ``loss_upper`` enclose that
        of this order, of the dataset's law from the neighbour's. For mu they enclose mu. The event
        may be empty where laws are compared in closed form.
    rows
        The two datasets in words, line by line, where they are tables with named columns.
    """

    dataset: Dataset
    neighbour: Dataset
    event: Annotated[tuple[Output, ...], Json(outputs_schema)]
    probability: Share
    neighbour_probability: Share
    loss_lower: Size
    loss_upper: Size
    claim: StatedClaim
    exact: tuple[Text, Text] = ("", "")
    excess: Annotated[float, as_number()] = 0.0
    distance: Positive = 1
    bounds: tuple[tuple[Mass, Mass, Mass, Mass], ...] = ()
    unexplored: tuple[Mass, Mass] = ("0", "0")
    trace: Annotated[Trace | None, Json(_trace)] = None
    order: Annotated[float, as_number(ge=1)] | None = None
    rows: Annotated[tuple[str, ...], as_tuple(Text)] | None = None
    optional: ClassVar[frozenset[str]] = frozenset({"order", "rows"})

    @property
    def output(self) -> Output:
        """The output; for delta > 0 with several outputs, the tuple of them."""
        return self.event[0] if len(self.event) == 1 else self.event

    @property
    def loss(self) -> float:
        """The loss in floats, inf when an output is impossible on one side."""
        return self.loss_upper if math.isinf(self.loss_lower) else self.loss_lower

    @property
    def least_delta(self) -> float:
        """A delta that the claimed epsilon needs at least for the event; four digits, 0: unknown.

        p - e^epsilon q of the event, rounded down (docs/theory/privacy.md, 3.7b).
        """
        if not isinstance(self.claim, Claim):
            return 0.0
        texts = [text for ends in self.bounds for text in ends]
        is_short = sum(map(len, texts)) <= _MOST_DIGITS and not any(map(_is_tiny, texts))
        if not (texts and is_short) or max(self.unexplored) != "0":
            return 0.0
        exponent = min(self.claim.threshold, _LARGEST_EXPONENT)
        factor = Fraction(math.exp(exponent)) * (1 + Fraction(1, 2**40))
        ends = [sum(map(Fraction, column)) for column in zip(*self.bounds, strict=True)]
        gap = max(ends[0] - factor * ends[3], ends[2] - factor * ends[1])
        if gap <= 0:
            return 0.0
        return float(_DOWN.divide(Decimal(gap.numerator), Decimal(gap.denominator)))

    @property
    def measured(self) -> float:
        """What certainly is shown, in the measure of the claim: a loss, a rho, a mu, a share."""
        if isinstance(self.claim, RhoClaim):
            return self.loss_lower / (self.order or 1.0)
        if isinstance(self.claim, RenyiClaim):
            return self.loss_lower / dict(self.claim.orders).get(self.order or 0.0, math.inf)
        return self.loss_lower

    @property
    def changed(self) -> tuple[int, ...]:
        """Coordinates in which the datasets differ."""
        pairs = enumerate(zip(self.dataset, self.neighbour, strict=True))
        return tuple(i for i, (a, b) in pairs if a != b)

    @property
    def arrays(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Both datasets in the integer type of the test, on which arithmetic may depend."""
        kind = np.min_scalar_type(-1 - max(map(abs, (*self.dataset, *self.neighbour))))
        return np.array(self.dataset, dtype=kind), np.array(self.neighbour, dtype=kind)

    @property
    def is_at_place(self) -> bool:
        """Whether the event is about one place of the output, that of the changed record."""
        return all(isinstance(output, AtPlace) for output in self.event) and bool(self.event)

    def __repr__(self) -> str:
        return (
            f"PrivacyWitness(dataset={quote(list(self.dataset))}, changed={self.changed}, "
            f"output={self.output!r}, probability={self.probability!r}, "
            f"neighbour_probability={self.neighbour_probability!r}, loss={self.loss!r})"
        )

    def verify(self, mechanism: Any) -> bool:
        """Ask the mechanism for both laws again; True when the claim is certainly broken."""
        checked = check_mechanism(mechanism)
        left, right = self.arrays
        if self.is_at_place:
            of_record = checked.of_one_record(left)
            records = None if of_record is None else changed_records(of_record, left, right)
            if of_record is None or records is None:
                return False
            _, left, right = records
            checked = comparable(of_record, int(left[0]), int(right[0]))

        def compare() -> bool:
            comparison = to_refute(
                checked,
                left,
                lambda numbers: through_densities(
                    numbers,
                    lambda seen: certify_comparison(seen, left, right, self.claim, self.distance),
                ),
                lambda seen: seen.answer is Answer.VIOLATED,
            )
            return comparison.answer is Answer.VIOLATED

        if len(self.event) > 1 or self.trace is not None or not isinstance(self.claim, Claim):
            return compare()
        try:
            with limit_work(_WORK):
                return compare()
        except TooDearError:
            from liptest.privacy.path_probabilities import breaks_on_path

            pair = left, right
            return breaks_on_path(checked, pair, self.event[0], self.claim) or compare()


def output_to_json(output: Hashable) -> Any:
    """An output as JSON: scalars as they are, tuples and exceptions tagged, the rest by repr."""
    if isinstance(output, Printed):
        return {"repr": str(output)}
    if isinstance(output, tuple):
        return {"tuple": [output_to_json(item) for item in output]}
    if isinstance(output, Raised):
        return {"raised": output.exception}
    if isinstance(output, AtPlace):
        return {"place": output.place, "output": output_to_json(output.output)}
    if isinstance(output, np.generic):
        return output_to_json(output.item())
    if isinstance(output, float) and not math.isfinite(output):
        return {"float": str(output)}
    if output is None or isinstance(output, (bool, int, float, str)):
        return output
    return {"repr": repr(output)}


def output_from_json(value: Any) -> Output:
    """Inverse of ``output_to_json``; outputs known only by repr come back as ``Printed``."""
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    if "place" in value:
        return AtPlace(value["place"], output_from_json(value["output"]))
    [(kind, content)] = value.items()
    if kind == "tuple":
        return tuple(output_from_json(item) for item in content)
    if kind == "raised":
        return Raised(content)
    return float(content) if kind == "float" else Printed(str(content))


def _is_tiny(text: str) -> bool:
    return len(text.partition("e-")[2]) > len("300")


# Probabilities of a witness as text that anybody can check: fractions, else certified intervals.
#
# An interval end is a decimal number, rounded outwards, so that a reader with rational arithmetic
# alone can decide with it.


#: (lower, upper) of the probability on the dataset, then of that on the neighbour.
Bounds = tuple[str, str, str, str]

# Work of the laws that are asked for first, where one output may be found by its path.
_WORK = 600_000
_DIGITS = 50
_DOWN = Context(prec=4, rounding=ROUND_FLOOR)
_LARGEST_EXPONENT = 700.0
# Digits that are added up for a hint.
_MOST_DIGITS = 60_000
# Longer fractions are written as intervals: Python reads no more than 4300 digits at once.
_LONGEST = 4000
# What is smaller is written as the interval from 0 to this.
_SMALLEST = -100_000
_LOG_10 = 10


def event_bounds(
    left: OutputLaw, right: OutputLaw, event: tuple[Output, ...]
) -> tuple[Bounds, ...]:
    """Bounds of what both laws give to each output of an event, unexplored mass apart."""
    with precision(CERTIFIED_BITS):
        return tuple(
            (*probability_bounds(left.exact(output)), *probability_bounds(right.exact(output)))
            for output in event
        )


def ball_bounds(balls: list[tuple[arb, arb]]) -> tuple[Bounds, ...]:
    """Bounds of probabilities that are balls already, one pair for each output."""
    with precision(CERTIFIED_BITS):
        return tuple(
            (*probability_bounds(left), *probability_bounds(right)) for left, right in balls
        )


def probability_bounds(value: Fraction | arb) -> tuple[str, str]:
    """Lower and upper bound of a probability as text; equal for a fraction."""
    if isinstance(value, Fraction):
        text = fraction_text(value)
        if text:
            return text, text
        value = exact_ball(value)
    return _below(value.lower()), _above(value.upper())


def fraction_text(value: Fraction) -> str:
    """ "p/q", or "" for a fraction of too many digits."""
    longest = max(value.numerator.bit_length(), value.denominator.bit_length())
    return str(value) if longest < _LONGEST * math.log2(_LOG_10) else ""


def ball_text(ball: arb) -> str:
    """A ball as text; "p/q" where it is one number."""
    return (ball.is_exact() and fraction_text(as_fraction(ball))) or str(ball)


def _below(value: arb) -> str:
    if not value > 0 or (digits := _scale(value)) is None:
        return "0"
    scaled, exponent = digits
    return _decimal(math.floor(as_fraction(scaled.lower())), exponent)


def _above(value: arb) -> str:
    if value >= 1:
        return "1"
    if not value > 0:
        return "0"
    if (digits := _scale(value)) is None:
        return f"1e{_SMALLEST}"
    scaled, exponent = digits
    return _decimal(math.ceil(as_fraction(scaled.upper())), exponent)


def _scale(value: arb) -> tuple[arb, int] | None:
    """The number times the power of ten that leaves ``_DIGITS`` digits before the point."""
    places = (value.log() / arb(_LOG_10).log()).mid().floor()
    if places < _SMALLEST:
        return None
    exponent = int(as_fraction(places)) - _DIGITS + 1
    return value * arb(_LOG_10) ** (-exponent), exponent


def _decimal(digits: int, exponent: int) -> str:
    text = str(digits)
    places = exponent + len(text) - 1
    return f"{text[0]}.{text[1:]}e{places}"


# What a witness shows of laws that are compared in closed form: outputs that tell them apart.
#
# A pure loss is shown at one output. For delta > 0 one output may be too little: the event is then
# the outputs of the largest gaps, as many as certainly exceed delta, on a window of the outputs.


# A longer event would be no evidence that anybody reads.
_LONGEST_EVENT = 4096
# The line itself, raised by more than the rounding of floats.
_ABOVE = 1.0 + 1e-12


def find_distinguishing_event(
    mechanism: ClosedFormLosses, dataset: IntArray, neighbour: IntArray, claim: Claim, distance: int
) -> tuple[tuple[Output, ...], list[Balls]]:
    """Outputs that tell two datasets apart, with both probabilities of each as balls."""
    if claim.delta > 0:
        with precision(CERTIFIED_BITS):
            event = mechanism.pair_event(dataset, neighbour, claim.ball())
        if event is None:
            event = _list_event(mechanism, dataset, neighbour, claim)
        if event[0]:
            return event
    with precision(CERTIFIED_BITS):
        line = claim.threshold * distance * _ABOVE
        output, left, right = mechanism.pair_witness(dataset, neighbour, line)
    return (output,), [(left, right)]


def _list_event(
    mechanism: Mechanism, dataset: IntArray, neighbour: IntArray, claim: Claim
) -> tuple[tuple[Output, ...], list[Balls]]:
    laws = mechanism.law(dataset), mechanism.law(neighbour)
    event = _largest_gaps(*laws, claim) or _largest_gaps(*laws[::-1], claim)
    return event, [_balls(*laws, output) for output in event]


def _balls(left: OutputLaw, right: OutputLaw, output: Output) -> Balls:
    with precision(CERTIFIED_BITS):
        return enclose_probability(left, output), enclose_probability(right, output)


def _largest_gaps(left: OutputLaw, right: OutputLaw, claim: Claim) -> tuple[Output, ...]:
    """Outputs whose gaps certainly add up to more than delta; () when ``_LONGEST`` are too few."""
    shared = [output for output in left if output in right]
    with np.errstate(over="ignore"):
        gaps = np.array([left[o] - np.exp(claim.threshold) * right[o] for o in shared])
    order = np.argsort(-gaps, kind="stable")[:_LONGEST_EVENT]
    with precision(CERTIFIED_BITS):
        factor, limit, total = claim.ball().exp(), claim.delta_ball(), arb(0)
        chosen: list[Output] = []
        for position in order:
            output = shared[int(position)]
            gap = enclose_probability(left, output) - factor * enclose_probability(right, output)
            if not gap > 0:
                break
            chosen.append(output)
            total += gap
            if total > limit:
                return tuple(chosen)
    return ()


def loss_text(witness: PrivacyWitness, digits: int) -> str:
    """The largest loss of a pair, and that of what is printed beside it where it is another one.

    Densities of several numbers are furthest apart at points, which have no probability.
    """
    loss, pair = witness.loss_lower, (witness.probability, witness.neighbour_probability)
    if math.isinf(loss) or min(pair) < 1e-300:  # too few digits are left of it
        return f"loss {'infinite' if math.isinf(loss) else f'{loss:.{digits}g}'}"
    shown = abs(math.log(pair[0]) - math.log(pair[1]))
    if shown > loss - 1e-6:
        return f"loss {loss:.{digits}g}"
    what = "this output" if len(witness.event) == 1 else "these outputs"
    return f"largest loss {loss:.{digits}g} ({what}: {shown:.6g})"


# Outputs of a divergence that are shown.
_MOST_SHOWN = 4


def refuting_notion_words(witness: PrivacyWitness) -> str:
    """How much more than claimed the pair shows."""
    limit = _limit(witness.claim, witness.order)
    if math.isinf(witness.loss_lower):
        return f"Seeing it rules out the second dataset: {_noun(witness)} is infinite, {limit}."
    return f"{_noun(witness)} is {_say_enclosed(witness)}, {limit}."


def open_notion_words(witness: PrivacyWitness) -> str:
    """What is known of an undecided pair, against what the claim allows."""
    return f"{_noun(witness)} is {_say_enclosed(witness)}, {_limit(witness.claim, witness.order)}."


def output_lines(witness: PrivacyWitness) -> list[str]:
    """The first few outputs of a divergence, each with both probabilities."""
    lines = []
    for output, bounds in zip(witness.event[:_MOST_SHOWN], witness.bounds, strict=False):
        left, right = (float(Fraction(bounds[k])) for k in (0, 2))
        lines.append(f"output {output!r}: probability {left:.6g} against {right:.6g}")
    more = len(witness.event) - len(lines)
    return [*lines, f"and {more:,} more"] if more else lines


def _noun(witness: PrivacyWitness) -> str:
    if witness.order is None:
        return "mu of this pair"
    if witness.order == 1:
        return "the Kullback-Leibler divergence of the two laws"
    return f"the Renyi divergence of order {witness.order:.12g}"


def _say_enclosed(witness: PrivacyWitness) -> str:
    if math.isinf(witness.loss_upper):
        return f"at least {witness.loss_lower:.9g}"
    low, high = f"{witness.loss_lower:.9g}", f"{witness.loss_upper:.9g}"
    return low if low == high else f"between {low} and {high}"


def _limit(claim: StatedClaim, order: float | None) -> str:
    if isinstance(claim, RhoClaim):
        allowed = float(claim.limit) * (order or 1.0)
        return f"the claim allows {claim.rho:.9g} times the order: {allowed:.9g}"
    if isinstance(claim, RenyiClaim):
        allowed = dict(claim.orders).get(order or 0.0, math.nan)
        return f"the claim allows {allowed:.9g}"
    return f"the claim allows {claim.mu:.9g}" if isinstance(claim, MuClaim) else f"claim {claim}"
