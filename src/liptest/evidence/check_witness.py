"""Checks the witness of a certificate from its JSON alone, with nothing but the standard library.

    python check_witness.py certificate.json

This one file runs without liptest: whoever doubts a NO can read it and decide with it. All numbers
are rationals, and e^epsilon lies between two rationals that a Taylor polynomial with its remainder
gives; the gap between them is halved until the answer is certain.

It answers whether the probabilities that the certificate states break the claim that it states.
Whether the mechanism has these probabilities it cannot know; ``liptest verify`` asks the mechanism.

Exit codes: 0 every witness breaks its claim, 1 one does not, 2 no readable certificate, 3 nothing
to check, or not to be decided from the stated intervals.
"""

from __future__ import annotations

import json
import math
import re
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

VERSION = 1
BREAKS, KEEPS, OPEN = "breaks", "keeps", "open"
_FRACTION = re.compile(r"[0-9]{1,4000}(/[0-9]{1,4000})?")
_DECIMAL = re.compile(r"[0-9](\.[0-9]{1,80})?e-?[0-9]{1,6}")
_LOGARITHM = re.compile(r"log\(([0-9]{1,4000}(?:/[0-9]{1,4000})?)\)")
_SMALLEST_EXPONENT = 100_000
# Digits squared of all probabilities together; bits of a common denominator, and of sums that are
# rounded outwards.
_MOST_COST = 2 * 10**10
_COMMON_BITS = 1 << 16
_SUM_BITS = 1 << 12
# A certificate is a few levels deep, and its outputs are tuples of tuples at most.
_DEEPEST = 100
_LONGEST = 400
_BITS = (128, 512, 2048, 16384)
# No ratio of stated probabilities is larger: from there on only a probability 0 breaks a claim.
LARGEST_EXPONENT = 1_000_000
# Users that a table may have.
_USERS = 1 << 24
Pairs = list[tuple[int, int]]


def _count_changed(pairs: Pairs) -> int:
    return sum(a != b for a, b in pairs)


def _add_moves(pairs: Pairs) -> int:
    return sum(abs(a - b) for a, b in pairs)


def _largest_move(pairs: Pairs) -> int:
    return max((abs(a - b) for a, b in pairs), default=0)


def _count_users(pairs: Pairs, relation: str) -> int:
    """1 where all that differs is of one user: a slot is 0, or 1 + user + 2^24 times a row."""
    changed = {(slot - 1) % _USERS for pair in pairs if pair[0] != pair[1] for slot in pair if slot}
    sides = [{(pair[side] - 1) % _USERS for pair in pairs if pair[side]} for side in (0, 1)]
    if len(changed) > 1 or (relation == "added" and all(changed & side for side in sides)):
        return 2
    return len(changed)


def _check_reals(side: list[int], limits: Any, *, is_full: bool) -> None:
    """Raise Unreadable where a row is missing, or has a number that its column does not hold."""
    width = 1 + 2 * len(limits)
    for at in range(0, len(side), width):
        slot, *halves = side[at : at + width]
        if not slot and (is_full or any(halves)):
            raise Unreadable("a dataset has a row that is not a row of the table")
        for place, (low, high) in enumerate(limits if slot else ()):
            [number] = struct.unpack(">d", struct.pack(">II", *halves[2 * place : 2 * place + 2]))
            if not low <= number <= high:
                raise Unreadable(f"a dataset has {number} in a column of {low} to {high}")


def _count_real(domain: Any, pairs: Pairs, kind: str) -> int:
    """Of tables with real columns: a slot, and two numbers for each of these columns."""
    columns = _at(domain, "columns")
    limits = [column["real"] for column in columns if column.get("real") is not None]
    width = 1 + 2 * len(limits)
    for side in (0, 1):
        _check_reals([pair[side] for pair in pairs], limits, is_full=kind == _REAL_TABLES[0])
    rows = [pairs[at : at + width] for at in range(0, len(pairs), width)]
    changed = [row[0] for row in rows if any(a != b for a, b in row)]
    if "user" not in kind:
        added = "more or less" in kind
        wrong = [(a, b) for a, b in changed if bool(a and b) is added]
        return len(changed) + len(wrong)
    users = {(slot - 1) % _USERS for pair in changed for slot in pair if slot}
    sides = [{(row[0][side] - 1) % _USERS for row in rows if row[0][side]} for side in (0, 1)]
    both = "more or less" in kind and all(users & side for side in sides)
    return 2 if len(users) > 1 or both else len(users)


# Distance of two datasets from the two values of each coordinate.
_METRICS: dict[str, Callable[[Pairs], int]] = {
    "hypercube": _count_changed,
    "hypergrid": _add_moves,
    "recordgrid": _count_changed,
    "answergrid, all move": _largest_move,
    "answergrid, one moves": _add_moves,
    # The names of before, in certificates that exist.
    "cube": _count_changed,
    "grid": _add_moves,
    "records": _count_changed,
    "answers, all move": _largest_move,
    "answers, one moves": _add_moves,
    "table, a row replaced": _count_changed,
    # 0 is a slot without a row; from one row to another are two steps.
    "table, a row more or less": lambda pairs: sum(
        (a != b) * (1 + bool(a and b)) for a, b in pairs
    ),
    "table, a user replaced": lambda pairs: _count_users(pairs, "replaced"),
    "table, a user more or less": lambda pairs: _count_users(pairs, "added"),
}
_REAL_TABLES = tuple(
    f"real table, a {unit} {change}"
    for unit in ("row", "user")
    for change in ("replaced", "more or less")
)
Interval = tuple[Fraction, Fraction]


class Unreadable(ValueError):
    """The text is not a certificate with a witness, or contradicts itself."""


class OtherForm(ValueError):
    """A claim of rho, Renyi divergences, mu or a curve: its measures are not decided here."""


@dataclass(frozen=True)
class StatedClaim:
    """(epsilon, delta) at a tolerance; ``epsilon`` is rational, or the log of ``argument``."""

    epsilon: Fraction | None
    argument: Fraction | None
    delta: Fraction
    tolerance: Fraction

    def factor(self, distance: int, bits: int) -> Interval:
        """Bounds of e^(epsilon' distance), epsilon' = epsilon (1 + tolerance) + tolerance."""
        if self.argument is None:
            exponent = (self.epsilon or 0) * (1 + self.tolerance) + self.tolerance
            return exp_bounds(exponent * distance, bits)
        power = self.argument**distance
        if self.tolerance == 0:
            return power, power
        scale = self.tolerance * distance
        low, high = (scale * (1 + end) for end in log_bounds(self.argument, bits))
        return power * exp_bounds(low, bits)[0], power * exp_bounds(high, bits)[1]

    @property
    def size(self) -> Fraction:
        """A bound of epsilon, never far above it."""
        if self.argument is None:
            return self.epsilon or Fraction(0)
        return Fraction(self.argument.numerator.bit_length())

    @property
    def limit(self) -> Fraction:
        """Delta (1 + tolerance)."""
        return self.delta * (1 + self.tolerance)


def exp_bounds(exponent: Fraction, bits: int) -> Interval:
    """Rationals below and above e^exponent, exponent >= 0, about ``bits`` bits apart.

    e^y for y = exponent / 2^m <= 1/2 by Taylor: what is left out after a term t is at most t,
    because each further term is at most half the one before. Then m squarings. Every step is
    rounded outwards to whole multiples of 2^-p.
    """
    halvings = (exponent.numerator // exponent.denominator).bit_length() + 1
    p = bits + 2 * halvings + 32
    small = exponent / 2**halvings
    unit = 1 << p
    below, above = (small * unit).__floor__(), (small * unit).__ceil__()
    low = high = term_low = term_high = unit
    step = 0
    while term_high > 1:
        step += 1
        term_low = term_low * below // (unit * step)
        term_high = -(-term_high * above // (unit * step))
        low, high = low + term_low, high + term_high
    high += term_high
    for _ in range(halvings):
        low, high = low * low // unit, -(-high * high // unit)
    return Fraction(low, unit), Fraction(high, unit)


def log_bounds(value: Fraction, bits: int) -> Interval:
    """Rationals below and above ln(value), value > 1: n ln 2 + ln z with 1 <= z < 2."""
    twos = value.numerator.bit_length() - value.denominator.bit_length()
    twos -= Fraction(2) ** twos > value
    rest = value / Fraction(2) ** twos
    of_two, of_rest = _atanh(Fraction(1, 3), bits), _atanh((rest - 1) / (rest + 1), bits)
    return 2 * (twos * of_two[0] + of_rest[0]), 2 * (twos * of_two[1] + of_rest[1])


def _atanh(z: Fraction, bits: int) -> Interval:
    # Sum of z^(2i+1) / (2i+1), z <= 1/3: what is left out is below 1/8 of the last power.
    unit = 1 << (bits + 32)
    below, above = (z * unit).__floor__(), (z * unit).__ceil__()
    low, high, power_low, power_high, odd = below, above, below, above, 1
    while power_high > 1:
        odd += 2
        power_low = power_low * below * below // (unit * unit)
        power_high = -(-power_high * above * above // (unit * unit))
        low, high = low + power_low // odd, high - (-power_high // odd)
    return Fraction(low, unit), Fraction(high + power_high, unit)


def decide_event(claim: StatedClaim, first: Interval, second: Interval, distance: int) -> str:
    """Whether an event of these probabilities breaks the claim: BREAKS, KEEPS or OPEN.

    It breaks it when P > e^(epsilon' distance) Q + delta' one way or the other.
    """
    if any(p[0] > claim.limit and q[1] == 0 for p, q in ((first, second), (second, first))):
        return BREAKS
    if claim.size * distance > LARGEST_EXPONENT:
        return OPEN
    exact = first[0] == first[1] and second[0] == second[1]
    for bits in _BITS if exact else _BITS[:2]:
        low, high = claim.factor(distance, bits)
        pairs = ((first, second), (second, first))
        if any(p[0] - high * q[1] > claim.limit for p, q in pairs):
            return BREAKS
        if all(p[1] - low * q[0] <= claim.limit for p, q in pairs):
            return KEEPS
    return OPEN


def check_certificate(document: Any) -> str:
    """Decide the witness of one certificate; Unreadable when it has none or contradicts itself."""
    verdict = _at(document, "verdict")
    witness = _at(verdict, "witness")
    claim = read_claim(_at(verdict, "claim"))
    if read_claim(_at(witness, "claim")) != claim:
        raise Unreadable("the witness is about another claim than the verdict")
    distance = _distance(_at(document, "domain"), witness)
    if claim.delta > 0 and distance != 1:
        raise Unreadable("a claim with delta > 0 is about neighbours, not about a larger distance")
    first, second = masses(witness)
    return decide_event(claim, first, second, distance)


def read_claim(data: Any) -> StatedClaim:
    """The claim, exactly: a JSON number stands for the binary fraction that it is."""
    if isinstance(data, dict) and "epsilon" not in data and "tolerance" in data:
        raise OtherForm("a claim in another form than epsilon and delta: use liptest verify")
    epsilon, delta, tolerance = (_at(data, key) for key in ("epsilon", "delta", "tolerance"))
    match = _LOGARITHM.fullmatch(epsilon) if isinstance(epsilon, str) else None
    argument = None if match is None else read_rational(match[1])
    number = None if argument is not None else _number(epsilon)
    claim = StatedClaim(number, argument, _number(delta), _number(tolerance))
    too_small = (number is not None and number <= 0) or (argument is not None and argument <= 1)
    if too_small or not 0 <= claim.delta < 1 or not 0 <= claim.tolerance < 1:
        raise Unreadable(f"claim={data}: epsilon must be above 0, delta and tolerance in [0, 1)")
    return claim


def masses(witness: Any) -> tuple[Interval, Interval]:
    """Bounds of the probability of the event on the dataset and on the neighbour."""
    event, bounds = _at(witness, "event"), _at(witness, "bounds")
    if not event or len(event) != len(bounds):
        raise Unreadable(f"{len(event)} outputs with {len(bounds)} probabilities")
    keys = [_key(output) for output in event]
    if len(set(keys)) != len(keys):
        raise Unreadable("an output is counted twice")
    left_over = _at(witness, "unexplored")
    _check_cost([*(end for ends in bounds for end in ends), *left_over])
    rows = [_row(ends) for ends in bounds]
    sides = []
    for side, rest in zip((0, 2), left_over, strict=True):
        low = _sum_bounds([row[side] for row in rows])[0]
        high = _sum_bounds([row[side + 1] for row in rows])[1]
        if low > 1:
            raise Unreadable("the probabilities of one law sum to more than 1")
        sides.append((low, min(high + read_rational(rest), Fraction(1))))
    return sides[0], sides[1]


def _check_cost(texts: list[Any]) -> None:
    """Numbers of many thousand digits take time that grows with their squares."""
    cost = 0
    for text in texts:
        match = _DECIMAL.fullmatch(text) if isinstance(text, str) else None
        digits = abs(int(text.partition("e")[2])) // 2 if match else len(str(text))
        digits = min(digits, _SMALLEST_EXPONENT // 2)  # what is longer is refused
        cost += digits * digits
    if cost > _MOST_COST:
        raise Unreadable("its probabilities have too many digits to be added up")


def _sum_bounds(values: list[Fraction]) -> Interval:
    """Bounds of a sum: the sum itself where one denominator serves all, else rounded outwards."""
    common = 1
    for denominator in {value.denominator for value in values}:
        common = math.lcm(common, denominator)
        if common.bit_length() > _COMMON_BITS:
            break
    else:
        total = Fraction(sum(v.numerator * (common // v.denominator) for v in values), common)
        return total, total
    largest = max(values)
    exponent = largest.denominator.bit_length() - largest.numerator.bit_length() + _SUM_BITS
    scale = 1 << max(exponent, 0)
    low, high = (sum(r(v * scale) for v in values) for r in (math.floor, math.ceil))
    return Fraction(low, scale), Fraction(high, scale)


def _row(ends: Any) -> list[Fraction]:
    row = [read_rational(end) for end in ends]
    if len(row) != 4 or not (row[0] <= row[1] <= 1 and row[2] <= row[3] <= 1):
        raise Unreadable(f"bounds={ends}: four numbers, 0 <= lower <= upper <= 1 twice")
    return row


def _key(output: Any) -> Any:
    # 1, 1.0 and True are one output.
    if isinstance(output, dict):
        return tuple((kind, _key(value)) for kind, value in sorted(output.items()))
    return tuple(map(_key, output)) if isinstance(output, list) else output


def _check_at_most(sides: Any, most: Any) -> None:
    """Raise Unreadable where a user has more rows than a table may have."""
    for side in sides:
        rows: dict[int, int] = {}
        for slot in filter(None, side):
            user = (slot - 1) % _USERS
            rows[user] = rows.get(user, 0) + 1
        if not isinstance(most, int) or max(rows.values(), default=0) > most:
            raise Unreadable(f"a dataset has more than {most!r} rows of one user")


def _distance(domain: Any, witness: Any) -> int:
    sides = [_at(witness, side) for side in ("dataset", "neighbour")]
    kind, dimension, sizes = (_at(domain, key) for key in ("kind", "dimension", "sizes"))
    for side in sides:
        whole = all(isinstance(value, int) and not isinstance(value, bool) for value in side)
        if len(side) != dimension or not whole:
            raise Unreadable(f"a dataset is not a list of {str(dimension)[:20]} whole numbers")
        # Not before: a dimension may be any number.
        limits = [sizes] * len(side) if isinstance(sizes, int) else sizes
        if len(limits) != len(side):
            raise Unreadable(f"{len(limits)} sizes for {len(side)} coordinates")
        if any(not 0 <= value < limit for value, limit in zip(side, limits, strict=True)):
            raise Unreadable("a dataset lies outside of the domain")
    pairs = list(zip(*sides, strict=True))
    if not isinstance(kind, str) or not (kind in _METRICS or kind in _REAL_TABLES):
        raise Unreadable(f"kind={kind!r}: this checker knows {', '.join(_METRICS)}")
    if domain.get("at_most") is not None:
        reals = sum(column.get("real") is not None for column in _at(domain, "columns"))
        _check_at_most([side[:: 1 + 2 * reals] for side in sides], domain["at_most"])
    is_real = kind.startswith("real table")
    distance = _count_real(domain, pairs, kind) if is_real else _METRICS[kind](pairs)
    if distance != _at(witness, "distance") or distance == 0:
        stated = witness["distance"]
        raise Unreadable(f"the witness's datasets are at distance {distance}, not {stated}")
    return distance


def _at(data: Any, key: str) -> Any:
    if not isinstance(data, dict) or data.get(key) is None:
        raise Unreadable(f"there is no {key!r}")
    return data[key]


def _number(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unreadable(f"{value!r} is not a number")
    try:
        return Fraction(value)
    except (ValueError, OverflowError):
        raise Unreadable(f"{value!r} is not a finite number") from None


def read_rational(text: Any) -> Fraction:
    """A stated probability; Unreadable when it is not a fraction or a decimal."""
    match = isinstance(text, str) and (_FRACTION.fullmatch(text) or _DECIMAL.fullmatch(text))
    if not match or abs(int(text.partition("e")[2] or 0)) > _SMALLEST_EXPONENT:
        raise Unreadable(f"{str(text)[:60]!r} is not a probability such as 1/3 or 3.33e-1")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise Unreadable(f"{text[:60]!r} divides by 0") from None


def strict_json(text: str) -> Any:
    """What the text says; Unreadable for a key that occurs twice, NaN, or anything but JSON."""
    try:
        data = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from None
    level, depth = [data], 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise Unreadable(f"it is nested more than {_DEEPEST} levels deep")
        level = [inner for v in level if type(v) is not int for inner in _inside(v)]
    return data


def _inside(value: Any) -> list[Any]:
    """The values in a list or an object; Unreadable for text that no file can hold."""
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        raise Unreadable("it holds half of a character (a lone surrogate)")
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return value if isinstance(value, list) else []


def read(text: str) -> list[Any]:
    """The certificates of a file; Unreadable when there is none."""
    data = strict_json(text)
    listed = data if isinstance(data, list) else [data]
    if not listed:
        raise Unreadable("an empty list: there is no certificate")
    for entry in listed:
        if not isinstance(entry, dict) or "certificate" not in entry:
            raise Unreadable("this is not a certificate of liptest")
        if entry["certificate"] is True or entry["certificate"] != VERSION:
            raise Unreadable(f"certificate={entry['certificate']!r}: this reads {VERSION}")
    return listed


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a key occurs twice")
    return entries


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _tell(document: Any) -> tuple[int, str]:
    verdict = document.get("verdict")
    decision = verdict.get("decision") if isinstance(verdict, dict) else None
    if decision != "NO":
        return 3, f"the decision is {str(decision)[:20]}: there is no witness to check"
    try:
        return {
            BREAKS: (0, "the stated probabilities break the stated claim"),
            KEEPS: (1, "the stated probabilities do NOT break the stated claim"),
            OPEN: (3, "the stated intervals are too wide to decide"),
        }[check_certificate(document)]
    except OtherForm as error:
        return 3, str(error)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        return 1, f"the certificate contradicts itself: {error}"


def _printable(text: str) -> str:
    """One line of a few hundred characters, whatever a document holds."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:_LONGEST])


def check_files(arguments: list[str]) -> int:
    """Check the files named; prints a line for each certificate, returns the exit code."""
    if not arguments or arguments[0].startswith("-"):
        print("usage: python check_witness.py certificate.json ...", file=sys.stderr)
        return 2
    codes = set()
    for name in arguments:
        try:
            documents = read(Path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            print(f"error: {name}: {_printable(str(error))}", file=sys.stderr)
            codes.add(2)
            continue
        for code, sentence in map(_tell, documents):
            codes.add(code)
            print(f"{name}: {_printable(sentence)}")
    # The worst of several wins, as for liptest itself.
    return next(code for code in (1, 3, 2, 0) if code in codes or code == 0)


if __name__ == "__main__":
    sys.exit(check_files(sys.argv[1:]))
