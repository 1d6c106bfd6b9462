"""The claim under test: (epsilon, delta), with the tolerance that ties need (theory 1.5).

Other forms of claim have a base here and are in ``liptest.privacy.notions``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from flint import arb

from liptest.errors import InputError, check_non_negative, check_positive, meant_number, quote
from liptest.mechanisms.laws import exact_ball, log_fraction
from liptest.verdicts import BelowOne, Json, Record

_UP = Context(prec=6, rounding=ROUND_CEILING)


@dataclass(frozen=True)
class ExactLog:
    """The number ln(argument), exactly: e^epsilon is the rational ``argument``."""

    argument: Fraction

    def __float__(self) -> float:
        return log_fraction(self.argument)

    def __repr__(self) -> str:
        return f"log({self.argument})"


def log(argument: int | str | Fraction) -> ExactLog:
    """An epsilon whose e^epsilon is exactly rational: ``lt.log(3)``, ``lt.log("3/2")``.

    Raises InputError unless ``argument`` is a rational number above 1.
    """
    try:
        value = Fraction(argument)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        value = Fraction(0)
    if value <= 1:
        raise InputError(
            f"argument={quote(argument)} must be a rational number above 1, such as 3 or '3/2'",
            name="argument",
            value=argument,
        )
    return ExactLog(value)


def _epsilon(core: Any, handler: Any) -> Any:
    """A positive number, or the text "log(3)" of an ``ExactLog``."""
    number = core.float_schema(strict=True, allow_inf_nan=False, gt=0)
    written = core.str_schema(strict=True, pattern=r"^log\([0-9]{1,4000}(/[0-9]{1,4000})?\)$")
    return core.union_schema(
        [number, core.no_info_after_validator_function(parse_epsilon, written)],
        serialization=core.plain_serializer_function_ser_schema(
            lambda value: repr(value) if isinstance(value, ExactLog) else value
        ),
    )


@dataclass(frozen=True)
class Claim(Record):
    """(epsilon, delta)-DP at a tolerance: a pair at distance k may lose epsilon' * k with
    epsilon' = epsilon * (1 + tolerance) + tolerance; delta may grow by the factor 1 + tolerance.

    Parameters
    ----------
    epsilon
        A float above 0, or ``lt.log(3)``.
    delta
        In [0, 1).
    tolerance
        In [0, 1); 0 tests the claim to the last bit.
    """

    epsilon: Annotated[float | ExactLog, Json(_epsilon)]
    delta: BelowOne = 0.0
    tolerance: BelowOne = 1e-9

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, ExactLog):
            object.__setattr__(self, "epsilon", check_positive("epsilon", self.epsilon))
        object.__setattr__(self, "delta", check_non_negative("delta", self.delta, below=1.0))
        tolerance = check_non_negative("tolerance", self.tolerance, below=1.0)
        object.__setattr__(self, "tolerance", tolerance)

    @property
    def threshold(self) -> float:
        """epsilon' in floats."""
        return float(self.epsilon) * (1.0 + self.tolerance) + self.tolerance

    @property
    def delta_threshold(self) -> float:
        """delta (1 + tolerance) in floats."""
        return self.delta * (1.0 + self.tolerance)

    def ball(self) -> arb:
        """epsilon' at the current precision of flint."""
        tolerance = exact_ball(Fraction(self.tolerance))
        if isinstance(self.epsilon, ExactLog):
            epsilon = exact_ball(self.epsilon.argument).log()
        else:
            epsilon = exact_ball(Fraction(self.epsilon))
        return epsilon * (1 + tolerance) + tolerance

    def delta_ball(self) -> arb:
        """delta (1 + tolerance), exactly."""
        return exact_ball(Fraction(self.delta) * (1 + Fraction(self.tolerance)))

    def exact_factor(self) -> Fraction | None:
        """e^epsilon' where it is rational, so that ties can be decided; else None."""
        if self.tolerance == 0 and isinstance(self.epsilon, ExactLog):
            return self.epsilon.argument
        return None

    def __str__(self) -> str:
        delta = f", delta {exact_text(self.delta)}" if self.delta else ""
        return f"epsilon {exact_text(self.epsilon)}{delta}"


class NotionClaim(Record, ABC):
    """A claim in another form than (epsilon, delta): see ``liptest.privacy.notions``.

    What it asks of a pair of neighbouring datasets is all that differs. It has no epsilon, no
    delta, and no form for datasets that are further apart.
    """

    #: In [0, 1): how much more than claimed a pair may show, as a share of the claim.
    tolerance: float
    #: What is measured of a pair, in words.
    measure: ClassVar[str]

    @abstractmethod
    def screen(self, laws: Any, left: Any, right: Any) -> tuple[Any, Any]:
        """For pairs of distinct laws: what is measured, in floats, and which must be certified."""

    @abstractmethod
    def certify(self, mechanism: Any, dataset: Any, neighbour: Any) -> Any:
        """The certified ``Comparison`` of two datasets."""

    @abstractmethod
    def in_words(self, change: str) -> str:
        """One clause: what the claim means for one change of the data."""

    @abstractmethod
    def __str__(self) -> str: ...


#: Any form of claim about neighbouring datasets.
AnyClaim = Claim | NotionClaim


def require_epsilon(who: str, claim: AnyClaim) -> Claim:
    """The claim, where it is one of epsilon and delta; else InputError."""
    if isinstance(claim, Claim):
        return claim
    raise InputError(f"claim={claim}: {who} takes epsilon and delta only", name="claim")


def exact_text(value: float | ExactLog) -> str:
    """A number that is claimed, as short as it can be without being another one."""
    if isinstance(value, ExactLog):
        return repr(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def text_above(value: float) -> str:
    """A number that is promised in six digits, never rounded down."""
    short = f"{value:g}"
    if float(short) >= value:
        return short
    return f"{float(_UP.create_decimal(Decimal(value))):g}"


def parse_epsilon(value: float | str | ExactLog) -> float | ExactLog:
    """A number, or the text "log(3)" that ``lt.log(3)`` prints.

    Raises InputError for any other text.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.startswith("log(") and text.endswith(")"):
        return log(text[4:-1])
    try:
        return float(text)
    except ValueError:
        inner = re.fullmatch(r"(?:ln|log)[ (]*([0-9./]+)[ )]*", text)
        meant = f"; write log({inner[1]})" if inner else meant_number(text)
        raise InputError(
            f"epsilon={quote(value)} must be a number such as 1.0, or log(3){meant}",
            name="epsilon",
        ) from None
