"""The pytest plugin, run in projects of its own."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import liptest as lt
from liptest import testing
from liptest.privacy.check import check_privacy
from liptest.testing.contract import check_tester
from liptest.testing.pytest_plugin import SEED, ClaimNotConfirmed, assert_private

pytest_plugins = ["pytester"]

# A session inside of this one forgets the modules that it was the first to load; records that are
# read later would no longer find their classes.
PRELOADED = [getattr(lt, name) for name in ("mechanism", "check_samples", "verify")]

PROJECT = """
import numpy as np
import pytest
import liptest as lt
from liptest.testing.pytest_plugin import assert_private

P = 0.7310585786300049  # e / (1 + e)

@lt.mechanism
def rr(data, rng):
    return tuple(int(bit) if rng.random() < P else 1 - int(bit) for bit in data)

@lt.mechanism
def loses_noise(data, rng):
    return int(data.sum()) if data[0] else int(data.sum()) + int(rng.random() < 0.5)

BITS = lt.ProductDistribution.uniform(lt.Hypercube(3))
"""


def _loses_noise(data, rng):
    """As in ``PROJECT``, where it is decorated."""
    return int(data.sum()) if data[0] else int(data.sum()) + int(rng.random() < 0.5)


STRICT = ("--strict-markers", "-W", "error", "-p", "no:cacheprovider")


@pytest.fixture
def run(pytester, monkeypatch):
    """Write tests below PROJECT and run them."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)

    def running(tests, *arguments):
        pytester.makepyfile(test_it=PROJECT + tests)
        return pytester.runpytest_inprocess(*STRICT, *arguments)

    return running


def properties(path):
    """Of each test case by name, from a JUnit XML file."""
    cases = ElementTree.parse(path).iter("testcase")
    return {
        case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")}
        for case in cases
    }


@pytest.mark.slow
def test_a_true_claim_passes_as_function_fixture_and_marker(run):
    result = run(
        """
def test_function():
    verdict = assert_private(rr, BITS, epsilon=1)
    assert verdict.guarantee.kind == "proof"

def test_fixture(assert_private):
    assert_private(rr, BITS, epsilon=1, method="neighbourhoods", failure_probability=0.01)

@pytest.mark.private(rr, BITS, epsilon=1)
@pytest.mark.private(rr, BITS, epsilon="log(3)")
class TestMarker:
    def test_one(self):
        pass
"""
    )
    result.assert_outcomes(passed=3)


@pytest.mark.slow
def test_a_false_claim_fails_with_the_witness_and_how_to_see_it_again(run, pytester):
    tests = """
def test_fine():
    pass

@pytest.mark.parametrize("size", [2, 3])
def test_bad(size):
    data = lt.ProductDistribution.uniform(lt.Hypercube(size))
    assert_private(loses_noise, data, epsilon=1)
"""
    result = run(tests, "-k", "fine or 3")
    result.assert_outcomes(passed=1, failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        [
            "*ClaimNotConfirmed: loses_noise: NO",
            "E *NO refuted with a witness",
            "E *two datasets of 3 records, equal except for record * (counted from 0):",
            "E *- [01] [01] [01]",
            "E *+ [01] [01] [01]",
            "E *? *^*",
            "E *probability of output *:",
            "E *loss infinite, claim at most 1 (epsilon 1)",
            "E *To run it again: pytest *",
            "E *Both output distributions: lt.output_law(loses_noise, *)",
        ]
    )
    text = result.stdout.str()
    for law in re.findall(r"(lt\.output_law\(.*\))", text):
        for given in (_loses_noise, lt.mechanism(_loses_noise)):
            assert sum(eval(law, {"lt": lt, "np": np, "loses_noise": given}).values()) == 1.0
    assert "check.py" not in text
    command = re.search(r"To run it again: pytest (.*)", text).group(1)
    again = pytester.runpytest_inprocess(*STRICT, *shlex.split(command))
    again.assert_outcomes(failed=1)


@pytest.mark.slow
def test_the_command_starts_where_it_is_typed(pytester, monkeypatch):
    folder = pytester.mkdir("deep")
    pytester.makeini("[pytest]")
    (folder / "test_it.py").write_text(
        PROJECT + "def test_bad():\n    assert_private(loses_noise, BITS, epsilon=1)\n"
    )
    monkeypatch.chdir(folder)
    result = pytester.runpytest_inprocess(*STRICT)
    result.assert_outcomes(failed=1)
    assert "To run it again: pytest test_it.py::test_bad" in result.stdout.str()


@pytest.mark.slow
def test_inconclusive_fails_with_its_reason(run):
    result = run(
        """
def test_budget():
    assert_private(rr, BITS, epsilon=1, method="neighbourhoods", budget=100)
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*: rr: INCONCLUSIVE", "E *INCONCLUSIVE the budget ended*"])


def test_bad_input_and_a_broken_mechanism_fail_with_their_own_words(run):
    result = run(
        """
@lt.mechanism
def broken(data, rng):
    raise KeyError("always")

def test_input():
    assert_private(rr, BITS, epsilon=0)

def test_broken():
    assert_private(broken, BITS, epsilon=1)

@pytest.mark.private(rr, epsilon=1)
def test_marker():
    raise AssertionError("the body ran")
"""
    )
    result.assert_outcomes(failed=3)
    text = result.stdout.str()
    assert "InputError: epsilon=0" in text
    assert "MechanismError: broken" in text
    assert "missing a required argument: 'distribution'; write private(mechanism, " in text
    assert "the body ran" not in text
    assert "check.py" not in text


@pytest.mark.slow
def test_a_failing_marker_keeps_the_test_from_running(run):
    result = run(
        """
import unittest

@pytest.mark.private(loses_noise, BITS, epsilon=1)
def test_function():
    raise RuntimeError("the body ran")

@pytest.mark.private(loses_noise, BITS, epsilon=1)
class TestCase(unittest.TestCase):
    def test_method(self):
        raise RuntimeError("the body ran")

@pytest.mark.xfail(strict=True)
@pytest.mark.private(loses_noise, BITS, epsilon=1)
def test_expected():
    pass
"""
    )
    result.assert_outcomes(failed=2, xfailed=1)
    assert "the body ran" not in result.stdout.str()


@pytest.mark.slow
def test_properties_reach_junit_xml(run, pytester):
    tests = """
def test_proof():
    assert_private(rr, BITS, epsilon=1)

def test_three():
    assert_private(rr, BITS, epsilon=2)
    with pytest.raises(AssertionError):
        assert_private(loses_noise, BITS, epsilon=1)
    assert_private(rr, BITS, epsilon=1)

def test_none():
    pass
"""
    run(tests, "--junit-xml=out.xml").assert_outcomes(passed=3)
    found = properties(pytester.path / "out.xml")
    assert found["test_none"] == {}
    loss = float(found["test_proof"].pop("liptest.largest_loss"))
    assert loss == pytest.approx(1.0)
    assert (
        found["test_proof"].items()
        >= {
            "liptest.checks": "1",
            "liptest.laws": "8",
            "liptest.pairs": "12",
            "liptest.mechanism": "rr",
            "liptest.claim": "epsilon 1",
            "liptest.decision": "YES",
            "liptest.guarantee": "proof",
            "liptest.method": "exhaustive",
            "liptest.seed": str(SEED),
        }.items()
    )
    assert found["test_three"]["liptest.checks"] == "3"
    assert found["test_three"]["liptest.mechanism"] == "loses_noise"
    assert found["test_three"]["liptest.decision"] == "NO"
    assert found["test_three"]["liptest.largest_loss"] == "inf"


SAMPLED = """
def test_sampled():
    assert_private(rr, BITS, epsilon=1, method="edges", exception_mass=0.1)

def test_own_seed():
    assert_private(rr, BITS, epsilon=1, method="edges", exception_mass=0.1, seed=5)
"""


@pytest.mark.slow
def test_a_run_is_deterministic_and_the_seed_can_be_chosen(run, pytester):
    def seeds(*arguments):
        run(SAMPLED, "--junit-xml=out.xml", *arguments).assert_outcomes(passed=2)
        return properties(pytester.path / "out.xml")

    first = seeds()
    assert seeds() == first
    assert first["test_sampled"]["liptest.seed"] == str(SEED)
    assert first["test_own_seed"]["liptest.seed"] == "5"
    chosen = seeds("--liptest-seed=7")
    assert chosen["test_sampled"]["liptest.seed"] == "7"
    assert chosen["test_own_seed"]["liptest.seed"] == "5"
    fresh = [seeds("--liptest-seed=random")["test_sampled"]["liptest.seed"] for _ in range(2)]
    assert len({*fresh, str(SEED)}) == 3


@pytest.mark.slow
def test_a_failure_under_a_seed_of_its_own_names_it(run, pytester):
    tests = """
def test_bad():
    assert_private(loses_noise, BITS, epsilon=1, method="neighbourhoods")
"""
    result = run(tests, "--liptest-seed=random")
    command = re.search(r"To run it again: pytest (.*)", result.stdout.str()).group(1)
    assert re.fullmatch(r"test_it.py::test_bad --liptest-seed=\d+", command)
    again = pytester.runpytest_inprocess(*STRICT, *shlex.split(command))
    again.assert_outcomes(failed=1)
    assert command in again.stdout.str()


@pytest.mark.parametrize("seed", ["x", "-1", "1.5", ""])
def test_a_seed_that_is_none_is_refused(run, seed):
    result = run(SAMPLED, f"--liptest-seed={seed}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*must be a whole number of at least 0, or random"])


@pytest.mark.slow
def test_beside_hypothesis(run, pytester):
    tests = """
from hypothesis import given, settings, strategies as st

@settings(max_examples=20, derandomize=True, database=None, deadline=None)
@given(st.integers(1, 9))
def test_all_pass(assert_private, tenths):
    p = tenths / 10

    @lt.mechanism
    def coin(data, rng):
        return rng.random() < p

    assert_private(coin, BITS, epsilon=0.01)

@settings(max_examples=20, derandomize=True, database=None, deadline=None)
@given(st.integers(1, 4))
def test_fails(assert_private, size):
    data = lt.ProductDistribution.uniform(lt.Hypercube(size))
    assert_private(loses_noise, data, epsilon=1)
"""
    result = run(tests, "--junit-xml=out.xml")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*two datasets of 1 record, *", "*size=1,*"])
    found = properties(pytester.path / "out.xml")
    assert int(found["test_all_pass"]["liptest.checks"]) >= 5
    assert len(found["test_all_pass"]) < 20


@pytest.mark.slow
def test_with_xdist(run, pytester):
    tests = SAMPLED + "\ndef test_bad():\n    assert_private(loses_noise, BITS, epsilon=1)\n"
    run(tests, "--junit-xml=alone.xml").assert_outcomes(passed=2, failed=1)
    both = pytester.runpytest_subprocess(*STRICT, "-n", "2", "--junit-xml=two.xml")
    both.assert_outcomes(passed=2, failed=1)
    both.stdout.fnmatch_lines(["*To run it again: pytest test_it.py::test_bad"])
    alone, two = (properties(pytester.path / f"{name}.xml") for name in ("alone", "two"))
    assert alone == two


def test_samplers_are_tested_by_samples(run, pytester):
    result = run(
        """
EVEN = lt.Sampler(lambda x, n, rng: rng.integers(0, 2, n), name="even")
LEAK = lt.Sampler(lambda x, n, rng: x[0] + rng.integers(0, 2, n), name="leak")
ONE = lt.ProductDistribution.uniform(lt.Hypercube(1))

def test_good(assert_private):
    found = assert_private(EVEN, ONE, epsilon=1, failure_probability=0.01, budget=200_000)
    assert type(found).__name__ == "BlackBoxVerdict"

@pytest.mark.private(LEAK, BITS, epsilon=1, budget=100_000)
def test_bad():
    pass
""",
        "--junitxml=junit.xml",
    )
    result.assert_outcomes(passed=1, failed=1)
    text = result.stdout.str()
    for words in (
        "leak: NO",
        "NO by samples - a statistical refutation, not a certain one",
        "Two datasets differ only in record 0",
        "with confidence",
        "To run it again: pytest test_it.py::test_bad",
    ):
        assert words in text
    assert "Certain" not in text
    assert "lt.output_law" not in text
    told = properties(pytester.path / "junit.xml")
    assert told["test_good"]["liptest.method"] == told["test_bad"]["liptest.method"] == "black-box"
    assert told["test_good"]["liptest.guarantee"] == "statistical comparison"
    assert told["test_bad"]["liptest.laws_from"] == "samples"
    assert told["test_bad"]["liptest.failure_probability"] == "1e-06"


@pytest.mark.slow
def test_without_the_plugin_the_function_still_works(pytester):
    tests = """
def test_good():
    assert_private(rr, BITS, epsilon=1)

def test_bad():
    assert_private(loses_noise, BITS, epsilon=1)
"""
    pytester.makepyfile(test_it=PROJECT + tests)
    result = pytester.runpytest_subprocess(*STRICT, "-p", "no:liptest", "--junit-xml=out.xml")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*To run it again: pytest test_it.py::test_bad"])
    assert not any(properties(pytester.path / "out.xml").values())


@pytest.mark.slow
def test_a_session_inside_of_a_test_keeps_its_checks_to_itself(run, request):
    run("def test_inner():\n    assert_private(rr, BITS, epsilon=1)\n").assert_outcomes(passed=1)
    before = list(request.node.user_properties)
    assert before == []


def test_the_arguments_are_those_of_check_privacy():
    ours, theirs = (inspect.signature(f).parameters for f in (assert_private, check_privacy))
    assert list(ours) == list(theirs)
    assert [str(p) for p in ours.values()] == [str(p) for p in theirs.values()]


@pytest.mark.slow
def test_the_exception_holds_the_verdict_and_is_an_assertion_error():
    @lt.mechanism
    def leak(data, rng):
        return int(data[0])

    bits = lt.ProductDistribution.bernoulli(np.full(2, 0.5))
    with pytest.raises(AssertionError) as caught:
        assert_private(leak, bits, epsilon=1)
    assert isinstance(caught.value, ClaimNotConfirmed)
    assert caught.value.verdict.witness.verify(leak)


def test_the_testing_package_has_the_names_of_its_parts():
    for name in testing.__all__:
        assert getattr(testing, name).__name__ == name
    assert testing.assert_private is assert_private
    assert testing.check_tester is check_tester
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = testing.nothing


@pytest.mark.slow
def test_loading_the_plugin_costs_strangers_nothing():
    code = (
        "import sys, liptest.testing.pytest_plugin; "
        "sys.exit(any(m in sys.modules for m in ('numpy', 'flint', 'rich', 'hypothesis')))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False)
    assert done.returncode == 0


@pytest.mark.slow
def test_a_session_that_does_not_use_it_loads_no_numpy(pytester):
    pytester.makepyfile(
        """
        import sys

        def test_light():
            assert "liptest.testing.pytest_plugin" in sys.modules
            assert "numpy" not in sys.modules
        """
    )
    pytester.runpytest_subprocess(*STRICT).assert_outcomes(passed=1)


# Hypothesis fails what draws slowly, as everything does on a busy machine.
ANY_SPEED = """
from hypothesis import HealthCheck, settings
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any")
"""


@pytest.mark.slow
def test_the_page_on_pytest_shows_what_happens(pytester):
    page = (Path(__file__).parents[3] / "docs" / "pytest.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    named = [block for block in blocks if block.startswith("# ")]
    assert len(named) == 2
    files = dict(block.removeprefix("# ").split("\n", 1) for block in named)
    for name, content in files.items():
        (pytester.path / name).write_text(content)
    [shown] = re.findall(r"^```\n\$ pytest\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1, passed=2)
    printed = result.stdout.str()
    lines = [line.rstrip() for line in shown.splitlines() if line.startswith(("E", ">", "    def"))]
    assert len(lines) > 20
    assert "\n".join(lines[1:]) in "\n".join(line.rstrip() for line in printed.splitlines())
    # The other blocks of the page, as tests that pass.
    others = [
        block for block in blocks if not block.startswith("# ") and "count, data" not in block
    ]
    assert len(others) == 3
    start = files["test_claims.py"].split("\n\n\ndef ")[0]
    (pytester.path / "test_others.py").write_text("\n\n".join([start, *others]))
    (pytester.path / "conftest.py").write_text(ANY_SPEED)
    again = pytester.runpytest_subprocess("-p", "no:cacheprovider", "test_others.py")
    again.assert_outcomes(passed=3)


@pytest.mark.slow
def test_laws_are_offered_where_single_outputs_have_probabilities():
    def noisy(data, rng):
        return float(data.sum() + rng.laplace(0, 0.5))

    def counted(people, rng):
        return int(people["region"].eq("north").sum() > rng.integers(2))

    table = lt.Table({"region": lt.Category(["north", "south"])}, rows=1)
    for mechanism, data, offered in (
        (_loses_noise, lt.Hypercube(2), True),
        (noisy, lt.Hypercube(2), False),
        (counted, table, False),
    ):
        with pytest.raises(AssertionError) as raised:
            assert_private(mechanism, data, epsilon=0.1)
        assert ("lt.output_law" in str(raised.value)) is offered
