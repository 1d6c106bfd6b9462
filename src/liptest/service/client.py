"""``liptest service``: what can be asked of a running service from a terminal."""

from __future__ import annotations

import json
import os
import secrets
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from liptest.errors import InputError, quote
from liptest.service.opening import read_whole, unusable

service = App(name="service", help="Ask a running service: submit, look, release.")
Url = Annotated[str, Parameter(help="Where the service is.")]
Number = Annotated[int, Parameter(help="Its number.", converter=read_whole)]
DatabaseUrl = Annotated[
    str | None,
    Parameter(
        help="postgresql://account@host/name; better in the environment, where no list of "
        "processes shows it.",
        env_var="LIPTEST_DATABASE",
    ),
]
_HERE = "http://localhost:8000"
_TOKEN = "LIPTEST_TOKEN"
_MOST = 1 << 26


@service.command
def submit(
    mechanism: Annotated[str, Parameter(help="file.py:name.")],
    /,
    *,
    task: Annotated[int, Parameter(help="Number of the task.", converter=read_whole)],
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
        raise InputError(f"mechanism={quote(mechanism)}: name file.py:name, a file that is here")
    try:
        code = Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"mechanism={quote(mechanism)}: not read: {error}") from None
    body = {"task": task, "file": Path(file).name, "name": name, "code": code}
    return _say(ask(url, "/api/submissions", body, key=key))


@service.command
def status(number: Number, /, *, url: Url = _HERE) -> int:
    """Print what became of a submission; exit code 0 YES, 1 NO, 3 open or no verdict.

    Example: liptest service status 1
    """
    submission = ask(url, f"/api/submissions/{number}")
    _say(submission)
    return {"YES": 0, "NO": 1}.get(str(submission.get("state")), 3)


@service.command(name="release")
def ask_for_output(
    submission: Annotated[
        int, Parameter(help="Number of a submission with a YES.", converter=read_whole)
    ],
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
    folder: Annotated[
        Path | None, Parameter(help="The folder of the service, on its machine.")
    ] = None,
    database: DatabaseUrl = None,
) -> int:
    """Make an account, on the machine of the service or in its database; prints its password.

    Example: liptest service account ada --role operator --folder clean-room
    """
    from liptest.service.actions import add_account

    password = _set_password(
        folder, database, lambda store, password: add_account(store, name, role, password)
    )
    print(f"{name} ({role}): password {password}")
    return 0


@service.command
def renew(
    name: Annotated[str, Parameter(help="Name of the account.")],
    /,
    *,
    folder: Annotated[
        Path | None, Parameter(help="The folder of the service, on its machine.")
    ] = None,
    database: DatabaseUrl = None,
) -> int:
    """Give an account a new password, which is printed; its sessions and tokens end.

    For a password or a token that others know, and, if nobody is told the new one, for accounts
    that nobody shall use any more.

    Example: liptest service renew ada --folder clean-room
    """
    from liptest.service.actions import renew_account

    password = _set_password(
        folder, database, lambda store, password: renew_account(store, name, password)
    )
    print(f"{name}: password {password}")
    return 0


@service.command
def prepare(*, database: DatabaseUrl = None) -> int:
    """Make the tables of a service in a PostgreSQL database, as the account that owns them.

    Accounts of the database called liptest_web, liptest_worker and liptest_releaser, if they are
    there, get what each kind of process needs, and no more.

    Example: liptest service prepare --database postgresql://owner@host/liptest
    """
    from liptest.service.opening import check_url, prepare_all
    from liptest.service.records import Places, ServiceError
    from liptest.service.store import Store

    url = check_url(database)
    if url is None:
        raise InputError("database: name postgresql://account@host/name", name="database")
    try:
        with TemporaryDirectory() as nowhere:
            places = Places(Path(nowhere), url)
            accounts = prepare_all(Store(url), places)
    except ServiceError as error:
        raise InputError(str(error)) from None
    print(f"prepared; rights given to: {', '.join(accounts) or 'no account'}")
    return 0


def _set_password(
    folder: Path | None, database: str | None, change: Callable[[Any, str], object]
) -> str:
    """Give an account of a service a new password, which is returned."""
    from liptest.service.command import require_packages
    from liptest.service.records import ServiceError

    require_packages()
    password = secrets.token_urlsafe(12)
    try:
        store, _ = _open(folder, database)
        change(store, password)
    except ServiceError as error:
        raise InputError(str(error)) from None
    except (OSError, ValueError) as error:
        raise unusable(folder, error) from None
    return password


def _open(folder: Path | None, database: str | None) -> tuple[Any, Any]:
    """The store of a service and its places, with what it needs."""
    from liptest.service.opening import check_url
    from liptest.service.records import Places
    from liptest.service.store import Store

    url = check_url(database)
    if folder is None and url is None:
        raise InputError("folder: name --folder, or --database for a service in PostgreSQL")
    places = Places(folder or Path(), url)
    if folder is not None:
        places.make()
    store = Store(places.database)
    store.prepare()
    return store, places


def ask(url: str, path: str, body: Any = None, *, key: str | None = None) -> dict[str, Any]:
    """One call of the API; InputError where it is refused."""
    try:
        place = urllib.parse.urlsplit(url)
    except ValueError as error:
        raise InputError(f"url={quote(url)}: {error}", name="url") from None
    is_near = place.hostname in ("localhost", "127.0.0.1", "::1")
    if place.scheme != "https" and not (place.scheme == "http" and is_near):
        raise InputError(f"url={quote(url)}: a token is sent to https:// only, or to this machine")
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
