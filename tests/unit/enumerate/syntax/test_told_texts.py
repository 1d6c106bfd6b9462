"""Texts with noisy numbers, compared by their words: what breaks the words breaks the text."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.numbers.whole_numbers import WholeFunction, find_over_all_numbers
from liptest.values.texts import tell_words
from liptest.verdicts import Decision
from tests.unit.written_programs import program

DATA = lt.RecordGrid([2] * 3)
#: Every one sees g, a count with geometric noise, and x, half of it.
TEXTS = {
    "f-string": 'return f"count {g}, half {x}: end"',
    "decimals": 'return f"{x:.1f} of {g:d}; {x:8.2f} and {x:.0%}"',
    "str": "return str(g) + ' of ' + str(x)",
    "str of a list": "return str([x, g, 'a1'])",
    "format": "return 'first {0:.1f}, {name} and {}'.replace('{}', '').format(x, name=g)",
    "format by place": "return '{} to {}'.format(x, g)",
    "percent": "return '%.1f, %d %% of %s' % (x, g, 'a 7')",
    "percent by name": "return '%(a).2f;' % {'a': x}",
    "json": "return json.dumps({'n': x, 'all': [g, 1, None, True], 'x e': 'inf 1.0'})",
    "json with places": "return json.dumps({'b': x, 'a': (g,)}, indent=2, sort_keys=True)",
    "join": "return '; '.join(f'{name}: {v:.1f}' for name, v in (('a', x), ('b2', g)))",
    "lines": "lines = []\nfor v in (x, g):\n    lines.append(f'- {v}')\nreturn '\\n'.join(lines)",
    "some runs": "return 'no 3.5' if g > 2 else f'no {x}'",
    "some texts": "return f'a {g}' if g > 2 else f'a {x} '",
    "nothing noisy": "return f'{data.sum():.1f} {len(data)}'",
}


def written(name: str, scale: str = "0.75") -> Any:
    text = f"""
g = int(data.sum()) + int(rng.geometric({scale}))
x = g / 2
{TEXTS[name]}
"""
    return lt.mechanism(program(text, json=json))


def merged(law: Any) -> dict[Any, float]:
    masses: dict[Any, float] = {}
    for output, mass in law.items():
        key = tell_words(output)
        masses[key] = masses.get(key, 0.0) + mass
    return masses


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_words_have_the_law_of_the_words_of_texts(name: str) -> None:
    """Values one by one, with the texts that Python writes, against a law over all numbers."""
    mechanism, dataset = written(name), np.array([1, 0, 1])
    words = mechanism.telling_words()
    assert words is not None
    listed = merged(dict(lt.output_law(mechanism, dataset).items()))
    seen = find_over_all_numbers(words, dataset)
    law = dict(words.law(dataset).items())
    assert law.keys() == listed.keys()
    assert all(math.isclose(law[key], listed[key], abs_tol=1e-12) for key in law)
    has_no_end = name not in ("nothing noisy", "some runs")
    assert isinstance(seen, WholeFunction) is has_no_end


REFUSED = {
    "length": "return len(f'{x}')",
    "part": "return f'{x} '[0]",
    "comparison": "return f'{x:.1f}' == '1.0'",
    "method": "return f'{x:.1f}'.zfill(9)",
    "number": "return float(f'{x:.1f}')",
    "two that touch": "return f'{x:.1f}{g}'",
    "beside a letter": "return f'{x}e5'",
    "behind a letter": "return f'n{x}'",
    "search": "return re.sub('0', '', f'{x}')",
    "thousands": "return f'{x:,.2f}'",
    "digits": "return f'{x:.3g}'",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_looks_at_a_text_is_refused(name: str) -> None:
    """An exception that only the analysis meets is not taken for an output either."""
    text = f"x = data.sum() + rng.laplace(0, 2)\ng = 1 + rng.laplace(0, 1)\n{REFUSED[name]}"
    words = lt.mechanism(program(text, json=json, re=re)).telling_words()
    assert words is not None
    with pytest.raises(lt.errors.MechanismError):
        words.densities().law(np.array([1, 0, 1]))


ENDS = {
    "json": "return json.dumps({'n': float(x)})",
    "json of a list": "return json.dumps([float(x), float(y)], indent=1)",
    "decimals": "return f'{x:.2f} and {y:.1f}'",
    "list": "return ', '.join(f'{v:.1f}' for v in [x, y])",
    "str": "return str(float(x))",
    "in a list": "return [str(round(float(x), 2)), 'a']",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("size", [2, 1000])
def test_claims_about_texts(name: str, size: int) -> None:
    for scale, expected in ((2, Decision.YES), (0.9, Decision.NO)):
        text = f"x, y = np.bincount(data, minlength=2) + rng.laplace(0, {scale}, 2)\n{ENDS[name]}"
        mechanism = lt.mechanism(program(text, json=json))
        verdict = lt.check_privacy(mechanism, lt.RecordGrid([2] * size), epsilon=1, seed=1)
        assert verdict.decision is expected


def test_texts_of_numbers_on_which_code_decides_are_not_accused() -> None:
    """Small data, too, whose laws are enumerated: json.dumps reads numbers as they stand."""
    text = "n = float(data.sum() + rng.laplace(0, 1))\nreturn json.dumps({'n': n, 'big': n > 2})"
    mechanism = lt.mechanism(program(text, json=json))
    verdict = lt.check_privacy(mechanism, DATA, epsilon=1, seed=1)
    assert verdict.decision is Decision.YES
