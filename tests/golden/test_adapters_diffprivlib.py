"""diffprivlib through its adapter: its own code, its own claim. A session of its own, see nox."""

from __future__ import annotations

import itertools
import math
import os
import pickle
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.cli import main

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("LIPTEST_LIBRARIES") != "diffprivlib-0.6.6", reason="a session of its own"
    ),
    pytest.mark.filterwarnings("default"),
]


def made(name: str, **options: Any) -> Any:
    import diffprivlib.mechanisms

    return getattr(diffprivlib.mechanisms, name)(**options)


def scores(data: Any) -> list[float]:
    return [float(data[0]), 1.0, float(data[1])]


CASES = {
    "Binary": ({"value0": "a", "value1": "b"}, {}, 1.0),
    "GeometricTruncated": ({"lower": -1, "upper": 4}, {}, 1.0),
    "GeometricFolded": ({"lower": 0, "upper": 5}, {}, 0.9997099925263201),
    "ExponentialCategorical": (
        {"utility_list": [("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 1.0)]},
        {},
        0.5,
    ),
    "ExponentialHierarchical": ({"hierarchy": [["a"], ["b", "c"]]}, {}, None),
    "Exponential": (
        {"sensitivity": 1, "utility": [0.0, 1.0, 0.0]},
        {"utility": scores, "domain": lt.Hypergrid([3, 3])},
        None,
    ),
}


@pytest.mark.parametrize("seed", [None, 7], ids=["system", "seeded"])
@pytest.mark.parametrize("name", CASES)
def test_the_claim_holds_for_the_code(name: str, seed: int | None) -> None:
    options, arguments, loss = CASES[name]
    mechanism = lt.adapters.diffprivlib(
        made(name, epsilon=1.0, random_state=seed, **options), **arguments
    )
    assert (mechanism.epsilon, mechanism.delta) == (1.0, 0.0)
    law = lt.ProductDistribution.uniform(mechanism.domain)
    verdict = lt.check_privacy(mechanism, law, epsilon=mechanism.epsilon, method="exhaustive")
    assert verdict.decision == "YES"
    found = verdict.largest_loss
    assert found == pytest.approx(loss, abs=1e-9) if loss else 0.2 < found <= 1.0 + 1e-9
    below = lt.check_privacy(mechanism, law, epsilon=0.9 * found, method="exhaustive")
    assert below.decision == "NO"
    assert below.witness is not None
    assert below.witness.verify(mechanism)


def test_neighbours_are_as_far_apart_as_the_sensitivity() -> None:
    wide = made("GeometricTruncated", epsilon=1.0, sensitivity=2, lower=0, upper=5)
    mechanism = lt.adapters.diffprivlib(wide)
    assert mechanism.domain == lt.Hypergrid([3])
    assert lt.exact_epsilon(mechanism, mechanism.domain).value == pytest.approx(1.0)
    given = lt.adapters.diffprivlib(wide, domain=lt.Hypergrid([6]), value=lambda data: int(data[0]))
    assert lt.exact_epsilon(given, given.domain).value == pytest.approx(0.5)
    with pytest.raises(lt.errors.InputError, match="at most 0 apart"):
        lt.adapters.diffprivlib(
            made("Geometric", epsilon=1.0, sensitivity=0), domain=lt.Hypergrid([3])
        )


def test_a_wrong_sensitivity_is_found_in_the_code() -> None:
    mechanism = lt.adapters.diffprivlib(
        made("GeometricTruncated", epsilon=1.0, sensitivity=1, lower=0, upper=5),
        value=lambda data: 2 * int(data[0]),
        domain=lt.Hypergrid([3]),
    )
    verdict = lt.check_privacy(
        mechanism, lt.ProductDistribution.uniform(mechanism.domain), epsilon=mechanism.epsilon
    )
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.loss == pytest.approx(2.0)


def test_the_support_of_the_geometric_mechanism_ends() -> None:
    """Its floats reach about 36 / epsilon to either side, where pure privacy ends."""
    mechanism = lt.adapters.diffprivlib(made("Geometric", epsilon=1.0), domain=lt.Hypergrid([4]))
    law = lt.ProductDistribution.uniform(mechanism.domain)
    assert lt.check_privacy(mechanism, law, epsilon=1.0, delta=1e-12).decision == "YES"
    pure = lt.check_privacy(mechanism, law, epsilon=1.0)
    assert pure.decision == "NO"
    assert pure.witness is not None
    assert math.isinf(pure.largest_loss)
    assert pure.witness.verify(mechanism)


def test_selection_is_rebuilt_by_the_library_for_each_dataset() -> None:
    own = made("Exponential", epsilon=2.0, sensitivity=1, utility=[0.0, 0.0, 0.0])
    mechanism = lt.adapters.diffprivlib(own, utility=scores, domain=lt.Hypergrid([3, 3]))
    weights = np.exp([2.0, 1.0, 0.0])
    law = lt.output_law(mechanism, np.array([2, 0]))
    for k, weight in enumerate(weights):
        assert law[k] == pytest.approx(weight / weights.sum(), abs=1e-12)
    assert own.utility == [0.0, 0.0, 0.0]


def test_permute_and_flip_is_what_its_paper_says() -> None:
    """McKenna and Sheldon, 2020: a candidate comes if none before it in a random order did."""
    own = made("PermuteAndFlip", epsilon=2.0, sensitivity=1, utility=[0.0, 0.0, 0.0])
    mechanism = lt.adapters.diffprivlib(own, utility=scores, domain=lt.Hypergrid([3, 3]))
    hits = np.exp([0.0, -1.0, -2.0])  # of scores 2, 1 and 0
    law = lt.output_law(mechanism, np.array([2, 0]))
    expected = np.zeros(3)
    for order in itertools.permutations(range(3)):
        missed = 1.0
        for k in order:
            expected[k] += missed * hits[k] / 6
            missed *= 1 - hits[k]
    for k, weight in enumerate(expected):
        assert law[k] == pytest.approx(weight, abs=1e-12)


def test_permute_and_flip_is_proved_and_refuted() -> None:
    """Two candidates, one may gain a vote: the other one's 1/2 falls to 1/(2e), a loss of 1."""
    own = made("PermuteAndFlip", epsilon=2.0, sensitivity=1, utility=[0.0, 0.0])
    mechanism = lt.adapters.diffprivlib(
        own, utility=lambda data: [float(data[0]), 0.0], domain=lt.Hypercube(1)
    )
    law = mechanism.domain
    assert lt.check_privacy(mechanism, law, epsilon=1.0, delta=1e-12).decision == "YES"
    verdict = lt.check_privacy(mechanism, law, epsilon=0.9, delta=1e-12)
    assert verdict.decision == "NO"
    assert verdict.witness is not None


def counted(data: Any) -> Any:
    return np.bincount(data, minlength=3).tolist()


def test_permute_and_flip_is_proved_at_any_size() -> None:
    domain = lt.RecordGrid([3] * 5000)
    own = made("PermuteAndFlip", epsilon=1.0, sensitivity=1, utility=[0.0, 0.0, 0.0])
    mechanism = lt.adapters.diffprivlib(own, utility=counted, domain=domain)
    verdict = lt.check_privacy(mechanism, domain, epsilon=1.0, delta=1e-12)
    assert verdict.decision == "YES"
    assert verdict.guarantee.kind == "proof"
    assert verdict.largest_loss == pytest.approx(1.0)
    small = lt.RecordGrid([3])
    mechanism = lt.adapters.diffprivlib(own, utility=counted, domain=small)
    refuted = lt.check_privacy(mechanism, small, epsilon=0.5, delta=1e-12)
    assert refuted.decision == "NO"
    assert refuted.witness is not None
    assert refuted.witness.verify(mechanism)


def test_permute_and_flip_is_proved_where_code_calls_it() -> None:
    def winner(data: Any) -> int:
        from diffprivlib.mechanisms import PermuteAndFlip

        scores = np.bincount(data, minlength=3).tolist()
        chosen: int = PermuteAndFlip(epsilon=1.0, sensitivity=1, utility=scores).randomise()
        return chosen

    verdict = lt.check_privacy(
        lt.mechanism(winner), lt.RecordGrid([3] * 5000), epsilon=1.0, delta=1e-12
    )
    assert verdict.decision == "YES"


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("Laplace", {"sensitivity": 1}, "it has continuous outputs"),
        ("Snapping", {"sensitivity": 1, "lower": 0, "upper": 4}, "it has continuous outputs"),
        ("GaussianDiscrete", {"delta": 1e-3}, "loop without an end"),
        ("Vector", {"function_sensitivity": 1, "dimension": 2}, "it has continuous outputs"),
        ("Geometric", {}, "give domain="),
        ("Exponential", {"sensitivity": 1, "utility": [0.0, 1.0]}, "give utility="),
    ],
)
def test_what_has_no_law_is_refused(name: str, options: dict[str, Any], why: str) -> None:
    with pytest.raises(lt.errors.InputError, match=why):
        lt.adapters.diffprivlib(made(name, epsilon=0.9, **options))


def test_no_mechanism_is_an_input_error() -> None:
    for wrong in (type(made("Geometric", epsilon=1.0)), len, None):
        with pytest.raises(lt.errors.InputError, match="is not a diffprivlib mechanism"):
            lt.adapters.diffprivlib(wrong)


def test_it_travels_to_workers() -> None:
    mechanism = lt.adapters.diffprivlib(made("Binary", epsilon=1.0, value0="a", value1="b"))
    copy = pickle.loads(pickle.dumps(mechanism))
    assert copy.notes == mechanism.notes
    assert dict(lt.output_law(copy, np.array([0]))) == dict(lt.output_law(mechanism, np.array([0])))


OBJECTS = """\
import diffprivlib.mechanisms as dm

free = dm.Geometric(epsilon=0.5, sensitivity=1)
smooth = dm.Laplace(epsilon=0.5, sensitivity=1)


def draw(data, rng):
    return smooth.randomise(float(data.sum()))
"""


def test_on_the_command_line_the_example_is_of_the_object(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "objects.py").write_text(OBJECTS)
    (tmp_path / "mine.py").write_text(OBJECTS)
    for name, epsilon in (("free", "0.5"), ("smooth", "1")):
        assert main(["check", f"objects.py:{name}", "--epsilon", epsilon]) == 2
        example = capsys.readouterr().err.rpartition("Example: liptest ")[2].split()
        few = ["--samples", "2000"] if example[0] == "samples" else ["--delta", "1e-12"]
        assert main([*example, *few]) in (0, 3)
        capsys.readouterr()
    with pytest.raises(TypeError, match=r"lt\.check_privacy\(measurement, lt\.Hypergrid\(\[10\]\)"):
        lt.check_privacy(made("Geometric", epsilon=0.5), epsilon=0.5)  # type: ignore[call-arg]
