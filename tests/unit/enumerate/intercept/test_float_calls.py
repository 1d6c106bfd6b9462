"""``float(x)`` of a number with noise is followed where the name is used for calls only."""

from __future__ import annotations

import builtins
import json
import math
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.intercept.program_modules import only_called
from liptest.mechanisms.laws import OutputLaw, Raised
from liptest.runs.fingerprints import fingerprint
from tests.unit.enumerate.another_thread import another_thread

CUBE = lt.Hypercube(3)
LAW = lt.ProductDistribution.uniform(CUBE)
HERE = sys.modules[__name__]
Program = Callable[[Any, Any], Any]


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    yield
    assert "float" not in HERE.__dict__


def law(program: Program, *data: int, **options: Any) -> OutputLaw:
    return lt.output_law(lt.mechanism(program, **options), np.array(data or (1, 0, 1)))


def loss(program: Program, **options: Any) -> lt.ExactEpsilon:
    return lt.exact_epsilon(lt.mechanism(program, **options), CUBE)


#: Functions that code under analysis may call, but is not seen to: NumPy's are not looked through.
unseen: Any = types.ModuleType("numpy.made_by_this_test")
#: Whether the stand-in is there.
unseen.is_put = lambda: "float" in HERE.__dict__


def plain(data: Any, rng: Any) -> Any:
    return data.sum() + rng.laplace(0, 1.0)


def count(data: Any, rng: Any) -> Any:
    return float(data.sum() + rng.laplace(0, 1.0))


def count_before(data: Any, rng: Any) -> Any:
    return float(data.sum()) + rng.laplace(0, 1.0)


def compared(data: Any, rng: Any) -> Any:
    return float(data.sum() + rng.laplace(0, 1.0)) > 1


def compared_plainly(data: Any, rng: Any) -> Any:
    return data.sum() + rng.laplace(0, 1.0) > 1


def rounded(data: Any, rng: Any) -> Any:
    return float(np.clip(np.round(data.sum() + rng.laplace(0, 1.0)), 0, 3))


def rounded_plainly(data: Any, rng: Any) -> Any:
    return np.clip(np.round(data.sum() + rng.laplace(0, 1.0)), 0, 3)


def whole(data: Any, rng: Any) -> Any:
    return float(np.clip(data.sum() + rng.geometric(0.5) - rng.geometric(0.5), 0, 3)) / 2


def whole_plainly(data: Any, rng: Any) -> Any:
    return np.clip(data.sum() + rng.geometric(0.5) - rng.geometric(0.5), 0, 3) / 2


def each(data: Any, rng: Any) -> Any:
    return [float(c + rng.laplace(0, 1.0)) for c in data]


def each_plainly(data: Any, rng: Any) -> Any:
    return [c + rng.laplace(0, 1.0) for c in data]


def helper(value: Any, _: Any = None) -> Any:
    return float(value)


def through_a_helper(data: Any, rng: Any) -> Any:
    return helper(data.sum() + rng.laplace(0, 1.0))


def in_a_closure(data: Any, rng: Any) -> Any:
    def inner() -> Any:
        return (lambda value: float(value))(data.sum() + rng.laplace(0, 1.0))

    return inner()


@dataclass
class Counting:
    scale: Any = 1.0

    def __call__(self, data: Any, rng: Any) -> Any:
        return self.released(data.sum() + rng.laplace(0, self.scale))

    @staticmethod
    def released(value: Any) -> Any:
        return float(value)


def checked(data: Any, rng: Any) -> Any:
    """As code that looks at its arguments first."""
    value = float(plain(data, rng))
    if not isinstance(value, float) or not isinstance(value, (int, float)):
        raise TypeError("no number")
    return value if isinstance(float("1"), (float, np.integer)) else data


PAIRS: dict[str, tuple[Program, Program]] = {
    "output": (count, plain),
    "data": (count_before, plain),
    "list": (each, each_plainly),
    "helper": (through_a_helper, plain),
    "closure": (in_a_closure, plain),
    "method": (Counting(), plain),
    "lambda": (lambda data, rng: float(plain(data, rng)), plain),
    "isinstance": (checked, plain),
    "twice": (lambda data, rng: float(float(plain(data, rng))), plain),
    "comparison": (compared, compared_plainly),
    "rounded": (rounded, rounded_plainly),
    "whole": (whole, whole_plainly),
}


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_the_loss_is_that_without_float(pair: tuple[Program, Program]) -> None:
    followed, same = map(loss, pair)
    assert (followed.lower, followed.upper) == (same.lower, same.upper)


@pytest.mark.parametrize("name", ["comparison", "rounded", "whole"])
def test_the_law_is_that_without_float(name: str) -> None:
    followed, same = map(law, PAIRS[name])
    assert dict(followed) == dict(same)
    assert followed.repeated >= 2
    typed = law(PAIRS[name][0], typed_outputs=True)
    kinds = {"comparison": {"bool"}, "rounded": {"float", "-float"}, "whole": {"float"}}
    assert {one.kind for one in typed.outputs} == kinds[name]


def test_whole_numbers_are_real_floats_as_before() -> None:
    found = law(lambda data, rng: json.dumps(float(whole(data, rng))))
    assert set(found) == {json.dumps(k / 2) for k in range(4)}


def test_the_compiler_of_a_reached_function_meets_the_real_float() -> None:
    with pytest.raises(lt.errors.UnsupportedRandomnessError, match=r"used in float\(\)"):
        loss(lambda data, rng: COMPILED.py_func(plain(data, rng)))


@pytest.mark.slow
def test_the_type_of_a_real_output_is_float() -> None:
    def mixed(data: Any, rng: Any) -> Any:
        noisy = plain(data, rng)
        return float(noisy) if data[0] else noisy

    assert math.isinf(loss(mixed, typed_outputs=True).value)
    assert loss(mixed).value == pytest.approx(1.0)


@pytest.mark.slow
def test_claims_with_and_without_delta() -> None:
    bell = lambda data, rng: float(data.sum() + rng.normal(0, 2.0))  # noqa: E731
    claim: dict[str, Any] = {"distribution": LAW, "method": "exhaustive"}
    said = lt.check_privacy(lt.mechanism(count), epsilon=1.0, **claim)
    assert said.decision == "YES"
    assert lt.check_privacy(lt.mechanism(count), epsilon=0.9, **claim).decision == "NO"
    claim["delta"] = 0.01
    assert lt.check_privacy(lt.mechanism(bell), epsilon=1.5, **claim).decision == "YES"
    assert lt.check_privacy(lt.mechanism(bell), epsilon=0.5, **claim).decision == "NO"


def test_an_output_law_of_real_numbers_is_refused_in_the_same_words() -> None:
    words = []
    for program in (plain, count):
        with pytest.raises(lt.errors.UnsupportedRandomnessError) as caught:
            law(program)
        words.append(str(caught.value).partition(": ")[2])
    assert words[0] == words[1]


def as_type(data: Any, rng: Any) -> Any:
    value = float(plain(data, rng))
    return value if type(value) is float else 0


REFUSED: dict[str, Program] = {
    "is": as_type,
    "default": lambda data, rng, kind=float: kind(plain(data, rng)),
    "map": lambda data, rng: next(map(float, [plain(data, rng)])),
    "attribute": lambda data, rng: float(plain(data, rng)) + float.fromhex("0x1"),
    "choice": lambda data, rng: (float or None)(plain(data, rng)),
    "class": lambda data, rng: type("One", (float,), {})(plain(data, rng)),
    "eval": lambda data, rng: eval("float(value)", globals(), {"value": plain(data, rng)}),
    "global": lambda data, rng: float(plain(data, rng)) + len(globals()),
    "builtins": lambda data, rng: builtins.float(plain(data, rng)),
}


@pytest.mark.slow
@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_other_uses_of_the_name_are_refused_as_before(program: Program) -> None:
    with pytest.raises(
        lt.errors.UnsupportedRandomnessError, match=r"used in float\(\).*leave float\(\)"
    ):
        loss(program)


@pytest.mark.slow
def test_a_dtype_of_that_name_is_no_other_use() -> None:
    def program(data: Any, rng: Any) -> Any:
        return float(plain(data, rng)) + np.zeros(1, dtype=float)[0]

    assert loss(program) == loss(plain)


def test_another_use_elsewhere_that_is_reached_counts_too() -> None:
    def program(data: Any, rng: Any) -> Any:
        return float(plain(data, rng)) if data[0] < 2 else as_type(data, rng)

    with pytest.raises(lt.errors.UnsupportedRandomnessError, match=r"used in float\(\)"):
        loss(program)


def module_with(text: str, **names: Any) -> Any:
    module = types.ModuleType("vendor_of_floats")
    vars(module).update(names)
    exec(compile(text, "vendor_of_floats.py", "exec"), vars(module))
    return module


class Compiled:
    """As functions that Numba compiles."""

    __module__ = "numba.core.registry"

    def __init__(self, function: Program) -> None:
        self.py_func = function


COMPILED = Compiled(helper)
TEXT = "def count(data, rng):\n    return float(data.sum() + rng.laplace(0, 1.0))\n"
VENDOR = module_with(TEXT + "def kind(value): return type(value) is float\n")


def test_a_float_of_the_module_itself_is_left_alone() -> None:
    own = lambda value: value > 1  # noqa: E731
    module = module_with(TEXT, float=own)
    assert dict(law(module.count)) == dict(law(compared_plainly))
    assert module.float is own
    other = module_with(TEXT, __builtins__={**vars(builtins), "float": own})
    assert dict(law(other.count)) == dict(law(compared_plainly))
    assert "float" not in vars(other)


@pytest.mark.slow
def test_a_helper_of_another_module_is_judged_by_its_own_module() -> None:
    assert loss(lambda data, rng: VENDOR.count(data, rng)).value == pytest.approx(1.0)
    assert loss(VENDOR.count).value == pytest.approx(1.0)  # kind() is not reached
    with pytest.raises(lt.errors.UnsupportedRandomnessError, match=r"used in float\(\)"):
        loss(lambda data, rng: VENDOR.kind(0) + VENDOR.count(data, rng))
    assert "float" not in vars(VENDOR)


def test_what_is_no_noise_goes_through_the_real_float() -> None:
    def program(data: Any, rng: Any) -> Any:
        kinds = [type(float("1e2")), type(float(data[0])), type(float(data.sum()))]
        try:
            float("x" if rng.random() < 0.5 else [])  # type: ignore[arg-type]
        except (ValueError, TypeError) as error:
            return [kind.__name__ for kind in kinds], str(error)

    assert {output[0] for output in law(program).outputs} == {("float",) * 3}
    words = {output[1] for output in law(program).outputs}
    assert words == {
        "could not convert string to float: 'x'",
        "float() argument must be a string or a real number, not 'list'",
    }
    raised = law(lambda data, rng: float("x") + rng.laplace())
    assert raised.outputs == (Raised("ValueError"),)
    bits = law(lambda data, rng: float((rng.random(4) < 0.5).sum()), typed_outputs=True)
    assert len(bits) == 5
    with pytest.raises(lt.errors.UnsupportedRandomnessError):
        law(lambda data, rng: float(rng.random()))


def test_other_threads_see_the_real_float() -> None:
    seen = []

    def program(data: Any, rng: Any) -> Any:
        seen.append(elsewhere(lambda: helper("1.5")))
        return helper(plain(data, rng)) > 1

    with another_thread() as elsewhere:
        assert dict(law(program)) == dict(law(compared_plainly))
    assert set(map(type, seen)) == {float}


#: The same for what another thread sees: the fingerprint, the stand-in, what a call gives.
unseen.look = lambda: (fingerprint(count).code, unseen.is_put(), type(helper("2")))


@pytest.mark.slow
def test_a_fingerprint_taken_meanwhile_is_the_same() -> None:
    def program(data: Any, rng: Any) -> Any:
        taken.append(elsewhere(lambda: unseen.look()))
        return count(data, rng) > 1

    taken: list[Any] = []
    with another_thread() as elsewhere:
        law(program)
    assert taken[0] == (fingerprint(count).code, True, float)


def test_the_real_numbers_of_a_repeated_leaf_meet_the_real_float() -> None:
    """Code that the walk does not find is found out."""
    unseen.asks = lambda value: type(value) is float

    def program(data: Any, rng: Any) -> Any:
        return unseen.asks(float(rng.random() < 2)), float(rng.laplace()) > 0

    seen = []

    def noting(data: Any, rng: Any) -> Any:
        seen.append(unseen.is_put())
        return float(rng.laplace()) > 0

    with pytest.raises(
        lt.errors.NonDeterministicError, match="with real random numbers it answers"
    ):
        law(program)
    law(noting)
    assert True in seen
    assert False in seen


def test_it_is_gone_after_an_interruption() -> None:
    def interrupted(data: Any, rng: Any) -> Any:
        assert unseen.is_put()
        raise KeyboardInterrupt(float(rng.laplace()) > 0)

    with pytest.raises(KeyboardInterrupt):
        law(interrupted)


def test_code_without_the_name_is_left_alone() -> None:
    seen = []

    def program(data: Any, rng: Any) -> Any:
        seen.append(unseen.is_put())
        return plain(data, rng) > 1

    law(program)
    assert set(seen) == {False}


CALLS = (
    *("float(a)", "float()", "float(*a)", "float(**a)", "float([*a][0])", "float(f'{a}')"),
    *(
        "float(a if b else c)",
        "float({})",
        "float(not a)",
        "[float(x) for x in a]",
        "float(b''[0])",
    ),
    *("(lambda: float(a))()", "float(float(a))", "sum(float(x) for x in a)", "b.real + 'float'"),
    *(
        "isinstance(a, float)",
        "isinstance(a, (int, float))",
        "not isinstance(a, (float, int)) or b",
    ),
    *("isinstance(float(a), (c, np.floating, float, np.integer, int))", "isinstance(a, (float,))"),
    *("float(lambda: a)", "float(a.b(c))", "-float(-a) + float(b)", "float(a := b)"),
)
OTHERS = (
    *("float", "a(float)", "[float]", "float.fromhex(a)", "a.float(b)"),
    *("(float or a)(b)", "(float and a)(b)", "(float if a else b)(c)", "lambda: float"),
    *("(a if b else float)(c)", "a(b, dtype=float)", "float is a", "float(float)", "map(float, a)"),
    *("float(a, kind=float)", "[x for x in a if x is float]", "float.__new__(float, a)"),
    *(
        f"float.fromhex({', '.join('a' * 40)})",
        "[float][0](a)",
        "[float, a][0](b)",
        "(float, a)[0](b)",
    ),
    *("isinstance(float, int)", "isinstance(float, (int,))", "isinstance(a, (b, (float, int)))"),
    *("isinstance(a, float.real)", "issubclass(a, float)", "isinstance(a, int | float)"),
    *("isinstance(float, (int, a))", "a(b, (int, float))", "isinstance(a, (float, int))[float]"),
    *("isinstance(*a, float)", "isinstance(float.a, int)", "isinstance(a, [float])"),
    *("{float: a}[b](c)", "(a, float)[1](b)", "(float if a else b)(float(c))"),
)


def function_of(expression: str) -> Any:
    return eval(f"lambda a, b, c: ({expression})", {})


@pytest.mark.parametrize("expression", CALLS)
def test_calls(expression: str) -> None:
    assert only_called(function_of(expression).__code__)


@pytest.mark.parametrize("expression", OTHERS)
def test_other_uses(expression: str) -> None:
    assert not only_called(function_of(expression).__code__)


def test_statements_that_are_no_calls() -> None:
    space: dict[str, Any] = {}
    exec(
        "def bound():\n    global float\n    float = 1\n"
        "def deleted():\n    global float\n    del float\n"
        "def inside():\n    class One:\n        two = float(1)\n"
        "def derived():\n    class One(float): pass\n"
        "def decorated():\n    @float\n    def one(): pass\n"
        "def default():\n    def one(a=float): pass\n",
        space,
    )
    names = ("bound", "deleted", "inside", "derived", "decorated", "default")
    assert not any(only_called(space[name].__code__) for name in names)
