"""What is made of told numbers is not followed; what is kept beside them is found."""

from __future__ import annotations

import collections
import contextvars
import json
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths, SymbolicPaths
from liptest.enumerate.syntax.post_processing import Tail

LABELS = ["no", "yes"]
KEPT: dict[str, Any] = {}
OBJECTS = np.empty(1, dtype=object)
QUEUE: Any = collections.deque()
HOLDER = SimpleNamespace()
VARIABLE: Any = contextvars.ContextVar("kept")
ERROR = ValueError()


def paths(function: Any, domain: Any = None) -> Any:
    """What is found of a function of 30 bits."""
    return lt.mechanism(function).align_paths(domain or lt.Hypercube(30))


def formatted(data: Any, rng: Any) -> Any:
    return f"{data.sum() + rng.laplace(0, 1.0):.2f} of {len(data)}"


def as_json(data: Any, rng: Any) -> Any:
    return json.dumps({"count": float(data.sum() + rng.laplace(0, 1.0)), "of": [len(data)]})


def in_steps(data: Any, rng: Any) -> Any:
    noisy = [float((data == c).sum() + rng.laplace(0, 2.0)) for c in range(2)]
    parts = []
    for label, value in zip(LABELS, noisy, strict=True):
        parts.append(f"{label}={value:.0f}" if value > 3 else label)
    return ", ".join(sorted(parts))


def with_a_dict(data: Any, rng: Any) -> Any:
    answer = {"mean": data.mean() + rng.laplace(0, 1.0)}
    answer["rounded"] = str(round(answer["mean"], 1))
    return json.dumps(answer, sort_keys=True)


def with_an_array(data: Any, rng: Any) -> Any:
    noisy = np.bincount(data, minlength=2) + rng.laplace(0, 2.0, size=2)
    text = "/".join(map(str, noisy))
    return text.encode()


def with_a_loop(data: Any, rng: Any) -> Any:
    total = 0
    for v in data:
        total += v
    noisy = total + rng.laplace(0, 1.0)
    return "{:.1f}".format(noisy)  # noqa: UP032


def early(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.laplace(0, 1.0)
    if noisy > 20:
        return f"many: {noisy}"
    return "few"


def without_generator(data: Any) -> Any:
    noisy = data.sum() + np.random.laplace(0, 1.0)
    return repr(noisy)


one_line = lambda d, r: str(d.sum() + r.laplace(0, 1.0))  # noqa: E731
GOOD = [formatted, as_json, in_steps, with_a_dict, with_an_array, with_a_loop, early, one_line]


@pytest.mark.slow
@pytest.mark.parametrize("function", [*GOOD, without_generator])
def test_the_rest_is_not_followed(function: Any) -> None:
    found = paths(function)
    assert isinstance(found, SymbolicPaths)
    (path,) = found.paths
    assert path.conditions == ()
    assert 1 <= len(path.places) <= 2
    for place in path.places:
        assert len(place.terms) == 2


def keeps_in_a_dict(data: Any, rng: Any) -> Any:
    KEPT["count"] = data.sum()
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {KEPT['count']}"


def keeps_on_itself(data: Any, rng: Any) -> Any:
    keeps_on_itself.data = data  # type: ignore[attr-defined]
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {keeps_on_itself.data.sum()}"  # type: ignore[attr-defined]


def keeps_in_a_default(data: Any, rng: Any, kept: Any = []) -> Any:  # noqa: B006
    kept.append(data)
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {[]}"


def keeps_noise(data: Any, rng: Any) -> Any:
    KEPT["noise"] = rng.laplace(0, 1.0)
    noisy = data.sum() + KEPT["noise"]
    return f"{noisy} {KEPT['noise']}"


def keeps_in_an_array(data: Any, rng: Any) -> Any:
    noise = rng.laplace(0, 1.0)
    OBJECTS[0] = noise
    noisy = data.sum() + noise
    return f"{noisy} {OBJECTS[0]}"


def keeps_a_sum_in_an_array(data: Any, rng: Any) -> Any:
    OBJECTS[0] = data.sum()
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {OBJECTS[0]}"


def keeps_in_a_queue(data: Any, rng: Any) -> Any:
    QUEUE.append(data.sum())
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {QUEUE.pop()}"


def keeps_in_an_attribute(data: Any, rng: Any) -> Any:
    HOLDER.rows = data == 1
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {HOLDER.rows.sum()}"


def keeps_in_a_context(data: Any, rng: Any) -> Any:
    VARIABLE.set(data.sum())
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {VARIABLE.get()}"


def keeps_in_an_exception(data: Any, rng: Any) -> Any:
    ERROR.args = (data.sum(),)
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {ERROR}"


def keeps_a_counter(data: Any, rng: Any) -> Any:
    KEPT["counter"] = collections.Counter(data.tolist())
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {KEPT['counter'][1]}"


def captures(data: Any, rng: Any) -> Any:
    def tell() -> Any:
        return data.sum()

    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {tell()}"


def gives_methods(data: Any, rng: Any) -> Any:
    tell = data.sum
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {tell()}"


def gives_iterators(data: Any, rng: Any) -> Any:
    tell = iter([data.sum()])
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {next(tell)}"


def gives_a_generator(data: Any, rng: Any) -> Any:
    tell = (one.sum() for one in [data])
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {next(tell)}"


def tells_the_data(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {data[0]}"


def tells_a_sum(data: Any, rng: Any) -> Any:
    count = data.sum()
    noisy = count + rng.laplace(0, 1.0)
    return f"{noisy} {count}"


def tells_locals(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {locals()['data']}"


def tells_by_eval(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {eval('data')}"


def of_the_caller() -> Any:
    return sys._getframe(1).f_locals["data"]


def tells_frames(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {of_the_caller()}"


def tells_the_state(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {rng.bit_generator.state}"


def tells_the_global_state(data: Any) -> Any:
    noisy = data.sum() + np.random.laplace(0, 1.0)
    return f"{noisy} {np.random.get_state()}"


class Record:
    """Any object of the program."""


def gives_objects(data: Any, rng: Any) -> Any:
    record = Record()
    record.data = data  # type: ignore[attr-defined]
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {record.data}"  # type: ignore[attr-defined]


def keeps_an_entry_of_noise(data: Any, rng: Any) -> Any:
    noise = rng.laplace(0, 1.0, size=2)
    OBJECTS[0] = noise[1]
    noisy = data.sum() + noise
    return f"{noisy.tolist()} {OBJECTS[0]}"


def keeps_a_view_of_noise(data: Any, rng: Any) -> Any:
    noise = rng.laplace(0, 1.0, size=2)
    KEPT["noise"] = noise[1:]
    noisy = data.sum() + noise
    return f"{noisy.tolist()} {KEPT['noise']}"


def keeps_an_array_of_noise(data: Any, rng: Any) -> Any:
    noise = rng.laplace(0, 1.0, size=2)
    OBJECTS[0] = noise
    noisy = data.sum() + noise
    return f"{noisy.tolist()} {OBJECTS[0]}"


def by_another_name(data: Any, rng: Any) -> Any:
    kept = KEPT
    kept["again"] = [{"deep": (data.sum(),)}]
    noisy = data.sum() + rng.laplace(0, 1.0)
    return f"{noisy} {KEPT['again']}"


LEAKS = [
    *(keeps_in_a_dict, keeps_on_itself, keeps_in_a_default, keeps_noise, keeps_in_an_array),
    *(keeps_a_sum_in_an_array, keeps_in_a_queue, keeps_in_an_attribute, keeps_in_a_context),
    *(keeps_in_an_exception, keeps_a_counter, captures, gives_methods, gives_iterators),
    *(gives_a_generator, tells_the_data, tells_a_sum, tells_locals, tells_frames),
    *(tells_the_state, tells_the_global_state, gives_objects, by_another_name),
    *(keeps_an_entry_of_noise, keeps_a_view_of_noise, keeps_an_array_of_noise),
]


def keeps_an_answer(data: Any, rng: Any) -> Any:
    KEPT["answer"] = data[1]
    noisy = data[0] + rng.laplace(0, 1.0)
    return f"{noisy} {KEPT['answer']}"


def keeps_what_is_added_noise(data: Any, rng: Any) -> Any:
    KEPT["answer"] = data[0]
    noisy = KEPT["answer"] + rng.laplace(0, 1.0)
    return f"{noisy} {KEPT['answer']}"


def keeps_the_answers(data: Any, rng: Any) -> Any:
    HOLDER.answers = data
    noisy = data[0] + rng.laplace(0, 1.0)
    return f"{noisy} {HOLDER.answers[1]}"


def keeps_an_iterator_of_them(data: Any, rng: Any) -> Any:
    HOLDER.answers = iter(data)
    noisy = data[0] + rng.laplace(0, 1.0)
    return f"{noisy} {next(HOLDER.answers)}"


DOMAINS = [lt.Hypercube(30), lt.AnswerGrid([50] * 3, relation="one"), lt.Answers(3)]
OF_ANSWERS = [keeps_an_answer, keeps_what_is_added_noise, keeps_the_answers]
OF_ANSWERS += [keeps_an_iterator_of_them]


def test_the_rest_is_not_followed_where_answers_are_the_data() -> None:
    def one(answers: Any, rng: Any) -> Any:
        noisy = answers[0] + rng.laplace(0, 1.0)
        return f"{noisy:.2f}"

    for domain in (lt.Answers(3, relation="one"), lt.AnswerGrid([50] * 3, relation="one")):
        assert_proved(one, domain)


def assert_proved(function: Any, domain: Any) -> None:
    verdict = lt.check_privacy(lt.mechanism(function), domain, epsilon=1.0, seed=1)
    assert verdict.decision == "YES"
    assert verdict.guarantee.kind == "proof"


def add_noise(answers: Any, rng: Any) -> Any:
    return answers + rng.laplace(0, 1.0, len(answers))


def of_a_spectrum(answers: Any, rng: Any) -> Any:
    noisy = answers + rng.laplace(0, 1.0, len(answers))
    return np.abs(np.fft.fft(noisy)).tolist()


def of_a_generator(answers: Any, rng: Any) -> Any:
    return ", ".join(f"{number:.1f}" for number in add_noise(answers, rng))


def of_a_list(answers: Any, rng: Any) -> Any:
    return json.dumps([str(number) for number in add_noise(answers, rng).tolist()])


def of_numbered(answers: Any, rng: Any) -> Any:
    return {place: f"{number:.1f}" for place, number in enumerate(add_noise(answers, rng))}


@pytest.mark.parametrize("function", [of_a_spectrum, of_a_generator, of_a_list, of_numbered])
def test_what_a_comprehension_loops_over_is_told_first(function: Any) -> None:
    assert_proved(function, lt.Answers(3, relation="one"))


def tells_an_answer_beside(answers: Any, rng: Any) -> Any:
    return ", ".join(f"{number:.1f} {answers[0]:.1f}" for number in add_noise(answers, rng))


def chooses_by_an_answer(answers: Any, rng: Any) -> Any:
    return [f"{number:.1f}" for number in add_noise(answers, rng) if number > answers[0]]


def tells_twice(answers: Any, rng: Any) -> Any:
    first = [f"{number:.1f}" for number in add_noise(answers, rng)]
    return first + [f"{number:.1f}" for number in add_noise(answers, rng)]


@pytest.mark.parametrize("function", [tells_an_answer_beside, chooses_by_an_answer, tells_twice])
def test_what_else_it_looks_at_counts(function: Any) -> None:
    domain = lt.Answers(3, relation="one")
    verdict = lt.check_privacy(lt.mechanism(function), domain, epsilon=1.0, seed=1)
    assert verdict.decision != "YES"


@pytest.mark.slow
@pytest.mark.parametrize("function", [*LEAKS, *OF_ANSWERS])
@pytest.mark.parametrize("domain", DOMAINS)
def test_what_is_kept_beside_the_told_is_found(function: Any, domain: Any) -> None:
    found = paths(function, domain)
    assert isinstance(found, NoPaths)
    for kept in (KEPT, QUEUE, vars(HOLDER), vars(keeps_on_itself)):
        kept.clear()
    keeps_in_a_default.__defaults__ = ([],)
    OBJECTS[0] = ERROR.args = ()
    VARIABLE.set(None)


@pytest.mark.slow
def test_what_cannot_be_cut() -> None:
    for function in (len, lambda data: data, tells_locals, tells_frames, tells_by_eval):
        assert Tail.of(function) is None
    assert Tail.of(formatted) is not None


def test_the_parts_of_a_return_are_evaluated_in_their_order() -> None:
    log: list[str] = []

    def note(name: str, value: Any = 0) -> Any:
        log.append(name)
        return value

    def answer(data: Any, rng: Any) -> Any:
        return dict(  # noqa: C408
            a=[note("1") + 1, {note("2") + 2: note("3") + 3}], b=f"{note('4') + 4:>{note('5') + 5}}"
        )

    assert_order(answer, log, "12345")

    def looped(data: Any, rng: Any) -> Any:
        return str(note("1") + 1) + ",".join(
            str(note("3", number)) for number in sorted([rng, note("2", 5)])
        )

    def first(data: Any, rng: Any) -> Any:
        return dict(  # noqa: C408
            a=[note("2", number) for number in [rng, note("1", 5)]], b=note("3") + 1
        )

    assert_order(looped, log, "1233")
    assert_order(first, log, "1223")


def assert_order(answer: Any, log: list[str], expected_order: str) -> None:
    """Taken apart it does the same in the same order."""
    log.clear()
    expected = answer(None, 3)
    order = list(log)
    tail = Tail.of(answer)
    assert tail is not None
    source = tail.parts.source
    again = source.compiled(source.with_body(tail.parts.with_calls({})), {})
    log.clear()
    assert again is not None
    assert again(None, 3) == expected
    assert log == order == list(expected_order)


@pytest.mark.slow
def test_told_noise_is_a_place_of_its_own() -> None:
    """Told twice, a noise has no price: the difference is exact."""

    def twice(data: Any, rng: Any) -> Any:
        noise = rng.laplace(0, 1.0)
        first, second = data.sum() + noise, noise
        return f"{first} {second}"

    (path,) = paths(twice).paths
    assert sorted(len(place.terms) for place in path.places) == [1, 2]
