"""The process that runs a vendor's code for ``liptest release``, and seals its laws.

It knows the domain, and no private data. Its answer is judged by the process that started it,
which never imports the code.
"""

from __future__ import annotations

import json
import os
import sys
from fractions import Fraction
from typing import Any

from liptest.cli.loading import load_mechanism
from liptest.errors import LiptestError
from liptest.evidence.domain_form import read_domain
from liptest.gate.sealing import seal, seal_on_grid
from liptest.runs.fingerprints import fingerprint
from liptest.runs.jail import answer_with, limit_this_process
from liptest.runs.surroundings import surroundings_kept


def seal_as_asked(request: dict[str, Any]) -> dict[str, Any]:
    """The sealed laws of the requested mechanism, as plain JSON values."""
    domain = read_domain(request["domain"])
    mechanism, label = load_mechanism(
        request["mechanism"], request.get("statistic"), request.get("frame"), lambda: domain
    )
    with surroundings_kept():
        mechanism = mechanism.on_domain(domain)  # a table's gets data frames
        code = fingerprint(mechanism)
        step = request.get("grid_step")
        if step is None:
            sealed = seal(mechanism, domain)
        else:
            sealed = seal_on_grid(mechanism, domain, Fraction(step))
    hashes = {"hash": code.code, "files": code.files, "packages": code.packages}
    return {
        "sealed": sealed.to_dict(),
        "label": label,
        "source": mechanism.law_source,
        "code": hashes | {"parameters": code.parameters},
    }


def run_child() -> None:
    """Read the request, answer, and end at once: nothing that code left for the end runs."""
    descriptor = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    request = json.loads(sys.stdin.buffer.read())
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    limit_this_process()
    try:
        answer = seal_as_asked(request)
    except LiptestError as error:
        answer = {"error": type(error).__name__, "text": str(error)}
    except BaseException as error:
        answer = {"error": "MechanismError", "text": f"the analysis raised {type(error).__name__}"}
    answer_with(descriptor, json.dumps(answer).encode())
    os._exit(0)


if __name__ == "__main__":
    run_child()
