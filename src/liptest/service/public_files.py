"""Public tables for workers on other machines: kept in the database, known by their sha256.

The releaser, which has the folder, stores the files that a task names; a worker whose folder has
them not, or others, writes them there.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from tempfile import mkstemp

from liptest.cli.config import CheckModel
from liptest.service.records import Places
from liptest.service.store import Store
from liptest.service.tasks import check_file

#: Most bytes of a file that is stored; larger ones are copied by hand.
MOST_PUBLIC = 1 << 26


def name_files(model: CheckModel) -> list[str]:
    """The public files that a task's distribution is fitted on."""
    law = model.distribution
    paths = () if law is None else (law.table, law.records)
    return [check_file(str(path)) for path in paths if path is not None]


def store_files(model: CheckModel, store: Store, places: Places) -> None:
    """Keep the files of a task in the database, where workers may be on other machines."""
    if places.url is None:
        return
    for name in name_files(model):
        path = places.public / name
        if path.stat().st_size <= MOST_PUBLIC:
            content = path.read_bytes()
            store.keep_public_file(name, hashlib.sha256(content).hexdigest(), content)


def fetch_files(model: CheckModel, store: Store, places: Places) -> None:
    """Write the files of a task into the folder, where they are not there as they are stored."""
    if places.url is None:
        return
    for name in name_files(model):
        path, digest = places.public / name, store.public_digest(name)
        there = path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest
        if digest is not None and not there:
            write_whole(path, store.public_file(name, digest))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that others who read see all of it, or none."""
    descriptor, made = mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)
    Path(made).replace(path)
