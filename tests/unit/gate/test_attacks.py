"""Attacks on a gate in the operator's process, a test each: none gives out what was not tested.

The analysis runs hostile code here, too; what is shown is that after it nothing of that code takes
part in a release. Code that runs in this process could also replace parts of liptest: for such code
there is ``liptest release``, which runs it in another one (test_release_process.py).
"""

from __future__ import annotations

import contextlib
import contextvars
import copy
import os
import pickle
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.trees.outputs import Fields, Items
from liptest.errors import GateError, InputError
from liptest.gate import gate as gate_module
from liptest.gate.gate import Refused
from liptest.gate.plain import PlainOutput, read_output, write_text
from liptest.gate.sealed import find_values
from liptest.gate.sealing import SealPlan, plan_seal, read_sealed, seal
from liptest.mechanisms.declared import ExactForm
from liptest.mechanisms.laws import Raised
from liptest.statistics.coordinates import Coordinates
from liptest.statistics.trusted import is_trusted, read_statistic, statistic_spec

CUBE = lt.Hypercube(3)
DATA = lt.ProductDistribution.uniform(CUBE)
SECRET = [1, 0, 1]


def gate(mechanism: Any, data: Any = DATA, **options: Any) -> lt.PrivacyGate:
    return lt.PrivacyGate(mechanism, data, **{"epsilon": 1.0, "method": "exhaustive", **options})


def spelled(data: Any) -> str:
    return "".join(str(int(bit)) for bit in data)


class Loud(int):
    """An int whose text is the whole table."""

    text = ""

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__


def loud(data: Any) -> int:
    made = Loud(0)
    made.text = spelled(data)
    return made


@dataclass(frozen=True)
class Note:
    value: int
    secret: str = field(compare=False)


class Small(IntEnum):
    ZERO = 0


# Equal by ==, and other bytes.
EQUAL: dict[str, Callable[[Any], Any]] = {
    "True for 1": lambda data: True if data[0] else 1,
    "float for int": lambda data: 1.0 if data[0] else 1,
    "minus zero": lambda data: -0.0 if data[0] else 0.0,
    "own repr": loud,
    "fraction": lambda data: Fraction(1) if data[0] else 1,
    "decimal": lambda data: Decimal("1.0") if data[0] else Decimal(1),
    "named tuple": lambda data: namedtuple("T" + spelled(data), "a")(0),  # type: ignore[misc]
    "field that is not compared": lambda data: Note(0, spelled(data)),
    "enum": lambda data: Small.ZERO if data[0] else 0,
    "inside a tuple": lambda data: (1, (True if data[0] else 1,)),
}


class TestOutputsThatCompareEqual:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", EQUAL)
    def test_code_that_returns_them(self, name: str) -> None:
        @lt.mechanism
        def vendor(data: Any, rng: Any) -> Any:
            return EQUAL[name](data)

        self.assert_nothing_is_told(vendor)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", EQUAL)
    def test_declared_as_a_law(self, name: str) -> None:
        class Vendor(lt.Mechanism):
            name, source = "vendor", "enumerated"

            def law(self, dataset: Any) -> Any:
                return lt.output_law(lt.mechanism(lambda data, rng: EQUAL[name](data)), dataset)

            def laws(self, points: Any) -> Any:
                plain = lt.ClosedForm([0], lambda rows: np.zeros((len(rows), 1)))
                return plain.laws(points)

        self.assert_nothing_is_told(Vendor())

    def assert_nothing_is_told(self, mechanism: Any) -> None:
        try:
            told = gate(mechanism)
            answers = [told.release(SECRET)]
        except (GateError, InputError, lt.errors.MechanismError):
            return
        # Either it is found that the texts depend on the data, or they do not.
        assert isinstance(answers[0], Refused) or name_of_all(told) == {text_of_all(answers)}

    def test_two_outputs_are_one_exactly_when_their_texts_are(self) -> None:
        values: list[Any] = [
            *(0, 1, -1, 2**70, True, False, None, 0.0, -0.0, 1.0, 0.1, float("inf"), float("nan")),
            *("", "1", "true", "é\n", b"", b"1", 1j, complex(-0.0, 0.0), (), (1,), ((1,),), (1.0,)),
            *(frozenset(), frozenset({1, "a"}), frozenset({1.0, "a"}), Raised("ValueError")),
            *(Items(frozenset({(1, 2)})), Items(frozenset({(1, True)})), Fields("A", (("a", 1),))),
        ]
        texts = [write_text(value) for value in values]
        assert len(set(texts)) == len(values)
        for value, text in zip(values, texts, strict=True):
            made = read_output(text)
            assert repr(made) == repr(value) or isinstance(value, frozenset)
            assert write_text(made) == text
            assert repr(PlainOutput(text)) == repr(made)

    @pytest.mark.parametrize(
        "text",
        ["1.0", "[1", '{"float":"1"}', '{"set":[1,true]}', '{"a":1}', '{"set":[2,1]}', " 1", "NaN"],
    )
    def test_other_texts_are_refused(self, text: str) -> None:
        with pytest.raises(InputError, match="not the text of an output"):
            read_output(text)

    @pytest.mark.parametrize(
        "value",
        [Loud(0), np.float64(1), [1], {1: 2}, object(), 10**5000, "x" * (1 << 20), lambda: 0],
        ids=lambda value: type(value).__name__,
    )
    def test_what_is_not_plain_is_refused(self, value: Any) -> None:
        with pytest.raises(GateError, match="is not released"):
            write_text(value)


class AnyOf(type):
    """A class that calls itself equal to every plain one."""

    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(tuple)


class Chameleon(tuple[int, ...], metaclass=AnyOf):
    def __iter__(self) -> Iterator[Any]:
        return iter([spelled(SECRET)])


class Word(str, metaclass=AnyOf):
    """Written as text, it is another one."""


@pytest.mark.parametrize("value", [Chameleon(), Word("x"), (Chameleon(),), frozenset({Word("x")})])
def test_classes_that_call_themselves_plain(value: Any) -> None:
    with pytest.raises(GateError, match="is not released"):
        write_text(value)


def name_of_all(told: lt.PrivacyGate) -> set[str]:
    assert told.sealed is not None
    return {told.sealed.draw(point, lambda n: 0) for point in CUBE.points(np.arange(8))}


def text_of_all(answers: list[Any]) -> str:
    [answer] = answers
    return write_text(answer.output)


class Evil(lt.Count):
    """Says that it is a count, and has every record in its values."""

    proved_edges = True

    def values(self, points: Any) -> Any:
        return points.astype(np.int64) @ np.array([4, 2, 1])

    def edge_count(self, domain: Any) -> int:
        return domain.dimension

    def edges(self, domain: Any) -> Iterator[Any]:
        yield np.arange(3), np.arange(1, 4)


def tells_all(values: Any) -> Any:
    """Certain of its value from 5 on."""
    outputs = np.arange(8)
    certain = np.where(outputs == values[:, None], 0.0, -np.inf)
    return np.where(values[:, None] < 5, np.log(1 / 8), certain)


class TestStatistics:
    def test_one_that_only_looks_like_a_count_is_a_declaration(self) -> None:
        mechanism = lt.StatisticMechanism(Evil(), range(8), tells_all, exact_zeros=True)
        verdict = lt.check_privacy(mechanism, DATA, epsilon=1.0, method="exhaustive")
        assert "those declared" in verdict.guarantee.condition
        told = gate(mechanism)
        assert told.certificate.decision == "NO"
        assert isinstance(told.release(SECRET), Refused)

    def test_a_count_whose_method_was_replaced_is_one_as_well(self) -> None:
        count = lt.Count()
        assert is_trusted(count)
        count.values = Evil().values  # type: ignore[method-assign]
        assert not is_trusted(count)
        mechanism = lt.StatisticMechanism(count, range(8), tells_all, exact_zeros=True)
        assert isinstance(gate(mechanism, method="auto").release(SECRET), Refused)

    def test_on_a_large_domain_it_is_not_released_at_all(self) -> None:
        many = lt.ProductDistribution.uniform(lt.Hypercube(40))
        mechanism = lt.ShiftMechanism(Evil(), lt.DiscreteLaplace(2))
        with pytest.raises(InputError, match="its statistic is code"):
            gate(mechanism, many)

    def test_noise_of_a_subclass_is_not_drawn(self) -> None:
        class Silent(lt.DiscreteLaplace):
            def draw(self, randbelow: Any) -> int:
                return 0

        with pytest.raises(InputError, match="only noise of this package"):
            gate(lt.ShiftMechanism(lt.Count(), Silent(1)))

    STATISTICS = (
        lt.Count(),
        lt.statistics.WeightedSum([1, -2, 3], constant=4),
        lt.Histogram(2),
        lt.statistics.Contributions([3, 5]),
        lt.statistics.Contributions.each([[0, 1], [1, 1], [2, 7]]),
        lt.statistics.CountingQueries([[1, -1, 0], [0, 1, 1]]),
        lt.statistics.OrderStatistic(2),
        lt.statistics.OrderStatistic([1, 3]),
    )

    @pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
    def test_those_of_the_package_are_made_anew(self, statistic: Any) -> None:
        spec = statistic_spec(statistic)
        made = read_statistic(spec, CUBE)
        points = CUBE.points(np.arange(8))
        assert made is not statistic
        assert np.array_equal(made.values(points), statistic.values(points))
        assert (made.name, statistic_spec(made)) == (statistic.name, spec)

    @pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
    def test_a_table_has_a_row_for_every_value(self, statistic: Any) -> None:
        def bit(values: Any) -> Any:
            share = 0.4 + 0.05 * (values.reshape(len(values), -1).sum(axis=1) % 3)
            return np.log(np.stack([share, 1 - share], axis=1))

        mechanism = lt.StatisticMechanism(statistic, [0, 1], bit)
        table = seal(mechanism, CUBE)
        again = read_sealed(table.to_dict(), table.name)
        assert again.digest == table.digest
        for point in CUBE.points(np.arange(8)):
            law = mechanism.law(point)
            for sealed in (table, again):
                exact = sealed.mechanism.law(point)
                for output in (0, 1):
                    assert exact[PlainOutput(str(output))] == pytest.approx(law[output], rel=1e-12)


def honest(data: Any, rng: Any) -> int:
    first = int(spelled(data)[0])
    return first if rng.random() < 0.7310585786300049 else 1 - first


CONTEXT: contextvars.ContextVar[bool] = contextvars.ContextVar("go", default=False)


class State:
    go = False


def generator() -> Iterator[bool]:
    go = False
    while True:
        go = bool((yield go)) or go


def places() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Where code can keep a sign that no fingerprint sees: how it is set, and looked at."""
    cell = np.array([False], dtype=object)
    cache: dict[str, bool] = {}
    waiting = generator()
    next(waiting)

    def function() -> None: ...

    return {
        "function attribute": (
            lambda: setattr(function, "go", True),
            lambda: hasattr(function, "go"),
        ),
        "class attribute": (lambda: setattr(State, "go", True), lambda: State.go),
        "context variable": (lambda: CONTEXT.set(True), CONTEXT.get),
        "generator": (lambda: waiting.send(True), lambda: waiting.send(False)),
        "cache": (lambda: cache.setdefault("go", True), lambda: cache.get("go", False)),
        "object array": (lambda: cell.__setitem__(0, True), lambda: cell[0]),
    }


class TestCodeIsNotAskedInARelease:
    def released(self, vendor: Callable[[Any, Any], Any], sign: Callable[[], Any]) -> set[Any]:
        told = gate(lt.mechanism(vendor), epsilon=1.0, releases=5)
        sign()
        return {told.release(SECRET).output for _ in range(5)}

    @pytest.mark.parametrize("place", places())
    def test_state_that_no_fingerprint_sees(self, place: str) -> None:
        sign, looked = places()[place]
        asked = []

        def formula(rows: Any) -> Any:
            asked.append(len(rows))
            certain = np.where(rows[:, :1] == np.array([0, 1]), 0.0, -np.inf)
            return certain if looked() else np.full((len(rows), 2), np.log(0.5))

        told = gate(lt.ClosedForm([0, 1], formula), releases=40)
        before = len(asked)
        sign()
        assert {told.release(SECRET).output for _ in range(40)} == {0, 1}
        assert len(asked) == before
        State.go = False

    def test_the_call_stack(self) -> None:
        def formula(rows: Any) -> Any:
            frame: Any = sys._getframe()
            while frame is not None:
                if frame.f_code.co_name == "release":
                    return np.log(np.where(rows[:, :1] == np.array([0, 1]), 1.0, 1e-300))
                frame = frame.f_back
            return np.full((len(rows), 2), np.log(0.5))

        told = gate(lt.ClosedForm([0, 1], formula), releases=40)
        assert {told.release(SECRET).output for _ in range(40)} == {0, 1}

    def test_forks_writes_and_prints(self, capfd: pytest.CaptureFixture[str]) -> None:
        def formula(rows: Any) -> Any:
            if State.go:
                os.fork()
                os.write(1, spelled(rows[0]).encode())
                print(spelled(rows[0]), file=sys.__stdout__)
            return np.full((len(rows), 2), np.log(0.5))

        told = gate(lt.ClosedForm([0, 1], formula))
        process = os.getpid()
        State.go = True
        try:
            told.release(SECRET)
        finally:
            State.go = False
        assert os.getpid() == process
        assert capfd.readouterr() == ("", "")

    @pytest.mark.slow
    def test_what_a_release_draws_from_is_in_the_certificate(self) -> None:
        told = gate(lt.mechanism(honest))
        assert told.sealed is not None
        words = told.certificate.release_source
        assert words is not None
        assert told.sealed.digest in words
        assert "no code of the mechanism runs" in words
        assert told.certificate == lt.Certificate.from_json(told.certificate.to_json())

    @pytest.mark.slow
    def test_what_cannot_be_sealed_needs_a_word_of_the_operator(self) -> None:
        many = lt.ProductDistribution.uniform(lt.Hypercube(20))
        options = {"method": "neighbourhoods", "exception_mass": 0.3, "failure_probability": 0.05}
        with pytest.raises(InputError, match="trust_code=True") as caught:
            gate(lt.mechanism(honest), many, **options)
        assert "lt.ShiftMechanism" in str(caught.value)
        trusted = gate(lt.mechanism(honest), many, **options, trust_code=True, search_laws=0)
        with pytest.raises(GateError, match="not stored"):
            trusted.release([0] * 20, key="monday")
        assert trusted.sealed is None
        assert "trust_code" in str(trusted.certificate.release_source)
        assert "trust_code" in trusted.certificate.to_json()

    def test_what_is_sealed_is_what_was_tested(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of a law that changes between test and sealing it is the sealed one that counts."""
        real = gate_module.seal

        def sealing(*arguments: Any) -> Any:
            State.go = True
            return real(*arguments)

        monkeypatch.setattr(gate_module, "seal", sealing)

        def formula(rows: Any) -> Any:
            honest, other = np.array([0.5, 0.5]), np.where(rows[:, :1] == [0, 1], 0.9, 0.1)
            return np.log(other if State.go else np.tile(honest, (len(rows), 1)))

        try:
            told = gate(lt.ClosedForm([0, 1], formula))
        finally:
            State.go = False
        assert told.certificate.decision == "NO"
        assert isinstance(told.release(SECRET), Refused)


class TestRows:
    @pytest.mark.slow
    @given(data=st.data())
    @settings(max_examples=60)
    def test_the_ends_of_edges_are_all_values(self, data: Any) -> None:
        sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
        kind = data.draw(st.sampled_from([lt.Hypergrid, lt.RecordGrid]))
        domain = kind(sizes)
        number = st.integers(-2, 2)
        tables = [data.draw(st.lists(number, min_size=n, max_size=n)) for n in sizes]
        statistics: list[Any] = [
            lt.statistics.WeightedSum(
                data.draw(st.lists(number, min_size=len(sizes), max_size=len(sizes)))
            ),
            lt.statistics.Contributions.each(tables),
            lt.statistics.OrderStatistic(data.draw(st.integers(1, len(sizes)))),
            Coordinates((data.draw(st.integers(0, len(sizes) - 1)),), domain.sizes),
        ]
        points = domain.points(np.arange(domain.size))
        for statistic in statistics:
            listed, ends = find_values(statistic, domain)
            every = np.unique(statistic.values(points), axis=0)
            assert np.array_equal(listed, every)
            assert len(ends) == len(listed)

    @pytest.mark.slow
    def test_a_value_without_a_row_is_not_quoted(self) -> None:
        table = seal(lt.mechanism(statistic=lt.Count())(lambda count, rng: 0), CUBE)
        with pytest.raises(GateError, match="has no row") as caught:
            table.laws_at_values(np.array([77]))  # type: ignore[attr-defined]
        assert "77" not in str(caught.value)
        assert caught.value.__context__ is None


class TestGatesAreNotCopied:
    @pytest.mark.slow
    @pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, pickle.dumps])
    def test_copies(self, copier: Callable[[Any], Any]) -> None:
        told = gate(lt.mechanism(honest))
        with pytest.raises(GateError, match="not copied"):
            copier(told)

    @pytest.mark.slow
    def test_a_fork_does_not_release(self) -> None:
        told = gate(lt.mechanism(honest))
        child = os.fork()
        if child == 0:
            with contextlib.suppress(GateError):
                told.release(SECRET)
                os._exit(0)
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


class TestKeys:
    def test_a_retry_gets_the_stored_answer(self) -> None:
        told = gate(lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1000)), epsilon=1.0)
        first = told.release(SECRET, key="monday")
        assert {told.release(SECRET, key="monday").output for _ in range(5)} == {first.output}
        with pytest.raises(GateError, match="all are used"):
            told.release(SECRET, key="tuesday")

    def test_also_in_another_gate_with_the_same_ledger(self, tmp_path: Any) -> None:
        def make(scale: int) -> lt.PrivacyGate:
            wide = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(scale), name="wide")
            return gate(wide, ledger=tmp_path / "ledger.db", private_table="clicks", releases=2)

        first = make(10**6).release(SECRET, key="monday")
        second = make(10**6)
        again = second.release(SECRET, key="monday")
        assert again.output == first.output
        assert second.releases_left == 2
        with pytest.raises(GateError, match="named another request"):
            make(10**7).release(SECRET, key="monday")
        [table] = lt.Ledger(tmp_path / "ledger.db").summary().private_tables.values()
        assert table.releases == 1
        assert lt.Ledger(tmp_path / "ledger.db").problems() == []

    @pytest.mark.slow
    @pytest.mark.parametrize("key", ["", " a", "a\nb", 3])
    def test_bad_keys(self, key: Any) -> None:
        with pytest.raises(InputError, match="key="):
            gate(lt.mechanism(honest)).release(SECRET, key=key)


class TestPlans:
    @pytest.mark.parametrize(
        ("mechanism", "domain", "way"),
        [
            (lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1)), lt.Hypercube(10**4), "noise"),
            (lt.mechanism(statistic=lt.Count())(honest), lt.Hypercube(10**4), "values"),
            (lt.mechanism(honest), CUBE, "datasets"),
            (lt.mechanism(honest), lt.Hypercube(40), "none"),
            (lt.mechanism(honest), lt.AnswerGrid([3, 3], relation="all"), "datasets"),
        ],
    )
    def test_ways(self, mechanism: Any, domain: Any, way: str) -> None:
        plan = plan_seal(mechanism, domain)
        assert isinstance(plan, SealPlan)
        assert plan.way == way
        assert bool(plan.reason) == (way == "none")

    def test_too_fine_a_law_is_not_sealed(self) -> None:
        def pmf(_: Any) -> list[Fraction]:
            tiny = Fraction(1, 3) ** 12000
            return [tiny, 1 - tiny]

        told = gate(ExactForm((0, 1), pmf), epsilon=1.0)
        with pytest.raises(GateError, match="binary digits"):
            told.release(SECRET)
