"""The checker that runs alone: bounds of e^x, decisions on the line, contradictions, one file."""

import ast
import json
import subprocess
import sys
from fractions import Fraction as F
from pathlib import Path

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.evidence import check_witness
from liptest.evidence.check_witness import (
    BREAKS,
    KEEPS,
    OPEN,
    Unreadable,
    exp_bounds,
    log_bounds,
    read,
)
from liptest.evidence.check_witness import StatedClaim as Claim
from liptest.evidence.check_witness import check_certificate as check
from liptest.evidence.check_witness import decide_event as decide
from tests.unit.evidence.certificate_cases import NO, YES, case
from tests.unit.privacy.cases import breaks, exact

FILE = Path(check_witness.__file__)
EXPONENTS = st.fractions(0, 800, max_denominator=10**12)
ARGUMENTS = st.fractions(1, 10**6, max_denominator=10**9).filter(lambda a: a > 1)


def ball(value):
    return arb(value.numerator) / value.denominator


@pytest.mark.slow
@given(EXPONENTS, st.sampled_from([32, 200]))
def test_e_to_the_x_lies_between_its_bounds(exponent, bits):
    low, high = exp_bounds(exponent, bits)
    ctx.prec = 3000
    try:
        truth = ball(exponent).exp()
        assert ball(low) <= truth <= ball(high)
        assert ball(high - low) / truth < arb(2) ** (8 - bits)
    finally:
        ctx.prec = 53


@pytest.mark.slow
@given(ARGUMENTS, st.sampled_from([32, 200]))
def test_the_logarithm_lies_between_its_bounds(argument, bits):
    low, high = log_bounds(argument, bits)
    ctx.prec = 3000
    try:
        assert ball(low) <= ball(argument).log() <= ball(high)
        assert high - low < F(1, 2 ** (bits - 8))
    finally:
        ctx.prec = 53


def claim(epsilon=None, argument=None, delta=0, tolerance=0):
    number = None if epsilon is None else F(epsilon)
    return Claim(number, None if argument is None else F(argument), F(delta), F(tolerance))


def point(value):
    return F(value), F(value)


TINY = F(1, 10**60)
THREE = claim(argument=3)
LINE = {
    "on the line": (THREE, F(3, 4), F(1, 4), 1, KEEPS),
    "above": (THREE, F(3, 4) + TINY, F(1, 4), 1, BREAKS),
    "above, the other way": (THREE, F(1, 4), F(3, 4) + TINY, 1, BREAKS),
    "below": (THREE, F(3, 4) - TINY, F(1, 4), 1, KEEPS),
    "twice as far": (THREE, F(9, 10), F(1, 10), 2, KEEPS),
    "twice as far, above": (THREE, F(9, 10) + TINY, F(1, 10), 2, BREAKS),
    "0 against something": (THREE, F(0), TINY, 1, BREAKS),
    "0 against 0": (THREE, F(0), F(0), 1, KEEPS),
    "1 against 1": (THREE, F(1), F(1), 1, KEEPS),
    "0 against delta": (claim(argument=3, delta=F(1, 8)), F(0), F(1, 8), 1, KEEPS),
    "0 against more": (claim(argument=3, delta=F(1, 8)), F(0), F(1, 8) + TINY, 1, BREAKS),
    "delta on the line": (claim(argument=3, delta=F(1, 8)), F(1, 2), F(1, 8), 1, KEEPS),
    "delta above": (claim(argument=3, delta=F(1, 8)), F(1, 2) + TINY, F(1, 8), 1, BREAKS),
    "delta may grow": (claim(argument=3, delta=0.1, tolerance=1e-9), F(1, 10), F(0), 1, KEEPS),
    "a rational epsilon, below": (claim(1), F(27182818284, 10**11), F(1, 10), 1, KEEPS),
    "a rational epsilon, above": (claim(1), F(27182818285, 10**11), F(1, 10), 1, BREAKS),
    "inside the tolerance": (claim(argument=3, tolerance=1e-9), F(3, 4) + TINY, F(1, 4), 1, KEEPS),
    "an endless epsilon": (claim(10**9), F(1), F(1, 10**99), 1, OPEN),
    "an endless epsilon and a 0": (claim(10**9), F(1), F(0), 1, BREAKS),
}


@pytest.mark.parametrize(("told", "p", "q", "distance", "answer"), LINE.values(), ids=LINE)
def test_on_the_line(told, p, q, distance, answer):
    assert decide(told, point(p), point(q), distance) == answer


def test_what_intervals_leave_open():
    wide = F(74, 100), F(76, 100)
    assert decide(THREE, wide, point(F(1, 4)), 1) == OPEN
    assert decide(THREE, wide, point(F(1, 5)), 1) == BREAKS
    assert decide(THREE, wide, point(F(1, 3)), 1) == KEEPS


LAWS = st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any)
EPSILONS = st.sampled_from([lt.log(2), lt.log("3/2"), 0.5, 1.0, 2.0])


@pytest.mark.slow
@given(LAWS, LAWS, EPSILONS, st.sampled_from([0.0, 0.125, 0.25]), st.sampled_from([0.0, 1e-9]))
def test_it_agrees_with_brute_force_and_with_the_package(left, right, epsilon, delta, tolerance):
    p, q = ([F(weight, sum(side)) for weight in side] for side in (left, right))
    wanted = breaks(p, q, epsilon, delta, tolerance)
    verdict = lt.check_privacy(
        exact(lt.Hypercube(1), [p, q]),
        lt.ProductDistribution.uniform(lt.Hypercube(1)),
        epsilon=epsilon,
        delta=delta,
        tolerance=tolerance,
    )
    assert verdict.decision == ("NO" if wanted else "YES")
    told = check_witness.read_claim(verdict.claim.to_dict())
    subsets = [[i for i in range(3) if mask >> i & 1] for mask in range(8)]
    events = [tuple(point(sum((side[i] for i in s), F(0))) for side in (p, q)) for s in subsets]
    answers = {decide(told, *event, 1) for event in events}
    assert answers == ({BREAKS, KEEPS} if wanted else {KEEPS})
    if wanted:
        witness = verdict.witness.to_dict()
        assert decide(told, *check_witness.masses(witness), 1) == BREAKS


@pytest.mark.parametrize("name", NO)
def test_every_witness_is_decided_from_the_document_alone(name):
    assert check(json.loads(case(name).certificate.to_json())) == BREAKS


def changed(name, path, value):
    """A certificate as a document with one place changed."""
    document = place = json.loads(case(name).certificate.to_json())
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


W = ("verdict", "witness")
CONTRADICTIONS = {
    "another claim": (("verdict", "claim", "epsilon"), 0.5, "another claim"),
    "a distance": ((*W, "distance"), 2, "at distance 1, not 2"),
    "the same dataset": ((*W, "neighbour"), "its own", "at distance 0"),
    "a shorter dataset": ((*W, "dataset"), [0], "2 whole numbers"),
    "a value outside": ((*W, "dataset"), [0, 2], "outside of the domain"),
    "a fraction of a record": ((*W, "dataset"), [0.0, 0], "2 whole numbers"),
    "a truth value": ((*W, "dataset"), [False, 0], "2 whole numbers"),
    "no witness": (W, None, "no 'witness'"),
    "no event": ((*W, "event"), [], "0 outputs"),
    "an event too many": ((*W, "event"), [0, 1], "2 outputs with 1"),
    "no domain": (("domain",), None, "no 'domain'"),
    "an unknown domain": (("domain", "kind"), "sphere", "sphere"),
    "three numbers": ((*W, "bounds"), [["1/4", "1/4", "3/4"]], "four numbers"),
    "above 1": ((*W, "bounds"), [["1/4", "1/4", "3/4", "5/4"]], "four numbers"),
    "upside down": ((*W, "bounds"), [["1/4", "1/5", "3/4", "3/4"]], "four numbers"),
    "by 0": ((*W, "bounds"), [["1/0", "1/4", "3/4", "3/4"]], "divides by 0"),
    "negative": ((*W, "bounds"), [["-1/4", "1/4", "3/4", "3/4"]], "is not a probability such as"),
    "a float": ((*W, "bounds"), [[0.25, "1/4", "3/4", "3/4"]], "is not a probability such as"),
    "too small to print": (
        (*W, "bounds"),
        [["1e-900000", "1", "0", "0"]],
        "is not a probability such as",
    ),
    "epsilon in words": (("verdict", "claim", "epsilon"), "much", "is not a number"),
    "epsilon true": (("verdict", "claim", "epsilon"), True, "is not a number"),
    "epsilon 0": (("verdict", "claim", "epsilon"), 0, "above 0"),
    "epsilon log(1)": (("verdict", "claim", "epsilon"), "log(1)", "above 0"),
    "delta 1": (("verdict", "claim", "delta"), 1, "above 0"),
}


@pytest.mark.parametrize(("path", "value", "words"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_contradictions(path, value, words):
    if value == "its own":
        value = list(case("no").certificate.verdict.witness.dataset)
    with pytest.raises(Unreadable, match=words):
        check(changed("no", path, value))


def test_an_output_counts_once_whatever_its_type():
    """1, 1.0 and true are one output: counted thrice, a third of delta would break the claim."""
    for twin in (1, 1.0, True):
        document = changed("no-delta", (*W, "event"), [twin, 1])
        document["verdict"]["witness"]["bounds"] *= 2
        with pytest.raises(Unreadable, match="twice"):
            check(document)


def test_more_probability_than_there_is():
    document = changed("no-delta", (*W, "event"), [0, 1])
    document["verdict"]["witness"]["bounds"] = [["3/4", "3/4", "1/4", "1/4"]] * 2
    with pytest.raises(Unreadable, match="more than 1"):
        check(document)


def test_unexplored_mass_counts_against_the_witness():
    for rest, answer in (("0", BREAKS), ("1/100", BREAKS), ("1/10", OPEN)):
        assert check(changed("no", (*W, "unexplored"), [rest, rest])) == answer


def test_delta_is_about_neighbours():
    document = changed("no-delta", (*W, "neighbour"), [1, 1])
    document["verdict"]["witness"].update(dataset=[0, 0], distance=2)
    with pytest.raises(Unreadable, match="neighbours"):
        check(document)


@pytest.mark.parametrize(
    "text",
    [
        *("", "3", "{", "[1]", '{"verdict": 1}', '{"certificate": 2}', '{"certificate": true}'),
        *('{"certificate": 1, "certificate": 1}', '{"certificate": NaN}', "[" * 100_000),
    ],
)
def test_what_is_no_certificate(text):
    with pytest.raises(Unreadable):
        read(text)


def test_claims_in_other_forms_are_left_to_liptest():
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2))
    law = lt.ProductDistribution.bernoulli([0.3] * 3)
    for claim in ({"rho": 0.01}, {"renyi": (2, 0.01)}, {"mu": 0.01}, {"curve": {0.1: 1e-6}}):
        gate = lt.PrivacyGate(noisy, law, **claim)
        document = json.loads(gate.certificate.to_json())
        assert document["verdict"]["decision"] == "NO"
        code, words = check_witness._tell(document)
        assert code == 3
        assert "use liptest verify" in words


def run(*files, folder):
    """The file alone: no site packages, no environment, another folder."""
    command = [sys.executable, "-I", "-S", str(folder / "check_witness.py"), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_the_file_runs_alone(tmp_path):
    (tmp_path / "check_witness.py").write_bytes(FILE.read_bytes())
    no, yes = tmp_path / "no.json", tmp_path / "yes.json"
    case("no-floats").certificate.write(no)
    case(YES[0]).certificate.write(yes)
    kept, bad = tmp_path / "kept.json", tmp_path / "bad.json"
    one = ["1/4", "1/4", "1/4", "1/4"]
    kept.write_text(json.dumps(changed("no", (*W, "bounds"), [one])))
    bad.write_text("{}")
    assert run(no, folder=tmp_path) == (
        0,
        f"{no}: the stated probabilities break the stated claim\n",
    )
    for files, code, words in (
        ([yes], 3, "no witness to check"),
        ([kept], 1, "do NOT break"),
        ([bad], 2, "this is not a certificate of liptest"),
        ([tmp_path / "none.json"], 2, "No such file"),
        ([no, yes, kept, bad], 1, "do NOT break"),
        ([], 2, "usage"),
    ):
        found, told = run(*files, folder=tmp_path)
        assert found == code
        assert words in told


def test_it_imports_nothing_but_the_standard_library():
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    assert "fractions" in names
    assert names <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("distance", [1, 3])
@pytest.mark.parametrize("tolerance", [F(0), F(1, 10**9), F(1, 8)])
def test_the_factor_of_a_logarithm_has_its_tolerance(distance, tolerance):
    low, high = Claim(None, F(3), F(0), tolerance).factor(distance, 64)
    saved, ctx.prec = ctx.prec, 256
    try:
        truth = ((arb(3).log() * (1 + ball(tolerance)) + ball(tolerance)) * distance).exp()
        assert ball(low) <= truth or tolerance == 0
        assert truth <= ball(high) or tolerance == 0
        assert abs(ball(high) - truth) < arb(2) ** -40
        assert high - low < F(1, 2**40)
    finally:
        ctx.prec = saved
