"""Write the bill of materials of an installed package: CycloneDX 1.5, JSON.

``python .ci/sbom.py liptest liptest.cdx.json`` in the environment of the release. Read from the
metadata that are installed, offline; the same environment gives the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from importlib import metadata
from pathlib import Path
from typing import Any

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r";.*\bextra\s*==")


def normal(name: str) -> str:
    """A name as package registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> dict[str, metadata.Distribution]:
    """All distributions of this environment by their normal names."""
    return {normal(one.metadata["Name"]): one for one in metadata.distributions()}


def needed(one: metadata.Distribution, there: dict[str, metadata.Distribution]) -> list[str]:
    """What it requires without extras, of what is installed; other systems need other packages."""
    found = {
        normal(match[0])
        for text in one.requires or []
        if not _EXTRA.search(text) and (match := _NAME.match(text))
    }
    return sorted(found & there.keys())


def component(one: metadata.Distribution, kind: str) -> dict[str, Any]:
    """Name, version, identity and licence."""
    name, facts = normal(one.metadata["Name"]), one.metadata
    licence = facts.get("License-Expression") or facts.get("License") or ""
    told = licence if len(licence) <= 80 and "\n" not in licence else ""
    purl = f"pkg:pypi/{name}@{one.version}"
    made = {"type": kind, "bom-ref": purl, "name": name, "version": one.version, "purl": purl}
    return made | ({"licenses": [{"license": {"name": told}}]} if told else {})


def bill(package: str) -> dict[str, Any]:
    """The package and everything that it needs, with who needs what."""
    there, edges, open_names = installed(), {}, [normal(package)]
    while open_names:
        name = open_names.pop()
        if name not in edges:
            edges[name] = needed(there[name], there)
            open_names += edges[name]
    refs = {name: f"pkg:pypi/{name}@{there[name].version}" for name in edges}
    root = normal(package)
    document: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(there[root], "library")},
        "components": [component(there[name], "library") for name in sorted(edges) if name != root],
        "dependencies": [
            {"ref": refs[name], "dependsOn": [refs[one] for one in edges[name]]}
            for name in sorted(edges)
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return document | {"serialNumber": f"urn:uuid:{serial}"}


if __name__ == "__main__":
    written = json.dumps(bill(sys.argv[1]), indent=1, sort_keys=True) + "\n"
    Path(sys.argv[2]).write_text(written, encoding="utf-8")
