"""The gate: test first, look at the private data only after a YES, release the tested law once."""

import contextlib
import importlib
import logging
import math
import random
import secrets
import sys
import threading
import traceback
import warnings
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest

import liptest as lt
from liptest.errors import CodeChangedError, DatasetError, GateError, InputError, MechanismError
from liptest.gate import gate as gate_module
from liptest.gate.gate import Refused, Released, draw_output
from liptest.mechanisms.laws import OutputLaw, Raised, find_released_weights, integer_weights
from tests.statistical.binomial import fits
from tests.unit.privacy.cases import closed, exact

CUBE = lt.Hypercube(3)
UNIFORM = lt.ProductDistribution.uniform(CUBE)
SECRET = [1, 0, 1]


def coin(datasets):
    return np.log(np.full((len(datasets), 2), 0.5))


def shows(datasets):
    return np.where(datasets[:, :1] == np.array([0, 1]), 0.0, -math.inf)


FAIR = lt.ClosedForm([0, 1], coin)
LEAK = lt.ClosedForm([0, 1], shows, exact_zeros=True)
OPEN = closed(CUBE, [[0.5, 0.5, 0.0]] * 8, exact_zeros=False)


def gate(mechanism=FAIR, **options):
    return lt.PrivacyGate(mechanism, UNIFORM, **{"epsilon": 1.0, **options})


def trusting(mechanism=FAIR, **options):
    """A gate that asks the code about the private dataset."""
    return gate(mechanism, trust_code=True, **options)


class Untouchable:
    """A dataset that nobody may look at."""

    def __getattribute__(self, name):
        raise AssertionError(f"the private dataset was asked for {name}")

    __len__ = __iter__ = __getitem__ = __array__ = __repr__ = __eq__ = __getattribute__
    __hash__ = None


class TestDecision:
    @pytest.mark.parametrize("mechanism", [LEAK, OPEN], ids=["NO", "INCONCLUSIVE"])
    def test_without_a_yes_the_dataset_is_not_touched(self, mechanism):
        closed_gate = gate(mechanism)
        first, second = closed_gate.release(Untouchable()), closed_gate.release(Untouchable())
        assert isinstance(first, Refused)
        assert first == second == Refused(closed_gate.certificate)
        assert closed_gate.certificate.decision in ("NO", "INCONCLUSIVE")
        assert closed_gate.releases_left == 1

    def test_after_a_yes_it_releases_the_tested_law(self):
        told = gate(exact(CUBE, [[1, 0]] * 8))
        released = told.release(SECRET)
        assert isinstance(released, Released)
        assert (released.output, released.certificate) == (0, told.certificate)
        assert told.certificate.decision == "YES"

    @pytest.mark.usefixtures("nothing_can_be_sealed")
    def test_a_mechanism_that_keeps_notes_is_not_what_was_tested(self):
        seen = []

        def watched(datasets):
            seen.append(len(datasets))
            return coin(datasets)

        open_gate = trusting(lt.ClosedForm([0, 1], watched))
        with pytest.raises(CodeChangedError):
            open_gate.release(SECRET)

    def test_a_broken_mechanism_gives_no_gate(self):
        with pytest.raises(MechanismError):
            gate(lt.ClosedForm([0, 1], lambda datasets: coin(datasets) - 1))

    @pytest.mark.parametrize(
        "options", [{"epsilon": 0}, {"releases": 0}, {"releases": True}, {"seed": -1}, {"delta": 2}]
    )
    def test_bad_arguments_give_no_gate(self, options):
        with pytest.raises(InputError):
            gate(**options)

    def test_a_group_claim_with_delta_gives_no_gate(self):
        with pytest.raises(InputError, match="delta"):
            gate(method="group", delta=0.1)


class TestCounting:
    def test_one_release_only(self):
        single = gate()
        single.release(SECRET)
        with pytest.raises(GateError, match="releases=1"):
            single.release(Untouchable())

    def test_several_releases(self):
        triple = gate(releases=3)
        outputs = [triple.release(SECRET).output for _ in range(3)]
        assert set(outputs) <= {0, 1}
        assert triple.releases_left == 0
        with pytest.raises(GateError, match="releases=3"):
            triple.release(SECRET)

    def test_a_refused_dataset_costs_nothing(self):
        single = gate()
        with pytest.raises(DatasetError):
            single.release([0, 1])
        with pytest.raises(GateError, match="not a batch"):
            single.release([SECRET, SECRET])
        assert single.releases_left == 1

    @pytest.mark.slow
    @pytest.mark.usefixtures("nothing_can_be_sealed")
    def test_a_failure_on_private_data_costs_a_release(self):
        single = trusting(lt.ClosedForm([0, 1], FailsOn(SECRET, ValueError)))
        with pytest.raises(GateError, match="withheld"):
            single.release(SECRET)
        assert single.releases_left == 0

    def test_a_race_wins_one_release(self):
        barrier = threading.Barrier(8)

        def slow(datasets):
            if len(datasets) == 1 and threading.current_thread() is not threading.main_thread():
                threading.Event().wait(0.02)
            return coin(datasets)

        single, won = gate(lt.ClosedForm([0, 1], slow)), []

        def attempt():
            barrier.wait()
            with contextlib.suppress(GateError):
                won.append(single.release(SECRET))

        threads = [threading.Thread(target=attempt) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1


class FailsOn:
    """Raises on one dataset, with the data in the message; only when asked about it alone."""

    def __init__(self, dataset, kind):
        self.dataset = dataset
        self.kind = kind

    def __call__(self, datasets):
        if len(datasets) == 1 and datasets[0].tolist() == self.dataset:
            raise self.kind(f"private row {datasets.tolist()}")
        return coin(datasets)


class Own(BaseException):
    """Not even an Exception."""


class TestPrivateDataStayPrivate:
    @pytest.mark.parametrize(
        "dataset",
        [
            [7, 7, 7],
            [0, 1],
            [[0, 1], [1, 7]],
            [0.77, 0, 0],
            ["77", "a", "b"],
            [math.nan, 7, 7],
            [None, 7, 7],
            "777",
            {"a": 777},
            [7**40, 0, 0],
            [77j, 0, 0],
        ],
    )
    def test_a_dataset_outside_of_the_domain_is_not_quoted(self, dataset):
        single = gate()
        with pytest.raises(DatasetError) as caught:
            single.release(dataset)
        assert "7" not in everything(caught.value)
        assert single.releases_left == 1

    @pytest.mark.parametrize(
        "kind", [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError, Own]
    )
    @pytest.mark.usefixtures("nothing_can_be_sealed")
    def test_a_failure_is_withheld(self, kind, capfd):
        single = trusting(lt.ClosedForm([0, 1], FailsOn(SECRET, kind)))
        with pytest.raises(GateError) as caught:
            single.release(SECRET)
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
        text = everything(caught.value)
        assert "private row" not in text
        assert kind.__name__ not in text
        assert capfd.readouterr() == ("", "")

    @pytest.mark.slow
    @pytest.mark.usefixtures("nothing_can_be_sealed")
    def test_what_it_prints_warns_and_logs_is_suppressed(self, capsys, caplog, recwarn):
        def loud(datasets):
            if len(datasets) == 1 and datasets[0].tolist() == SECRET:
                print("private", datasets)
                print("private", datasets, file=sys.stderr)
                warnings.warn(f"private {datasets}", stacklevel=1)
                logging.getLogger("vendor").critical("private %s", datasets)
                logging.critical("private %s", datasets)
            return coin(datasets)

        single = trusting(lt.ClosedForm([0, 1], loud))
        with caplog.at_level(logging.DEBUG):
            single.release(SECRET)
            assert logging.getLogger("vendor").isEnabledFor(logging.CRITICAL)
        assert capsys.readouterr() == ("", "")
        assert caplog.records == []
        assert [str(warning.message) for warning in recwarn] == []

    def test_a_level_of_logging_that_was_off_stays_off(self):
        logging.disable(logging.WARNING)
        try:
            gate().release(SECRET)
            assert logging.root.manager.disable == logging.WARNING
        finally:
            logging.disable(logging.NOTSET)

    @pytest.mark.usefixtures("nothing_can_be_sealed")
    def test_the_mechanism_works_on_a_copy(self):
        def spoils(datasets):
            log_pmf = coin(datasets)
            datasets[:] = 0
            return log_pmf

        private = np.array(SECRET, dtype=CUBE.dtype)
        trusting(lt.ClosedForm([0, 1], spoils)).release(private)
        assert private.tolist() == SECRET


def everything(error):
    """All that a traceback, a log or a debugger of errors would show."""
    found = []
    while error is not None:
        found += [repr(error), repr(vars(error)), *traceback.format_exception_only(error)]
        error = error.__cause__ or error.__context__
    return " ".join(found)


class TestDraws:
    LAW = OutputLaw.from_fractions({"a": F(1, 6), "b": F(1, 2), "c": F(1, 3), "d": F(0)})

    def test_every_ticket_of_a_rational_law(self):
        sides = []

        def below(n):
            sides.append(n)
            return len(sides) - 1

        drawn = Counter(draw_output(self.LAW, below) for _ in range(6))
        assert sides == [6] * 6
        assert drawn == {"a": 1, "b": 3, "c": 2}

    def test_the_first_and_last_ticket_of_each_output_of_a_float_law(self):
        law = FAIR_THREE.law(np.array(SECRET))
        weights = integer_weights(find_released_weights(law))
        assert all(weight > 0 for weight in weights)
        start = 0
        for output, weight in zip(law.outputs, weights, strict=True):
            for ticket in (start, start + weight - 1):
                assert (
                    draw_output(law, lambda n, ticket=ticket: check_side(n, weights, ticket))
                    == output
                )
            start += weight

    def test_weights_are_in_the_proportions_of_the_normalised_law(self):
        law = FAIR_THREE.law(np.array(SECRET))
        weights = integer_weights(find_released_weights(law))
        for output, weight in zip(law.outputs, weights, strict=True):
            assert F(weight, sum(weights)) == pytest.approx(law[output], rel=1e-14)

    def test_an_unnormalised_formula_is_tested_and_released_normalised(self):
        """Logs that sum to 1 + 1e-4 with a declared error of 1e-3: one law is tested and drawn."""
        logs = np.log([0.5, 0.5001])
        loose = lt.ClosedForm([0, 1], lambda x: np.tile(logs, (len(x), 1)), error=1e-3)
        law = loose.law(np.array(SECRET))
        weights = find_released_weights(law)
        assert float(weights[1] / sum(weights)) == pytest.approx(0.5001 / 1.0001, rel=1e-12)
        assert float(sum(weights)) == pytest.approx(1.0, rel=1e-12)

    def test_tiny_probabilities_keep_their_weight(self):
        law = OutputLaw([0, 1], np.array([0.0, -2000.0]), np.zeros(2))
        weights = integer_weights(find_released_weights(law))
        assert math.log(weights[0]) - math.log(weights[1]) == pytest.approx(2000.0, rel=1e-12)
        assert draw_output(law, lambda n: n - 1) == 1
        assert draw_output(law, lambda n: n - 1 - weights[1]) == 0

    def test_impossible_outputs_are_never_drawn(self):
        law = LEAK.law(np.array([1, 0, 0]))
        assert {draw_output(law, lambda n, t=ticket: t) for ticket in (0,)} == {1}
        assert integer_weights(find_released_weights(law))[0] == 0

    def test_a_law_that_is_not_all_known_is_not_drawn_from(self):
        with pytest.raises(GateError, match="unexplored"):
            draw_output(OutputLaw.from_fractions({"a": F(1, 2)}, unexplored=F(1, 2)))

    @pytest.mark.slow
    def test_real_draws_follow_the_law_and_no_other(self):
        law = FAIR_THREE.law(np.array(SECRET))
        count = Counter(draw_output(law) for _ in range(4000))
        counts = [count[output] for output in law.outputs]
        assert fits(counts, [law[output] for output in law.outputs])
        assert not fits(counts, [1 / 3] * 3)

    @pytest.mark.slow
    def test_releases_follow_the_law_of_the_private_dataset(self):
        table = [[0.2, 0.3, 0.5]] * 8
        table[5] = [0.5, 0.3, 0.2]
        many = gate(closed(CUBE, table), releases=400)
        count = Counter(many.release(SECRET).output for _ in range(400))
        counts = [count[output] for output in range(3)]
        assert fits(counts, table[5])
        assert not fits(counts, table[0])

    @pytest.mark.slow
    def test_shift_mechanisms_draw_exact_noise(self):
        noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2))
        many = gate(noisy, releases=1000)
        count = Counter(many.release(SECRET).output for _ in range(1000))
        law = noisy.law(np.array(SECRET))
        window = range(-1, 6)
        counts = [count[k] for k in window]
        rest = 1 - sum(law[k] for k in window)
        assert fits([*counts, 1000 - sum(counts)], [*(law[k] for k in window), rest])

    def test_the_vendors_own_way_of_drawing_is_not_used(self):
        class Vendor(lt.Mechanism):
            name, outputs = "vendor", (0, 1)
            laws, law, points_per_slice = FAIR.laws, FAIR.law, FAIR.points_per_slice

            def draw(self, dataset, below):
                return tuple(dataset.tolist())

        assert gate(Vendor()).release(SECRET).output in (0, 1)

    def test_randomness_is_the_operating_systems(self, monkeypatch):
        asked = []
        monkeypatch.setattr(secrets, "randbelow", lambda n: asked.append(n) or 0)
        monkeypatch.setattr(random, "random", None)
        law = OutputLaw.from_fractions({"a": F(1, 3), "b": F(2, 3)})
        assert draw_output(law, secrets.randbelow) == "a"
        assert asked == [3]
        assert gate_module.draw_output.__defaults__[0].__module__ == "secrets"


FAIR_THREE = closed(CUBE, [[0.2, 0.3, 0.5]] * 8)


def check_side(n, weights, ticket):
    assert n == sum(weights)
    return ticket


class TestOrder:
    def test_the_code_is_hashed_before_the_seed_is_drawn(self, monkeypatch):
        order = []
        fingerprint, randbits = gate_module.fingerprint, secrets.randbits

        def hashing(mechanism):
            order.append("hash")
            return fingerprint(mechanism)

        def drawing(bits):
            order.append(f"seed of {bits} bits")
            return randbits(bits)

        def testing(datasets):
            order.append("test")
            return coin(datasets)

        monkeypatch.setattr(gate_module, "fingerprint", hashing)
        monkeypatch.setattr(secrets, "randbits", drawing)
        gate(lt.ClosedForm([0, 1], testing))
        assert order[:3] == ["hash", "seed of 128 bits", "test"]
        # The second one is drawn for what was sealed, after the code was asked for the last time.
        assert sum(step.startswith("seed") for step in order) == 2
        assert order[-1] == "seed of 128 bits"

    def test_two_gates_draw_two_seeds(self):
        seeds = {gate().certificate.verdict.seed for _ in range(3)}
        assert len(seeds) == 3

    def test_a_seed_of_the_caller_is_marked(self):
        own, given = gate().certificate, gate(seed=3).certificate
        assert "operating system" in own.seed_source
        assert "without knowing this seed" in given.seed_source
        assert given.verdict.seed == 3


VENDOR = """
import numpy as np
from {name}_helper import share

SCALE = 1.0


def make(shift):
    def log_pmf(datasets):
        p = share() * SCALE + shift
        return np.log(np.tile([p, 1 - p], (len(datasets), 1)))
    return log_pmf


class Formula:
    def __init__(self, shift):
        self.shift = shift

    def __call__(self, datasets):
        return make(self.shift)(datasets)
"""


@pytest.fixture
def vendor(tmp_path, monkeypatch, request):
    """A module of a vendor's with a helper module beside it; (module, folder)."""
    name = f"vendor_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(VENDOR.format(name=name))
    (tmp_path / f"{name}_helper.py").write_text("def share():\n    return 0.5\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(name)
    yield module, tmp_path
    for loaded in (name, f"{name}_helper"):
        sys.modules.pop(loaded, None)


@pytest.mark.usefixtures("nothing_can_be_sealed")
class TestChangedCode:
    def open_gate(self, vendor):
        return trusting(lt.ClosedForm([0, 1], vendor[0].make(0.0)), releases=9)

    def assert_closed(self, open_gate):
        with pytest.raises(CodeChangedError, match="changed after the test"):
            open_gate.release(SECRET)
        assert open_gate.releases_left == 9

    def test_nothing_changed(self, vendor):
        assert self.open_gate(vendor).release(SECRET).output in (0, 1)

    @pytest.mark.parametrize("which", ["", "_helper"])
    def test_an_edited_file(self, vendor, which):
        open_gate = self.open_gate(vendor)
        path = vendor[1] / f"{vendor[0].__name__}{which}.py"
        before = path.read_text()
        path.write_text(before + "\n# a comment\n")
        self.assert_closed(open_gate)
        path.write_text(before)
        open_gate.release(SECRET)

    def test_a_removed_file(self, vendor):
        open_gate = self.open_gate(vendor)
        (vendor[1] / f"{vendor[0].__name__}_helper.py").unlink()
        self.assert_closed(open_gate)

    def test_a_file_that_is_no_longer_python(self, vendor):
        open_gate = self.open_gate(vendor)
        (vendor[1] / f"{vendor[0].__name__}_helper.py").write_text("def share(:\n")
        self.assert_closed(open_gate)

    def test_a_patched_global(self, vendor, monkeypatch):
        open_gate = self.open_gate(vendor)
        monkeypatch.setattr(vendor[0], "SCALE", 1.5)
        self.assert_closed(open_gate)

    def test_a_patched_function(self, vendor, monkeypatch):
        open_gate = self.open_gate(vendor)
        monkeypatch.setattr(vendor[0], "share", lambda: 0.9)
        self.assert_closed(open_gate)

    def test_a_patched_library_function_of_the_vendor(self, vendor, monkeypatch):
        open_gate = self.open_gate(vendor)
        helper = sys.modules[f"{vendor[0].__name__}_helper"]
        monkeypatch.setattr(helper.share, "__code__", (lambda: 0.9).__code__)
        self.assert_closed(open_gate)

    def test_a_changed_closure(self, vendor):
        log_pmf = vendor[0].make(0.0)
        open_gate = trusting(lt.ClosedForm([0, 1], log_pmf), releases=9)
        log_pmf.__closure__[0].cell_contents = 0.3
        self.assert_closed(open_gate)

    def test_a_changed_attribute_or_method(self, vendor, monkeypatch):
        formula = vendor[0].Formula(0.0)
        open_gate = trusting(lt.ClosedForm([0, 1], formula), releases=9)
        open_gate.release(SECRET)
        formula.shift = 0.1
        with pytest.raises(CodeChangedError):
            open_gate.release(SECRET)
        formula.shift = 0.0
        open_gate.release(SECRET)
        monkeypatch.setattr(vendor[0].Formula, "__call__", lambda self, datasets: shows(datasets))
        with pytest.raises(CodeChangedError):
            open_gate.release(SECRET)

    def test_changed_outputs(self, vendor):
        mechanism = lt.ClosedForm([0, 1], vendor[0].make(0.0))
        open_gate = trusting(mechanism, releases=9)
        object.__setattr__(mechanism, "outputs", (1, 0))
        self.assert_closed(open_gate)


class TestPythonFunctions:
    @pytest.mark.slow
    def test_a_function_of_the_table_is_tested_and_released(self):
        @lt.mechanism(outputs=[0, 1])
        def noisy(data, rng):
            return int(rng.random() < 0.25 + 0.5 * data[0])

        many = gate(noisy, epsilon=lt.log(3), releases=100)
        assert many.certificate.verdict.law_source == "enumerated"
        count = Counter(many.release(SECRET).output for _ in range(100))
        assert fits([count[0], count[1]], [0.25, 0.75])
        assert not fits([count[0], count[1]], [0.75, 0.25])

    @pytest.mark.slow
    def test_exceptions_are_outputs_on_private_data_as_in_the_test(self):
        @lt.mechanism
        def careful(data, rng):
            if rng.random() < 0.5:
                raise ValueError(f"private row {data}")
            return 0

        many = gate(careful, releases=20)
        outputs = {many.release(SECRET).output for _ in range(20)}
        assert outputs == {0, Raised("ValueError")}
