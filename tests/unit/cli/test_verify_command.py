"""liptest verify on files that liptest check wrote, of mechanisms as vendors write them."""

import json
import shutil

import pytest

from liptest.cli import main
from liptest.evidence.certificate import document_digest as digest

VENDOR = '''
def shown(data, rng):
    """Leaks the first record once in four times."""
    return int(data[0]) if rng.random() < 0.25 else int(rng.integers(2))


def even(data, rng):
    return int(rng.integers(2))
'''
CONFIG = """
[domain]
dimension = 3

[distribution]
probabilities = 0.25

[[check]]
mechanism = "vendor.py:shown"
epsilon = 1.0
method = "neighbourhoods"
exception_mass = 0.1

[[check]]
mechanism = "vendor.py:shown"
epsilon = 0.25

[[check]]
mechanism = "vendor.py:even"
epsilon = 0.1
"""
LAW = ["--dimension", "3", "--probabilities", "0.25"]


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """The mechanisms, their configuration and the certificates: they are checked once."""
    place = tmp_path_factory.mktemp("checked")
    (place / "vendor.py").write_text(VENDOR)
    (place / "liptest.toml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert main(["check", "--json", "all.json"]) == 1
    for name, one in zip(
        ("yes", "no", "even"), json.loads((place / "all.json").read_text()), strict=True
    ):
        (place / f"{name}.json").write_text(json.dumps(one))
    return place


@pytest.fixture
def folder(checked, tmp_path, monkeypatch, capsys):
    """Such a folder of the test's own."""
    shutil.copytree(checked, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    return tmp_path


def verify(capsys, *arguments):
    """Exit code, standard output, standard error."""
    code = main(["verify", *map(str, arguments)])
    return code, *capsys.readouterr()


@pytest.mark.slow
def test_everything_against_its_configuration(folder, capsys):
    code, out, err = verify(capsys, "all.json", "--config", "liptest.toml")
    assert (code, err) == (0, "")
    assert out.count("HOLDS") == 3
    assert "NOT" not in out
    assert "Checked: the test, repeated from its seed, gives the same numbers" in out
    assert "Checked: the witness's probabilities break the claim, by rationals alone" in out


@pytest.mark.slow
def test_what_is_not_given_is_not_checked(folder, capsys):
    (folder / "liptest.toml").rename(folder / "its.toml")
    mechanism = ["--mechanism", "vendor.py:shown"]
    for arguments, code, words in (
        (["yes.json"], 3, "Not checked: whether code gives these answers"),
        (["no.json"], 3, "Not checked: whether code gives these answers"),
        (["yes.json", *mechanism], 3, "Not checked: seed and counts"),
        (["no.json", *mechanism], 0, "Checked: the mechanism, asked again, breaks the claim"),
        (["yes.json", *mechanism, *LAW], 0, "repeated from its seed, gives the same numbers"),
        (["yes.json", *mechanism, "--probabilities", "0.25"], 0, "repeated from its seed"),
        (["yes.json", *mechanism, "--config", "its.toml"], 0, "repeated from its seed"),
    ):
        found, out, err = verify(capsys, *arguments)
        assert (found, err) == (code, "")
        assert words in " ".join(out.split())


@pytest.mark.slow
def test_a_configuration_beside_it_is_taken_unless_the_file_is_looked_at_alone(folder, capsys):
    for name in ("yes", "no", "even"):
        code, out, _ = verify(capsys, f"{name}.json")
        assert (code, out.count("HOLDS")) == (0, 1)
        code, out, _ = verify(capsys, f"{name}.json", "--alone")
        assert code == 3
        assert "no mechanism was named" in out
    other = (folder / "liptest.toml").read_text().replace("shown", "another")
    (folder / "liptest.toml").write_text(other)
    assert verify(capsys, "no.json")[0] == 3
    assert verify(capsys, "no.json", "--alone", "vendor.py:shown")[0] == 2


@pytest.mark.slow
def test_the_next_command_is_said_and_works(folder, capsys):
    (folder / "liptest.toml").rename(folder / "its.toml")
    for name, code in (("no", 0), ("yes", 3)):
        _, out, _ = verify(capsys, f"{name}.json")
        [command] = [line for line in out.splitlines() if line.startswith("liptest ")]
        assert command == f"liptest verify {name}.json vendor.py:shown"
        assert main(command.split()[1:]) == code
    out = capsys.readouterr().out
    (folder / "its.toml").rename(folder / "liptest.toml")
    command = [line for line in out.splitlines() if line.startswith("liptest ")][-1]
    assert command == "liptest verify yes.json vendor.py:shown --config liptest.toml"
    assert main(command.split()[1:]) == 0


@pytest.mark.slow
def test_a_certificate_alone_runs_nothing_and_says_whether_its_file_is_here(folder, capsys):
    """Whoever writes a certificate does not choose which file of yours is run."""
    (folder / "liptest.toml").unlink()
    own, ran = folder / "own.py", folder / "ran"
    tested = f"import pathlib\npathlib.Path('ran').touch()\n{VENDOR}"
    own.write_text(tested)
    law = ["--epsilon", "1", "--records", "3"]
    assert main(["check", "own.py:even", *law, "--json", "own.json"]) == 0
    ran.unlink()
    capsys.readouterr()
    for text, words in (
        (tested, "What was tested is in this folder, by its hash: own.py. To compare"),
        (
            tested + "# changed",
            "Not what was tested, by its hash: own.py in this folder. To",
        ),
        (None, "no mechanism was named To compare"),
    ):
        own.unlink()
        if text is not None:
            own.write_text(text)
        code, out, _ = verify(capsys, "own.json")
        assert code == 3
        assert words in " ".join(out.split())
        assert "liptest verify own.json own" in out
        assert not ran.exists()


@pytest.mark.slow
@pytest.mark.parametrize("law", [["--uniform"], []])
def test_a_law_without_numbers_is_taken_from_the_certificate(folder, capsys, law):
    words = ["vendor.py:even", "--epsilon", "1", "--records", "3", "--method", "exhaustive", *law]
    assert main(["check", *words, "--json", "own.json"]) == 0
    capsys.readouterr()
    code, out, _ = verify(capsys, "own.json", "vendor.py:even")
    assert code == 0, out
    assert "repeated from its seed, gives the same numbers" in " ".join(out.split())


@pytest.mark.slow
def test_a_changed_certificate_fails_with_sentences(folder, capsys):
    changed = json.loads((folder / "yes.json").read_text())
    changed["verdict"]["guarantee"]["exception_mass"] = 0.001
    changed["digest"] = digest(changed)
    (folder / "changed.json").write_text(json.dumps(changed))
    code, out, _ = verify(capsys, "changed.json")
    assert code == 1
    assert "DOES NOT HOLD" in out
    assert "Wrong: guarantee: exception_mass=0.001, but what was asked" in out
    assert "Checked" not in out


@pytest.mark.slow
def test_changed_code_fails(folder, capsys):
    (folder / "vendor2.py").write_text(VENDOR.replace("0.25", "0.0625"))
    code, out, _ = verify(capsys, "no.json", "--mechanism", "vendor2.py:shown", *LAW)
    assert code == 1
    assert "the code is not the code that was tested (hash differs): file vendor" in out
    assert "the witness does not break the claim on this mechanism" in out


@pytest.mark.slow
def test_another_distribution_fails(folder, capsys):
    arguments = ["--mechanism", "vendor.py:shown", "--dimension", "3", "--probabilities", "0.5"]
    code, out, _ = verify(capsys, "yes.json", *arguments)
    assert code == 1
    assert "the distribution is not the one that was tested with" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.json"], "No such file"),
        (["vendor.py"], "not JSON"),
        (["old.json"], "this liptest reads 1"),
        (["yes.json", "--mechanism", "vendor.py:other"], "has no object 'other'"),
        (["yes.json", "--mechanism", "none.py:x"], "no such file"),
        (["yes.json", "--config", "none.toml"], "none.toml"),
        (["yes.json", "--config", "other.toml"], "no check of 'vendor:shown'"),
        (["yes.json", "--mechanism", "vendor.py:shown", "--probabilities", "often"], "'often'"),
        (
            ["yes.json", "--mechanism", "vendor.py:shown", "--uniform", "--table", "x"],
            "exactly one",
        ),
    ],
)
def test_bad_input_is_exit_code_2(folder, capsys, arguments, words):
    (folder / "old.json").write_text('{"certificate": 0}')
    (folder / "other.toml").write_text(CONFIG.replace("shown", "else"))
    code, out, err = verify(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.slow
def test_nothing_of_a_list_is_lost(folder, capsys):
    """A wrong certificate among good ones is told, and the others are checked all the same."""
    documents = json.loads((folder / "all.json").read_text())
    documents[1]["note"] = "trust me"
    (folder / "mixed.json").write_text(json.dumps(documents))
    code, out, _ = verify(capsys, "mixed.json", "--config", "liptest.toml")
    assert code == 1
    assert out.count("\nHOLDS") == 2
    assert "has an unknown key 'note'" in out


@pytest.mark.slow
def test_a_mechanism_cannot_print_a_verdict(folder, capsys):
    loud = VENDOR.replace("return int(rng", "print('HOLDS')\n    return int(rng")
    (folder / "loud.py").write_text(loud)
    assert main(["check", "loud.py:even", "--epsilon", "1", *LAW, "--json", "loud.json"]) == 0
    capsys.readouterr()
    code, out, _ = verify(capsys, "loud.json", "--mechanism", "loud.py:even", *LAW)
    assert (code, out.count("HOLDS")) == (0, 1)


@pytest.mark.slow
def test_the_mechanism_may_stand_behind_the_certificate(folder, capsys):
    code, out, _ = verify(capsys, "no.json", "vendor.py:shown", *LAW)
    assert (code, "HOLDS" in out) == (0, True)
    code, _, err = verify(capsys, "no.json", "vendor.py:shown", "--mechanism", "vendor.py:shown")
    assert (code, "named twice" in err) == (2, True)


@pytest.mark.slow
def test_of_many_differences_the_first_are_told(folder, capsys):
    (folder / "vendor2.py").write_text(VENDOR.replace("< 0.25", "< 0.5"))
    code, out, _ = verify(capsys, "no.json", "vendor2.py:shown")
    lines = [line for line in out.splitlines() if line.startswith("Wrong: ")]
    assert code == 1
    assert lines[0].startswith("Wrong: the code is not the code that was tested")
    assert len(lines) == 7
    assert lines[-1].endswith(" more of what follows from these, or is like them")
