"""The web process: pages and API; it has no private table, runs no code, and releases nothing.

``python -m liptest.service.web FOLDER --port 8000``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette

from liptest.service.guards import App, guard_app
from liptest.service.opening import places_here
from liptest.service.processes import end_with
from liptest.service.records import Places
from liptest.service.store import Store


def make_app(store: Store, places: Places, *, approvals: int = 1) -> App:
    """The application on a database; so many operators at least must agree with a release."""
    routes = [*_load("pages").list_pages(), *_load("api").list_operations()]
    app = Starlette(routes=routes)
    app.state.store = store
    app.state.places = places
    app.state.approvals = approvals
    return guard_app(cast(App, app))


def _load(room: str) -> Any:
    """By name: pages know the ledger, and that everything below it."""
    return import_module(f"liptest.service.{room}")


def run_web(arguments: Sequence[str]) -> None:
    """Answer requests until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--approvals", type=int, default=1)
    parser.add_argument("--parent", type=int, default=0)
    given = parser.parse_args(arguments)
    end_with(given.parent)
    places = places_here(given.folder)
    app = make_app(Store(places.database), places, approvals=given.approvals)
    uvicorn.run(
        app,
        host=given.host,
        port=given.port,
        access_log=False,
        server_header=False,
        log_level="warning",
        limit_concurrency=200,
        timeout_graceful_shutdown=3,
    )


if __name__ == "__main__":
    run_web(sys.argv[1:])
