"""An exception of liptest's own is refused with the line of the program; it is never an output."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.trees.outputs import canonical_output
from liptest.errors import LiptestError
from liptest.mechanisms.laws import Raised
from liptest.values import faults
from liptest.values.faults import fault_in, raises_as_numpy
from liptest.verdicts import Decision
from tests.unit.written_programs import program

DATA = np.array([1, 0, 1])
VALUES = Path(lt.__file__).parent / "values"


def code_of_liptest(text: str, name: str) -> Callable[..., Any]:
    """A function as if it stood in the room ``values``."""
    space: dict[str, Any] = {"np": np}
    exec(compile(text, str(VALUES / "broken.py"), "exec"), space)
    function: Callable[..., Any] = space[name]
    return function


broken = code_of_liptest("def broken(*a):\n    return [] + 1", "broken")
broken_in_numpy = code_of_liptest("def b(*a):\n    return np.linalg.inv(np.zeros((2, 2)))", "b")
broken_in_python = code_of_liptest(
    "import fractions\ndef b(*a):\n    return fractions.Fraction(float('nan'))", "b"
)
asking = code_of_liptest("def asking(answer):\n    return answer()", "asking")
careful = raises_as_numpy(code_of_liptest("def careful(*a):\n    return [][1]", "careful"))


def law_of(program: Any) -> dict[Any, float]:
    return dict(lt.output_law(lt.mechanism(program), DATA))


def words_of(ask: Callable[[], Any]) -> str:
    """An answer, or a refusal, in words."""
    try:
        return str(ask())
    except lt.errors.UnsupportedRandomnessError as refused:
        return str(refused)


@pytest.mark.parametrize("fault", [broken, broken_in_numpy, broken_in_python])
def test_a_fault_is_refused_with_the_line_of_the_program(fault: Any) -> None:
    def program(data: Any, rng: Any) -> Any:
        if rng.random() < 0.5:
            return 1
        return fault(data)  # here

    with pytest.raises(lt.errors.UnsupportedRandomnessError) as caught:
        law_of(program)
    words = str(caught.value)
    for told in ("test_faults.py", "return fault(data)  # here", "values/broken.py:", "ClosedForm"):
        assert told in words


def test_a_fault_that_the_program_turns_into_another_exception_is_refused() -> None:
    def program(data: Any, rng: Any) -> Any:
        try:
            broken(rng.random())
        except TypeError:
            raise ValueError("mine") from None

    with pytest.raises(lt.errors.UnsupportedRandomnessError, match=r"broken\(rng\.random\(\)\)"):
        law_of(program)


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        (lambda data, rng: careful(), "IndexError"),
        (lambda data, rng: asking(lambda: {}["missing"]), "KeyError"),
        (lambda data, rng: np.linalg.inv(np.zeros((2, 2))), "numpy.linalg.LinAlgError"),
        (lambda data, rng: random.sample([1, 2], 3), "ValueError"),
        (lambda data, rng: data[7], "IndexError"),
        (lambda data, rng: data.nothing, "AttributeError"),
        (lambda data, rng: data.reshape(2, 2), "ValueError"),
        (lambda data, rng: rng.laplace(0, -1), "ValueError"),
        (lambda data, rng: rng.binomial(-1, 0.5), "ValueError"),
        (lambda data, rng: rng.random("many"), "TypeError"),
        (lambda data, rng: rng.choice([]), "ValueError"),
        (lambda data, rng: rng.random(3)[5], "IndexError"),
        (lambda data, rng: rng.laplace(size=3)[5], "IndexError"),
        (lambda data, rng: (rng.random(3) < 0.5)[5], "IndexError"),
        (lambda data, rng: rng.random(3).nothing, "AttributeError"),
        (lambda data, rng: rng.random() + "text", "TypeError"),
        (lambda data, rng: 1 if rng.laplace(size=2) > 0 else 0, "ValueError"),
    ],
)
def test_what_numpy_and_python_raise_is_an_output(program: Any, kind: str) -> None:
    with pytest.raises(Exception) as real:
        program(DATA, np.random.default_rng(1))
    assert type(real.value).__name__ == kind.rpartition(".")[2]
    assert law_of(program) == {Raised(kind): 1.0}


def test_a_dataset_that_notes_its_reads_may_fail() -> None:
    def program(data: Any, rng: Any) -> Any:
        if type(data) is not np.ndarray:
            broken()
        return rng.random() < 0.5

    assert law_of(program) == {True: 0.5, False: 0.5}


def test_exceptions_of_the_program_have_no_fault() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        print(1 / 0)
    assert fault_in(caught.value, None) is None


@lt.mechanism(statistic=lt.Count())
def peak(count: int, rng: Any) -> bool:
    """Of two noisy numbers; where the first is larger it is capped at the second."""
    x = np.array([count, 80.0]) + rng.laplace(0, 4.0, size=2)
    if count <= 70 or x[0] <= x[1]:
        return bool(x[0] > 80)
    x[0] = x[1]
    return bool(x.max() > 80)


@pytest.mark.slow
def test_code_that_never_raises_is_not_refuted_by_an_exception() -> None:
    distribution = lt.ProductDistribution.bernoulli(np.full(100, 0.5))
    words = words_of(
        lambda: lt.check_privacy(peak, distribution, epsilon=3.0, method="exhaustive", seed=1)
    )
    assert "Raised" not in words or "test_faults.py" in words


def peel(data: Any, rng: Any) -> Any:
    x = data + rng.laplace(0, 4.0, size=len(data))
    first = int(np.argmax(x))
    x[first] = -9
    return first, int(np.argmax(x))


def cut(data: Any, rng: Any) -> Any:
    x = data + rng.laplace(0, 1.0, size=len(data))
    x[x < 0] = 0
    x[x > 1] = 1
    return tuple(np.round(x).astype(int).tolist())


def copied(data: Any, rng: Any) -> Any:
    x = data + rng.laplace(0, 1.0, size=len(data))
    x[1] = x[0]
    return bool(x.max() > 1)


@pytest.mark.parametrize("program", [peel, cut, copied])
def test_code_that_never_raises_has_no_exception_in_its_law(program: Any) -> None:
    words = words_of(lambda: law_of(program))
    assert "Raised" not in words or "test_faults.py" in words


REAL_EXCEPTIONS: dict[str, tuple[Any, str]] = {
    "log": (lambda d, g: math.log(g.random()) > -1, "ValueError"),
    "root": (lambda d, g: math.sqrt(g.random() - 0.5) > 0.1, "ValueError"),
    "quotient": (lambda d, g: 1 / g.random() > 2, "ZeroDivisionError"),
    "whole quotient": (lambda d, g: 1 // g.random() > 2, "ZeroDivisionError"),
    "power": (lambda d, g: g.random() ** -1 > 2, "ZeroDivisionError"),
    "exponential": (lambda d, g: math.exp(1000 * g.random()) > 3, "OverflowError"),
}


@pytest.mark.parametrize("name", REAL_EXCEPTIONS)
def test_what_an_operation_on_a_float_raises_is_an_output(name: str) -> None:
    program, kind = REAL_EXCEPTIONS[name]
    found = dict(law_of(program))
    assert set(found) == {Raised(kind), False, True}
    assert math.fsum(found.values()) == pytest.approx(1.0)


def test_only_small_functions_answer_for_numpy() -> None:
    # In a long one a fault of liptest would pass for an exception of the program.
    lengths = {
        f"{Path(code.co_filename).name}: {code.co_name}": max(
            line for *_, line in code.co_lines() if line is not None
        )
        - code.co_firstlineno
        for code in faults._AS_NUMPY
    }
    assert max(lengths.values()) <= 30
    assert len([name for name, length in lengths.items() if length > 12]) <= 4


def test_what_truths_cannot_do_is_an_output() -> None:
    def difference(data: Any, rng: Any) -> Any:
        x = rng.random(2) > 0.4
        return x - x.max()

    law = lt.output_law(lt.mechanism(difference), np.array([0]))
    assert [str(output) for output in law.outputs] == [str(Raised("TypeError"))]


def as_drawn(program: Callable[[Any, int], Any], numbers: range) -> dict[Any, float]:
    """The law of a program that draws one number of these, by running it on each."""
    told: dict[Any, float] = {}
    for number in numbers:
        try:
            output = program(DATA, number)
        except Exception as error:
            output = Raised(type(error).__name__)
        told[output] = told.get(output, 0.0) + 1 / len(numbers)
    return told


@pytest.mark.parametrize(
    "program",
    [
        lambda data, n: len(np.split(np.arange(4), n)),
        lambda data, n: tuple(len(part) for part in np.array_split(data, n)),
        lambda data, n: tuple(map(int, np.unravel_index(n + data[0], (2, 3)))),
        lambda data, n: np.split(data + n, 2)[0].tolist(),
        lambda data, n: [int(part.sum()) for part in np.array_split(data + n, n)],
        lambda data, n: np.identity(n).shape,
        lambda data, n: float(np.linspace(0, 1, n)[-1]),
        lambda data, n: int(np.ravel_multi_index((n, 1), (2, 3))),
    ],
)
def test_what_numpy_raises_on_plain_numbers_is_an_output(program: Any) -> None:
    numbers = range(-2, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a division by the whole number 0 of NumPy
        found = law_of(lambda data, rng: program(data, rng.integers(-2, 8)))
        expected = as_drawn(
            lambda data, n: canonical_output(program(data, np.int64(n)), ""), numbers
        )
    assert found == pytest.approx(expected)


@pytest.mark.slow
def test_parts_as_many_as_noise_says_are_followed() -> None:
    def program(data: Any, rng: Any) -> int:
        parts = int(data[0]) + rng.geometric(0.5) - rng.geometric(0.5)
        return len(np.split(np.arange(4), parts))

    weights = dict(lt.output_law(lt.mechanism(program), DATA))
    # n of two geometric draws apart have 2^-|n| / 3; data[0] is 1, so 4 parts are 3 apart.
    assert weights[1] == pytest.approx(1 / 3)
    assert weights[2] == pytest.approx(1 / 6)
    assert weights[4] == pytest.approx(1 / 24)
    assert weights[Raised("ZeroDivisionError")] == pytest.approx(1 / 6)


def test_who_asks_for_an_attribute_that_is_missing_made_the_error() -> None:
    asked = code_of_liptest("def asked(number):\n    return number.nothing", "asked")

    def ours(data: Any, rng: Any) -> Any:
        return asked(rng.laplace())

    def theirs(data: Any, rng: Any) -> Any:
        return rng.laplace().nothing

    with pytest.raises(LiptestError, match="liptest itself raised AttributeError"):
        lt.output_law(ours, DATA)
    assert dict(lt.output_law(theirs, DATA)) == {Raised("AttributeError"): 1}


def fails_at_times(data: Any, rng: Any) -> Any:
    if rng.random() < 0.25:
        raise ValueError("too few records")
    return int(data.sum() > 1)


def looks_into_a_number(data: Any, rng: Any) -> Any:
    return list(rng.random())


@pytest.mark.slow
def test_what_is_handled_outside_is_not_a_fault_of_the_program() -> None:
    domain = lt.Hypercube(3)
    expected = lt.output_law(fails_at_times, [0, 1, 1])
    try:
        lt.check_privacy(looks_into_a_number, domain, epsilon=1.0)
    except LiptestError:
        assert lt.output_law(fails_at_times, [0, 1, 1]) == expected
        verdict = lt.check_privacy(fails_at_times, domain, epsilon=1.0)
    assert verdict.decision is Decision.NO


IN_PLACE = {
    "a float into whole numbers": "x -= x.mean()",
    "a quotient": "x /= 2",
    "too many axes": "x += np.ones((2, 3), dtype=int)",
    "another length": "x += np.ones(2, dtype=int)",
    "noise into whole numbers": "np.add(x[:2], rng.laplace(size=2), out=x[1:])",
    "of one argument": "np.exp(rng.laplace(size=3), out=x)",
}


@pytest.mark.parametrize("start", ["rng.geometric(0.5, size=3)", "rng.integers(2, size=3)"])
@pytest.mark.parametrize("statement", IN_PLACE.values(), ids=IN_PLACE)
def test_what_does_not_fit_into_an_array_is_the_error_of_numpy(start: str, statement: str) -> None:
    text = f"x = data + {start}\ntry:\n    {statement}\nexcept (TypeError, ValueError) as error:\n"
    mech = program(text + "    return type(error).__name__, str(error)\nreturn 0")
    plain = mech(DATA, np.random.default_rng(0))
    assert plain != 0
    assert law_of(mech) == {plain: 1.0}


@pytest.mark.parametrize("statement", ["x -= x.sum()", "x *= 2", "x += np.ones(1, dtype=int)"])
def test_what_fits_into_an_array_is_calculated(statement: str) -> None:
    mech = program(f"x = data + rng.integers(2, size=3)\n{statement}\nreturn x.tolist()")
    plain = {tuple(mech(DATA, np.random.default_rng(seed))) for seed in range(60)}
    assert {*law_of(mech)} == plain


@pytest.mark.slow
def test_an_error_of_numpy_on_every_path_is_not_an_answer() -> None:
    mech = program("x = data + rng.geometric(0.5, size=3)\nx -= x.mean()\nreturn x")
    with pytest.raises(lt.errors.MechanismError, match="Cannot cast ufunc 'subtract' output"):
        lt.check_privacy(lt.mechanism(mech), lt.Hypercube(3), epsilon=1)
