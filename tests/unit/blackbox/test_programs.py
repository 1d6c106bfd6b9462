"""Programs of any language as samplers: protocol, limits, ends of processes, the jail."""

from __future__ import annotations

import select
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from benchmarks.compiled import LANGUAGES, build
from liptest.blackbox.programs import ENDED, ExternalProgram
from liptest.cli import main
from liptest.errors import InputError, MechanismError
from liptest.mechanisms.laws import Raised
from liptest.runs.fingerprints import fingerprint
from liptest.runs.jail import find_bubblewrap
from liptest.verdicts import Decision

ANSWERING = """
import json, os, random, sys
for line in sys.stdin:
    asked = json.loads(line)
    rng = random.Random(asked["seed"])
    n, data = asked["n"], asked["dataset"]
    answer = {"outputs": [ANSWER for _ in range(n)]}
    print(json.dumps(answer), flush=True)
"""
#: Both lines in one write, so that both are there when the first is.
SAID_TWICE = 'print(json.dumps(answer) + "\\n" + json.dumps(answer)'
Make = Callable[..., ExternalProgram]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A program in Python of a text, in a folder that tests run in."""
    monkeypatch.chdir(tmp_path)

    def made(text: str, *words: str, **options: Any) -> ExternalProgram:
        (tmp_path / "program.py").write_text(text)
        program = ExternalProgram((sys.executable, "program.py", *words), **options)
        programs.append(program)
        return program

    programs: list[ExternalProgram] = []
    yield made
    for program in programs:
        program.close()


def draw(program: ExternalProgram, n: int = 5, dataset: tuple[int, ...] = (0, 1)) -> list[Any]:
    return program(np.array(dataset), n, np.random.default_rng(1))


def answering(answer: str, more: str = "") -> str:
    return ANSWERING.replace("ANSWER", answer) + more


def test_a_program_that_stays_answers_requests(make: Make) -> None:
    program = make(answering("[sum(data), rng.random(), 'a']"), batch=3)
    outputs = draw(program, 7)
    assert [(s, t) for s, _, t in outputs] == [(1, "a")] * 7
    assert len({value for _, value, _ in outputs}) == 7
    assert draw(program, 7) == outputs  # of one seed
    assert "bubblewrap" in program.confinement


@pytest.mark.slow
def test_it_is_started_again_between_requests(make: Make) -> None:
    program = make(answering("rng.random()", "    sys.exit()"), batch=4)
    assert len(set(draw(program, 12))) == 12


@pytest.mark.slow
def test_the_end_of_a_process_is_an_output_where_it_can_be_told(make: Make) -> None:
    text = answering("1", "    os._exit(1) if rng.random() < 2 else None")
    dying = text.replace("    answer =", "    if rng.random() < .5: os._exit(3)\n    answer =")
    assert set(draw(make(dying, batch=1), 12)) == {1, ENDED}
    with pytest.raises(MechanismError, match="--batch 1"):
        draw(make(dying, batch=5), 200)


@pytest.mark.slow
def test_a_line_is_an_output_where_the_number_is_in_the_command(make: Make) -> None:
    text = """
import json, random, sys
n, seed, data = sys.argv[1:]
rng = random.Random(int(seed))
assert json.loads(sys.stdin.read()) == [int(value) for value in data.split(",")]
for _ in range(int(n)):
    print(rng.choice(["yes", "[1, 2]", "0.5"]))
"""
    outputs = draw(make(text, "{n}", "{seed}", "{dataset}"), 30)
    assert set(outputs) == {"yes", (1, 2), 0.5}


def test_exceptions_and_odd_values(make: Make) -> None:
    text = answering("rng.choice([{'raised': 'Overflow'}, {'b': 1, 'a': 2}, None, True])")
    assert set(draw(make(text), 40)) == {Raised("Overflow"), '{"a": 2, "b": 1}', None, True}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        # Said before or after it is asked, which is the machine's choice.
        ("print('hello')", "JSON"),
        ("input(); print('{\"outputs\": [1]}')", "outputs"),
        ("input(); print('[1, 2]')", "outputs"),
        ('input(); print(\'{"error": "no\\\\ndata"}\')', "reports an error"),
        ("input(); import time; time.sleep(9)", "longer than"),
        ("raise SystemExit", "ended 3 times"),
        ("raise SystemExit('no licence')", r"answer \(exit code 1\), .* error: 'no licence'; run"),
        ("import os; os.kill(os.getpid(), 9)", r"\(signal 9\)|\(exit code 137\)"),
        ("import sys\nwhile True: sys.stderr.write('e' * 9999)", "longer than"),
        ("", "ended 3 times"),
    ],
)
def test_what_does_not_answer_is_an_error_in_one_line(make: Make, text: str, words: str) -> None:
    with pytest.raises(MechanismError, match=words) as caught:
        draw(make(text, seconds=0.7))
    assert "\n" not in str(caught.value)


def test_a_program_that_floods_is_ended(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liptest.blackbox.programs.MOST_BYTES", 1 << 20)
    with pytest.raises(MechanismError, match="said more than 1 MiB"):
        draw(make("while True: print('1' * 10000, end='')"))


def test_memory_is_limited(make: Make) -> None:
    with pytest.raises(MechanismError, match="ended"):
        draw(make(answering("len(bytearray(3 << 30))"), memory=2048))


def test_draws_from_the_clock_are_refused(make: Make) -> None:
    text = answering("rng.random()").replace('asked["seed"]', "3")
    with pytest.raises(MechanismError, match="not independent"):
        draw(make(text))
    assert draw(make(answering("data[0]"))) == [0] * 5  # constant: no draws at all


def test_a_second_line_for_a_request_is_an_error_and_no_answer_to_the_next(make: Make) -> None:
    twice = answering("rng.random()").replace("print(json.dumps(answer)", SAID_TWICE)
    with pytest.raises(MechanismError, match="not JSON"):
        draw(make(twice, batch=2), 200)


@pytest.mark.parametrize("batch", [1, 2, 3])
@pytest.mark.parametrize("after", [1, 2, 40, 45])
def test_a_second_line_that_comes_late_is_no_answer_to_the_next_request(
    make: Make, batch: int, after: int
) -> None:
    """The program says it when it has the next request, and is slow from there on: at no time is
    there a line between two requests.

    Whether both lines are read at once depends on the machine, that it is an error does not.
    """
    late = """
import json, random, sys, time
for place, line in enumerate(sys.stdin):
    asked = json.loads(line)
    if place == AFTER:
        print(before, flush=True)
    if place >= AFTER:
        time.sleep(0.01)
    rng = random.Random(asked["seed"])
    before = json.dumps({"outputs": [[asked["dataset"], rng.random()] for _ in range(asked["n"])]})
    print(before, flush=True)
"""
    program = make(late.replace("AFTER", str(after)), batch=batch)

    def draw_of_many() -> None:
        for value in range(60):
            draws = draw(program, batch, (value,))
            assert {given for given, _ in draws} == {(value,)}

    with pytest.raises(MechanismError, match=r"more than one line|with \d outputs|not JSON"):
        draw_of_many()


NUMBERED = """
import json, random, sys, time
later = []
for place, line in enumerate(sys.stdin):
    asked = json.loads(line)
    rng = random.Random(asked["seed"])
    answer = {"outputs": [asked["dataset"][0] + rng.random() for _ in range(asked["n"])]}
    answer["id"] = asked["id"]
    MORE
    print(json.dumps(answer), flush=True)
"""


def numbered(more: str) -> str:
    return NUMBERED.replace("MORE", more)


def test_a_program_that_repeats_the_id_gets_no_other_requests(make: Make) -> None:
    heard = numbered(
        'sys.stderr.write(f"{asked[\'n\']} ")\n    if asked["dataset"] == [4]: sys.exit(1)'
    )
    program = make(heard, batch=2)
    assert {int(value) for value in draw(program, 6, (3,))} == {3}
    with pytest.raises(MechanismError, match=r"error: '(2 )+2'"):
        draw(program, 2, (4,))


@pytest.mark.parametrize(
    "more",
    [
        "if place == 30: print(before, flush=True)\n    before = json.dumps(answer)",
        "if place >= 30: answer, later = (later or [answer])[0], [answer]",  # late by one
        "if place == 30: del answer['id']",
        "if place == 30: answer['id'] = True",
        "answer['id'] = str(answer['id'])",
        "answer['id'] = 1",
    ],
)
def test_an_answer_with_another_id_is_an_error(make: Make, more: str) -> None:
    program = make(numbered(more), batch=2)

    def draw_of_many() -> None:
        for value in range(60):
            assert {int(output) for output in draw(program, 4, (value,))} == {value}

    with pytest.raises(MechanismError, match=r"answered with id=|more than one line|not JSON"):
        draw_of_many()


def test_the_last_answer_of_all_is_no_late_line(make: Make) -> None:
    """The program is late from the last request on: nothing is asked after it."""
    late = numbered("if place >= 5: answer, later = (later or [before])[0], [answer]")
    late = late.replace('answer["id"] = asked["id"]\n', "pass\n")
    late = late.replace("    print(", "    before = answer\n    print(")
    program = make(late, batch=32)

    def draw_of_many() -> None:
        for value in range(4):
            assert {int(output) for output in draw(program, 32, (value,))} == {value}

    with pytest.raises(MechanismError, match=r"more than one line|with 1 outputs"):
        draw_of_many()


def test_after_an_error_nothing_that_the_program_says_is_an_answer(make: Make) -> None:
    """It answers with too many outputs, and once more with as many as were requested."""
    odd = answering("[data[0], rng.random()]").replace(
        "    answer =", "    if data[0] == 3: n += 1\n    answer ="
    )
    odd += "    if data[0] == 3: print(json.dumps({'outputs': [[3, 0.5]] * (n - 1)}), flush=True)"
    program = make(odd, batch=2)
    assert {value for value, _ in draw(program, 4, (1,))} == {1}
    with pytest.raises(MechanismError):
        draw(program, 2, (3,))
    assert {value for value, _ in draw(program, 4, (4,))} == {4}


def test_a_program_may_answer_before_it_is_asked(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = ExternalProgram._start

    def answered(program: ExternalProgram, words: list[str]) -> Any:
        running = start(program, words)
        select.select([running.child.stdout], [], [])
        return running

    monkeypatch.setattr(ExternalProgram, "_start", answered)
    text = "import sys\nfor _ in range(int(sys.argv[1])): print(1)"
    assert draw(make(text, "{n}"), 7) == [1] * 7


def test_a_text_may_hold_other_ends_of_lines(make: Make) -> None:
    text = "import sys\nfor _ in range(int(sys.argv[1])): print('a\\u2028b\\x0cc\\r')"
    assert set(draw(make(text, "{n}"))) == {"a\u2028b\x0cc"}
    with pytest.raises(MechanismError, match=r"9 lines where 2 outputs .* the first is 'a'"):
        draw(make("print('a\\n' * 9, end='')", "{n}"))


@pytest.mark.slow
def test_standard_error_is_read_and_does_not_stop_a_program(make: Make) -> None:
    floods = answering("1", "    sys.stderr.write('e' * 300_000)")
    assert draw(make(floods, batch=2), 7) == [1] * 7


def test_programs_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "plain.sh").write_text("echo 1")
    with pytest.raises(InputError, match="not executable"):
        ExternalProgram(f"{tmp_path}/plain.sh")
    with pytest.raises(InputError, match="is a folder"):
        ExternalProgram(f"{tmp_path} 1")
    for command in ("", "no-such-program", "'", "a\0b", ()):
        with pytest.raises(InputError, match="command"):
            ExternalProgram(command)
    with pytest.raises(InputError, match="seconds"):
        ExternalProgram("sh", seconds=0)
    with pytest.raises(InputError, match="batch"):
        ExternalProgram("sh", batch=0)


def test_the_hash_covers_the_files_that_are_named(make: Make) -> None:
    first = fingerprint(make("a = 1").sampler())
    assert fingerprint(make("a = 1", batch=7, seconds=3).sampler()) == first
    assert fingerprint(make("a = 2").sampler()) != first
    assert fingerprint(make("a = 1", "word").sampler()) != first


@pytest.mark.skipif(find_bubblewrap() is None, reason="no bubblewrap")
def test_a_jail_shows_what_is_named_and_nothing_else(make: Make, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("7")
    text = answering("os.path.exists('secret')")
    assert draw(make(text)) == [False] * 5
    assert draw(make(text, readable=(tmp_path / "secret",))) == [True] * 5
    assert draw(make(text, confined=False)) == [True] * 5
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reached = f"__import__('socket').socket().connect_ex(('127.0.0.1', {port})) == 0"
        assert draw(make(answering(reached)), 1) == [False]
        assert draw(make(answering(reached), confined=False), 1) == [True]


@pytest.mark.slow
def test_a_program_on_the_command_line(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(answering("data[0] ^ (rng.random() < 0.1)"))
    command = f"{sys.executable} program.py"
    options = ["--records", "1", "--uniform"]
    test = ["samples", "--command", command, "--epsilon", "1", "--sequential", *options]
    assert main([*test, "--seed", "1", "--samples", "4000", "--json", "a.json"]) == 1
    out = capsys.readouterr().out
    assert "NO by samples" in out
    assert "How the program ran: " in out
    assert main(["verify", "a.json", "--command", command, *options]) == 0
    assert "gives the same counts" in " ".join(capsys.readouterr().out.split())
    make(answering("data[0] ^ (rng.random() < 0.2)"))
    assert main(["verify", "a.json", "--command", command, *options]) == 1
    for wrong in (
        ["samples", "--epsilon", "1", *options],
        ["samples", "a.py:f", "--command", command, "--epsilon", "1", *options],
        ["samples", "a.py:f", "--batch", "3", "--epsilon", "1", *options],
        ["samples", "--command", "no-such-program", "--epsilon", "1", *options],
    ):
        assert main(wrong) == 2
        assert capsys.readouterr().err.count("error:") == 1


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_compiled_programs(language: str, tmp_path: Path) -> None:
    """Noise in floats is found by its bits; whole numbers and grids have none."""
    command = build(language, tmp_path)
    if command is None:
        pytest.skip(f"no compiler of {language}")
    for kind in ("laplace", "discrete", "snapped"):
        program = ExternalProgram((*command, kind))
        for seed in range(3):
            verdict = lt.check_samples(
                program.sampler(),
                [([0], [1])],
                epsilon=1.0,
                samples=20_000,
                seed=seed,
                sequential=True,
            )
            assert (verdict.decision == Decision.NO) == (kind == "laplace"), kind
            if verdict.decision == Decision.NO:
                assert "low bit" in str(verdict.witness)
        program.close()
