"""What a newcomer writes first in Python: each error says what to write instead."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.runs.fingerprints import fingerprint
from liptest.verdicts import Decision


def count(data: Any, rng: Any) -> float:
    return float(data.sum() + rng.laplace(0, 1.0))


def scaled(data: Any, epsilon: float, rng: Any) -> float:
    return float(data.sum() + rng.laplace(0, 1 / epsilon))


@functools.lru_cache
def cached(data: Any, rng: Any, scale: float = 1.0) -> float:
    return float(data.sum() + rng.laplace(0, scale))


class Counter:
    def release(self, data: Any) -> float:
        return float(data.sum())

    def fit(self, data: Any) -> Counter:
        return self


CUBE = lt.Hypercube(100)
CALLS: dict[str, tuple[Any, str]] = {
    "no data": (
        lambda check: check(count, epsilon=1),
        "missing a required argument: 'distribution'. For example: lt.check_privacy(count, ",
    ),
    "eps=": (lambda check: check(count, CUBE, eps=1), "did you mean epsilon=? For example: lt."),
    "epsilon by its place": (
        lambda check: check(count, CUBE, 1.0),
        "lt.Hypercube(5000), epsilon=1",
    ),
    "a typo": (lambda check: check(count, CUBE, epsilom=1), "did you mean epsilon=?"),
    "a text": (lambda check: check(count, CUBE, epsilon=1, delta="1e-6"), "not str; write 1e-06"),
    "a number of records": (
        lambda check: check(count, 100, epsilon=1),
        "as lt.Hypercube(5000), lt.Rec",
    ),
    "the data": (lambda check: check(count, [0, 1], epsilon=1), "<list> must be a ProductD"),
    "an answer": (lambda check: check(0.7, CUBE, epsilon=1), "count, not its answer"),
    "a name": (
        lambda check: check("mine.py:total", CUBE, epsilon=1),
        "as from mine import total, not its name",
    ),
    "an object": (lambda check: check(Counter(), CUBE, epsilon=1), "its methods (release, fit)"),
    "a method of a class": (
        lambda check: check(Counter.release, CUBE, epsilon=1),
        "make an object, it = TheClass(..), and give its method it.release",
    ),
    "rng last": (
        lambda check: check(scaled, CUBE, epsilon=1),
        "lambda data, rng: scaled(data=data, epsilon=.., rng=rng)",
    ),
    "a cache": (
        lambda check: check(cached, CUBE, epsilon=1),
        "the second time it gives the answer of the first, without new noise; test the function "
        "without it, cached.__wrapped__",
    ),
    "a partial of a cache": (
        lambda check: check(functools.partial(cached, scale=2.0), CUBE, epsilon=1),
        "test the function without it, cached.__wrapped__",
    ),
    "too many": (lambda check: check(count, lt.Hypercube(10**13), epsilon=1), "more than 100,000"),
    "too many rows": (
        lambda check: check(count, lt.Table({"member": lt.Bit()}, rows=10**13), epsilon=1),
        "more than 100,000",
    ),
    "a float": (
        lambda check: check(count, lt.Hypercube(1e4), epsilon=1),
        "at least 1; write 10000",
    ),  # type: ignore[arg-type]
    "a frame for columns": (
        lambda check: lt.Table(pd.DataFrame({"age": [41]}), rows=1),  # type: ignore[arg-type]
        "columns=<DataFrame> must be a dict of names and kinds, as {'age': lt.Integer(0, 120)}; "
        "data themselves are not given",
    ),
    "a kind that is not made": (
        lambda check: lt.Table({"a": lt.Bit}, rows=1),  # type: ignore[dict-item]
        "columns: a=Bit must be lt.Integer(low, high), ",
    ),
    "the other way round": (
        lambda check: check(CUBE, count, epsilon=1),
        "comes first, then the data, as in lt.check_privacy(count, ",
    ),
    "the domain first": (
        lambda check: lt.exact_epsilon(CUBE, CUBE),  # type: ignore[arg-type]
        "mechanism=Hypercube(100) is not a mechanism; it says what the data are, and comes after",
    ),
    "ln 3": (lambda check: check(count, CUBE, epsilon="ln 3"), "or log(3); write log(3)"),
    "a call": (lambda check: lt.mechanism(count)(np.zeros(3)), "count(data, numpy.random.default"),
    "a name nearby": (lambda check: getattr(lt, "check"), "did you mean check_lipschitz or "),  # noqa: B009
}


@pytest.mark.parametrize("what", CALLS)
def test_the_way_out_is_told(what: str) -> None:
    call, said = CALLS[what]
    with pytest.raises((lt.errors.InputError, TypeError, AttributeError)) as error:
        call(lt.check_privacy)
    assert said in str(error.value)


def test_no_error_shows_data() -> None:
    frame = pd.DataFrame({"age": [41, 52]})
    for data in (frame, np.array([41, 52]), [41, 52]):
        with pytest.raises(lt.errors.InputError, match="data themselves are not given") as error:
            lt.check_privacy(count, data, epsilon=1)  # type: ignore[arg-type]
        assert "41" not in str(error.value)


@pytest.mark.slow
def test_what_a_message_says_to_write_is_taken() -> None:
    called = lambda data, rng: scaled(data=data, epsilon=1.0, rng=rng)  # noqa: E731
    assert lt.check_privacy(called, CUBE, epsilon=1).decision == "YES"
    assert lt.check_privacy(functools.partial(count), CUBE, epsilon=1).decision == "YES"
    with pytest.raises(TypeError, match=r"For example: lt\.exact_epsilon"):
        lt.exact_epsilon(count)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("text", "whole", "said"),
    [
        ("1,5", False, "; write 1.5"),
        ("50%", False, "; write 0.5"),
        ("50 %", False, "; write 0.5"),
        ("1,000", True, "; write 1000"),
        ("1 000", True, "; write 1000"),
        ("2.5", True, ""),
        ("1e400", False, ""),
        ("nan", False, ""),
        ("many", False, ""),
    ],
)
def test_a_number_is_guessed_where_it_can_be(text: str, whole: bool, said: str) -> None:
    from liptest.errors import meant_number

    assert meant_number(text, whole=whole) == said


CONSTRUCTED: dict[str, tuple[Any, str]] = {
    "a table without rows": (
        lambda: lt.Table({"a": lt.Bit()}),  # type: ignore[call-arg]
        r"^Table\(\) missing a required .*'rows'.* For example: lt\.Table\(.*rows=10_000\)$",
    ),
    "a cube of n": (
        lambda: lt.Hypercube(n=5),  # type: ignore[call-arg]
        r"^Hypercube\(\) .* For example: lt\.Hypercube\(5000\)$",
    ),
    "whole numbers without ends": (
        lambda: lt.Integer(),  # type: ignore[call-arg]
        r"^Integer\(\) missing .*'low'. For example: lt\.Integer\(0, 120\)$",
    ),
    "no names": (
        lambda: lt.Category(),  # type: ignore[call-arg]
        r"""^Category\(\) missing .*'names'. For example: lt\.Category\(\["north", "south"\]\)$""",
    ),
    "names one by one": (
        lambda: lt.Category("north", "south"),  # type: ignore[call-arg, arg-type]
        r"^Category\(\) too many .* For example: lt\.Category\(",
    ),
    "a bit of 3": (lambda: lt.Bit(3), r"^Bit\(\) too many .* lt\.Bit\(\)$"),  # type: ignore[call-arg]
    "records and values": (
        lambda: lt.RecordGrid(10, 8),  # type: ignore[call-arg, arg-type]
        r"^RecordGrid\(\) too many .* lt\.RecordGrid\(\[8\] \* 5000\)$",
    ),
    "no answers": (
        lambda: lt.Answers(),  # type: ignore[call-arg]
        r"^Answers\(\) missing .*'m'. For example: lt\.Answers\(20\)$",
    ),
    "a law of nothing": (
        lambda: lt.output_law(count),  # type: ignore[call-arg]
        r"^output_law\(\) .*'dataset'. For example: lt\.output_law\(count, \[0, 1, 1\]\)$",
    ),
}


@pytest.mark.parametrize(("make", "words"), CONSTRUCTED.values(), ids=CONSTRUCTED)
def test_a_missing_argument_is_answered_with_a_whole_call(make: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        make()


class Noisy:
    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def __call__(self, data: Any, factor: float, rng: Any) -> float:
        return float(data.sum() + rng.laplace(0, factor / self.epsilon))

    def release(self, data: Any, factor: float, rng: Any) -> float:
        return self(data, factor, rng)

    halved = functools.partialmethod(release, factor=0.5)


def looped(epsilon: float, data: Any, rng: Any) -> float:
    total = 0
    for value in data:
        if value > 0:
            total += value
    return total + rng.laplace(0, 1 / epsilon)


def passed_on(function: Any) -> Any:
    @functools.wraps(function)
    def inner(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, **named)

    return inner


BOUND: dict[str, Any] = {
    "a function": functools.partial(scaled, epsilon=0.5),
    "a lambda": functools.partial(
        lambda data, scale, rng: float(data.sum() + rng.laplace(0, scale)), scale=2.0
    ),
    "bound again": functools.partial(functools.partial(scaled, epsilon=7.0), epsilon=0.5),
    "a bound method": functools.partial(Noisy(0.5).release, factor=1.0),
    "an object that is called": functools.partial(Noisy(0.5), factor=1.0),
    "partialmethod": Noisy(0.25).halved,
    "decorated": functools.partial(passed_on(scaled), epsilon=0.5),
    "a loop, bound by place": functools.partial(looped, 0.5),
    "a loop, bound by name": functools.partial(looped, epsilon=0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("function", BOUND.values(), ids=BOUND)
def test_a_partial_is_tested_with_what_is_bound(function: Any) -> None:
    large = lt.Hypercube(10_000)
    kept = lt.check_privacy(function, large, epsilon=0.5, floats="ideal")
    assert kept.decision is Decision.YES
    assert kept.guarantee.kind == "proof"
    assert lt.check_privacy(function, large, epsilon=0.49, floats="ideal").decision is Decision.NO


def test_a_partial_says_the_name_of_its_function_and_is_sent_to_workers() -> None:
    mechanism = lt.mechanism(functools.partial(scaled, epsilon=0.5))
    assert mechanism.name == "scaled"
    data, rng = np.array([1, 0, 1]), np.random.default_rng(3)
    sent = pickle.loads(pickle.dumps(mechanism))
    assert sent(data, rng) == scaled(data, 0.5, np.random.default_rng(3))


def test_what_is_bound_is_part_of_the_code_that_was_tested() -> None:
    one, other = (fingerprint(lt.mechanism(functools.partial(scaled, epsilon=e))) for e in (1, 2))
    assert one.code != other.code


@pytest.mark.parametrize("epsilon", [1e5, 1e18, 1e300])
def test_no_epsilon_is_too_large_for_an_answer(epsilon: float) -> None:
    verdict = lt.check_privacy(count, CUBE, epsilon=epsilon)
    assert verdict.decision is Decision.YES
    assert "not analysed" in str(verdict) or "As implemented: NO" in str(verdict)


@pytest.mark.slow
def test_how_many_groups_occur_is_refused_with_what_to_write() -> None:
    def groups(frame: Any, rng: Any) -> Any:
        counts = frame["region"].value_counts()
        return (counts + rng.laplace(scale=2, size=len(counts))).to_dict()

    table = lt.Table({"region": lt.Category(["n", "s"])}, rows=500)
    verdict = lt.check_privacy(groups, table, epsilon=1, delta=1e-5, method="alignment")
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "liptest itself" not in str(verdict)
    assert "name the groups: .reindex(KEYS, fill_value=0)" in " ".join(str(verdict).split())
