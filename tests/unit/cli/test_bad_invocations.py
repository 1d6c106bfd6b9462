"""A thousand wrong command lines: one line each, exit code 2, nothing run and nothing written."""

from __future__ import annotations

import json
import os
import shlex

import numpy as np
import pytest

from liptest.cli import DEBUG, INTERNAL, main
from tests.unit.cli import bad_invocations, messages
from tests.unit.cli.bad_invocations import COMMANDS, CUBE, RR, invocations

EVERY = list(invocations())
#: Of these some run by default, spread over all commands and options.
STEP = 40


@pytest.fixture
def folder(tmp_path, monkeypatch):
    bad_invocations.write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_they_are_many():
    assert len(EVERY) > 1000
    assert len({tuple(words) for words in EVERY}) > 0.98 * len(EVERY)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("verify", "ledger")])
def test_the_commands_are_right_without_what_is_wrong(name, folder, capsys):
    if name in ("release", "samples"):
        pytest.skip("a release ends with the private data, samples are drawn")
    assert main(list(COMMANDS[name][0])) in (0, 1, 3)


def _refused(words, folder, capsys):
    before = {name: (folder / name).read_bytes() for name in bad_invocations.FILES}
    code = main(list(words))
    out, err = capsys.readouterr()
    assert (code, out) == (2, ""), words
    assert err.startswith("error: "), words
    assert (len(messages(err)), "Traceback" in err) == (1, False), words
    assert err.splitlines()[-1].startswith("Example: liptest "), words
    made = set(os.listdir(folder)) - set(before) - {"__pycache__"}
    assert not made, words
    assert before == {name: (folder / name).read_bytes() for name in before}, words


@pytest.mark.slow
def test_some_of_them(folder, capsys):
    for words in EVERY[::STEP]:
        _refused(words, folder, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, STEP, 3))
def test_every_third_of_them(part, folder, capsys):
    for words in EVERY[part::STEP]:
        _refused(words, folder, capsys)


@pytest.mark.slow
def test_a_broken_mechanism_is_exit_code_4(folder, capsys):
    assert main(["check", "vendor.py:raises", "--epsilon", "1", *CUBE]) == 4
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "always\\nand on two lines" in err


def test_a_fault_of_liptest_is_one_line_and_no_verdict(folder, capsys, monkeypatch):
    def fails(*arguments, **options):
        raise ZeroDivisionError("by\ndesign \ud800")

    monkeypatch.setattr("liptest.cli.check.check_with_settings", fails)
    words = ["check", *RR, "--epsilon", "2", *CUBE]
    assert main(words) == INTERNAL == 70
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "error: internal error, nothing was decided: ZeroDivisionError: by design \\ud800 "
        "(add --debug for the traceback)\n"
    )
    assert main([*words[:2], DEBUG, *words[2:]]) == INTERNAL
    assert "Traceback (most recent call last)" in capsys.readouterr().err


RELEASE = ["release", *RR, "--epsilon", "2", *CUBE, "--private"]


@pytest.mark.slow  # each starts a process for the analysis
@pytest.mark.parametrize("option", ["--json", "--html", "--junit", "--sarif"])
def test_nothing_is_released_after_an_error_about_a_file(option, folder, capsys):
    (folder / "private.csv").write_text("click\n0\n1\n")
    words = [*RELEASE, "private.csv"]
    assert main(words) == 0
    assert "RELEASED" in capsys.readouterr().out
    assert main([*words, option, "/dev/full"]) == 2
    out, err = capsys.readouterr()
    assert "NOT RELEASED - a file could not be written" in out
    assert "\nRELEASED" not in out
    assert f"{option} /dev/full: No space left on device" in err


@pytest.mark.slow  # each starts a process for the analysis
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("click\n0\n\n1\n", "a row is empty"),
        ("click\n0\n1\n\n", "a row is empty"),
        ("click,item\n0,a\n1\n", "more or fewer cells"),
        ("click,item\n0,a\n1,b,c\n", "more or fewer cells"),
        ("click\n0\nyes\n", "not a whole number"),
        ("click\n0\n0.5\n", "not a whole number"),
        ("click\n0\n9007199254740993\n", "2**53"),
        ("0\n1\n1\n", "its first line holds numbers"),
        ("click\n0\n", "does not fit"),
    ],
)
def test_odd_private_tables_are_errors_that_quote_nothing(text, says, folder, capsys):
    (folder / "private.csv").write_text(text)
    words = [*RELEASE, "private.csv"]
    words += ["--private-column", "click"] if "item" in text else []
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert "RELEASED" not in out
    assert says in err
    assert "yes" not in err
    assert "0.5" not in err


@pytest.mark.slow  # each starts a process for the analysis
def test_columns_are_named_only_where_there_are_some(folder, capsys):
    np.save(folder / "private.npy", np.array([0, 1]))
    assert main([*RELEASE, "private.npy", "--private-column", "click"]) == 2
    assert "has no columns" in capsys.readouterr().err
    assert main([*RELEASE, "private.npy"]) == 0


@pytest.mark.slow
def test_names_of_certificates_are_escaped(folder, capsys):
    assert main(["check", *RR, "--epsilon", "2", *CUBE, "--json", "c.json"]) == 0
    document = json.loads((folder / "c.json").read_text())
    document["verdict"]["mechanism"] = "x\nHOLDS\n\x1b[2J\u202eabc"
    (folder / "c.json").write_text(json.dumps(document))
    capsys.readouterr()
    assert main(["verify", "c.json"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("x\\nHOLDS\\n\\x1b[2J\\u202eabc   YES\nDOES NOT HOLD")


TAIL = """\
import liptest as lt


@lt.mechanism(max_choices=60)
def tail(data, rng):
    k = 0
    while rng.random() < 0.36787944117144233:
        k = k + 1
    sign = 1 if rng.random() < 0.5 else -1
    return int(data[0]) + sign * k
"""


@pytest.mark.slow
def test_the_command_that_is_offered_after_a_tail_works_as_printed(folder, capsys):
    (folder / "tail.py").write_text(TAIL)
    words = ["check", "tail.py:tail", "--epsilon", "2", "--dimension", "1", "--uniform"]
    assert main(words) == 3
    out = capsys.readouterr().out
    assert "To have it proved with that delta:" in out
    [command] = [line for line in out.splitlines() if line.startswith("liptest ")]
    assert main(shlex.split(command)[1:]) == 0
    assert "YES by proof" in capsys.readouterr().out
