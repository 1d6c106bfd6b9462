"""The second line of a verdict: what NumPy's floats give away (docs/theory/floats.md)."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from functools import partial
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.numbers import float_paths
from liptest.evidence.certificate import certify, document_digest
from liptest.evidence.verify import problems
from liptest.floats.records import AsImplemented, ImpossibleOutput
from liptest.privacy.claims import Claim
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.privacy.wording.implemented import FEW_DRAWS, examine_floats
from liptest.report.html import report_html
from liptest.runs.fingerprints import fingerprint

FIVE = lt.Hypercube(5)


@lt.mechanism
def textbook(data, rng):
    return data.sum() + rng.laplace(0, 1.0)


@lt.mechanism
def by_place(data, rng):
    return rng.laplace(data.sum(), 1.0)


@lt.mechanism
def of_the_process(data):
    return float(data.sum()) + np.random.laplace(0, 1.0)


@lt.mechanism
def two_numbers(data, rng):
    return {"n": 5, "noisy": data.sum() + rng.laplace(0, 1.0, size=2)}


@lt.mechanism
def cut_below(data, rng):
    return max(0.0, data.sum() + rng.laplace(0, 1.0))


@lt.mechanism
def exponential_of_the_process(data):
    return data.sum() - np.random.exponential(1.0)


@lt.mechanism
def logistic(data, rng):
    return rng.logistic(0, 2.0) + float(data.sum())


@lt.mechanism
def tails_only(data, rng):
    return round(data.sum() + rng.laplace(0, 1.0))


@lt.mechanism
def clipped(data, rng):
    return int(np.clip(round(data.sum() + rng.laplace(0, 1.0)), -8, 8))


@lt.mechanism
def snapped(data, rng):
    return float(np.clip(4 * round((data.sum() + rng.laplace(0, 2.0)) / 4), -40, 40))


@lt.mechanism
def coin(data, rng):
    return bool(data[0]) ^ bool(rng.random() < 0.25)


@lt.mechanism
def two_draws(data, rng):
    return data.sum() + rng.laplace(0, 1.0) + rng.laplace(0, 1.0)


def checked(mechanism: Any, **options: Any) -> PrivacyVerdict:
    return lt.check_privacy(mechanism, FIVE, epsilon=1, seed=1, **options)


def witness_of(verdict: PrivacyVerdict) -> ImpossibleOutput:
    assert verdict.implemented is not None
    assert verdict.implemented.decision == "NO"
    witness = verdict.implemented.witness
    assert witness is not None
    return witness


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [textbook, by_place, logistic, cut_below])
def test_an_unmodified_default_rng_replays_the_witness(mechanism: Any) -> None:
    witness = witness_of(lt.check_privacy(mechanism, FIVE, epsilon=2, seed=1))
    rng = np.random.default_rng()
    state, increment = witness.state
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": increment},
        "has_uint32": 0,
        "uinteger": 0,
    }
    assert mechanism(np.array(witness.dataset), rng) == float.fromhex(witness.output)
    if witness.point is not None:
        again = witness.generator_there()
        assert again.random() == witness.point * 2.0**-53
    # Nearby runs on the neighbour give anything but this.
    for seed in range(200):
        other = mechanism(np.array(witness.neighbour), np.random.default_rng(seed))
        assert other != float.fromhex(witness.output)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [of_the_process, exponential_of_the_process])
def test_a_random_state_replays_the_witness(mechanism: Any) -> None:
    if mechanism is of_the_process:
        witness = witness_of(checked(mechanism))
    else:
        verdict = checked(mechanism, floats="implemented")
        assert verdict.decision == "NO"
        witness = witness_of(verdict)
    assert witness.generator == "RandomState"
    before = np.random.get_state()
    try:
        np.random.set_state(witness.generator_there().get_state())
        assert mechanism(np.array(witness.dataset)) == float.fromhex(witness.output)
    finally:
        np.random.set_state(before)


@pytest.mark.slow
def test_the_line_of_the_textbook_mechanism() -> None:
    verdict = checked(textbook)
    assert verdict.decision == "YES"
    assert verdict.implemented is not None
    line = str(verdict.implemented)
    assert line in str(verdict)
    assert line.startswith("As implemented: NO. Output ")
    assert "occurs on the first dataset (grid point j = " in line
    assert "and on no draw under the second; " in line
    assert "2^-45" in line
    assert f"NumPy {np.__version__}" in line
    assert 0.5 < verdict.implemented.share < 0.82
    assert type(verdict).from_json(verdict.to_json()) == verdict
    assert json.loads(verdict.to_json())["implemented"]["decision"] == "NO"


@pytest.mark.slow
def test_ideal_leaves_the_line_away_and_implemented_decides() -> None:
    ideal = checked(textbook, floats="ideal")
    assert ideal.decision == "YES"
    assert ideal.implemented is None
    real = checked(textbook, floats="implemented")
    assert real.decision == "NO"
    assert real.implemented is not None
    assert real.implemented.share > 0.7
    assert "NO as implemented" in str(real)
    open_ = checked(two_draws, floats="implemented")
    assert open_.decision == "INCONCLUSIVE"
    assert "several draws" in open_.reason
    assert checked(coin, floats="implemented").decision == checked(coin).decision


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(lt.errors.InputError, match="floats='real' is unknown"):
        checked(textbook, floats="real")


@pytest.mark.slow
def test_a_witness_among_several_numbers() -> None:
    witness = witness_of(lt.check_privacy(two_numbers, FIVE, epsilon=3, seed=1))
    output = two_numbers(np.array(witness.dataset), witness.generator_there())
    flat = [output["n"], *output["noisy"]]
    assert flat[witness.place] == float.fromhex(witness.output)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [clipped, snapped, coin])
def test_clipped_snapped_and_discrete_mechanisms_are_never_refuted(mechanism: Any) -> None:
    for epsilon in (1, 2):
        for floats in ("both", "implemented"):
            verdict = lt.check_privacy(mechanism, FIVE, epsilon=epsilon, floats=floats, seed=1)
            found = verdict.implemented
            assert found is None or found.decision != "NO"


@pytest.mark.slow
def test_a_rounded_unclipped_sum_is_refuted_by_its_tail_alone() -> None:
    """I3: pure privacy is lost at the first grid point, of probability 2**-53."""
    witness = witness_of(checked(tails_only))
    assert witness.point in range(1, 7)


@pytest.mark.slow
def test_delta_is_compared_with_the_share() -> None:
    """A claimed delta above all that impossible draws weigh is not refuted; one below is."""
    small = lt.check_privacy(textbook, FIVE, epsilon=1, delta=0.1, floats="implemented", seed=1)
    large = lt.check_privacy(textbook, FIVE, epsilon=1, delta=0.9, floats="implemented", seed=1)
    assert small.decision == "NO"
    assert small.guarantee.failure_probability == 1e-6
    assert "but for an event of probability 1e-06" in str(small)
    assert large.decision == "INCONCLUSIVE"
    assert large.implemented.witness is None


@pytest.mark.slow
def test_several_draws_are_not_analysed() -> None:
    found = lt.check_privacy(two_draws, FIVE, epsilon=3, seed=1).implemented
    assert found is not None
    assert found.decision == "INCONCLUSIVE"
    assert str(found).startswith("As implemented: not analysed: ")


@pytest.mark.slow
def test_verify_replays_the_witness_from_the_certificate() -> None:
    verdict = checked(textbook, floats="implemented")
    uniform = lt.ProductDistribution.uniform(FIVE)
    known = certify(verdict, fingerprint(textbook), uniform, own_seed=True)
    text = known.to_json()
    assert lt.verify(text, textbook)
    document = json.loads(text)
    wrong = AsImplemented.from_dict(document["verdict"]["implemented"])
    assert wrong.witness is not None
    assert not wrong.witness.problems()


@pytest.mark.slow
def test_the_exact_law_of_the_floats_proves_a_clipped_sum() -> None:
    found = checked(clipped).implemented
    assert found is not None
    assert found.decision == "YES"
    assert found.pairs == 80
    assert found.loss is not None
    assert 1.0 <= found.loss[0] <= found.loss[1] < 1.000000002
    assert checked(clipped, floats="implemented").decision == "YES"


@pytest.mark.slow
def test_an_unclipped_sum_holds_with_the_delta_that_is_told() -> None:
    found = checked(tails_only).implemented
    assert found is not None
    assert found.decision == "NO"
    assert found.delta == pytest.approx(3.7e-15, rel=0.1)
    assert "a delta of 3.7e-15 is enough" in str(found)
    kept = lt.check_privacy(tails_only, FIVE, epsilon=1, delta=1e-14, floats="implemented", seed=1)
    assert kept.decision == "YES"


@lt.mechanism
def clipped_by_mistake(data, rng):
    # The scale is half of what the claim needs.
    return int(np.clip(round(data.sum() + rng.laplace(0, 0.5)), -8, 8))


@pytest.mark.slow
def test_a_loss_beyond_the_claim_is_a_no() -> None:
    found = lt.check_privacy(clipped_by_mistake, FIVE, epsilon=1, floats="implemented", seed=1)
    assert found.decision == "NO"
    assert found.implemented is not None
    assert found.implemented.loss is not None
    assert found.implemented.loss[0] == pytest.approx(2.0, rel=1e-4)


def tampered(change: Any) -> list[str]:
    """Problems of a certificate whose witness was changed, with a digest that fits."""
    verdict = checked(textbook, floats="implemented")
    uniform = lt.ProductDistribution.uniform(FIVE)
    document = certify(verdict, fingerprint(textbook), uniform, own_seed=True).to_dict()
    change(document["verdict"]["implemented"]["witness"])
    document["digest"] = document_digest(document)
    return problems(json.dumps(document), textbook)


def possible_output(witness: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    witness["output"] = float(textbook(np.array(witness["neighbour"]), rng)).hex()


def other_call(witness: dict[str, Any]) -> None:
    witness["number"]["method"] = "bytes"
    witness["excluded"][0]["number"]["method"] = "bytes"


def no_neighbours(witness: dict[str, Any]) -> None:
    witness["neighbour"] = [1, 1, 1, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("change", [possible_output, other_call, no_neighbours])
def test_a_witness_that_was_changed_is_noticed(change: Any) -> None:
    assert any(line.startswith("implemented: ") for line in tampered(change))


@pytest.mark.slow
def test_an_analysis_does_not_hang_where_numpy_does() -> None:
    """NumPy's search for such a p never ends at the last grid point: it is not asked there."""

    @lt.mechanism
    def hanging(data, rng):
        return min(int(data.sum() + rng.geometric(0.8239799927123489)), 12)

    for floats in ("both", "implemented"):
        verdict = lt.check_privacy(hanging, FIVE, epsilon=1, floats=floats, seed=1)
        found = verdict.implemented
        assert found is None or str(found).startswith("As implemented: not analysed: ")


@pytest.mark.slow
def test_the_report_tells_the_second_line() -> None:
    page = report_html(checked(textbook))
    assert "As implemented: NO. Output" in page


def sum_of_numpy(data, rng):
    numbers = [0.1 * float(value) for value in data] * 3
    numbers[3] = rng.laplace()
    return np.sum(numbers)


def sum_of_python(data, rng):
    return sum([0.1 * float(value) for value in data], rng.laplace())


def sum_in_a_subscript(data, rng):
    return defaultdict(partial(sum, [rng.laplace(), 0.1, 0.2]))[0]


def short_float(data, rng):
    return np.float32(data.sum() + rng.laplace())


def product(data, rng):
    return data.sum() + rng.laplace() ** 2


def text(data, rng):
    return f"{data.sum() + rng.laplace()}"


def another_kind(data, rng):
    drawn = rng.laplace()
    return 0.0 if drawn.__sizeof__() > 24 else data.sum() + drawn


@pytest.mark.parametrize(
    "function", [sum_of_numpy, sum_of_python, sum_in_a_subscript, short_float, product, text]
)
def test_what_is_not_a_step_is_not_analysed(function: Any) -> None:
    paths = lt.mechanism(function).float_paths(np.array([1, 0, 1]))
    assert not paths.paths
    assert paths.reason


def test_code_that_looks_at_kinds_is_noticed_by_real_runs() -> None:
    found = examine_floats(lt.mechanism(another_kind), FIVE, Claim(1.0, 0.0, 1e-9), draws=FEW_DRAWS)
    assert found.decision == "INCONCLUSIVE"


def test_numbers_of_numpy_are_rounded_as_numpy_does() -> None:
    """``round(x, 2)`` of a NumPy number multiplies, rounds and divides; of a float it does not."""

    def rounded(data, rng):
        return round(data.sum() + rng.laplace(), 2)

    def rounded_float(data, rng):
        return round(float(data.sum()) + rng.laplace(), 2)

    for function in (rounded, rounded_float):
        paths = lt.mechanism(function).float_paths(np.array([1, 0, 1]))
        [path] = paths.paths
        for seed in range(300):
            _, numbers = paths.run(np.random.default_rng(seed))
            assert numbers == (path.entries[0].run(np.random.default_rng(seed)),)


def inverse_cdf(data, rng):
    """Laplace noise as people write it."""
    uniform = rng.random() - 0.5
    return data.sum() - np.sign(uniform) * np.log(1 - 2 * abs(uniform))


def inverse_cdf_of_math(data, rng):
    uniform = rng.random() - 0.5
    sign = 1 if uniform > 0 else -1
    return float(data.sum()) - sign * math.log(1 - 2 * abs(uniform))


def exponential_by_hand(data, rng):
    return data.sum() - 2.0 * math.log(1 - rng.random())


@pytest.mark.slow
def test_an_inverse_cdf_by_hand_has_its_ideal_law() -> None:
    for function in (inverse_cdf, inverse_cdf_of_math):
        found = checked(lt.mechanism(function))
        assert found.decision == "YES"
        assert found.implemented is not None
        assert found.implemented.decision == "NO"
    # Exponential noise is above the answer: no smaller number occurs.
    assert checked(lt.mechanism(exponential_by_hand)).decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize("function", [inverse_cdf, inverse_cdf_of_math, exponential_by_hand])
def test_an_inverse_cdf_by_hand_is_a_function_of_a_grid_point(function: Any) -> None:
    """That its floats give it away is certain."""
    mechanism = lt.mechanism(function)
    verdict = checked(mechanism, floats="implemented")
    assert verdict.decision == "NO"
    witness = witness_of(verdict)
    output = mechanism(np.array(witness.dataset), witness.generator_there())
    assert output == float.fromhex(witness.output)
    for seed in range(100):
        other = mechanism(np.array(witness.neighbour), np.random.default_rng(seed))
        assert other != float.fromhex(witness.output)
    uniform = lt.ProductDistribution.uniform(FIVE)
    known = certify(verdict, fingerprint(mechanism), uniform, own_seed=True)
    assert not problems(known.to_json(), mechanism)


@pytest.mark.slow
def test_an_inverse_cdf_rounded_and_clipped_is_counted_on_the_grid() -> None:
    def rounded(data, rng):
        u = rng.random() - 0.5
        noise = math.copysign(math.log(1 - 2 * abs(u)), u)
        return int(min(max(round(data.sum() + noise), 0), 8))

    def one_sided(data, rng):
        noise = -math.log(1 - rng.random())
        return int(min(max(round(data.sum() + noise), 0), 8))

    for function, decision in ((rounded, "YES"), (one_sided, "NO")):
        known = lt.mechanism(function)
        found = examine_floats(known, lt.Hypercube(2), Claim(1.0, 0.0, 1e-9), draws=FEW_DRAWS)
        assert found.decision == decision


@pytest.mark.slow
def test_many_records_are_read_in_few_real_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of a million records is that of a hundred, from a few runs of the code."""
    runs: dict[int, int] = defaultdict(int)

    def counted(name: str, function: Any, argument: Any, generator: Any) -> Any:
        runs[len(argument)] += 1
        return run_for_real(name, function, argument, generator)

    run_for_real = float_paths._run_for_real
    monkeypatch.setattr(float_paths, "_run_for_real", counted)
    claim = Claim(1.0)
    for records in (100, 1_000_000):
        told = examine_floats(textbook, lt.Hypercube(records), claim, draws=FEW_DRAWS)
        assert told.decision == "NO"
        assert told.witness is not None
        assert len(told.witness.dataset) == records
    assert runs[100] > 200
    assert runs[1_000_000] <= 16


def counted_one_by_one(data, rng):
    total = 0
    for value in data:
        if value:
            total += 1
    return total + rng.laplace(0, 1.0)


def counted_in_a_list(data, rng):
    return sum(1 for value in data.tolist() if value) + rng.laplace(0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("program", [counted_one_by_one, counted_in_a_list])
def test_many_records_are_not_walked_for_the_line_alone(program, monkeypatch):
    """A proof for any number of records costs the same for a million of them as for a hundred."""
    asked = []
    follow = float_paths.follow_floats
    monkeypatch.setattr(
        "liptest.enumerate.python_function.follow_floats",
        lambda *own, **more: (asked.append(len(own[2])), follow(*own, **more))[1],
    )
    verdict = lt.check_privacy(lt.mechanism(program), lt.Hypercube(200_000), epsilon=1.0)
    assert verdict.decision == "YES"
    assert verdict.guarantee.kind == "proof"
    assert "reads 200,000 records one by one" in verdict.implemented.reason
    assert not asked
    assert lt.check_privacy(lt.mechanism(program), FIVE, epsilon=1.0).implemented.decision == "NO"
    assert asked


def test_many_records_that_numpy_reads_are_examined():
    verdict = lt.check_privacy(textbook, lt.Hypercube(200_000), epsilon=1.0)
    assert verdict.implemented.decision == "NO"


@pytest.mark.slow
def test_under_implemented_many_records_are_walked():
    program = lt.mechanism(counted_in_a_list)
    verdict = lt.check_privacy(program, lt.Hypercube(150_000), epsilon=1.0, floats="implemented")
    assert verdict.decision == "NO"
