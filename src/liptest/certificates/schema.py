"""The schemas of certificates, and a validator for the part of JSON Schema that they use.

They are the files ``schemas/certificate-1.json`` and ``schemas/sample-certificate-1.json`` (draft
2020-12), for any validator. This one knows the keywords that occur there and refuses others, so
that none is passed over silently.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from typing import Any

from liptest.errors import InputError, shown

VERSION = 1
#: Names of the schemas.
PLAIN, SAMPLES = "certificate", "sample-certificate"
_WORDS = {"$schema", "$id", "$defs", "title", "description", "then"}


@cache
def schema(name: str = PLAIN) -> dict[str, Any]:
    """The JSON Schema of a certificate, ``PLAIN`` or ``SAMPLES``."""
    file = resources.files("liptest").joinpath("schemas", f"{name}-{VERSION}.json")
    text = file.read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def schema_problems(document: Any, name: str = PLAIN) -> list[str]:
    """Where a document departs from a schema, in sentences; nothing when it fits."""
    return list(_problems(document, _rules(name), name))


@cache
def _rules(name: str) -> dict[str, Any]:
    """The schema with its name in each reference."""
    text = json.dumps(schema(name)).replace('"#/', f'"{name}#/')
    found: dict[str, Any] = json.loads(text)
    return found


def digest(document: dict[str, Any]) -> str:
    """sha256 of a document without its key "digest": sorted keys, no spaces, ASCII."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def same_json(left: Any, right: Any) -> bool:
    """Whether two JSON values are one and the same: 1, 1.0 and true are three."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def own_problems(
    document: dict[str, Any], again: Callable[[], dict[str, Any]], name: str = PLAIN
) -> list[str]:
    """Where a document departs from its schema, its digest, or from what follows from itself.

    ``again()`` is the document made anew from what it says; it may raise InputError.
    """
    wrong = schema_problems(document, name)
    if wrong:
        return wrong
    if document["digest"] != digest(document):
        wrong.append("the document was changed after it was written (its digest differs)")
    try:
        made = again()
    except InputError as error:
        return [*wrong, str(error)]
    for key in document.keys() - {"digest"}:
        if not same_json(document[key], made[key]):
            wrong.append(f"{key}: {shown(document[key])} does not follow from the rest")
    return wrong


def _problems(value: Any, rule: dict[str, Any], where: str) -> Iterator[str]:
    if "$ref" in rule:
        name, _, place = rule["$ref"].partition("#/$defs/")
        yield from _problems(value, _rules(name)["$defs"][place], where)
    for keyword, expected in rule.items():
        if keyword in _CHECKS:
            yield from _CHECKS[keyword](value, expected, rule, where)
        elif keyword not in _WORDS and keyword != "$ref":
            raise AssertionError(f"schema: keyword {keyword!r} is not known here")


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _KINDS[kind])


def _type(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    kinds = expected if isinstance(expected, list) else [expected]
    if not any(_is(value, kind) for kind in kinds):
        yield f"{where}={shown(value)} must be of type {' or '.join(kinds)}"


def _const(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    yield from _enum(value, [expected], rule, where)


def _enum(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if not any(value == one and _is(value, "boolean") == _is(one, "boolean") for one in expected):
        yield f"{where}={shown(value)} must be {' or '.join(map(repr, expected))}"


def _any_of(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    found = [list(_problems(value, one, where)) for one in expected]
    if all(found):
        # Of alternatives one of which has the type of the value, that one says what is wrong.
        inner = [told for told in found if not told[0].startswith(f"{where}=")]
        yield from inner[0] if len(inner) == 1 else [f"{where}={shown(value)} is not allowed there"]


def _if(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if not any(_problems(value, expected, where)):
        yield from _problems(value, rule["then"], where)


def _properties(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key in expected.keys() & value.keys():
            yield from _problems(value[key], expected[key], f"{where}.{key}")


def _additional(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key in sorted(value.keys() - rule.get("properties", {}).keys()):
            if expected is False:
                yield f"{where} has an unknown key {shown(key)}"
            else:
                yield from _problems(value[key], expected, f"{where}.{key}")


def _required(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{where} lacks {key!r}" for key in expected if key not in value)


def _items(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _problems(item, expected, f"{where}[{number}]")


def _limit(
    kind: str, measure: Callable[[Any], Any], fits: Callable[[Any, Any], bool], words: str
) -> Callable[[Any, Any, Any, str], Iterator[str]]:
    def check(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
        if _is(value, kind) and not fits(measure(value), expected):
            yield f"{where}={shown(value)} must {words} {expected}"

    return check


_KINDS: dict[str, Any] = {
    "null": type(None),
    "number": (int, float),
    "string": str,
    "array": list,
    "object": dict,
    "boolean": bool,
}
_CHECKS: dict[str, Callable[[Any, Any, Any, str], Iterator[str]]] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "anyOf": _any_of,
    "if": _if,
    "properties": _properties,
    "additionalProperties": _additional,
    "required": _required,
    "items": _items,
    "minimum": _limit("number", lambda v: v, lambda v, e: v >= e, "be at least"),
    "maximum": _limit("number", lambda v: v, lambda v, e: v <= e, "be at most"),
    "exclusiveMinimum": _limit("number", lambda v: v, lambda v, e: v > e, "be above"),
    "exclusiveMaximum": _limit("number", lambda v: v, lambda v, e: v < e, "be below"),
    "minItems": _limit("array", len, lambda v, e: v >= e, "have a length of at least"),
    "maxItems": _limit("array", len, lambda v, e: v <= e, "have a length of at most"),
    "minLength": _limit("string", len, lambda v, e: v >= e, "have a length of at least"),
    "pattern": _limit("string", str, lambda v, e: re.search(e, v) is not None, "match"),
}
