"""Random bits that choose entries of an array: the laws are those of all bits, by brute force."""

from __future__ import annotations

import itertools
import linecache
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.loops.coin_filters import with_coins_first
from liptest.enumerate.loops.coin_masks import with_chosen_entries
from liptest.verdicts import Decision
from tests.shares import mostly_slow
from tests.unit.written_programs import program

Q = Fraction(1, 4)

_ROWS = "x = np.stack([data, data * 0.25], axis=1)\n"
#: What is made of a mask of random bits and of data.
MADE = {
    "a sum": "return int(data[mask].sum())",
    "a sum by a function": "return int(np.sum(data[mask]))",
    "a sum at places": "return int(data[np.flatnonzero(mask)].sum())",
    "a sum where": "return int(data[np.where(mask)[0]].sum())",
    "a sum of what is not 0": "return int(data[np.nonzero(mask)].sum())",
    "a count": "return int(np.count_nonzero(data[mask] == 1))",
    "a count of truths": "return int((data[mask] > 0).sum())",
    "bins": "return np.bincount(data[mask], minlength=4).tolist()",
    "bins of any number": "return np.bincount(data[mask]).tolist()",
    "a filter": "x = data[mask]\nreturn int(x[x > 1].sum())",
    "arithmetic": "return int((2 * data[mask] - 1).sum())",
    "a line that is negative": "return int((-data[mask]).sum())",
    "floats": "x = data * 1.0\nreturn float(x[mask].sum())",
    "other floats": "x = data * 0.1\nreturn float(x[mask].sum())",
    "a zero with a sign": "x = data * -1.0\nreturn str(float(x[mask].sum()))",
    "a cast": "return float(data[mask].astype(float).sum())",
    "small whole numbers": "x = data.astype(np.int8)\nreturn int(x[mask].sum())",
    "truths": "x = data > 0\nreturn int(x[mask].sum())",
    "the type": "x = data[mask].sum()\nreturn type(x).__name__, int(x)",
    "a length": "return len(data[mask])",
    "a mean": "x = data[mask]\nreturn float(x.mean()) if len(x) else None",
    "a maximum": "return int(data[mask].max(initial=0))",
    "a list": "return data[mask].tolist()",
    "a walk": "return int(sum(v for v in data[mask]))",
    "the first": "x = data[mask]\nreturn int(x[0]) if x.size else None",
    "places": "return np.flatnonzero(mask).tolist()",
    "how many places": "return len(np.flatnonzero(mask))",
    "a write": "x = data[mask]\nx[:] = 1\nreturn int(x.sum())",
    "a mask that is written": "places = np.flatnonzero(mask)\nmask[0] = True\n"
    "return int(data[places].sum())",
    "a mask that is written before": "mask[0] = True\nreturn int(data[mask].sum())",
    "data that are written": "x = data.copy()\ny = x[mask]\nx[0] = 9\nreturn int(y.sum())",
    "two reads": "return int(data[mask].sum() + 10 * data[mask].max(initial=0))",
    "both parts": "return int(data[mask].sum() - data[~mask].sum())",
    "two masks": "return int(data[mask & (data > 0)].sum())",
    "an index in an index": "order = np.arange(len(data))\nreturn int(data[order[mask]].sum())",
    "rows": "x = data.reshape(-1, 1)\nreturn int(x[mask].sum())",
    "rows that are summed up": f"{_ROWS}return x[mask].sum(axis=0).tolist()",
    "rows within": f"{_ROWS}return float(x[mask].sum(axis=1).sum())",
    "rows that are cut": f"{_ROWS}own = x[mask]\nown = own * np.minimum(1, 1 / np.maximum(0.5, "
    "np.linalg.norm(own, axis=1)))[:, None]\nreturn own.sum(axis=0).tolist()",
    "an index without places": "return int(data[mask][()].sum())",
    "all of them": "return int(data[mask][...].sum() + data[mask][:].sum())",
    "rows by zeros": f"{_ROWS}return float((x[mask] @ np.zeros(2) + 1).sum())",
    "a column of rows": f"{_ROWS}return float(x[mask][:, 1].sum())",
    "rows and their numbers": f"{_ROWS}own, some = x[mask], data[mask]\n"
    "return (own * some[:, None]).sum(axis=0).tolist()",
    "rows with a sign of zero": f"{_ROWS}y = x * -1.0\nreturn str(y[mask].sum(axis=0).tolist())",
    "the mean of rows": f"{_ROWS}own = x[mask]\n"
    "return own.mean(axis=0).tolist() if len(own) else None",
    "rows less a row": f"{_ROWS}return (x[mask] - np.array([0.5, 1.0])).sum(axis=0).tolist()",
    "numbers that are clipped": "return int(data[mask].clip(0, 1).sum())",
    "numbers that are clipped by NumPy": "return int(np.clip(data[mask], 1, 2).sum())",
    "numbers that are clipped on one side": "return int(data[mask].clip(max=1).sum())",
    "thirds": "return float((data[mask] / 3).sum())",
    "roots": "return float(np.sqrt(data[mask]).sum())",
    "divisions by zero": "with np.errstate(divide='ignore'):\n"
    "    return float(np.minimum(1, 1 / data[mask]).sum())",
    "a table": "table = {True: 1, False: 2}\nreturn table[bool(mask[0])]",
    "a key that is missing": "table = {True: 1}\ntry:\n    return table[bool(mask[0])]\n"
    "except KeyError:\n    return None",
    "an index that is too large": "try:\n    return int(data[data[mask]].sum())\n"
    "except IndexError:\n    return None",
    "pairs": "return int(sum(x for x, bit in zip(data, mask) if bit))",
    "pairs that are not": "return int(sum(x for x, bit in zip(data, mask) if not bit))",
    "pairs in a loop": "n = 0\nfor x, bit in zip(data, mask):\n    if bit:\n        n += x\n"
    "return int(n)",
    "pairs that are read again": "n = 0\nfor x, bit in zip(data, mask):\n    if bit:\n"
    "        n += x\nreturn int(n) + 10 * int(bit)",
    "pairs that are read in the loop": "n = 0\nfor x, bit in zip(data, mask):\n    if bit:\n"
    "        n += x + int(bit)\nreturn int(n)",
    "a product": "return int((data * mask).sum())",
    "numbers where": "return int(np.where(mask, data, 0).sum())",
    "a product of vectors": "return int(mask @ data)",
}


def expected_law(text: str, data: list[int]) -> dict[Any, Fraction]:
    """By all masks."""
    made = program(text.replace("mask", "rng"))
    law: dict[Any, Fraction] = {}
    for bits in itertools.product((False, True), repeat=len(data)):
        output = made(np.array(data), np.array(bits))
        key = tuple(output) if isinstance(output, list) else output
        mass = math.prod(Q if bit else 1 - Q for bit in bits)
        law[key] = law.get(key, Fraction(0)) + mass
    return law


@pytest.mark.parametrize("name", mostly_slow(MADE, 4))
def test_the_law_is_that_of_all_bits(name: str) -> None:
    mechanism = program(f"mask = rng.random(len(data)) < {float(Q)}\n{MADE[name]}")
    for data in ([1, 0, 2], [0, 0], [3, 1, 1, 0]):
        law = lt.output_law(mechanism, np.array(data))
        found = {tuple(o) if isinstance(o, list) else o: mass for o, mass in law.items()}
        assert found == expected_law(MADE[name], data)


def test_reads_are_asked_for_bits_only_where_numbers_are_drawn() -> None:
    plain = program("return data[data > 0].sum()")
    assert with_chosen_entries(plain) is plain
    drawing = program("return data[rng.random(3) < 0.5].sum()")
    assert with_chosen_entries(drawing) is not drawing
    kept = np.array([4, 5, 6])
    assert with_chosen_entries(drawing)(kept, np.random.default_rng(1)) == drawing(
        kept, np.random.default_rng(1)
    )


@pytest.mark.parametrize("first", ["", "from __future__ import annotations\n"])
def test_what_is_named_for_the_reader_stays(first: str) -> None:
    """An annotation may assign nothing, in Python 3.13 and with this import."""
    source = (
        f"{first}def sampled(data, rng):\n    kept: list[int] = []\n"
        "    mask = rng.random(len(data)) < 0.25\n    return int(data[mask].sum()) + len(kept)\n"
    )
    file = f"<annotated {first!r}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    space: dict[str, Any] = {}
    exec(compile(source, file, "exec"), space)
    assert with_chosen_entries(space["sampled"]) is not space["sampled"]
    law = lt.output_law(space["sampled"], np.array([1, 0]))
    assert dict(law.items()) == {0: 1 - Q, 1: Q}


SHARE = 0.1
LOSS = math.log(1 + SHARE * (math.e - 1))
MASK = "mask = rng.random(len(data)) < 0.1\n"

#: Samples of many records, each with one answer that a sampled record changes by at most 1.
SAMPLES = {
    "at places": f"{MASK}total = data[np.flatnonzero(mask)].sum()",
    "where": f"{MASK}total = data[np.where(mask)[0]].sum()",
    "a product": f"{MASK}total = (data * mask).sum()",
    "a product with numbers": "total = (rng.binomial(1, 0.1, len(data)) * data).sum()",
    "numbers where": f"{MASK}total = np.where(mask, data, 0).sum()",
    "other numbers where": f"{MASK}total = np.where(~mask, 0, data).sum()",
    "vectors": f"{MASK}total = mask @ data",
    "vectors of floats": f"{MASK}total = np.dot(data * 1.0, mask)",
    "truths": f"{MASK}total = (mask & (data == 1)).sum()",
    "a filter of a product": f"{MASK}x = mask * data\ntotal = len(x[x > 0])",
    "a count of a product": f"{MASK}total = np.count_nonzero(2 * data * mask)",
    "a mean": f"{MASK}total = len(data) * (mask * data).mean()",
    "pairs": f"{MASK}total = sum(x for x, bit in zip(data, mask) if bit)",
    "pairs in a loop": (
        f"{MASK}total = 0\nfor x, bit in zip(data, mask):\n    if bit:\n        total += x"
    ),
    "pairs that are left out": (
        f"{MASK}total = 0\nfor x, bit in zip(data.tolist(), ~mask):\n    if bit:\n"
        "        continue\n    total += x"
    ),
    "two uses": f"{MASK}total = data[mask].sum() / 2 + (data[mask] == 1).sum() / 2",
}
END = "\nreturn total + rng.laplace(0, 1)"


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_the_loss_of_a_sample_is_proved(name: str) -> None:
    verdict = lt.check_privacy(
        program(SAMPLES[name] + END), lt.Hypercube(500), **CLAIM, method="alignment"
    )
    assert (verdict.decision, verdict.guarantee.kind) == (Decision.YES, "proof")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SAMPLES if name[:3] not in ("two", "pai")])
def test_a_product_of_share_and_loss_is_refuted(name: str) -> None:
    """The classic mistake: q epsilon in place of log(1 + q (exp(epsilon) - 1))."""
    claim = CLAIM | {"epsilon": SHARE * 1.0}
    verdict = lt.check_privacy(program(SAMPLES[name] + END), lt.Hypercube(500), **claim)
    assert verdict.decision is Decision.NO
    assert verdict.largest_loss > SHARE


#: Programs that tell more of the bits, or of records that are not chosen.
MORE = {
    "a bit": f"{MASK}total = (data * mask).sum()\nreturn total + rng.laplace(0, 1), bool(mask[0])",
    "all others": f"{MASK}total = np.where(mask, 0, data).sum(){END}",
    "no product": f"{MASK}total = (data + mask).sum(){END}",
    "one bit for all": f"total = (data * (rng.random() < 0.1)).sum(){END}",
    "a bit that is known": f"{MASK}mask[0] = True\ntotal = (data * mask).sum(){END}",
    "equal bits": f"{MASK}mask[1] = mask[0]\ntotal = (data * mask).sum(){END}",
}
#: Programs that tell what samples tell, and add a constant to it.
SHIFTED = {
    "a constant": f"{MASK}total = np.where(mask, data, 1).sum(){END}",
    "one more": f"{MASK}total = (data * mask + 1).sum(){END}",
}
CLAIM: Any = {"epsilon": LOSS * (1 + 1e-9), "floats": "ideal", "seed": 1}


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_what_tells_more_costs_more(name: str) -> None:
    assert lt.check_privacy(program(MORE[name]), lt.Hypercube(3), **CLAIM).decision is Decision.NO


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIFTED)
def test_a_constant_costs_nothing(name: str) -> None:
    shifted = program(SHIFTED[name])
    assert lt.check_privacy(shifted, lt.Hypercube(3), **CLAIM).decision is Decision.YES


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_what_tells_more_is_not_proved(name: str) -> None:
    """As a sample of many records, where exact laws are too many."""
    many: Any = lt.Hypercube(40)
    verdict = lt.check_privacy(program(MORE[name]), many, **CLAIM, method="alignment")
    assert verdict.decision is not Decision.YES


@pytest.mark.parametrize("name", ["pairs", "pairs that are not", "pairs in a loop"])
def test_pairs_of_plain_records_are_walked_as_they_are_written(name: str) -> None:
    text = f"mask = rng.random(len(data)) < 0.5\n{MADE[name]}"
    written = program(text)
    alike = with_coins_first(written)
    assert alike is not written
    data = np.arange(20)
    for seed in range(5):
        found = [made(data, np.random.default_rng(seed)) for made in (written, alike)]
        assert found[0] == found[1]
    with pytest.raises(TypeError, match="int"):
        with_coins_first(program(text.replace("zip(data", "zip(3")))(data, np.random.default_rng(1))


def test_bits_that_are_too_many_to_be_looked_at_are_given_up_at_once() -> None:
    """All outcomes that a budget allows have next to no probability together."""
    told = program("mask = rng.random(500) < 0.1\nreturn np.flatnonzero(mask).tolist()")
    with pytest.raises(lt.errors.BudgetError, match="500 random bits"):
        lt.output_law(told, np.array([0]))


def test_rows_of_zeros_need_no_bits() -> None:
    text = (
        "x = np.zeros((500, 2))\nx[3] = data[0], 1\nmask = rng.random(500) < 0.25\n"
        "own = x[mask]\nown = own / np.maximum(1, np.linalg.norm(own, axis=1))[:, None]\n"
        "return own.sum(axis=0).tolist()"
    )
    law = lt.output_law(program(text), np.array([0]))
    assert dict(law.items()) == {(0.0, 0.0): Fraction(3, 4), (0.0, 1.0): Fraction(1, 4)}
