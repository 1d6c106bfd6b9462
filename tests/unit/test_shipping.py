"""What ships: the bill of materials, the recipe and the release workflow say what is so."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sbom() -> Any:
    spec = importlib.util.spec_from_file_location("sbom", ROOT / ".ci" / "sbom.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_bill_of_materials_is_closed_and_the_same_each_time(sbom: Any) -> None:
    # pytest stands for liptest, which some environments run from its source.
    found = sbom.bill("pytest")
    assert (found["bomFormat"], found["specVersion"], found["version"]) == ("CycloneDX", "1.5", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", found["serialNumber"])
    refs = {one["bom-ref"] for one in found["components"]}
    refs.add(found["metadata"]["component"]["bom-ref"])
    assert {one["ref"] for one in found["dependencies"]} == refs
    assert all(set(one["dependsOn"]) <= refs for one in found["dependencies"])
    assert {"pluggy", "packaging", "iniconfig"} <= {one["name"] for one in found["components"]}
    assert all(one["version"] for one in found["components"])
    assert found == sbom.bill("pytest")


def test_the_script_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "bill.json"
    command = [sys.executable, str(ROOT / ".ci" / "sbom.py"), "pytest", str(file)]
    subprocess.run(command, check=True)
    assert json.loads(file.read_text(encoding="utf-8"))["metadata"]["component"]["name"] == "pytest"


def test_extras_and_markers_are_not_taken(sbom: Any) -> None:
    class One:
        requires = ("a>=1", 'b; extra == "x"', "C_d ; python_version > '3'", "not-here")

    assert sbom.needed(One(), {"a": None, "b": None, "c-d": None}) == ["a", "c-d"]


def test_the_recipe_has_the_floors_of_the_package() -> None:
    run = RECIPE.split("  run:\n")[1].split("\ntest:")[0]
    listed = {line.strip("- ").replace(" ", "") for line in run.splitlines() if line.strip()}
    assert listed == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    assert f'version: "{PROJECT["version"]}"' in RECIPE
    assert f"license: {PROJECT['license']}" in RECIPE
    assert f"summary: {PROJECT['description']}" in RECIPE
    name, target = next(iter(PROJECT["scripts"].items()))
    assert f"- {name} = {target}" in RECIPE


def test_versions_of_python_are_said_alike() -> None:
    low, high = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()  # type: ignore[union-attr]
    said = {int(one.rsplit(".", 1)[1]) for one in PROJECT["classifiers"] if ":: 3." in one}
    assert said == set(range(int(low), int(high)))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Python 3.{low} to 3.{int(high) - 1}" in readme


def test_the_release_keeps_no_secret_and_runs_what_is_here() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "id-token: write" in text
    assert not re.search(r"secrets\.|password|https?://", text.split("\n", 3)[3])
    for file in re.findall(r"\.ci/\w+", text):
        assert (ROOT / file).stat().st_mode & 0o100, file
