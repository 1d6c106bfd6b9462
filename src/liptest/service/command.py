"""``liptest serve``: the three kinds of process of a service, or one of them."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from liptest.errors import InputError, check_count, quote
from liptest.runs.jail import confinement, find_bubblewrap
from liptest.service.opening import VARIABLE, check_url, read_whole, unusable

_NEEDED = {
    "starlette": "starlette",
    "uvicorn": "uvicorn",
    "argon2": "argon2-cffi",
    "python_multipart": "python-multipart",
}
Role = Literal["all", "web", "worker", "releaser"]


@dataclass(frozen=True)
class _Wish:
    folder: Path
    database: str | None
    host: str
    port: int
    workers: int
    memory: int
    role: Role
    unconfined: bool
    imports: tuple[str, ...]
    approvals: int


def serve(
    folder: Annotated[Path | None, Parameter(help="Folder of the service.")] = None,
    /,
    *,
    demo: Annotated[
        bool,
        Parameter(help="Show a service with accounts, a table and three vendors.", negative=""),
    ] = False,
    database: Annotated[
        str | None,
        Parameter(
            help="postgresql://account@host/name, in place of files in the folder; better in the "
            "environment, where no list of processes shows it.",
            env_var="LIPTEST_DATABASE",
        ),
    ] = None,
    host: Annotated[str, Parameter(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, Parameter(help="Port to listen at; 0 takes a free one.", converter=read_whole)
    ] = 8000,
    workers: Annotated[
        int, Parameter(help="Processes that analyse code.", converter=read_whole)
    ] = 2,
    memory: Annotated[
        int, Parameter(help="MiB that a worker and its code may have.", converter=read_whole)
    ] = 4096,
    role: Annotated[Role, Parameter(help="Start only processes of this kind.")] = "all",
    approvals: Annotated[
        int,
        Parameter(
            help="Operators who must agree with a release, at least; with 2 or more, operators are "
            "made on this machine only.",
            converter=read_whole,
        ),
    ] = 1,
    allow_import: Annotated[
        list[str] | None, Parameter(help="A package that code may import, too.", negative="")
    ] = None,
    allow_unconfined: Annotated[
        bool,
        Parameter(help="Run vendors' code although there is no bubblewrap here.", negative=""),
    ] = False,
) -> int:
    """Serve vendors who submit code, and operators who release.

    In a browser and by an API.

    Example: liptest serve --demo
    """
    require_packages()
    url = check_url(database)
    _check_names(host, allow_import or ())
    if folder is None and not demo:
        _require_no_folder(url, role)
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="liptest-demo-")))
        chosen = port if role not in ("all", "web") else free_port(host, port)
        wish = _Wish(
            *(folder.absolute(), url, host, chosen, check_count("workers", workers)),
            memory=check_count("memory", memory),
            role=role,
            unconfined=allow_unconfined,
            imports=tuple(allow_import or ()),
            approvals=check_least(approvals),
        )
        return _serve(wish, demo=demo)


def check_least(approvals: int) -> int:
    """InputError for a number of operators that no task can ask for."""
    from liptest.service.actions import MOST_APPROVALS

    if not 1 <= approvals <= MOST_APPROVALS:
        raise InputError(f"approvals={approvals}: 1 to {MOST_APPROVALS}", name="approvals")
    return approvals


def _check_names(host: str, imports: Iterable[str]) -> None:
    """InputError for a host or a package that has no name of its kind."""
    if not host or not host.isprintable():
        raise InputError(f"host={quote(host)}: name an address of this machine", name="host")
    for name in imports:
        if not all(part.isidentifier() for part in name.split(".")):
            raise InputError(
                f"allow_import={quote(name)}: name a package, as in import", name="allow_import"
            )


def _require_no_folder(url: str | None, role: Role) -> None:
    """InputError where a folder is needed."""
    if url is None:
        raise InputError("folder: name a folder for the service, or say --demo", name="folder")
    if role not in ("web", "worker"):
        raise InputError(
            "folder: the releaser reads private tables from a folder; name it, or start only "
            "--role web or --role worker",
            name="folder",
        )


def require_packages() -> None:
    """InputError where packages of the extra are missing."""
    missing = [named for module, named in _NEEDED.items() if find_spec(module) is None]
    if missing:
        raise InputError(f"liptest serve needs {', '.join(missing)}: pip install 'liptest[serve]'")


def require_jail(*, unconfined: bool) -> None:
    """InputError where code would run unconfined, and nobody allowed that."""
    if find_bubblewrap() is None and not unconfined:
        raise InputError(
            "bubblewrap is missing: vendors' code could read what this account can, private tables "
            "too; install bubblewrap, or say --allow-unconfined"
        )


def _serve(wish: _Wish, *, demo: bool) -> int:
    from liptest.service.demo import set_up_demo
    from liptest.service.opening import prepare_all
    from liptest.service.records import Places, ServiceError
    from liptest.service.store import Store

    if wish.role in ("all", "worker"):
        require_jail(unconfined=wish.unconfined)
    places = Places(wish.folder, wish.database)
    try:
        store = Store(places.database)
        if wish.role == "all":
            prepare_all(store, places)
        else:
            # Its account of the database may have no right to more.
            places.make()
            store.prepare()
        passwords = set_up_demo(store, places) if demo and not store.users() else {}
    except ServiceError as error:
        raise InputError(str(error)) from None
    except (OSError, ValueError) as error:
        raise unusable(wish.folder, error) from None
    _tell(wish, passwords)
    _run(wish)
    return 0


def _tell(wish: _Wish, passwords: dict[str, str]) -> None:
    if wish.role in ("all", "web"):
        print(f"liptest serves at {_url(wish)}")
    for name, password in passwords.items():
        print(f"  {name:10} password {password}")
    if wish.role in ("all", "worker"):
        print(f"Vendors' code: {confinement()}.")
    print("Ctrl-C ends it.", flush=True)
    has_display = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if passwords and has_display:
        threading.Thread(target=_open_browser, args=(_url(wish),), daemon=True).start()


def _url(wish: _Wish) -> str:
    return f"http://{'localhost' if wish.host == '127.0.0.1' else wish.host}:{wish.port}"


def _open_browser(url: str) -> None:
    for _ in range(60):
        try:
            urllib.request.urlopen(f"{url}/login", timeout=1).close()
        except OSError:
            time.sleep(0.5)
        else:
            webbrowser.open(url)
            return


def _run(wish: _Wish) -> None:
    from liptest.service.processes import Process, Supervisor, stop_on_signals

    folder = str(wish.folder)
    environment = {VARIABLE: wish.database or ""}
    daemon = "liptest.service.daemon"
    more = [part for name in wish.imports for part in ("--allow-import", name)]
    more += ["--allow-unconfined"] if wish.unconfined else []
    least = ["--approvals", str(wish.approvals)]
    listen = ["--host", wish.host, "--port", str(wish.port), *least]
    kinds = {
        "web": [Process("web", "liptest.service.web", [folder, *listen], environment)],
        "releaser": [Process("releaser", daemon, ["releaser", folder, *least], environment)],
        "worker": [
            Process(
                f"worker {n + 1}",
                daemon,
                ["worker", folder, *more, "--memory", str(wish.memory)],
                environment,
            )
            for n in range(wish.workers)
        ],
    }
    chosen = kinds if wish.role == "all" else {wish.role: kinds[wish.role]}
    supervisor = Supervisor([process for kind in chosen.values() for process in kind])
    stop_on_signals(supervisor.stop)
    supervisor.run()


def free_port(host: str, port: int) -> int:
    """The port, or a free one for 0; InputError when another program has it."""
    if not 0 <= port < 1 << 16:
        raise InputError(f"port={quote(port)} must be between 0 and 65535", name="port")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise InputError(f"port={port} at {host}: {error.strerror}; give --port 0") from None
        return int(probe.getsockname()[1])
