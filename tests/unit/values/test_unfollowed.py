"""What programs get beside numbers and arrays answers as in Python, or ends the analysis."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.errors import LiptestError
from liptest.values.unfollowed import Unfollowed
from tests.unit.written_programs import program


@pytest.mark.parametrize(
    "expression",
    [
        "len(Counter(data.tolist()).items() & {(1, 4)})",
        "len({7} | Counter(data.tolist()).keys())",
        "int(Counter(data.tolist()) <= Counter({0: 3, 1: 3}))",
        "int(Counter({0: 3, 1: 3}) >= Counter(data.tolist()))",
        "(Counter({0: 3, 1: 3}) - Counter(data.tolist()))[1]",
        "(+Counter(data.tolist()))[1]",
        "next(reversed(Counter(data.tolist())))",
    ],
)
def test_a_type_error_of_ours_that_is_caught_proves_nothing(expression: str) -> None:
    text = f"try: c = {expression}\nexcept TypeError: c = 0\nreturn c + rng.laplace()"
    found = lt.mechanism(program(text, Counter=Counter)).align_paths(
        lt.Hypercube(4), way="released"
    )
    assert isinstance(found, NoPaths)
    assert "Counter" in found.reason


DRAWN = "x = data + rng.integers(0, 2, 2)\n"


@pytest.mark.parametrize(
    "line",
    [
        "return int(np.sum(x.flat == 1))",
        "return int(np.sum(x.flat > 1)), int(np.sum(1 > x.flat))",
        "f = x.flat\nreturn int(next(f)), [int(v) for v in f], [int(v) for v in f]",
        "f = x.flat\nnext(f)\nf[0] = 5\nreturn int(next(f)), int(next(f)), len(f)",
        "y = x.flat.copy()\ny[0] = 5\nreturn int(x[0]), int(y[1])",
        "return bool(x.flat), iter(x.flat) is x.flat, list(map(int, x.flat))",
    ],
)
def test_entries_in_line_are_as_those_of_numpy(line: str) -> None:
    function = program(DRAWN + line)
    data = np.array([0, 1])
    law = lt.output_law(lt.mechanism(function), data)

    class Digits:
        def __init__(self, number: int) -> None:
            self._bits = np.array([number % 2, number // 2])

        def integers(self, low: int, high: int, size: int) -> Any:
            return self._bits

    def plain(value: Any) -> Any:
        return tuple(map(plain, value)) if isinstance(value, (list, tuple)) else value

    expected = Counter(plain(function(data, Digits(number))) for number in range(4))
    assert dict(law) == {output: count / 4 for output, count in expected.items()}


@pytest.mark.parametrize("use", ["f.base is x", "f + 1", "str(f)", "f.index", "{f}", "-f"])
def test_what_is_not_said_of_entries_in_line_is_refused(use: str) -> None:
    text = f"{DRAWN}f = x.flat\ntry: return bool({use})\nexcept TypeError: return 0"
    with pytest.raises(LiptestError):
        lt.output_law(lt.mechanism(program(text)), np.array([0, 1]))


def test_every_operator_of_a_new_kind_is_refused() -> None:
    class Refusal(Exception):
        pass

    class Pair(Unfollowed):
        described = "a pair"

        def __len__(self) -> int:
            return 2

        def refuse(self, use: str) -> Any:
            raise Refusal(use)

    pair: Any = Pair()
    assert len(pair) == 2
    uses = [
        *(lambda: pair + 1, lambda: 1 + pair, lambda: pair == pair, lambda: pair < 1),
        *(lambda: [*pair], lambda: 1 in pair, lambda: bool(pair), lambda: hash(pair)),
        *(lambda: str(pair), lambda: f"{pair}", lambda: pair[0], lambda: -pair, lambda: pair.name),
        *(lambda: float(pair), lambda: pair(), lambda: next(pair), lambda: round(pair)),
    ]
    for use in uses:
        with pytest.raises(Refusal, match="of a pair"):
            use()
