"""Ctrl-C on the command line, as a terminal sends it, and what swallowed interrupts leave."""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import subprocess
import sys
import time
import weakref

import numpy as np
import pytest

import liptest as lt
from liptest.runs.interrupts import count_interrupts, interruptions
from liptest.runs.interrupts import until_interrupted as uninterrupted

ARGUMENTS = "--epsilon 1 --dimension 200 --probabilities 0.3 --seed 5 --method neighbourhoods"
SLOW = """
import time
def f(data, rng):
    with open(r"{mark}", "a") as file:
        file.write(".")
    {body}
    data.tolist()  # reads everything, so that each dataset has a law of its own
    return int(rng.random() < 0.5)
"""
SLEEPS = "time.sleep(0.05)"
SWALLOWS = """
    try:
        time.sleep(0.05)
    except BaseException:
        return 7
"""


# Runs of the mechanism by which a check looks at what it reads, and some more.
RUNS = 60


def interrupted(tmp_path, body, arguments):
    """Start a check, send Ctrl-C to its whole group once it draws datasets; code and output."""
    mark = tmp_path / "runs"
    (tmp_path / "slow.py").write_text(SLOW.format(mark=mark, body=body))
    process = subprocess.Popen(
        [sys.executable, "-m", "liptest", "check", *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        while process.poll() is None and (not mark.exists() or mark.stat().st_size < RUNS):
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=100)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, output


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_ctrl_c_says_what_is_certified_and_ends(tmp_path, workers):
    arguments = ["slow.py:f", *ARGUMENTS.split(), "--workers", workers]
    code, output = interrupted(tmp_path, SLEEPS, arguments)
    assert code == 3, output
    assert "INCONCLUSIVE interrupted after 0 of" in output


@pytest.mark.slow
def test_ctrl_c_that_is_swallowed_ends_after_the_chunk_without_a_verdict(tmp_path):
    # 7 is an output of the interrupted run only: it would be a NO.
    wanted = "--epsilon 1 --dimension 4 --uniform --method edges"
    arguments = ["slow.py:f", *wanted.split()]
    code, output = interrupted(tmp_path, SWALLOWS, arguments)
    assert code == 3, output
    assert "INCONCLUSIVE interrupted" in output


@pytest.mark.slow
def test_ctrl_c_leaves_the_checks_that_follow_undone(tmp_path):
    check = '[[check]]\nmechanism = "slow.py:f"\nepsilon = 1\nmethod = "neighbourhoods"\n'
    (tmp_path / "liptest.toml").write_text(
        '[domain]\nkind = "hypercube"\ndimension = 200\n[distribution]\nprobabilities = 0.3\n'
        + check * 3
    )
    code, output = interrupted(tmp_path, SLEEPS, ["--json", "out.json"])
    assert code == 3, output
    assert "2 more checks were not run" in output
    assert json.loads((tmp_path / "out.json").read_text())["verdict"]["decision"] == "INCONCLUSIVE"


def test_a_swallowed_interrupt_drops_the_result():
    def results():
        yield 1
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            yield 2
        yield 3

    seen = []
    before = interruptions()
    with pytest.raises(KeyboardInterrupt):
        seen.extend(uninterrupted(results()))
    assert (seen, interruptions()) == ([1], before + 1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_was_made_an_error_is_an_interrupt():
    def results():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError from None
        yield 1

    with pytest.raises(KeyboardInterrupt):
        next(uninterrupted(results()))


def test_other_errors_pass():
    def results():
        yield 1
        raise ValueError

    found = uninterrupted(results())
    assert next(found) == 1
    with pytest.raises(ValueError):
        next(found)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_users_stays():
    def own(number, frame):
        raise AssertionError

    before = signal.signal(signal.SIGINT, own)
    try:
        for _ in uninterrupted([1]):
            assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_no_law_is_kept_of_a_run_that_swallowed_an_interrupt():
    # What logs is not put back before a run.
    state = logging.getLogger("test_interrupts")
    state.armed = True

    @lt.mechanism
    def swallows(data, rng):
        if state.armed:
            state.armed = False
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                return 7
        return int(data.sum())

    def laws():
        yield lt.output_law(swallows, np.array([1, 0]))

    with pytest.raises(KeyboardInterrupt):
        list(uninterrupted(laws()))
    assert list(lt.output_law(swallows, np.array([1, 0]))) == [1]


EARLY = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
from liptest.cli import main
sys.exit(main({arguments!r}))
"""


@pytest.mark.parametrize("name", ["cyclopts", "liptest.cli.app", "liptest.cli.check"])
def test_ctrl_c_while_the_command_line_is_loaded_is_told_in_one_line(name):
    code = EARLY.format(name=name, arguments=["check", "f.py:f", "--epsilon", "1"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert (done.stdout, done.stderr) == ("", "error: interrupted before anything was decided\n")


def test_ctrl_c_before_the_first_greeting_too():
    code = EARLY.format(name="liptest.cli.first_contact", arguments=[])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (130, 1)


@pytest.mark.parametrize("is_weak", [False, True])
def test_an_interrupt_of_ours_waits_for_the_end_of_a_finalizer(is_weak, monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: lost.append(found.exc_type))

    class Left:
        def __del__(self):
            if not is_weak:
                signal.raise_signal(signal.SIGINT)

    def interrupts():
        left = Left()
        if is_weak:
            weakref.finalize(left, signal.raise_signal, signal.SIGINT)
        del left

    before = interruptions()
    with count_interrupts(is_ours=lambda: True):
        interrupts()  # raised there it would be printed, and lost
        assert (interruptions(), lost) == (before + 1, [])
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        interrupts()
        assert lost == []
        interrupts()  # a finalizer that goes on is interrupted in the end
    assert lost == [KeyboardInterrupt]


@pytest.mark.slow
def test_an_interrupt_of_ours_waits_for_the_end_of_a_collection(monkeypatch):
    lost, came = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: lost.append(found.exc_type))

    def collecting(phase, info):
        if phase == "stop" and not came:
            came.append(phase)
            signal.raise_signal(signal.SIGINT)

    with count_interrupts(is_ours=lambda: True):
        gc.callbacks.append(collecting)
        try:
            gc.collect()
        finally:
            gc.callbacks.remove(collecting)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert (came, lost) == (["stop"], [])
