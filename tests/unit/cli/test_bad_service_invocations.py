"""Wrong command lines of ``serve``, ``service`` and ``ledger cap``: one line and exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from liptest.cli import main
from tests.unit.cli import bad_invocations, messages

HERE = ["--url", "http://127.0.0.1:9"]
URLS = (
    *("", "x", "ftp://h", "http://", "http://[::1", "http://user@h", "file:///etc/passwd"),
    *("http://127.0.0.1:99999", "http://127.0.0.1:9", "http://h/ x", "http://\ud800"),
)
PLACES = ("vendor.py/file", "x" * 300, "vendor.py", "a\0b")
NUMBERS = ("x", "", "1.5", "7.9", "3.0", "nan", "inf", "1e3", "9" * 40)
DATABASES = ("x", "sqlite:///x", "mysql://x/y", "postgresql://\ud800")
COMMANDS: dict[str, tuple[list[str], dict[str, tuple[str, ...]]]] = {
    "submit": (
        ["service", "submit", "vendor.py:rr", "--task", "1", *HERE],
        {"--task": (*NUMBERS, "-1"), "--url": URLS, "--key": ("", "a\0b"), "--nonsense": ("1",)},
    ),
    "status": (["service", "status", "1", *HERE], {"--url": URLS}),
    "release": (["service", "release", "1", *HERE], {"--url": URLS, "--key": ("", "a\0b")}),
    "approve": (["service", "approve", "1", *HERE], {"--url": URLS}),
    "account": (
        ["service", "account", "ada", "--role", "operator", "--folder", "vendor.py"],
        {"--folder": PLACES, "--role": ("", "x", "admin", "Vendor"), "--database": DATABASES},
    ),
    "serve": (
        ["serve", "vendor.py"],
        {
            "--port": (*NUMBERS, "-1", "65536"),
            "--workers": (*NUMBERS, "-1", "0"),
            "--memory": (*NUMBERS, "-1", "0"),
            "--role": ("", "x", "All"),
            "--host": ("", "no such host", "256.1.1.1", "\ud800"),
            "--allow-import": ("", "1x", "a b", "os/../x"),
            "--database": DATABASES,
        },
    ),
    "ledger cap": (
        ["ledger", "cap", "no/such/file", "clicks", "--epsilon", "1", "--delta", "1e-6"],
        {"--epsilon": bad_invocations.EPSILON, "--delta": bad_invocations.INSIDE},
    ),
}
MECHANISMS = ("", "x", "vendor.py", "vendor.py:", "no.py:f", ".:x", "latin.csv:x", ":")


def invocations() -> Iterator[list[str]]:
    for words, options in COMMANDS.values():
        yield words
        for option, values in options.items():
            for value in values:
                changed = list(words)
                if option in changed:
                    changed[changed.index(option) + 1] = value
                else:
                    changed += [option, value]
                yield changed
    for name in ("submit", "status", "release", "approve", "account"):
        yield from (["service", name], ["service", name, "x", "y", "z"])
    for name in ("status", "release", "approve"):
        yield from (["service", name, number, *HERE] for number in NUMBERS)
    yield from (["service", "submit", name, "--task", "1", *HERE] for name in MECHANISMS)
    yield from (["serve", place] for place in PLACES)
    yield from (["service", "x"], ["ledger", "x"], ["ledger", "cap"], ["serve", "--nonsense"])


EVERY = list(invocations())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    bad_invocations.write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LIPTEST_TOKEN", "not a token")
    monkeypatch.delenv("LIPTEST_DATABASE", raising=False)
    return tmp_path


def _refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = main(list(words))
    out, err = capsys.readouterr()
    assert (code, out) == (2, ""), words
    assert err.startswith("error: "), words
    assert (len(messages(err)), "Traceback" in err) == (1, False), words


def test_some_of_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in EVERY[::24]:
        _refused(words, capsys)


@pytest.mark.slow
def test_all_of_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(EVERY) > 150
    for words in EVERY:
        _refused(words, capsys)
