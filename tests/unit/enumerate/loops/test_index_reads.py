"""Loops and comprehensions that read arrays at their index alone: the same record of each."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols import symbolic_data
from liptest.privacy.proofs.prices import align
from tests.unit.written_programs import program

SMALL = lt.RecordGrid([3] * 4)
#: Sums of two arrays y and z, by how they are read.
FORMS = {
    "range": "t = 0\nfor i in range(len(y)):\n    t += y[i] * z[i]",
    "range from 0": "t = 0\nfor i in range(0, len(y)):\n    t += y[i] * z[i]",
    "while": "t = 0\ni = 0\nwhile i < len(y):\n    t += y[i] * z[i]\n    i += 1",
    "enumerate": "t = 0\nfor i, v in enumerate(y):\n    t += v * z[i]",
    "list": "t = sum([y[i] * z[i] for i in range(len(y))])",
    "list from 0": "t = sum([y[i] * z[i] for i in range(0, len(y))])",
    "generator": "t = sum(y[i] * z[i] for i in range(len(y)) if z[i])",
}
SAME = {
    "itself": "y, z = data, data",
    "calculated": "y = 2 * data\nz = np.minimum(data, 1)",
    "a list": "y = data.tolist()\nz = [v + 1 for v in y]",
    "columns": "m = np.stack([data, data ** 2], axis=1)\ny, z = m[:, 0], m[:, 1]",
}
OTHER_ORDER = {
    "reversed": "y, z = data, data[::-1]",
    "in a random order": "y, z = data, rng.permutation(data)",
    "both reversed, one twice": "y, z = data[::-1], data[::-1][::-1]",
    "sorted": "y, z = data, np.sort(data)",
    "halves": "y, z = data[:2], data[2:]",
}
NOT_AT_THE_INDEX = {
    "of the place before": "t = sum(data[i] * data[i - 1] for i in range(len(data)))",
    "counted from 1": "z = [0, *data]\nt = 0\nfor i, v in enumerate(data, 1):\n    t += v * z[i]",
    "an array that changes": "z = data.tolist()\nt = 0\nfor i, v in enumerate(data):\n"
    "    t += z[i]\n    z = [0] * 4",
    "what is read later": "z = data\nt = (z[i] for i in range(4))\nz = 5 * data\nt = sum(t)",
}
#: Loops that add to the entry of each record.
COUNTS = {
    "a list": "c = [0] * 3\nfor i in range(len(data)):\n    c[data[i]] += 1",
    "an array": "c = np.zeros(3)\nfor i in range(data.shape[0]):\n    c[data[i]] += 1",
    "a dict": "c = {k: 0 for k in range(3)}\nfor i in range(len(data)):\n    c[int(data[i])] += 1",
    "a name between": "c = [0] * 3\nfor i in range(data.size):\n    v = data[i]\n    c[v] += 1",
    "enumerate": "c = [0] * 3\nfor i, _ in enumerate(data):\n    c[data[i]] += 1",
    "from the end": "c = [0] * 3\nfor i in range(len(data)):\n    c[-data[i]] += 1 + data[i]",
}
#: The same, where more is read or changed.
COUNTS_OF_MORE = {
    "of the next": "c = [0] * 3\nfor i in range(len(data) - 1):\n    c[data[i + 1]] += data[i]",
    "of the last": "c = [0] * 3\nfor i in range(len(data)):\n    c[data[i - 1]] += data[i] + 1",
    "of the counts": "c = [0] * 3\nfor i in range(len(data)):\n    c[data[i]] += 1 + c[0]",
    "by the counts": "c = [0] * 9\nfor i in range(len(data)):\n    c[c[data[i]]] += 1",
    "by the place": "c = [0] * 9\nfor i in range(len(data)):\n    c[data[i] + i] += 1 + i",
    "by another name": "c = [0] * 3\nd = c\n"
    "for i in range(len(data)):\n    c[data[i]] += 1\n    d[0] += 1",
    "twice": "c = [0] * 3\n"
    "for i in range(len(data)):\n    c[data[i]] += 1\n    c[data[i] - 3] += 1",
    "until one": "c = [0] * 3\n"
    "for i in range(len(data)):\n    c[data[i]] += 1\n    if data[i] == 2:\n        break",
    "sorted": "c = [0] * 3\ns = np.sort(data)\n"
    "for i in range(len(data)):\n    c[data[i]] += s[i] + 1",
    "on copies": "c = np.array(data)\nfor i in range(len(data)):\n    c[data[i]] += 1",
    "of no range": "range = lambda n: [0] * n\nc = [0] * 3\n"
    "for i in range(len(data)):\n    c[data[i]] += 1",
}


class Still:
    """A generator whose noise is 0, in the order as it is."""

    def laplace(self, loc: float = 0.0, scale: float = 1.0) -> float:
        return loc

    def permutation(self, values: Any) -> Any:
        return values


def written(*lines: str) -> Any:
    return program("\n".join((*lines, "return t + rng.laplace(0, 1.0)")))


def largest_change(function: Any) -> float:
    """Of the sum where one record is replaced, over all datasets."""
    sums = {
        point: float(function(np.array(point), Still()))
        for point in itertools.product(range(3), repeat=4)
    }
    return max(
        abs(value - sums[(*point[:place], other, *point[place + 1 :])])
        for point, value in sums.items()
        for place in range(4)
        for other in range(3)
    )


@pytest.mark.slow
@pytest.mark.parametrize("arrays", SAME)
@pytest.mark.parametrize("form", FORMS)
def test_the_same_record_of_each_is_read(form: str, arrays: str) -> None:
    function = written(SAME[arrays], FORMS[form])
    price = align(lt.mechanism(function), SMALL).epsilon
    assert price == pytest.approx(largest_change(function), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("arrays", OTHER_ORDER)
@pytest.mark.parametrize("form", FORMS)
def test_another_order_has_other_records_at_an_index(form: str, arrays: str) -> None:
    function = written(OTHER_ORDER[arrays], FORMS[form])
    alignment = align(lt.mechanism(function), SMALL)
    assert alignment.price is None
    # Not only because plain data answer otherwise, which rare records do not show.
    assert "plain data" not in alignment.reason


def test_rare_records_in_another_order_are_not_said_to_be_private() -> None:
    rare = "if y[i] == 123 and z[i] == 321:\n        t += 1000"
    for arrays in ("reversed", "in a random order"):
        function = written(OTHER_ORDER[arrays], f"t = 0\nfor i in range(50):\n    {rare}")
        assert align(lt.mechanism(function), lt.RecordGrid([1000] * 50)).price is None


@pytest.mark.parametrize("name", NOT_AT_THE_INDEX)
def test_what_is_read_elsewhere_is_not_followed(name: str) -> None:
    function = written(NOT_AT_THE_INDEX[name])
    assert align(lt.mechanism(function), SMALL).epsilon >= largest_change(function)


def counted(lines: str) -> Any:
    return program(f"{lines}\nreturn [entry + rng.laplace(0, 1.0) for entry in c]")


def largest_change_of_all(function: Any, records: int = 3) -> float:
    """Of the entries together where one record is replaced, over all datasets."""
    counts = {
        point: np.array(function(np.array(point), Still()), dtype=float)
        for point in itertools.product(range(3), repeat=records)
    }
    return max(
        float(np.abs(entries - counts[(*point[:place], other, *point[place + 1 :])]).sum())
        for point, entries in counts.items()
        for place in range(records)
        for other in range(3)
    )


@pytest.mark.parametrize("name", COUNTS)
def test_entries_are_counted_at_an_index(name: str) -> None:
    function = counted(COUNTS[name])
    price = align(lt.mechanism(function), lt.RecordGrid([3] * 5000)).epsilon
    assert price == pytest.approx(largest_change_of_all(function), abs=1e-9)


@pytest.mark.parametrize("name", COUNTS_OF_MORE)
def test_counts_of_more_than_the_record_are_not_priced_below_what_they_change(name: str) -> None:
    function = counted(COUNTS_OF_MORE[name])
    alignment = align(lt.mechanism(function), lt.RecordGrid([3] * 3000))
    assert alignment.price is None or alignment.epsilon >= largest_change_of_all(function)


@pytest.mark.slow
def test_rows_are_read_at_an_index() -> None:
    table = lt.Table({"a": lt.Real(-1, 1), "y": lt.Real(-1, 1)}, rows=50)
    loop = "t = np.zeros(1)\nfor i, x in enumerate(data[['a']].to_numpy()):\n    t += x * y[i]"
    single = "t = 0.0\nfor i in range(len(m)):\n    t += m[i, 0] * m[i][1]"
    for lines in (
        ("y = data['y'].to_numpy()", f"{loop}\nt = t[0]"),
        ("m = data[['a', 'y']].to_numpy()", single),
    ):
        mechanism = lt.mechanism(written(*lines)).on_domain(table)
        assert align(mechanism, table).epsilon == pytest.approx(2.0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["t = 0\nfor i in range(len(m)):\n    E", "t = sum(E)"])
def test_two_places_at_once_are_read_of_arrays_only(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a list of rows ``m[i, 0]`` raises, which only rare records may show."""
    monkeypatch.setattr(symbolic_data, "check_points", lambda *given: ())
    table = lt.Table({"a": lt.Real(-1, 1), "y": lt.Real(-1, 1)}, rows=50)
    is_loop = form.startswith("t = 0")
    read = "t += m[i, 0] + m[i][1]" if is_loop else "m[i, 0] + m[i][1] for i in range(len(m))"
    for rows, is_read in (("r", True), ("[2 * x for x in r]", False)):
        lines = ("r = data[['a', 'y']].to_numpy()", f"m = {rows}", form.replace("E", read))
        alignment = align(lt.mechanism(written(*lines)).on_domain(table), table)
        assert (alignment.price is not None) == is_read
