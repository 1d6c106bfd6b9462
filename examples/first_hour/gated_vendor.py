"""A vendor's file: settings, check, certificate, report, SARIF, ledger, verify, release.

It prints the exit codes:

init: 0
check: 0
verify: 0
release: 0
ledger: 0
files: certificate.json ledger.db liptest.toml private.csv report.html report.sarif vendor.py
"""

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path

from liptest.cli import main

VENDOR = '''
def smokers(data, rng):
    """Each answer, turned around once in four times."""
    return tuple(int(x) ^ int(rng.random() < 0.25) for x in data)
'''
sys.dont_write_bytecode = True
COMMANDS = (
    "init vendor.py:smokers --epsilon log(3) --records 6",
    "check --json certificate.json --html report.html --sarif report.sarif --ledger ledger.db",
    "verify certificate.json",
    "release --private private.csv --private-column smoker --in-process --ledger ledger.db",
    "ledger show ledger.db",
)

home = Path.cwd()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    Path("vendor.py").write_text(VENDOR)
    Path("private.csv").write_text("smoker\n" + "0\n1\n" * 3)
    for command in COMMANDS:
        with contextlib.redirect_stdout(io.StringIO()):
            code = main(command.split())
        print(f"{command.split()[0]}: {code}")
    print("files:", *sorted(path.name for path in Path().iterdir() if "-" not in path.name))
    os.chdir(home)
