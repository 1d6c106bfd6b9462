"""The compose file in real containers: from the empty server to a released output.

``python -m benchmarks.compose --docker "docker compose"`` builds, starts all five services under a
project of its own, releases one output, kills a worker and the releaser between two releases, looks
at what each container reaches, and takes all of it away again. It prints one line for each thing.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HERE = "http://127.0.0.1:8000"
CHECK = {"epsilon": 1.0, "domain": {"records": 12}}
CODE = "import liptest as lt\ncount = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))\n"
PRIVATE = "click\n" + "0\n1\n" * 6
ACCOUNTS = """
from liptest.service.store import Store
from liptest.service.passwords import hash_secret, new_secret
import os
store = Store(os.environ["LIPTEST_DATABASE"])
for name, role in (("vera", "vendor"), ("olga", "operator")):
    store.add_user(name, role, hash_secret(new_secret()))
    token = new_secret()
    store.add_token(store.user(name), "benchmark", hash_secret(token))
    print(name, token)
"""
# What a container can open; each line of the answer is one.
REACHED = """
import os, socket
for place in ("/room/private/clicks.csv",):
    if os.path.exists(place): print(place)
for host, port in (("deb.debian.org", 80), ("1.1.1.1", 443)):
    try: socket.create_connection((host, port), 3); print(host)
    except OSError: pass
try: open("/usr/written", "w"); print("writes the system")
except OSError: pass
print("as", os.getuid())
"""


@dataclass
class Compose:
    """``docker compose`` with the file, its environment and a project."""

    words: list[str]

    def run(self, *more: str, check: bool = True) -> str:
        done = subprocess.run([*self.words, *more], capture_output=True, text=True, check=False)
        if check and done.returncode:
            sys.exit(f"{' '.join(more)}: {done.stderr[-2000:]}")
        return done.stdout


def call(token: str, path: str, body: Any = None, key: str = "") -> Any:
    """One answer of the API, once the service is there."""
    headers = {"authorization": f"Bearer {token}", "idempotency-key": key}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{HERE}{path}", data, headers)
    for _ in range(300):
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            sys.exit(f"{path}: {error.read()!r}")
        except OSError:
            time.sleep(0.2)
    return sys.exit("no answer")


def until(token: str, path: str, wanted: str) -> Any:
    """The answer, once its state is final."""
    for _ in range(900):
        found = call(token, path)
        if found["state"] not in ("queued", "running", "approved"):
            print(f"{path}: {found['state']}")
            if found["state"] != wanted:
                sys.exit(f"{path}: {found}")
            return found
        time.sleep(0.2)
    return sys.exit(f"{path}: no end")


def _is_ready(tasks: Any, number: int) -> bool:
    found = tasks if isinstance(tasks, list) else next(iter(tasks.values()))
    return any(one["id"] == number and one["state"] == "ready" for one in found)


def release(tokens: dict[str, str], key: str, number: int, submission: int) -> Any:
    """One released output, asked for by the operator."""
    call(tokens["olga"], "/api/releases", {"submission": submission}, key)
    return until(tokens["olga"], f"/api/releases/{number}", "released")


def try_all(compose: Compose) -> None:
    """Start, use, disturb, look."""
    compose.run("up", "--build", "--detach")
    print(compose.run("ps", "--format", "table {{.Name}}\t{{.Status}}"))
    told = compose.run("run", "--rm", "-T", "--entrypoint", "python", "prepare", "-c", ACCOUNTS)
    tokens = dict(line.split() for line in told.splitlines() if line.count(" ") == 1)
    table = {"name": "clicks", "file": "clicks.csv", "column": "click", "epsilon": 2, "delta": 1e-9}
    call(tokens["olga"], "/api/tables", table)
    task = {"title": "How many?", "table": 1, "check": CHECK, "proof_only": True, "approvals": 1}
    number = call(tokens["olga"], "/api/tasks", task)["id"]
    while not _is_ready(call(tokens["vera"], "/api/tasks"), number):
        time.sleep(0.2)
    body = {"task": number, "file": "mine.py", "name": "count", "code": CODE}
    sent = call(tokens["vera"], "/api/submissions", body, "submission-1")["id"]
    until(tokens["vera"], f"/api/submissions/{sent}", "YES")
    release(tokens, "release-1", 1, sent)
    for name in ("worker", "releaser"):
        for place in compose.run("ps", "--quiet", name).split():
            subprocess.run(["docker", "kill", place], capture_output=True, check=True)
            subprocess.run(["docker", "start", place], capture_output=True, check=True)
    again = call(tokens["vera"], "/api/submissions", body, "submission-2")["id"]
    until(tokens["vera"], f"/api/submissions/{again}", "YES")
    release(tokens, "release-2", 2, again)
    ledger = call(tokens["olga"], "/api/ledger")
    print("ledger:", ledger["problems"], [one["releases"] for one in ledger["budgets"]])
    for name in ("web", "worker", "releaser"):
        found = compose.run("exec", "-T", name, "python", "-c", REACHED, check=False)
        print(f"{name} reaches:", ", ".join(found.splitlines()))
    print(compose.run("exec", "-T", "worker", "liptest", "doctor").split("release:")[-1].strip())


def main() -> None:
    """In a copy of the files that the image is made of."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docker", default="docker compose")
    docker = parser.parse_args().docker
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for part in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / part, copy)
        for part in ("src", "deploy"):
            shutil.copytree(ROOT / part, copy / part)
        text = (copy / "deploy" / "example.env").read_text()
        (copy / "deploy" / ".env").write_text(text.replace("=\n", f"={os.urandom(8).hex()}\n"))
        for part in ("private", "public"):
            (copy / "deploy" / part).mkdir(exist_ok=True)
        (copy / "deploy" / "private" / "clicks.csv").write_text(PRIVATE)
        for place in (copy, *(copy / "deploy").rglob("*")):
            place.chmod(0o755)
        file = ["--file", str(copy / "deploy" / "compose.yml"), "--project-name", "liptest-tried"]
        compose = Compose([*shlex.split(docker), *file])
        try:
            try_all(compose)
        finally:
            compose.run("down", "--volumes", check=False)


if __name__ == "__main__":
    main()
