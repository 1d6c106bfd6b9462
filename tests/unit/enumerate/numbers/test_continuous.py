"""Mechanisms whose outputs are real numbers with noise: compared by densities, end to end."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.cli import main
from liptest.enumerate.numbers import densities, real_outputs
from liptest.enumerate.numbers.noise_outputs import Between
from liptest.evidence.certificate import certify
from liptest.evidence.verify import examine
from liptest.gate.gate import Released
from liptest.runs.fingerprints import fingerprint

# A class in a tuple, which cannot be changed, is seen by repetition only.
KIND = (type,)
CUBE = lt.Hypercube(3)
LAW = lt.ProductDistribution.uniform(CUBE)


def noisy_count(data: Any, rng: Any) -> Any:
    return data.sum() + rng.laplace(0, 1.0)


def noisy_histogram(data: Any, rng: Any) -> Any:
    return np.array([data[0] + data[1], data[2]]) + rng.laplace(0, 2.0, size=2)


def noisy_maximum(data: Any, rng: Any) -> Any:
    return np.max(data + rng.laplace(0, 2.0, size=len(data)))


def answers_rarely(data: Any, rng: Any) -> Any:
    """A fresh answer where a noisy test says so, as in numerical sparse vectors."""
    if data.sum() + rng.laplace(0, 4.0) >= 1 + rng.laplace(0, 2.0):
        return data.sum() + rng.laplace(0, 4.0)
    return None


def same_noise_again(data: Any, rng: Any) -> Any:
    """The number that was compared is the one that is answered."""
    noisy = data.sum() + rng.laplace(0, 2.0)
    return noisy if noisy > 1 else "low"


def mixture(data: Any, rng: Any) -> Any:
    centre = data.sum() if rng.random() < 0.5 else 1.0
    return centre + rng.laplace(0, 1.0)


def clipped(data: Any, rng: Any) -> Any:
    return np.clip(data.sum() + rng.laplace(0, 1.0), 0, 3)


def logistic(data: Any, rng: Any) -> Any:
    return data.sum() + rng.logistic(0, 2.0)


def folded(data: Any, rng: Any) -> Any:
    return abs(data.sum() + rng.laplace(0, 1.0))


#: Loss by the density ratio on a fine grid, from formulas of their own.
KNOWN = [
    (noisy_count, 1.0),
    (noisy_histogram, 0.5),
    (noisy_maximum, 0.5),
    (same_noise_again, 0.5),
    (clipped, 1.0),
    (logistic, 0.5),
    (folded, 1.0),
]
INFINITE = {
    "normal": lambda d, g: d.sum() + g.normal(),
    "gumbel": lambda d, g: d.sum() + g.gumbel(),
    "mirrored gumbel": lambda d, g: d.sum() - g.gumbel(),
    "exponential": lambda d, g: d.sum() + g.exponential(),
    "mirrored exponential": lambda d, g: d.sum() - g.exponential(),
    "scale of the data": lambda d, g: g.laplace(0, 1.0 + d[0]),
    "normal scale of the data": lambda d, g: g.normal(0, 1.0 + d[0]),
    "only with a 1": lambda d, g: d[0] + g.laplace() if d[0] else "none",
}


@pytest.mark.slow
@pytest.mark.parametrize(("function", "epsilon"), KNOWN)
def test_the_exact_epsilon(function: Any, epsilon: float) -> None:
    found = lt.exact_epsilon(lt.mechanism(function), CUBE)
    assert found.lower <= epsilon + 1e-15
    assert found.upper >= epsilon - 1e-15
    assert found.upper - found.lower < 1e-11
    assert found.witness is not None
    assert found.witness.verify(lt.mechanism(function))


def density_of_mixture(total: int, y: float) -> float:
    return 0.25 * math.exp(-abs(y - total)) + 0.25 * math.exp(-abs(y - 1.0))


@pytest.mark.slow
def test_a_mixture_against_its_formula() -> None:
    grid = [k / 64 for k in range(-1280, 1600)]
    logs = {n: [math.log(density_of_mixture(n, y)) for y in grid] for n in range(4)}
    worst = max(abs(a - b) for n in range(3) for a, b in zip(logs[n], logs[n + 1], strict=True))
    assert lt.exact_epsilon(lt.mechanism(mixture), CUBE).value == pytest.approx(worst, abs=1e-3)


@pytest.mark.slow
def test_a_fresh_answer_after_a_test() -> None:
    """Where it answers, the loss is that of the test plus that of the answer."""
    mechanism = lt.mechanism(answers_rarely)
    found = lt.exact_epsilon(mechanism, CUBE).value
    test = lt.mechanism(lambda d, g: d.sum() + g.laplace(0, 4.0) >= 1 + g.laplace(0, 2.0))
    laws = [lt.output_law(test, [1] * n + [0] * (3 - n)) for n in range(4)]
    ratios = [math.log(b[True] / a[True]) for a, b in itertools.pairwise(laws)]
    stays = [math.log(a[False] / b[False]) for a, b in itertools.pairwise(laws)]
    assert found == pytest.approx(max(0.25 + max(ratios), *stays), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("function", INFINITE.values(), ids=INFINITE)
def test_losses_without_bound_have_a_witness(function: Any) -> None:
    verdict = lt.check_privacy(lt.mechanism(function), LAW, epsilon=2.0, method="exhaustive")
    assert verdict.decision == "NO"
    assert verdict.largest_loss == math.inf
    witness = verdict.witness
    assert witness is not None
    assert witness.verify(lt.mechanism(function))
    low, high = sorted((witness.probability, witness.neighbour_probability))
    assert high > 0
    assert low == 0 or math.log(high / low) > 2.0
    assert witness.loss == pytest.approx(math.inf if low == 0 else math.log(high / low))


#: Laws that differ little, but without bound: far out only is the claim seen to be broken.
HARDLY = {
    "laplace": lambda d, g: g.laplace(0, 1 + 0.001 * d[0]),
    "normal": lambda d, g: g.normal(0, 1 + 0.001 * d[0]),
    "gumbel": lambda d, g: g.gumbel(0, 1 + 0.001 * d[0]),
    "mirrored gumbel": lambda d, g: -g.gumbel(0, 1 + 0.001 * d[0]),
    "logistic": lambda d, g: g.logistic(0, 1 + 0.001 * d[0]),
    "normal, a little moved": lambda d, g: 0.001 * d[0] + g.normal(),
    "gumbel, a little moved": lambda d, g: 0.001 * d[0] + g.gumbel(),
    "the larger of two": lambda d, g: max(g.laplace(0, 1 + 0.01 * d[0]), g.laplace()),
    "normal, never below 0": lambda d, g: max(0.0, 0.001 * d[0] + g.normal()),
    "normal, never above 0": lambda d, g: min(0.0, 0.001 * d[0] - g.normal()),
    "far from 0": lambda d, g: 1e6 + d[0] + g.normal(),
}


@pytest.mark.slow
@pytest.mark.parametrize("function", HARDLY.values(), ids=HARDLY)
@pytest.mark.parametrize("epsilon", [1.0, 30.0])
def test_a_witness_far_out_shows_what_it_says(function: Any, epsilon: float) -> None:
    mechanism, law = lt.mechanism(function), lt.ProductDistribution.uniform(lt.Hypercube(1))
    verdict = lt.check_privacy(mechanism, law, epsilon=epsilon, method="exhaustive", seed=1)
    witness = verdict.witness
    assert verdict.decision == "NO"
    assert witness is not None
    assert witness.loss_lower > epsilon
    found = examine(certify(verdict, fingerprint(mechanism), law, own_seed=False), mechanism, law)
    assert found.problems == []
    (line,) = (
        one for one in str(verdict).splitlines() if "probability" in one and "against" in one
    )
    left, right = (Decimal(one) for one in line.split("probability ")[1].split(" against "))
    assert min(left, right) > 0
    assert abs(float(left.ln() - right.ln())) == pytest.approx(witness.loss, rel=1e-4)


@pytest.mark.slow
def test_the_largest_loss_of_two_normal_laws_is_shown_where_floats_can() -> None:
    found = lt.exact_epsilon(lt.mechanism(INFINITE["normal"]), CUBE)
    assert found.value == math.inf
    assert found.witness is not None
    low, high = sorted((found.witness.probability, found.witness.neighbour_probability))
    assert 0 < low < high < 1e-100
    assert math.log(high / low) == pytest.approx(found.witness.loss)


@pytest.mark.slow
def test_no_finite_loss_is_said_to_exceed_an_absurd_claim() -> None:
    absurd = lt.check_privacy(
        lt.mechanism(INFINITE["normal"]), LAW, epsilon=1e300, method="exhaustive"
    )
    assert absurd.decision == "NO"
    assert "and without bound further out: more than 1e+300" in str(absurd)


def test_ends_of_intervals_are_told_apart() -> None:
    assert repr(Between(None, Fraction(19999999, 20))) == "below 999999.95"


@pytest.mark.slow
def test_a_count_is_proved_by_the_count() -> None:
    """However many records there are: only the count was read."""
    law = lt.ProductDistribution.bernoulli(np.full(200, 0.1))
    options = {"method": "exhaustive"}
    verdict = lt.check_privacy(lt.mechanism(noisy_count), law, epsilon=1.0, **options)
    assert verdict.decision == "YES"
    assert verdict.guarantee.kind == "proof"
    assert verdict.cost.pairs == 200
    assert "taken as ideal" in str(verdict)
    wrong = lt.check_privacy(lt.mechanism(noisy_count), law, epsilon=0.99, **options)
    assert wrong.decision == "NO"
    assert wrong.witness.loss == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["neighbourhoods", "light-neighbourhoods", "edges", "group"])
def test_sampling_methods_and_workers(method: str) -> None:
    from concurrent.futures import ProcessPoolExecutor

    options: dict[str, Any] = {"method": method, "exception_mass": 0.1, "seed": 3}
    if method == "group":
        with pytest.raises(lt.errors.LiptestError):
            lt.check_privacy(lt.mechanism(noisy_histogram), LAW, epsilon=1.0, **options)
        return
    one = lt.check_privacy(lt.mechanism(noisy_histogram), LAW, epsilon=0.5, **options)
    assert one.decision == "YES"
    assert one.largest_loss == pytest.approx(0.5)
    with ProcessPoolExecutor(2) as pool:
        two = lt.check_privacy(
            lt.mechanism(noisy_histogram), LAW, epsilon=0.5, executor=pool, **options
        )
    assert (two.largest_loss, two.cost.pairs) == (one.largest_loss, one.cost.pairs)
    assert (
        lt.check_privacy(lt.mechanism(noisy_histogram), LAW, epsilon=0.4, **options).decision
        == "NO"
    )


@pytest.mark.slow
def test_probabilities_are_refused_with_what_to_do() -> None:
    mechanism = lt.mechanism(noisy_count)
    with pytest.raises(
        lt.errors.UnsupportedRandomnessError, match="no single value has a probability"
    ):
        lt.output_law(mechanism, [1, 0, 0])
    with pytest.raises(lt.errors.GateError, match=r"round the output in the code"):
        lt.PrivacyGate(mechanism, LAW, epsilon=1.0, seed=1)
    rounded = lt.mechanism(lambda d, g: np.clip(np.round(d.sum() + g.laplace(0, 1.0)), 0, 3))
    gate = lt.PrivacyGate(rounded, LAW, epsilon=1.0, seed=1)
    assert isinstance(gate.release([1, 0, 0]), Released)


class Alike(frozenset[int]):
    """Keys that differ, by identity here, and print alike."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 1


REFUSED = {
    "a sum of two": (lambda d, g: g.normal() + g.normal(), "sum of several"),
    "a gap": (lambda d, g: np.ptp(g.laplace(size=2)), "sum of several|numpy.ptp"),
    "twice, beside a rounded number": (
        lambda d, g: (lambda x: (x, x + 0.1 * d[0]))(g.laplace()),
        "in two places, beside",
    ),
    "twice, by a rounded factor": (
        lambda d, g: (lambda x: (x, 0.1 * x))(d[0] + g.laplace()),
        "in two places, beside",
    ),
    "as a float": (
        lambda d, g: next(map(float, [g.laplace()])),
        r"float\(\) out.*may be compared",
    ),
    "into an array": (lambda d, g: np.linspace(0, 1, 2).__setitem__(0, g.laplace()), "in a list"),
    "in a set": (lambda d, g: {d[0] + g.laplace()}, r"hash\(\)"),
    "in a dict whose keys print alike": (
        lambda d, g: {Alike(): g.laplace(), Alike(): 1},
        "Items as an output",
    ),
    "two that were compared": (
        lambda d, g: (lambda x: tuple(x) if x[0] < x[1] else None)(d[:2] + g.laplace(size=2)),
        "compared together",
    ),
    "scales without a common measure": (
        lambda d, g: d[0] + g.laplace(0, 0.1) if g.random() < 0.5 else g.laplace(0, 1.0),
        "such densities are not compared; round it",
    ),
    "normal that was compared": (
        lambda d, g: (lambda x: x if x > g.laplace() else None)(d[0] + g.normal()),
        "normal noise",
    ),
}


@pytest.mark.parametrize(("function", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_compared_is_refused(function: Any, words: str) -> None:
    with pytest.raises(lt.errors.UnsupportedRandomnessError, match=words):
        lt.exact_epsilon(lt.mechanism(function), CUBE)


def running_sums(d: Any, g: Any) -> list[Any]:
    return list(np.cumsum(d + g.laplace(0, 2.0, size=3)))


REPEATED = {
    "and one more": (lambda d, g: (lambda x: (x, x + 1))(d[0] + g.laplace(0, 2.0)), 0.5),
    "doubled": (lambda d, g: (lambda x: {"a": 2 * x, "b": [x, 3 - x]})(d.sum() + g.laplace()), 1),
    "beside data": (lambda d, g: (lambda x: (x, x + d[1]))(d[0] + g.laplace()), math.inf),
    "scaled by data": (lambda d, g: (lambda x: (x, x * (1 + d[0])))(g.laplace()), math.inf),
    "running sums": (running_sums, 0.5),
    "running sums, scaled": (lambda d, g: [4 * one for one in running_sums(d, g)], 0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize(("function", "loss"), REPEATED.values(), ids=REPEATED)
def test_a_number_tells_only_what_numbers_before_it_do_not(function: Any, loss: float) -> None:
    found = lt.exact_epsilon(lt.mechanism(function), CUBE)
    assert found.value == pytest.approx(loss)
    assert found.witness is not None
    assert found.witness.verify(lt.mechanism(function))


@pytest.mark.slow
def test_outputs_that_follow_from_others_are_described() -> None:
    found = lt.exact_epsilon(lt.mechanism(REPEATED["beside data"][0]), CUBE)
    assert found.witness is not None
    assert "1 * x0" in repr(found.witness.output)
    found = lt.exact_epsilon(lt.mechanism(running_sums), CUBE)
    assert found.witness is not None
    assert re.search(r"\(real\) \+ 1 \* x0|real, .* \+ 1 \* x0", repr(found.witness.output))


SHAPES = {
    "dict": lambda d, g: {"b": d[0] + g.laplace(), "a": d[1] + g.laplace(0, 2.0)},
    "nested": lambda d, g: [{1: [d[0] + g.laplace()], "k": {"a": d[1] + g.laplace(0, 2.0)}}, "x"],
    "dict with others": lambda d, g: {2: d[0] + g.laplace(), "n": None, "c": np.sum(d) * 0},
    "list": lambda d, g: [d[0] + g.laplace()],
    "array": lambda d, g: d + g.laplace(size=3),
    "array, entry by entry": lambda d, g: np.array([one + g.laplace() for one in d]),
    "table": lambda d, g: d.reshape(3, 1) + g.laplace(size=(3, 1)),
    "number": lambda d, g: d[0] + g.laplace(),
    "Python's own": lambda d, g: int(d[0]) + g.laplace(),
    "or a word": lambda d, g: d[0] + g.laplace() if g.random() < 0.5 else "word",
    "rounded": lambda d, g: {"a": np.clip(np.round(d[0] + g.laplace()), 0, 2), "b": g.laplace()},
}


@pytest.mark.slow
@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("function", SHAPES.values(), ids=SHAPES)
def test_shapes_of_outputs_whether_types_count_or_not(function: Any, typed: bool) -> None:
    """All leaves are replayed with real numbers: types and shapes are those of NumPy."""
    mechanism = lt.mechanism(typed_outputs=typed)(function)
    found = lt.exact_epsilon(mechanism, CUBE)
    assert found.value == pytest.approx(1.0, abs=1e-9)
    assert found.witness is not None
    assert found.witness.verify(mechanism)
    losses = [found.witness.probability, found.witness.neighbour_probability]
    assert abs(math.log(losses[0] / losses[1])) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.slow
def test_a_dict_says_which_value_tells() -> None:
    found = lt.exact_epsilon(lt.mechanism(SHAPES["dict"]), CUBE)
    assert found.witness is not None
    assert repr(found.witness.output) == "{'a': real, 'b': below 0}"


def test_code_that_changes_its_answers_is_noticed() -> None:
    calls: list[int] = []

    def drifts(data: Any, rng: Any) -> Any:
        calls.append(1)
        return data.sum() + rng.laplace(0, 1.0 + len(calls) // 40)

    with pytest.raises(lt.errors.LiptestError, match=r"non-det|changed between|keep no state"):
        lt.exact_epsilon(lt.mechanism(drifts), lt.Hypercube(6))

    def peeks(data: Any, rng: Any) -> Any:
        noise = rng.laplace()
        return data.sum() + noise if KIND[0](noise) is float else noise

    with pytest.raises(
        lt.errors.LiptestError, match="with real random numbers it answers otherwise"
    ):
        lt.exact_epsilon(lt.mechanism(peeks), CUBE)


@pytest.mark.slow
def test_certificates_hold_and_notice_other_code() -> None:
    for epsilon, decision in ((1.0, "YES"), (0.5, "NO")):
        mechanism = lt.mechanism(noisy_count)
        verdict = lt.check_privacy(mechanism, LAW, epsilon=epsilon, seed=1)
        assert verdict.decision == decision
        one = certify(verdict, fingerprint(mechanism), LAW, own_seed=False)
        again = lt.Certificate.from_json(one.to_json())
        assert examine(again, mechanism, LAW).problems == []
        assert examine(again, mechanism, LAW).certain
        other = lt.mechanism(noisy_histogram)
        assert examine(again, other, LAW).problems


def test_the_law_that_is_shown_has_cells() -> None:
    view = lt.mechanism(noisy_count).densities()
    law = view.law(np.array([1, 0, 0]))
    assert all(isinstance(output, Between) for output in law.outputs)
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-5)
    assert 0 < law.unexplored < 1e-5
    cell = next(o for o in law.outputs if o.low is not None and o.low >= 1)
    expected = 0.5 * (math.exp(-float(cell.low - 1)) - math.exp(-float(cell.high - 1)))
    assert law[cell] == pytest.approx(expected)
    several = lt.mechanism(noisy_histogram).densities().law(np.array([1, 0, 0]))
    assert list(several.values()) == pytest.approx([1.0])
    assert repr(several.outputs[0]) == "(real, real)"


def test_a_view_travels() -> None:
    view = lt.mechanism(noisy_count).densities()
    again = pickle.loads(pickle.dumps(view))
    pair = np.array([0, 0, 0]), np.array([1, 0, 0])
    assert float(again.pair_loss(*pair)) == float(view.pair_loss(*pair)) == 1.0


VENDOR = """
def noisy_count(data, rng):
    return data.sum() + rng.laplace(0, 1.0)
"""


@pytest.mark.slow
def test_the_command_line_writes_a_page_and_a_certificate(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vendor.py").write_text(VENDOR)
    law = ["--dimension", "3", "--probabilities", "0.5"]
    files = ["--json", "no.json", "--html", "no.html", "--junit", "no.xml", "--sarif", "no.sarif"]
    assert main(["check", "vendor.py:noisy_count", "--epsilon", "0.5", *law, *files]) == 1
    told = capsys.readouterr().out
    assert "output below" in told or "output above" in told
    assert main(["verify", "no.json", "--mechanism", "vendor.py:noisy_count", *law]) == 0
    assert "real" not in json.loads((tmp_path / "no.json").read_text())["verdict"]["mechanism"]
    page = (tmp_path / "no.html").read_text()
    assert "below" in page
    assert main(["check", "vendor.py:noisy_count", "--epsilon", "1", *law, "--html", "y.html"]) == 0
    assert main(["law", "vendor.py:noisy_count", "--dataset", "0,1,1"]) == 4
    assert "no single value has a probability" in capsys.readouterr().err


@pytest.mark.slow
def test_numbers_that_are_alike_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2^6 paths, whose 6 numbers are each known to be positive, or replaced by 0."""
    numbers: list[Any] = []
    pairs: list[Any] = []

    def count(calls: list[Any], name: str, *modules: Any) -> None:
        written = getattr(modules[0], name)

        def counted(*arguments: Any) -> Any:
            calls.append(arguments)
            return written(*arguments)

        for module in modules:
            monkeypatch.setattr(module, name, counted)

    count(numbers, "extremes", densities)
    count(pairs, "density_ratios", densities, real_outputs)

    @lt.mechanism
    def histogram(data: Any, rng: Any) -> list[float]:
        counts = np.bincount(data, minlength=6) + rng.laplace(0, 1.5, 6)
        return list(np.maximum(counts, 0))

    found = lt.exact_epsilon(histogram, lt.RecordGrid([6, 6]))
    assert found.value == pytest.approx(2 / 1.5, abs=1e-9)
    assert 0 < len(numbers) <= 2 * len(pairs)  # two counts differ


@pytest.mark.slow
def test_numbers_known_to_be_in_other_places_are_not_alike() -> None:
    @lt.mechanism
    def above_limits(data: Any, rng: Any) -> Any:
        values = [data.sum() + rng.laplace(0, 2.0) for _ in range(2)]
        return [one if one > low else None for one, low in zip(values, (-1.0, 2.0), strict=True)]

    assert lt.exact_epsilon(above_limits, CUBE).value == pytest.approx(1.0, abs=1e-9)
