"""The compose file: what can be tried without Docker, its processes too, but in no container."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from liptest.cli.app import app
from liptest.runs.jail import find_bubblewrap
from liptest.service import actions
from liptest.service.passwords import hash_secret, new_secret
from liptest.service.store import Store
from tests.unit.service.rooms import CHECK, CODE, DatabaseServer, quick_hash, running_databases

DEPLOY = Path(__file__).parents[3] / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: one for name, one in SERVICES.items() if name != "database"}


def test_five_kinds_of_container() -> None:
    assert set(SERVICES) == {"database", "prepare", "web", "worker", "releaser"}
    assert SERVICES["worker"]["deploy"] == {"replicas": 2}
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert {name for name, one in SERVICES.items() if "outside" in one["networks"]} == {"web"}
    for one in OURS.values():
        assert one["cap_drop"] == ["ALL"]
        assert one["read_only"]


def test_the_private_folder_is_the_releasers_alone() -> None:
    mounted = {name: one.get("volumes", []) for name, one in OURS.items()}
    assert [name for name, places in mounted.items() if places] == ["releaser"]
    assert "./private:/room/private:ro" in mounted["releaser"]


@pytest.mark.parametrize("name", sorted(OURS))
def test_each_command_is_one_that_liptest_takes(name: str) -> None:
    command, bound, _ = app.parse_args(OURS[name]["command"], exit_on_error=False)
    assert command.__name__ == OURS[name]["command"][-1 if name == "prepare" else 0]
    if name != "prepare":
        assert bound.arguments["role"] == name


def test_accounts_passwords_and_files_are_there() -> None:
    text = (DEPLOY / "compose.yml").read_text()
    named = set(re.findall(r"\$\{(\w+)", text))
    example = (DEPLOY / "example.env").read_text()
    assert named == set(re.findall(r"^(\w+)=$", example, re.MULTILINE))
    assert (DEPLOY / "accounts.sh").stat().st_mode & 0o111
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert "bubblewrap" in dockerfile
    assert "USER liptest" in dockerfile
    assert COMPOSE["x-liptest"]["build"] == {"context": "..", "dockerfile": "deploy/Dockerfile"}
    for place in re.findall(r"^COPY (.+) \S+$", dockerfile, re.MULTILINE):
        assert all((DEPLOY.parent / file).exists() for file in place.split())


def call(port: int, token: str, path: str, body: Any = None, key: str = "") -> Any:
    headers = {"authorization": f"Bearer {token}", "idempotency-key": key}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers)
    for _ in range(600):
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            pytest.fail(f"{path}: {error.read()!r}")
        except OSError:
            time.sleep(0.1)
    return pytest.fail("no answer")


def until(port: int, token: str, path: str) -> dict[str, Any]:
    """The answer, once it is final."""
    found: dict[str, Any] = {}
    for _ in range(600):
        found = call(port, token, path)
        if found["state"] not in ("queued", "running", "approved"):
            break
        time.sleep(0.1)
    return found


@pytest.mark.slow
def test_its_processes_with_their_accounts(tmp_path: Path) -> None:
    """From the empty server to a released output, each by the command and account of the file."""
    with running_databases() as server:
        release_one(server, tmp_path)


def release_one(database_server: DatabaseServer, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        free_port = probe.getsockname()[1]
    database_server.create("compose")
    host = database_server.engine.url.query["host"]
    accounts = {f"{name}_PASSWORD": "x" for name in ("WEB", "WORKER", "RELEASER")}
    place = {"POSTGRES_USER": "tester", "POSTGRES_DB": "compose", "PGHOST": str(host)}
    subprocess.run([DEPLOY / "accounts.sh"], env={**os.environ, **accounts, **place}, check=True)
    owner = database_server.url("compose")

    def environment(name: str) -> dict[str, str]:
        url = OURS[name]["environment"]["LIPTEST_DATABASE"]
        account = re.search(r"//(\w+):", url)
        assert account is not None
        user = account[1].replace("owner", "tester")
        return {"LIPTEST_DATABASE": database_server.url("compose", user)}

    liptest = [sys.executable, "-m", "liptest"]
    subprocess.run(
        [*liptest, *OURS["prepare"]["command"]],
        env={**os.environ, **environment("prepare")},
        check=True,
    )
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "clicks.csv").write_text("click\n" + "0\n1\n" * 6)
    store = Store(owner)
    tokens = {}
    for name, role in (("vera", "vendor"), ("olga", "operator")):
        store.add_user(name, role, quick_hash("x"))
        user = store.user(name)
        assert user is not None
        tokens[name] = new_secret()
        store.add_token(user, "test", hash_secret(tokens[name]))
    with ExitStack() as stack:
        for name in ("web", "worker", "releaser"):
            words = {"8000": str(free_port), "0.0.0.0": "127.0.0.1", "/room": str(tmp_path)}
            command = [words.get(word, word) for word in OURS[name]["command"]]
            if name == "worker" and find_bubblewrap() is None:
                command.append("--allow-unconfined")
            process = subprocess.Popen(
                [*liptest, *command], env={**os.environ, **environment(name)}
            )
            stack.enter_context(process)
            stack.callback(process.terminate)
        table = {"name": "clicks", "file": "clicks.csv", "column": "click"}
        call(free_port, tokens["olga"], "/api/tables", {**table, "epsilon": 2, "delta": 1e-9})
        olga = store.user("olga")
        assert olga is not None
        task = actions.make_task(
            *(store, olga),
            title="How many?",
            table=1,
            check=CHECK,
            proof_only=True,
            approvals=1,
        )
        for _ in range(600):
            if store.task(task).state == "ready":
                break
            time.sleep(0.1)
        body = {"task": task, "file": "mine.py", "name": "count", "code": CODE.decode()}
        sent = call(free_port, tokens["vera"], "/api/submissions", body, "submission-1")
        path = f"/api/submissions/{sent['id']}"
        assert until(free_port, tokens["vera"], path)["state"] == "YES"
        asked = {"submission": sent["id"]}
        call(free_port, tokens["olga"], "/api/releases", asked, "release-1")
        found = until(free_port, tokens["olga"], "/api/releases/1")
        assert found["state"] == "released"
        ledger = call(free_port, tokens["olga"], "/api/ledger")
        assert (ledger["problems"], ledger["budgets"][0]["releases"]) == ([], 1)
    store.close()
