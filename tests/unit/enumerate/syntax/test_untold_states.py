"""Later code that could tell the states of random generators is not taken for post-processing."""

from __future__ import annotations

import functools
import json
import logging
import operator
import random
import types
import typing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.enumerate.syntax.untold_states import value_may_tell_states
from liptest.verdicts import Decision
from tests.unit.written_programs import program

DATA = lt.RecordGrid([4] * 50)
RNG = np.random.default_rng()


@dataclass
class Answers:
    noisy: list[float] = field(default_factory=list)

    def add(self, value: float) -> None:
        self.noisy.append(value)

    @property
    def total(self) -> float:
        return sum(self.noisy)


def shown(total: float) -> str:
    return "{:.1f} {}".format(total, "of all") + f"{total:.2f}"


FINDER = operator.attrgetter("get_" + "state")
CALLER = functools.partial(operator.methodcaller("get_" + "state"))
ASKER = np.random.__getattribute__
NAMES = vars(np.random).get
OF_MODULES = types.ModuleType.__dict__["__dict__"]
OF_FUNCTIONS = types.FunctionType.__dict__["__globals__"]
VECTORISED = np.frompyfunc(getattr, 2, 1)
LOG = logging.getLogger("told")
ASKED = "ev" + "al"
LOADER = lt.mechanism
HELD, HOLDER = [np.random], Answers()
HOLDER.noisy = [RNG]  # type: ignore[list-item]
DRAW = np.random.laplace

HARMLESS = {
    "text": "return json.dumps([float(n), shown(n)])",
    "more draws": "return json.dumps([float(n), float(RNG.random()), np.random.rand()])",
    "an object": "a = Answers()\na.add(float(n))\nreturn json.dumps(a.total)",
    "a draw by another name": "return json.dumps([float(n), float(DRAW(0, 1))])",
    "methods by name": "return json.dumps(pd.DataFrame([float(n)]).agg(['mean', 'sum']).to_dict())",
    "imports": "import math\nfrom math import floor\nreturn json.dumps([floor(n), math.ceil(n)])",
}
TELLING = {
    "get_state": "np.random.get_state()",
    "by text": "getattr(np.random, 'get_' + 'state')()",
    "by another name": "find(np.random, 'get_' + 'state')()",
    "by a finder": "FINDER(np.random)()",
    "by a caller": "CALLER(np.random)",
    "by a format": "('{0.bit_' + 'generator.state}').format(RNG)",
    "by a written format": "'{0[0].mtrand._rand}'.format(HELD)",
    "by str.format": "str.format('{0}', HELD)",
    "in a list": "str(HELD)",
    "in an object": "str(HOLDER)",
    "a module": "str(np.random)",
    "a generator": "str(RNG)",
    "an attribute": "RNG.bit_generator.state",
    "a method": "str(RNG.laplace)",
    "a function that draws": "str(DRAW)",
    "its owner": "DRAW.__self__.get_state()",
    "sys.modules": "sys.modules['numpy.random'].get_state()",
    "an import": "importlib.import_module('numpy.' + 'random').get_state()",
    "another library": "template(n)",
    "code as text": "eval('np.random.get_state()')",
    "an attribute of a module by text": "ASKER('get_' + 'state')()",
    "a name of a module by text": "NAMES('get_' + 'state')()",
    "names of a module": "OF_MODULES.__get__(shown)",
    "names of a function": "str(OF_FUNCTIONS)",
    "getattr of arrays": "VECTORISED(np.array([1]), 'x')",
    "hints": "typing.get_type_hints(shown)",
    "numbers of a file": "np.load('/x', None, True)",
    "a file": "open('/x').read()",
    "pickles": "pd.read_pickle('/x')",
    "handlers": "LOG.handlers",
    "a log": "LOG.info(n)",
    "code of a frame": "pd.DataFrame([1]).agg(ASKED, 0, '@np.random')",
    "code of a frame as a word": "pd.DataFrame([1]).agg('eval', 0, '@np.random')",
    "attributes given": "setattr(HOLDER, 'x', 1)",
    "a class of any attributes": "type('X', (), {})",
    "functions of liptest": "LOADER('x')",
    "modules of liptest": "lt.mechanism('x')",
    "memory": "np.lib.stride_tricks.as_strided(np.array([1]), 9)",
    "attributes copied": "functools.update_wrapper(shown, json.dumps, ('__glo' + 'bals__',))",
}


def names(**further: Any) -> dict[str, Any]:
    import importlib
    import sys

    own = {name: value for name, value in globals().items() if name.isupper()}
    return own | {
        **{"typing": typing, "pd": pd, "functools": functools, "lt": lt},
        **{"json": json, "sys": sys, "importlib": importlib, "find": getattr, "shown": shown},
        **{"Answers": Answers, "template": pytest.approx, **further},
    }


@pytest.mark.parametrize("rest", HARMLESS)
def test_what_tells_no_state_is_harmless(rest: str) -> None:
    text = f"n = float(data.sum() + rng.laplace(0, 3))\n{HARMLESS[rest]}"
    assert not value_may_tell_states(program(text, **names()))


@pytest.mark.slow
@pytest.mark.parametrize("drawn", ["rng", "RNG", "np.random"])
def test_text_of_noisy_numbers_is_post_processing(drawn: str) -> None:
    """Generators of modules, too, whose states nothing asks for."""
    text = f"n = float(data.sum() + {drawn}.laplace(0, 3))\n{HARMLESS['text']}"
    verdict = lt.check_privacy(lt.mechanism(program(text, **names())), DATA, epsilon=1, seed=1)
    assert verdict.decision is Decision.YES


@pytest.mark.parametrize("told", TELLING)
def test_what_may_tell_a_state_is_found(told: str) -> None:
    """Where it is reached on a path that is hardly ever taken, too."""
    text = "n = float(data.sum() + rng.laplace(0, 3))\nout = [n]\n"
    text += f"if n > 400:\n    out.append(str({TELLING[told]}))\nreturn json.dumps(out)"
    assert value_may_tell_states(program(text, **names()))


@pytest.mark.slow
@pytest.mark.parametrize("told", ["by text", "by a finder"])
@pytest.mark.parametrize("first", ["np.random.laplace(0, 3)", "RNG.laplace(0, 3)"])
def test_it_is_not_proved(told: str, first: str) -> None:
    for drawn in (f"float(data.sum() + {first})", f"sum([v + {first} for v in data])"):
        text = f"n = {drawn}\nout = [n]\nif n > 400:\n    out.append(str({TELLING[told]}))\n"
        function = program(f"{text}return json.dumps(out)", **names())
        verdict = lt.check_privacy(lt.mechanism(function), DATA, epsilon=1, seed=1, max_seconds=5)
        assert verdict.decision is not Decision.YES


@pytest.mark.parametrize(
    "rest",
    [
        "import runpy\n    out.append(runpy.run_path('x.py'))",
        "import ctypes\n    out.append(ctypes.string_at(id(out)))",
        "from liptest.cli.loading import load_mechanism\n    out.append(load_mechanism('x'))",
        "class X:\n        def __getattr__(self, name): return 1\n    out.append(X())",
        "match out:\n        case object(_rand=told): out.append(told)",
    ],
)
def test_what_may_tell_a_state_in_other_ways(rest: str) -> None:
    text = "n = float(data.sum() + rng.laplace(0, 3))\nout = [n]\n"
    assert value_may_tell_states(program(f"{text}if n > 400:\n    {rest}\nreturn out", **names()))


def test_functions_without_source_are_looked_at_by_their_names() -> None:
    space: dict[str, Any] = {"np": np}
    exec("def told(x): return np.random.get_state()\ndef plain(x): return abs(x)", space)
    assert value_may_tell_states(space["told"])
    assert not value_may_tell_states(space["plain"])
    assert value_may_tell_states(random.Random().getstate)
