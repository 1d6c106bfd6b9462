"""What is answered: decisions, guarantees and costs; frozen, printable, JSON.

``Record`` is the one way to JSON and back: pydantic reads the annotations of a frozen dataclass,
and is loaded when the first record is written or read. Verdicts on functions and on mechanisms are
records of their rooms.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from liptest.errors import InputError, quote


class Decision(StrEnum):
    """ACCEPT/REJECT for functions, YES/NO for privacy, INCONCLUSIVE for both.

    Neither ACCEPT nor YES by sampling is a proof; INCONCLUSIVE promises nothing at all.
    """

    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    YES = "YES"
    NO = "NO"
    INCONCLUSIVE = "INCONCLUSIVE"


def round_up(mass: float) -> float:
    """A positive mass to four digits, never to less: what a sentence says must be certified."""
    unit = 10.0 ** (math.floor(math.log10(mass)) - 3)
    return math.ceil(mass / unit) * unit


def jsonable(value: Any) -> Any:
    """Plain JSON values: arrays to lists, Fractions to "p/q", infinities to "inf"."""
    if type(value) is int:  # datasets have millions of them
        return value
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    return value


class Json:
    """How a field looks in JSON, as an annotation: ``Annotated[int, Json(..)]``.

    ``schema`` is given ``pydantic_core.core_schema`` and pydantic's handler, and returns the schema
    of the value.
    """

    def __init__(self, schema: Callable[[Any, Any], Any]) -> None:
        self._schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return self._schema(core_schema, handler)


class Described:
    """What a field means, for the JSON schema."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"description": self._words, **handler(schema)}


def as_number(*also: str, **limits: float) -> Json:
    """A number within limits (ge, gt, le, lt), kept as it is written; ``also`` "inf" or such."""

    def schema(core: Any, handler: Any) -> Any:
        finite = core.float_schema(strict=True, allow_inf_nan=False, **limits)
        kept = core.no_info_wrap_validator_function(_keep, finite)
        if not also:
            return kept
        texts = core.no_info_after_validator_function(float, core.literal_schema(list(also)))
        return core.union_schema([kept, texts])

    return Json(schema)


def _keep(value: Any, validate: Callable[[Any], float]) -> Any:
    validate(value)
    return value


def as_text(**limits: Any) -> Json:
    """A text within limits (min_length, pattern)."""
    return Json(lambda core, handler: core.str_schema(strict=True, **limits))


def as_whole(**limits: int) -> Json:
    """A whole number within limits."""
    return Json(lambda core, handler: core.int_schema(strict=True, **limits))


def as_one_of(*values: Any) -> Json:
    """One of these values."""
    return Json(lambda core, handler: core.literal_schema(list(values)))


def as_tuple(item: Any, **limits: int) -> Json:
    """A list of such items, with limits on its length (min_length, max_length)."""
    return Json(
        lambda core, handler: core.tuple_schema(
            [handler.generate_schema(item)], variadic_item_index=0, **limits
        )
    )


def _exact(core: Any, handler: Any) -> Any:
    written = core.str_schema(strict=True, pattern="^-?[0-9]+/[0-9]+$")
    return core.no_info_after_validator_function(Fraction, written)


def _indices(core: Any, handler: Any) -> Any:
    written = core.list_schema(core.int_schema(strict=True))
    return core.no_info_after_validator_function(_as_indices, written)


def _as_indices(values: list[int]) -> NDArray[np.int64]:
    return np.asarray(values, dtype=np.int64)


def _scalar(core: Any, handler: Any) -> Any:
    finite = core.float_schema(strict=True, allow_inf_nan=False)
    kinds = (core.bool_schema(strict=True), core.int_schema(strict=True), finite)
    return core.union_schema([core.none_schema(), *kinds, core.str_schema(strict=True)])


Text = Annotated[str, as_text()]
Words = Annotated[str, as_text(min_length=1)]
Flag = Annotated[bool, Json(lambda core, handler: core.bool_schema(strict=True))]
Whole = Annotated[int, as_whole()]
Count = Annotated[int, as_whole(ge=0)]
Positive = Annotated[int, as_whole(ge=1)]
Share = Annotated[float, as_number(ge=0, le=1)]
#: In [0, 1).
BelowOne = Annotated[float, as_number(ge=0, lt=1)]
#: 0 or more, possibly infinite.
Size = Annotated[float, as_number("inf", ge=0)]
Number = Annotated[float, as_number("inf", "-inf", "nan")]
#: None, a flag, a finite number or a text.
Scalar = Annotated[Any, Json(_scalar)]
Exact = Annotated[Fraction, Json(_exact)]
Indices = Annotated[NDArray[np.int64], Json(_indices)]


class Record:
    """Base of frozen dataclasses that are JSON objects, read by their annotations.

    ``derived`` names properties that are written as well, with the annotation of each. They follow
    from the fields, and are compared and not taken from a document. Fields that are ``optional``
    are not written where they are None.
    """

    derived: ClassVar[Mapping[str, Any]] = {}
    optional: ClassVar[frozenset[str]] = frozenset()
    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "extra": "forbid",
        "json_schema_serialization_defaults_required": True,
    }

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        written = _adapter(type(self)).dump_python(self, warnings=False)
        document: dict[str, Any] = jsonable(written)
        return document

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Inverse of ``to_dict``; InputError names what is unknown, missing or of a wrong kind."""
        try:
            made = cls.read(data, cls.__name__)
            for key in cls.derived:
                if data.get(key) != jsonable(getattr(made, key)):
                    raise InputError(f"{cls.__name__}.{key} does not follow from the rest")
        except InputError as error:
            raise InputError(f"{error}; it was not written by liptest") from None
        return made

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Inverse of ``to_json``; InputError when the text is not a JSON object of this kind."""
        try:
            data = json.loads(written)
        except ValueError as error:
            raise InputError(f"{cls.__name__}: not JSON: {error}") from None
        return cls.from_dict(data)

    @classmethod
    def read(cls, data: Any, where: str) -> Self:
        """From plain JSON values called ``where``; InputError whose ``value`` lists all that is
        wrong. What is derived is not compared."""
        from pydantic import ValidationError

        if not isinstance(data, dict):
            raise InputError(f"{where}: {quote(data)} is not a JSON object", value=[])
        try:
            made: Self = _adapter(cls).validate_python(data)
        except ValidationError as error:
            wrong = list(
                dict.fromkeys(_sentence(problem, data, where) for problem in error.errors())
            )
            raise InputError(wrong[0], value=wrong) from None
        return made

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema (draft 2020-12) of what ``to_dict`` gives."""
        from pydantic.json_schema import GenerateJsonSchema

        class Plain(GenerateJsonSchema):
            """Without names of fields in other words, defaults, docstrings."""

            def field_title_should_be_set(self, schema: Any) -> bool:
                return False

            def default_schema(self, schema: Any) -> dict[str, Any]:
                return self.generate_inner(schema["schema"])

            def dataclass_schema(self, schema: Any) -> dict[str, Any]:
                made = super().dataclass_schema(schema)
                kind = schema["cls"]
                left_out = kind.optional if issubclass(kind, Record) else ()
                made["required"] = [key for key in made["required"] if key not in left_out]
                return {key: value for key, value in made.items() if key != "description"}

        written = _adapter(cls).json_schema(mode="serialization", schema_generator=Plain)
        document: dict[str, Any] = written
        return document

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema as core

        made = handler(source)
        whole = handler.resolve_ref_schema(made)
        fields = whole["schema"]
        if cls.derived and fields["type"] == "dataclass-args":  # not yet, of a kind met twice
            fields["computed_fields"] = [
                core.computed_field(key, handler.generate_schema(kind))
                for key, kind in cls.derived.items()
            ]
            whole["schema"] = core.no_info_before_validator_function(cls._without_derived, fields)
        if cls.optional:
            whole["serialization"] = core.wrap_serializer_function_ser_schema(cls._without_none)
        return made

    @classmethod
    def _without_none(cls, value: Any, write: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        pairs = write(value).items()
        return {k: item for k, item in pairs if item is not None or k not in cls.optional}

    @classmethod
    def _without_derived(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if key not in cls.derived}


def _adapter(kind: Any) -> Any:
    return _make_adapter(kind)


@cache
def _make_adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _sentence(error: Any, data: Any, where: str) -> str:
    """What pydantic says, with the place in the document and the value there."""
    place, value = where, data
    *path, last = error["loc"] or ("",)
    for part in (*path, last):
        if isinstance(value, dict) and part in value:
            place, value = f"{place}.{part}", value[part]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            place, value = f"{place}[{part}]", value[part]
    if error["type"] == "missing":
        return f"{place} lacks {last!r}"
    if error["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"{place.rpartition('.')[0]} has an unknown key {quote(last)}"
    said = error["msg"].removeprefix("Value error, ").removeprefix("Input should ")
    said = said.replace("String should match pattern", "must match")
    return f"{place}={quote(value)}: {'it should ' + said if said[:2] == 'be' else said}"


@dataclass(frozen=True)
class Cost(Record):
    """What a verdict cost.

    ``queries`` counts function evaluations, ``laws`` computed output distributions (equal ones
    are computed once, but counted each time); ``repeats`` are extra evaluations that check that an
    answer stays the same. ``seconds`` is wall-clock time and differs from run to run.
    ``search_laws`` are the laws of a search (theory 3.10) after a sampled YES, on top of ``laws``,
    ``search_datasets`` the different datasets that a search looked at.
    """

    queries: Count = 0
    laws: Count = 0
    draws: Count = 0
    pairs: Count = 0
    repeats: Count = 0
    seconds: Annotated[float, as_number(ge=0)] = 0.0
    search_laws: Count = 0
    search_datasets: Count = 0


GuaranteeKind = Annotated[
    str,
    as_one_of(
        "proof",
        "sampling",
        "refutation",
        "statistical comparison",
        "statistical refutation",
        "none",
    ),
]


@dataclass(frozen=True)
class Guarantee(Record):
    """Exactly what a verdict promises: one plain sentence and every number in it.

    ``kind`` is "proof", "sampling", "refutation" or "none"; ``source`` the theorem. A number
    that plays no part is None. ``not_covered`` lists coordinates about which it says nothing.
    """

    sentence: Words
    kind: GuaranteeKind
    source: Words
    exception_mass: Share | None = None
    failure_probability: Share | None = None
    approximation_factor: Annotated[float, as_number(ge=1)] = 1.0
    epsilon: Annotated[float, as_number(gt=0)] | None = None
    delta: Annotated[float, as_number(ge=0)] | None = None
    tolerance: BelowOne = 0.0
    form: Annotated[str, as_one_of("neighbour", "group")] = "neighbour"
    per_record: Flag = False
    not_covered: tuple[Count, ...] = ()
    condition: Text = ""

    def __str__(self) -> str:
        return self.sentence
