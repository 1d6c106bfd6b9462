"""``liptest service``: what can be asked of a running service from a terminal."""

from __future__ import annotations

import json
import os
import secrets
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from liptest.errors import InputError, shown

service = App(name="service", help="Ask a running service: submit code, look, release.")
Url = Annotated[str, Parameter(help="Where the service is.")]
Number = Annotated[int, Parameter(help="Its number.")]
_HERE = "http://localhost:8000"
_TOKEN = "LIPTEST_TOKEN"
_MOST = 1 << 26


@service.command
def submit(
    mechanism: Annotated[str, Parameter(help="file.py:name.")],
    /,
    *,
    task: Annotated[int, Parameter(help="Number of the task.")],
    url: Url = _HERE,
    key: Annotated[
        str | None, Parameter(help="Names the request: a retry with it sends nothing twice.")
    ] = None,
) -> int:
    """Submit code for a task; the token is in the environment variable LIPTEST_TOKEN.

    Example: liptest service submit mine.py:count --task 1
    """
    file, colon, name = mechanism.rpartition(":")
    if not colon or not Path(file).is_file():
        raise InputError(f"mechanism={shown(mechanism)}: name file.py:name, a file that is here")
    code = Path(file).read_text(encoding="utf-8")
    body = {"task": task, "file": Path(file).name, "name": name, "code": code}
    return _say(ask(url, "/api/submissions", body, key=key))


@service.command
def status(number: Number, /, *, url: Url = _HERE) -> int:
    """Print what became of a submission; exit code 0 YES, 1 NO, 3 open or no verdict.

    Example: liptest service status 1
    """
    found = ask(url, f"/api/submissions/{number}")
    _say(found)
    return {"YES": 0, "NO": 1}.get(str(found.get("state")), 3)


@service.command(name="release")
def ask_for_output(
    submission: Annotated[int, Parameter(help="Number of a submission with a YES.")],
    /,
    *,
    url: Url = _HERE,
    key: Annotated[
        str | None, Parameter(help="Names the request: a retry with it gets the same output.")
    ] = None,
) -> int:
    """Ask for a release of a submission, as an operator.

    Example: liptest service release 1 --key monday-report
    """
    return _say(ask(url, "/api/releases", {"submission": submission}, key=key))


@service.command
def approve(number: Number, /, *, url: Url = _HERE) -> int:
    """Agree with a request for a release, as an operator.

    Example: liptest service approve 1
    """
    return _say(ask(url, f"/api/releases/{number}/approve", {}))


@service.command
def account(
    name: Annotated[str, Parameter(help="Name of the new account.")],
    /,
    *,
    role: Annotated[Literal["vendor", "operator"], Parameter(help="What it may do.")],
    folder: Annotated[Path, Parameter(help="The folder of the service, on its machine.")],
) -> int:
    """Make an account, on the machine of the service; prints its password.

    Example: liptest service account ada --role operator --folder clean-room
    """
    from liptest.service.actions import add_account
    from liptest.service.command import require_packages
    from liptest.service.records import Places, ServiceError
    from liptest.service.store import Store

    require_packages()
    places = Places(folder)
    places.make()
    store = Store(places.database)
    password = secrets.token_urlsafe(12)
    try:
        store.prepare()
        add_account(store, name, role, password)
    except ServiceError as error:
        raise InputError(str(error)) from None
    print(f"{name} ({role}): password {password}")
    return 0


def ask(url: str, path: str, body: Any = None, *, key: str | None = None) -> dict[str, Any]:
    """One call of the API; InputError where it is refused."""
    place = urllib.parse.urlsplit(url)
    is_near = place.hostname in ("localhost", "127.0.0.1", "::1")
    if place.scheme != "https" and not (place.scheme == "http" and is_near):
        raise InputError(f"url={shown(url)}: a token is sent to https:// only, or to this machine")
    token = os.environ.get(_TOKEN, "")
    if not token:
        raise InputError(f"the environment variable {_TOKEN} is empty; make a token at /account")
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    if body is not None:
        headers["idempotency-key"] = key or secrets.token_urlsafe(16)
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url.rstrip("/") + path, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return dict(json.loads(answer.read(_MOST)))
    except urllib.error.HTTPError as error:
        raise InputError(f"{url}: {error.code}: {_reason(error.read(1 << 16))}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{url}: no answer ({type(error).__name__}); is it running?") from None


def _reason(content: bytes) -> str:
    try:
        return str(json.loads(content)["error"])
    except (ValueError, LookupError, TypeError):
        return "refused"


def _say(found: dict[str, Any]) -> int:
    verdict = found.pop("verdict", None)
    for name, value in found.items():
        if value not in (None, "", []):
            print(f"{name}: {value}")
    if verdict:
        print(f"\n{verdict}")
    sys.stdout.flush()
    return 0
