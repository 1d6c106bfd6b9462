"""Counts and places of comparisons that are looked at as far as is asked, beside all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.laws import Raised
from tests.unit.written_programs import program

ANSWERS = np.array([0, 1, 2, 1])
_MASK = "mask = data + rng.laplace(0, 2.0, len(data)) > 1\n"
# The same comparisons, each looked at before anything else is done.
_SEEN = "mask = np.array([bool(one) for one in mask])\n"
EXPRESSIONS = [
    "h[0] if h.size else -1",
    "int(h[0]) if len(h) else None",
    "h[-1] if h.size > 0 else -1",
    "h[1]",
    "h[-2]",
    "h[np.int64(2)] if h.size >= 3 else 0",
    "h[:2].tolist()",
    "h[-2:].tolist()",
    "h[:0].tolist()",
    "h[0:1].tolist()",
    "h[1:].tolist()",
    "h[::2].tolist()",
    "h[h > 1].tolist()",
    "h.size > 1, h.size <= 1.5, h.size < 0, h.size >= 0, 2 < h.size",
    "h.size == 2, h.size != 2, h.size == 2.5, h.size != 2.5, h.size == 9",
    "h.size > np.inf, h.size < np.inf, h.size == np.nan, h.size != np.nan",
    "len(h) in (1, 2)",
    "{0: 'none', 4: 'all'}.get(len(h), 'some')",
    "bool(h.size), not len(h)",
    "h.shape == (2,), np.size(h), h.ndim",
    "h.size * 2 + 1, 4 - h.size, h.size / 4, -h.size",
    "str(h.size), f'{h.size:03d}'",
    "int(h.min()) if h.size else -1, int(h.max()) if h.size else -1",
    "np.min(h) if h.size else -1",
    "[int(k) for k in h]",
    "next((int(k) for k in h if k > 1), -1)",
    "(h + 1).tolist(), int(h.sum())",
    "list(h), tuple(h.tolist())",
    "2 in h",
    "mask.sum() >= 2",
    "mask.sum()",
    "mask.sum() > 0 and int(np.argmax(mask))",
    "int(mask.sum()), mask.sum() / 4, mask.sum() * 0.5",
    "np.sum(mask) == 4, np.sum(mask) < 4",
    "np.count_nonzero(mask) == 3",
    "np.count_nonzero(mask) > np.count_nonzero(~mask)",
    "isinstance(mask.sum(), np.int64), type(mask.sum()).__name__",
    "np.where(mask)[0][0] if mask.any() else -1",
    "np.nonzero(mask)[0][:1].tolist()",
    "np.argwhere(mask)[:1].tolist()",
    "[3, 2, 1, 0, -1][mask.sum()]",
    "np.array([mask.sum(), 7]).tolist()",
    "data[h].sum() if h.size == 1 else -1",
]


def law_of(text: str) -> dict[Any, float]:
    """Probabilities of outputs, on plain answers."""
    law = lt.output_law(lt.mechanism(program(text)), ANSWERS)
    return {repr(output): probability for output, probability in law.items()}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_is_looked_at_late_is_what_is_looked_at_first(expression: str) -> None:
    rest = f"h = np.flatnonzero(mask)\nreturn {expression}"
    late, first = law_of(_MASK + rest), law_of(_MASK + _SEEN + rest)
    assert late == pytest.approx(first, abs=1e-12)
    assert sum(late.values()) == pytest.approx(1)


def test_what_numpy_raises_is_an_output() -> None:
    law = lt.output_law(
        lt.mechanism(program(_MASK + "return int(np.flatnonzero(mask)[3])")), ANSWERS
    )
    assert {type(output) for output in law} == {int, Raised}


@pytest.mark.parametrize(
    ("expression", "paths"),
    [
        ("int(h[0]) if h.size else -1", 13),
        ("int(h[-1]) if len(h) > 0 else -1", 79),
        ("int(np.argmax(mask)) if mask.sum() else -1", 13),
        ("bool(np.count_nonzero(mask) >= 1)", 13),
        ("h[:1].tolist()", 13),
        ("int(np.where(mask)[0][0]) if mask.any() else None", 13),
        ("next(iter(h), None)", 13),
    ],
)
def test_the_first_hit_has_as_many_paths_as_answers(expression: str, paths: int) -> None:
    text = f"{_MASK}h = np.flatnonzero(mask)\nreturn {expression}"
    followed: Any = lt.mechanism(program(text)).align_paths(lt.Answers(12), way="branches")
    assert len(followed.ends) == paths


def test_a_part_of_the_places_is_read_only_and_they_are_then_too() -> None:
    text = f"{_MASK}h = np.flatnonzero(mask)\npart = h[:2]\nh[:] = 0\nreturn part.tolist()"
    with pytest.raises(lt.errors.LiptestError, match="take the part of a copy"):
        law_of(text)
    copied = f"{_MASK}h = np.flatnonzero(mask)\npart = h.copy()[:2]\nh[:] = 0\nreturn part.tolist()"
    told = f"{_MASK}h = np.flatnonzero(mask)\nreturn h[:2].tolist()"
    assert law_of(copied) == pytest.approx(law_of(told), abs=1e-12)


def test_places_do_not_change_with_the_mask() -> None:
    text = f"{_MASK}h = np.flatnonzero(mask)\nmask[:] = True\nreturn h.size, int(mask.sum())"
    seen = f"{_MASK}{_SEEN}h = np.flatnonzero(mask)\nreturn h.size, 4"
    assert law_of(text) == pytest.approx(law_of(seen), abs=1e-12)


_ABOVE = """t = 5 + rng.laplace(scale=2)
h = np.flatnonzero(data + rng.laplace(scale={scale}, size=len(data)) >= t)
return int(h[0]) if h.size else -1"""


def test_the_first_hit_above_a_noisy_threshold_is_proved() -> None:
    answers = lt.Answers(50)
    verdict = lt.check_privacy(program(_ABOVE.format(scale=4)), answers, epsilon=1.0)
    assert verdict.decision == "YES"
    assert "loss at most 1.000000" in str(verdict)


def test_and_refuted_with_half_of_the_noise() -> None:
    verdict = lt.check_privacy(program(_ABOVE.format(scale=2)), lt.Answers(50), epsilon=1.0)
    assert verdict.decision == "NO"
