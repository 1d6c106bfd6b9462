"""Sessions with versions of other packages: ``nox -l`` lists them.

Each session of ``libraries`` installs one real library, pinned, and runs the golden tests of its
mechanisms: ``nox -s 'libraries(diffprivlib-0.6.6)'``.
"""

import json
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv|virtualenv"
_KNOWN = json.loads(Path("tests/golden/real_libraries.json").read_text(encoding="utf-8"))
_ENVIRONMENTS = [name for name, pinned in _KNOWN["environments"].items() if pinned]
#: What needs diffprivlib, or SciPy, which comes with it.
_WITH_DIFFPRIVLIB = (
    "tests/golden/test_adapters_diffprivlib.py",
    "tests/golden/test_first_hour.py",
    "tests/unit/adapters/test_adapters_page.py",
    "tests/unit/enumerate/trees/test_quantiles.py",
)


@nox.session(python="3.11")
@nox.parametrize("environment", _ENVIRONMENTS, ids=_ENVIRONMENTS)
def libraries(session: nox.Session, environment: str) -> None:
    """Golden tests of one installed library."""
    pinned = _KNOWN["environments"][environment]
    # One of them needs an older NumPy than liptest asks for; these tests say whether both work.
    overrides = Path(session.create_tmp()) / "overrides.txt"
    overrides.write_text("\n".join(pinned) + "\n", encoding="utf-8")
    session.install(
        *(*pinned, ".", "pytest", "pytest-xdist", "hypothesis"), "--overrides", str(overrides)
    )
    session.run(
        "pytest",
        "tests/golden/test_real_libraries.py",
        *(_WITH_DIFFPRIVLIB if environment.startswith("diffprivlib") else ()),
        *("-m", "", "--every-case"),
        # A dependency of ldp-toolbox brings a plugin that newer versions of pytest warn of.
        *("-p", "no:dash"),
        # Mechanisms that Numba compiles draw their own random numbers; this is its documented
        # switch to run the same functions as Python.
        env={"LIPTEST_LIBRARIES": environment, "NUMBA_DISABLE_JIT": "1"},
    )


@nox.session(python="3.11")
def accounting(session: nox.Session) -> None:
    """Bounds of compositions beside those of Google's dp_accounting, which fixes old versions."""
    session.install("dp-accounting==0.6.0", ".", "pytest", "hypothesis")
    session.run("pytest", "tests/golden/test_accounting.py")
    session.run("python", "benchmarks/composition.py")


@nox.session(python="3.11")
def world(session: nox.Session) -> None:
    """The scoreboard: every pinned version of public libraries, each in its environment."""
    session.install(".", "uv")
    session.run("python", "-m", "benchmarks.world", *session.posargs)
