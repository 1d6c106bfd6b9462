"""Certificates of samples: what they hold, and that changes are noticed."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import jsonschema
import numpy as np
import pytest

import liptest as lt
from liptest.blackbox.verdicts import BlackBoxVerdict
from liptest.cli import main
from liptest.evidence.certificate import Certificate, certify_samples, is_of_samples, schema
from liptest.evidence.certificate import document_digest as digest
from liptest.evidence.verify import examine

DATA = lt.ProductDistribution.uniform(lt.Hypercube(2))


def leaky(dataset, n, rng):
    return np.where(rng.random(n) < 0.9, dataset[0], 1 - dataset[0])


def even(dataset, n, rng):
    return rng.integers(0, 2, n)


def own_source(dataset, n, rng):
    return np.where(np.random.default_rng().random(n) < 0.9, dataset[0], 1 - dataset[0])


def certificate(function, **options):
    sampler = lt.Sampler(function)
    given = {"epsilon": 1.0, "samples": 40_000, "seed": 5, "resolution": 0.2} | options
    verdict = lt.check_samples(sampler, DATA, **given)
    return certify_samples(verdict, sampler, DATA), sampler


NO, LEAKY = certificate(leaky)
YES, EVEN = certificate(even, failure_probability=0.01)


def test_both_ways_and_the_schema():
    for one, decision in ((NO, "NO"), (YES, "YES")):
        assert one.decision == decision
        document = json.loads(one.to_json())
        jsonschema.validate(document, schema("sample_certificate"))
        assert "black box: " in document["evidence"]
        assert f"{one.verdict.cost.draws:,} samples" in document["evidence"]
        assert Certificate.from_json(one.to_json()) == one
        assert is_of_samples(document)


def test_what_was_written_holds():
    for one, sampler in ((NO, LEAKY), (YES, EVEN)):
        alone = examine(one.to_json())
        assert (alone.problems, alone.certain) == ([], False)
        whole = examine(one, sampler, DATA)
        assert (whole.problems, whole.certain) == ([], True)
        assert any("gives the same counts" in told for told in whole.checked)


def resealed(document):
    return json.dumps({**document, "digest": digest(document)})


def _other(path, value):
    def change(document):
        inner = document
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        return document

    return change


def test_there_are_bounds_to_tamper_with():
    assert NO.verdict.witness in NO.verdict.bounds


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_other(["verdict", "decision"], "YES"), "the bounds do not give it"),
        (_other(["verdict", "witness"], None), "the bounds do not give it"),
        (_other(["verdict", "witness", "lower_bound"], 1.7), "the bounds do not give it"),
        (_other(["verdict", "bounds", -1, "lower_bound"], 9.0), "does not follow from"),
        (_other(["verdict", "bounds", -1, "hits"], [10, 9]), "does not follow from"),
        (_other(["verdict", "bounds", -1, "hits"], [10**9, 0]), "are more than draws"),
        (_other(["verdict", "bounds", -1, "failure_probability"], 0.9), "more often"),
        (_other(["verdict", "cost", "draws"], 5), "evidence"),
        (_other(["evidence"], "a proof"), "evidence"),
        (_other(["time", "seconds"], 1e-3), "time"),
        (_other(["verdict", "largest_loss"], 0.0), "verdict"),
        (_other(["not_covered"], "nothing"), "not_covered"),
        (_other(["code", "hash"], "x"), "must match"),
        (_other(["extra"], 1), "unknown key"),
        (_other(["verdict", "kind"], "proof"), "black box"),
    ],
)
def test_changes_are_noticed_even_with_a_new_digest(change, told):
    document = change(json.loads(NO.to_json()))
    found = examine(resealed(document), LEAKY)
    assert any(told in problem for problem in found.problems), found.problems


def test_a_changed_document_is_not_read():
    text = NO.to_json().replace('"NO"', '"INCONCLUSIVE"')
    with pytest.raises(lt.errors.InputError, match="digest differs"):
        Certificate.from_json(text)
    for wrong in ("{}", "[]", "no JSON", '{"sample_certificate": 2}'):
        with pytest.raises(lt.errors.InputError, match="certificate"):
            examine(wrong)
    found = examine('{"sample_certificate": 1}')
    assert not found.readable
    assert "sample_certificate lacks 'verdict'" in found.problems
    assert not is_of_samples({"certificate": 1})


def test_another_sampler_or_other_data():
    assert "the code is not the code that was tested" in examine(NO, EVEN).problems[0]
    other = lt.ProductDistribution.uniform(lt.Hypercube(3))
    assert "data: not what was tested" in examine(NO, LEAKY, other).problems[0]


def test_counts_that_the_sampler_does_not_give():
    bound = NO.verdict.witness
    better = replace(bound, hits=(bound.hits[0] + 1, bound.hits[1]))
    verdict = replace(NO.verdict, witness=better, bounds=(*NO.verdict.bounds[:-1], better))
    found = examine(replace(NO, verdict=verdict), LEAKY, DATA)
    assert not any("gives the same counts" in told for told in found.checked)


def test_a_sampler_with_a_source_of_its_own_is_counted_anew():
    one, sampler = certificate(own_source)
    found = examine(one, sampler, DATA)
    assert (found.problems, found.certain) == ([], True)
    assert any("source of its own" in told for told in found.unchecked)
    wrong = replace(YES, code=one.code)
    assert any("gives NO and not YES" in t for t in examine(wrong, sampler, DATA).problems)


def test_listed_pairs_have_a_hash_too():
    pairs = [((0, 0), (1, 0)), ((0, 1), (1, 1))]
    verdict = lt.check_samples(LEAKY, pairs, epsilon=1.0, samples=40_000, seed=5)
    one = certify_samples(verdict, LEAKY, pairs)
    assert one.data_source == "pairs that the caller listed"
    assert examine(one, LEAKY, pairs).problems == []
    assert examine(one, LEAKY, pairs[:1]).problems


def test_check_privacy_by_samples():
    for method in ("auto", "black-box"):
        found = lt.check_privacy(LEAKY, DATA, epsilon=1.0, method=method, budget=40_000, seed=5)
        assert isinstance(found, BlackBoxVerdict)
        assert (
            found.witness
            == lt.check_samples(LEAKY, DATA, epsilon=1.0, samples=40_000, seed=5).witness
        )
    with pytest.raises(lt.errors.InputError, match=r"wrap a function .* in lt\.Sampler"):
        lt.check_privacy(leaky, DATA, epsilon=1.0, method="black-box")
    with pytest.raises(lt.errors.InputError, match="checkpoint: samples alone keep none"):
        lt.check_privacy(LEAKY, DATA, epsilon=1.0, checkpoint="a.json")
    with pytest.raises(lt.errors.InputError, match="a sampler has no output distributions"):
        lt.check_privacy(LEAKY, DATA, epsilon=1.0, method="exhaustive")


VENDOR = """
def leaky(data, n, rng):
    return abs(data[0] - (rng.random(n) < 0.1))

def one(data, rng):
    return int(rng.integers(2))

def boom(data, n, rng):
    raise ValueError("boom")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vendor.py").write_text(VENDOR)
    return tmp_path


@pytest.mark.slow
def test_the_command_and_its_verification(folder, capsys):
    law = ["--dimension", "2", "--probabilities", "0.5"]
    claim = ["--epsilon", "1", "--samples", "40000", "--seed", "5", "--json", "no.json"]
    assert main(["samples", "vendor.py:leaky", *claim, *law]) == 1
    assert "vendor:leaky   claim: epsilon 1\nNO by samples" in capsys.readouterr().out
    assert main(["verify", "no.json"]) == 3
    assert main(["verify", "no.json", "--mechanism", "vendor.py:leaky", *law]) == 0
    assert "repeated from its seed, gives the same counts" in capsys.readouterr().out
    assert main(["verify", "no.json", "--mechanism", "vendor.py:one", "--scalar"]) == 1
    text = (folder / "no.json").read_text()
    (folder / "no.json").write_text(text.replace('"NO"', '"YES"'))
    assert main(["verify", "no.json"]) == 1


@pytest.mark.slow
def test_a_scalar_function_and_wrong_input(folder, capsys):
    law = ["--dimension", "1", "--probabilities", "0.5"]
    claim = ["--epsilon", "1", "--samples", "20000", "--seed", "5", "--failure-probability", "0.01"]
    more = ["--scalar", "--resolution", "0.2"]
    assert main(["samples", "vendor.py:one", *claim, *more, *law]) == 0
    assert main(["samples", "vendor.py:one", *claim, *law]) == 2
    assert main(["samples", "vendor.py:none", *claim, *law]) == 2
    assert main(["samples", "vendor.py:leaky", *claim, "--dimension", "1"]) == 2
    error = capsys.readouterr().err
    assert "did you mean 'one'" in error
    assert main(["samples", "vendor.py:leaky", *claim, *law, "--json", "no/such/folder.json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""  # nothing is run
    assert "--json no/such/folder.json" in captured.err


@pytest.mark.slow
def test_the_command_keeps_a_ledger(folder, capsys):
    law = ["--dimension", "2", "--probabilities", "0.5", "--ledger", "l.db", "--vendor", "acme"]
    claim = ["--epsilon", "log(3)", "--samples", "40000", "--seed", "5"]
    given = [*claim, *law, "--json", "no.json"]
    assert main(["samples", "vendor.py:leaky", *given]) == 1
    assert json.loads((folder / "no.json").read_text())["attempts"] == 1
    more = ["--scalar", "--resolution", "0.3", "--delta", "0.125"]
    assert main(["samples", "vendor.py:one", *given, *more, "--failure-probability", "0.01"]) == 0
    text = (folder / "no.json").read_text()
    assert main(["samples", "vendor.py:boom", *given]) == 4
    ledger = lt.Ledger("l.db")
    first, second, third = ledger.attempts("acme")
    assert [one.decision for one in (first, second, third)] == ["NO", "YES", "none"]
    assert (first.method, first.releases, first.private_table) == ("black-box", 0, None)
    assert first.failure_probability == Fraction(1, 10**6)
    assert second.certificate == json.loads(text)["digest"]
    assert second.seed_source.startswith("caller")
    reached = Certificate.from_json(text).verdict.guarantee.delta
    assert 0.125 <= float(second.delta) == reached < 0.425
    assert second.epsilon >= Fraction(math.log(3))
    assert ledger.summary().total.failure_probability == Fraction(10002, 10**6)
    assert ledger.problems() == []
    with pytest.raises(lt.errors.GateError, match="allows no release"):
        ledger.record_release(second.number)
    capsys.readouterr()
    assert main(["ledger", "show", "l.db", "--vendor", "acme"]) == 0
    assert "YES by black-box" in capsys.readouterr().out


@pytest.mark.slow
def test_refused_arguments_are_no_attempt(folder, capsys):
    law = ["--dimension", "1", "--probabilities", "0.5", "--ledger", "l.db"]
    wrong = (
        ["--epsilon", "-1"],
        ["--epsilon", "1", "--delta", "2"],
        ["--epsilon", "1", "--samples", "10"],
        ["--epsilon", "1", "--resolution", "0"],
        ["--epsilon", "1", "--failure-probability", "1.5"],
        ["--epsilon", "1", "--seed", "-3"],
        ["--epsilon", "1", "--workers", "0"],
    )
    for one in wrong:
        assert main(["samples", "vendor.py:leaky", *one, *law]) == 2, one
    assert lt.Ledger("l.db").attempts() == []


def test_a_ledger_that_cannot_be_written_ends_it_before_a_sample_is_drawn(folder, capsys):
    law = ["--dimension", "1", "--probabilities", "0.5", "--ledger", "no/such/l.db"]
    assert main(["samples", "vendor.py:boom", "--epsilon", "1", *law]) == 2
    assert "no/such" in capsys.readouterr().err
