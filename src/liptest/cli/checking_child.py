"""The process that runs one check for ``liptest check``, the code under test included.

It knows the request and public tables, no ledger, and answers with a certificate or an error. What
it says is its word: the process that started it holds that against the request.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from liptest.cli.config import CheckModel, validate
from liptest.cli.jobs import Job, load_job, make_settings
from liptest.cli.lines import as_line, warning_line
from liptest.cli.loading import find_definition, mute_output
from liptest.cli.workers import pool
from liptest.errors import LiptestError
from liptest.evidence.certificate import certify
from liptest.evidence.domain_form import domain_to_dict
from liptest.privacy.check import check_with_settings
from liptest.privacy.request import validate_request
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.report.findings import findings
from liptest.runs.fingerprints import Fingerprint, fingerprint
from liptest.runs.jail import answer_with, limit_this_process

Told = Callable[[dict[str, Any]], None]
# Least time between two messages about progress.
_SECONDS = 0.1
# Threads that packages start when they are imported, and processes beside the workers.
_THREADS = 64


def check_as_asked(request: dict[str, Any], tell: Told) -> dict[str, Any]:
    """The certificate of the requested check, as plain JSON values, and where the code is.

    Where the request asks for it, the domain that an object of a library has is told first.
    """
    model = validate(CheckModel, request["check"], "arguments")
    job = load_job(model, Path(request["folder"]), alone=True)
    if request["asks_domain"]:
        tell({"domain": domain_to_dict(job.distribution.domain)})
    file, line = find_definition(job.where)
    code, settings = fingerprint(job.mechanism), make_settings(model)
    validate_request(job.mechanism, job.distribution, settings)
    with keep_file(request, tell) as kept, mute_output(), pool(request["workers"]) as executor:
        run = replace(settings, executor=executor, progress=kept.progress, checkpoint=kept.path)
        verdict = check_with_settings(job.mechanism, job.distribution, run)
    return {
        "certificate": _certify(job, code, verdict),
        "file": None if file is None else str(file),
        "line": line,
        "findings": _pictures(job, verdict) if request["pictures"] else None,
    }


def _certify(job: Job, code: Fingerprint, verdict: PrivacyVerdict) -> dict[str, Any]:
    named = replace(verdict, mechanism=job.label)
    return certify(named, code, job.distribution, own_seed=job.model.seed is None).to_dict()


def _pictures(job: Job, verdict: PrivacyVerdict) -> dict[str, Any]:
    with mute_output():
        return findings(verdict, job.mechanism, job.distribution).to_dict()


class _Kept:
    """The checkpoint of a run, which is told whenever it changed, with the progress."""

    def __init__(self, path: Path | None, tell: Told) -> None:
        self.path = path
        self._tell = tell
        self._told = -1.0
        self._seen: tuple[int, int] | None = None

    def progress(self, done: int, planned: int) -> None:
        now = time.monotonic()
        if now - self._told >= _SECONDS or done >= planned:
            self._told = now
            self._tell({"progress": [int(done), int(planned)]})
            self.send()

    def send(self) -> None:
        if self.path is None or not self.path.exists():
            return
        state = self.path.stat()
        if (state.st_ino, state.st_mtime_ns) != self._seen:
            self._seen = state.st_ino, state.st_mtime_ns
            self._tell({"checkpoint": self.path.read_text(encoding="utf-8")})


@contextmanager
def keep_file(request: dict[str, Any], tell: Told) -> Iterator[_Kept]:
    """A copy of the checkpoint here, if there is one; errors name the one that was asked for."""
    if request["checkpoint"] is None:
        yield _Kept(None, tell)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(request["checkpoint"]).name
        if request["kept"] is not None:
            path.write_text(request["kept"], encoding="utf-8")
        kept = _Kept(path, tell)
        try:
            yield kept
        except LiptestError as error:
            error.args = (str(error).replace(str(path), request["checkpoint"]),)
            raise
        finally:
            kept.send()


def run_checking_child() -> None:
    """Read the request, answer, and end at once: nothing that code left for the end runs."""
    descriptor = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    request = json.loads(sys.stdin.buffer.read())
    for stream in (0, 1):
        os.dup2(nowhere, stream)
    warnings.formatwarning = warning_line
    limit_this_process(
        memory=request["memory"],
        seconds=float("inf"),
        threads=_THREADS + request["workers"] if request["is_jailed"] else None,
        has_workers=request["workers"] > 1,
    )

    def tell(message: dict[str, Any], *, is_last: bool = False) -> None:
        answer_with(descriptor, json.dumps(message).encode(), is_last=is_last)

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        tell({"ready": True})
        answer = check_as_asked(request, tell)
    except LiptestError as error:
        answer = {"error": type(error).__name__, "text": str(error)}
    except KeyboardInterrupt:
        answer = {"interrupted": True}
    except BaseException as error:
        if request["debug"]:
            sys.excepthook(type(error), error, error.__traceback__)
        answer = {"internal": type(error).__name__, "text": as_line(error)}
    sys.stderr.flush()
    tell(answer, is_last=True)
    os._exit(0)


if __name__ == "__main__":
    run_checking_child()
