"""``liptest serve`` and ``liptest service``: what they refuse, in one line."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path
from typing import Any

import pytest

from liptest.cli import main
from liptest.service import command
from liptest.service.records import Places
from liptest.service.store import Store


def refused(capsys: pytest.CaptureFixture[str], *typed: str) -> str:
    assert main(list(typed)) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 2
    assert said.splitlines()[1].startswith("Example: liptest serv")
    return said


def test_without_the_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name == "uvicorn" else real(name, package)

    monkeypatch.setattr(command, "find_spec", without)
    assert "needs uvicorn: pip install 'liptest[serve]'" in refused(capsys, "serve", "--demo")


def test_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert "name a folder for the service, or say --demo" in refused(capsys, "serve")


def test_no_jail(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "find_bubblewrap", lambda: None)
    folder = str(tmp_path / "room")
    assert "or say --allow-unconfined" in refused(capsys, "serve", folder, "--port", "0")
    assert not (tmp_path / "room").exists()


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        said = refused(capsys, "serve", str(tmp_path), "--port", port, "--allow-unconfined")
    assert f"port={port} at 127.0.0.1" in said


def test_approvals(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for wrong in ("0", "-1", "6"):
        typed = ("serve", str(tmp_path / "room"), "--approvals", wrong, "--port", "0")
        assert f"approvals={wrong}: 1 to 5" in refused(capsys, *typed)
    assert not (tmp_path / "room").exists()


@pytest.mark.slow
def test_an_account_and_its_password(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    typed = ["service", "account", "ada", "--role", "operator", "--folder", str(tmp_path / "x")]
    assert main(typed) == 0
    assert "ada (operator): password " in capsys.readouterr().out
    assert "there is an account 'ada' already" in refused(capsys, *typed)
    user = Store(Places(tmp_path / "x").database).user("ada")
    assert user is not None
    assert user.password.startswith("$argon2id$")


@pytest.mark.slow
def test_an_account_that_is_renewed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = ["--folder", str(tmp_path / "x")]
    assert main(["service", "account", "ada", "--role", "vendor", *place]) == 0
    before = Store(Places(tmp_path / "x").database).user("ada")
    assert main(["service", "renew", "ada", *place]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("ada: password ")
    after = Store(Places(tmp_path / "x").database).user("ada")
    assert before is not None
    assert after is not None
    assert (after.role, after.password == before.password) == ("vendor", False)
    assert "there is no account 'bob'" in refused(capsys, "service", "renew", "bob", *place)


def test_tokens_are_sent_to_nobody_in_clear(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIPTEST_TOKEN", "liptest_x")
    said = refused(capsys, "service", "status", "1", "--url", "http://example.com")
    assert "to https:// only" in said
    monkeypatch.delenv("LIPTEST_TOKEN")
    assert "LIPTEST_TOKEN is empty" in refused(capsys, "service", "status", "1")


def test_no_answer(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIPTEST_TOKEN", "liptest_x")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    said = refused(capsys, "service", "status", "1", "--url", f"http://localhost:{port}")
    assert "is it running?" in said
