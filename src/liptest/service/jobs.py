"""Who does which jobs, and what is at hand for them."""

from __future__ import annotations

from dataclasses import dataclass

from liptest.service.records import ANALYSE, CAP_PEOPLE, FIT, REGISTER, RELEASE, Places
from liptest.service.store import Store

WORKER, RELEASER = "worker", "releaser"
#: The function that does the jobs of a role, by name, and their kinds.
KINDS = {
    WORKER: ("liptest.service.analysis:analyse_job", (ANALYSE,)),
    RELEASER: ("liptest.service.releasing:answer_job", (REGISTER, CAP_PEOPLE, FIT, RELEASE)),
}


@dataclass(frozen=True)
class Workplace:
    """The database and the files.

    ``allowed`` are packages that code may import; with ``unconfined`` code runs where there is no
    jail, too. ``approvals`` operators at least must agree with a release, whatever a task says.
    """

    store: Store
    places: Places
    allowed: tuple[str, ...]
    unconfined: bool = False
    approvals: int = 1
