"""``liptest verify``: certificates against themselves, their mechanism and their distribution."""

from __future__ import annotations

import hashlib
import json
import shlex
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from liptest.cli.codes import find_code
from liptest.cli.config import CheckModel, build_data, config_beside, read_config, validate
from liptest.cli.data_options import NOTHING, DataOptions, DistributionOptions, DomainOptions
from liptest.cli.loading import load_mechanism, load_sampler, make_label, mute_output
from liptest.cli.options import Statistic
from liptest.cli.program_options import NO_PROGRAM, ProgramOptions
from liptest.cli.sign import open_signed, read_text
from liptest.data.distributions import Distribution, DomainAlone
from liptest.data.domains import Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.errors import InputError, LiptestError, quote
from liptest.evidence.certificate import is_of_samples, read_documents
from liptest.evidence.check_receipt import BadSignature
from liptest.evidence.domain_form import current_kind
from liptest.evidence.verify import Examination, examine
from liptest.report.text import Screen, printable
from liptest.runs.fingerprints import distribution_hash


def verify(
    certificate: Annotated[Path, Parameter(help="JSON file that check or release wrote.")],
    named: Annotated[str | None, Parameter(help="The mechanism, the same as --mechanism.")] = None,
    /,
    *,
    mechanism: Annotated[
        str | None,
        Parameter(help="file.py:name or package.module:name; without it only the file is checked."),
    ] = None,
    config: Annotated[
        Path | None, Parameter(help="liptest.toml with the mechanism and its distribution.")
    ] = None,
    alone: Annotated[
        bool,
        Parameter(
            help="Look at the file only and run no code, not even what a liptest.toml beside you "
            "names.",
            negative="",
        ),
    ] = False,
    key: Annotated[
        Path | None, Parameter(help="Ed25519 public key in PEM, of a receipt that was signed.")
    ] = None,
    scalar: Annotated[
        bool, Parameter(help="Of samples: (dataset, rng) gives one output.", negative="")
    ] = False,
    data: DataOptions = NOTHING,
    statistic: Statistic = None,
    program: ProgramOptions = NO_PROGRAM,
) -> int:
    """Check a certificate: compute its witness and repeat its test.

    Exit code 0: it holds; 1: it does not; 2: this is not a certificate;
    3: nothing wrong was found, but too little was given to tell.

    What you do not give is taken from the liptest.toml of this folder, if it
    has a check of this mechanism. The domain is read from the certificate,
    and so is a distribution that is uniform or none.

    Example: liptest verify vendor.json

    Example: liptest verify vendor.json --mechanism vendor.py:count --records 20
    --probabilities 0.1
    """
    if named is not None and mechanism is not None:
        return Screen().error(InputError("mechanism: it is named twice; name it once"), 2)
    mechanism = mechanism if named is None else named
    if alone and not (mechanism is None and config is None and program == NO_PROGRAM):
        wrong = InputError("alone: it runs no code; leave --alone or the mechanism out")
        return Screen().error(wrong, 2)
    return run_verify(
        certificate,
        mechanism,
        config,
        data,
        scalar=scalar,
        alone=alone,
        program=program,
        key=key,
        statistic=statistic,
    )


_OPEN = 3
# The worst of several wins.
_SEVERITY = (1, 3, 2, 0)
_WORDS = {
    0: "HOLDS",
    1: "DOES NOT HOLD",
    3: "NOTHING WRONG FOUND, but not everything could be checked",
}


def run_verify(
    file: Path,
    mechanism: str | None,
    config: Path | None,
    data: DataOptions,
    *,
    scalar: bool = False,
    alone: bool = False,
    program: ProgramOptions = NO_PROGRAM,
    key: Path | None = None,
    statistic: str | None = None,
) -> int:
    """Every certificate of the file; the worst exit code.

    ``scalar``: of a sampler's function; ``alone``: no code is run; ``key``: of a signed receipt.
    """
    screen = Screen()
    try:
        written = read_text(file)
        text, signed_by = open_signed(written, key)
        documents = read_documents(text)
        against = Against(
            mechanism,
            config,
            data,
            scalar=scalar,
            alone=alone,
            program=program,
            statistic=statistic,
        )
    except BadSignature as error:
        screen.paragraph(f"receipt\n{_WORDS[1]}\nWrong: {error}")
        return 1
    except LiptestError as error:
        return screen.error(error, find_code(error))
    if not documents:
        return screen.error(InputError(f"{file}: it is an empty list, without any certificate"), 2)
    told = _Signature(text is not written, signed_by)
    codes = {_verify(screen, document, against, file, told) for document in documents}
    return next((code for code in _SEVERITY if code in codes), 2)


class Against:
    """What the command line names to compare certificates with."""

    def __init__(
        self,
        mechanism: str | None,
        config: Path | None,
        data: DataOptions,
        *,
        scalar: bool,
        alone: bool = False,
        program: ProgramOptions = NO_PROGRAM,
        statistic: str | None = None,
    ) -> None:
        self._program = program.build()
        self._statistic = statistic
        self._mechanism = mechanism
        self._scalar = scalar
        self._data = data
        self._folder = Path() if config is None else config.parent
        self._whole = None if config is None else read_config(config)
        # A file beside the user is taken as check takes it, where it has a check of the mechanism.
        self._is_found = False
        beside = config_beside(Path()) if config is None and mechanism is None else None
        if beside is not None and not alone:
            with suppress(LiptestError):
                self._whole = read_config(beside)
                self._is_found = True

    def of(self, document: dict[str, Any]) -> tuple[Any, Distribution | None]:
        """Mechanism and distribution for a certificate; None for what was not named."""
        if is_of_samples(document):
            return self._of_samples()
        checks = self._checks(document)
        where, folder = self._mechanism, Path()
        if where is None and self._whole is not None and (checks or not self._is_found):
            if not checks:
                raise InputError(
                    f"config: it has no check of {quote(_name(document))}; give --mechanism"
                )
            where, folder = checks[0].mechanism, self._folder
        if where is None:
            return None, None
        with mute_output():
            statistic = self._statistic or (checks[0].statistic if checks else None)
            frame: str | None = self._data.domain.frame
            frame = frame or (checks[0].library if checks else None)
            place = str(folder / where) if ".py:" in where else where
            mechanism, _ = load_mechanism(place, statistic, frame)
        return mechanism, self._distribution(document, checks)

    def _of_samples(self) -> tuple[Any, Distribution | None]:
        if self._program is not None:
            sampler = self._program.sampler()
        elif self._mechanism is not None:
            sampler, _ = load_sampler(self._mechanism, scalar=self._scalar)
        else:
            return None, None
        named = self._data.distribution != NOTHING.distribution
        return sampler, build_data(self._data) if named else None

    def _checks(self, document: dict[str, Any]) -> list[CheckModel]:
        if self._whole is None:
            return []
        name = _name(document) if self._mechanism is None else make_label(self._mechanism)
        return [check for check in self._whole.check if make_label(check.mechanism) == name]

    def _distribution(
        self, document: dict[str, Any], checks: list[CheckModel]
    ) -> Distribution | None:
        if self._data.distribution != NOTHING.distribution:
            return build_data(replace(self._data, domain=self._domain(document)))
        if self._whole is None:
            return self._of_certificate(document)
        pairs = [(check.domain, check.distribution) for check in checks] or [(None, None)]
        built = [self._build(*pair) for pair in pairs]
        wanted = document["distribution"]["hash"]
        return next((law for law in built if distribution_hash(law) == wanted), built[0])

    def _of_certificate(self, document: dict[str, Any]) -> Distribution | None:
        """The law that the certificate itself names, where that needs no numbers; by its hash."""
        wanted = document["distribution"]["hash"]
        domain = self._domain(document).build()
        if domain is None or wanted == distribution_hash(DomainAlone(domain)):
            return None if domain is None else DomainAlone(domain)
        if not isinstance(domain, (Hypercube, Hypergrid, RecordGrid)):
            return None
        uniform = ProductDistribution.uniform(domain)
        return uniform if wanted == distribution_hash(uniform) else None

    def next_words(self, document: dict[str, Any], file: Path) -> tuple[str, str]:
        """What to do where not everything could be checked, and the command that does it."""
        where = self._mechanism
        named = where or _place(document)
        command = shlex.join(["liptest", "verify", str(file), named])
        if where is None:
            words = _files_here(document)
            return f"{words}To compare it with the code, which is then run:", command
        source = printable(
            str(document.get("distribution", {}).get("source", "the data of the check"))
        )
        return (
            f"To repeat the test, add its distribution as check was given it ({source}), for "
            f"example --probabilities 0.1, or the file of the check:",
            f"{command} --config liptest.toml",
        )

    def _build(self, domain: DomainOptions | None, law: DistributionOptions | None) -> Distribution:
        assert self._whole is not None
        space = domain or self._whole.domain or DomainOptions()
        options = law or self._whole.distribution or DistributionOptions()
        return DataOptions(space, options).build(self._folder, alone=True)

    def _domain(self, document: dict[str, Any]) -> DomainOptions:
        if replace(self._data.domain, frame=None) != NOTHING.domain:
            return self._data.domain
        return validate(DomainOptions, _find_domain(document), "arguments")


def _find_domain(document: dict[str, Any]) -> dict[str, Any]:
    stated = document["domain"]
    # A certificate says of answers and tables also how they move.
    kind = current_kind(stated["kind"])
    if kind == "hypercube":
        return {"kind": kind, "dimension": stated["dimension"]}
    if stated["kind"].startswith(("table", "real table")):
        relation = "replace" if "replaced" in stated["kind"] else "add_remove"
        fields = dict(map(_field, stated["columns"]))
        reals = sum(column.get("real") is not None for column in stated["columns"])
        own = {"kind": "table", "relation": relation, "fields": fields}
        own |= {"at_most": stated["at_most"]} if stated.get("at_most") is not None else {}
        return own | {"dimension": stated["dimension"] // (1 + 2 * reals)}
    sizes = stated["sizes"]
    domain = {
        "kind": kind.partition(",")[0],
        "sizes": [sizes] * stated["dimension"] if isinstance(sizes, int) else sizes,
    }
    if kind.startswith("answer"):
        domain |= {"relation": "all" if "all" in kind else "one"}
    return domain


def _field(column: dict[str, Any]) -> tuple[str, Any]:
    if column.get("names") is not None:
        return column["name"], list(column["names"])
    if column.get("real") is not None:
        return column["name"], "real:{!r}..{!r}".format(*column["real"])
    if column.get("numbers") is None:
        return column["name"], "key"
    low, high, step = column["numbers"]
    return column["name"], f"{low}..{high}:{step}"


def _name(document: dict[str, Any]) -> str:
    return str(document["verdict"]["mechanism"])


def _place(document: dict[str, Any]) -> str:
    """The mechanism as a command line names it: a file that is here, else a module."""
    source, _, name = _name(document).rpartition(":")
    file = Path(f"{source or 'file'}.py")
    return f"{file}:{name}" if file.is_file() or "." not in source else f"{source}:{name}"


def _files_here(document: dict[str, Any]) -> str:
    """Whether the files in this folder are those that were tested: read and hashed, never run."""
    named = document.get("code", {}).get("files") or {}
    here: list[str] = []
    other: list[str] = []
    for name, digest in named.items():
        file = Path(name)
        if not file.is_absolute() and ".." not in file.parts and file.is_file():
            is_tested = hashlib.sha256(file.read_bytes()).hexdigest() == digest
            (here if is_tested else other).append(name)
    if other:
        return f"Not what was tested, by its hash: {', '.join(sorted(other))} in this folder. "
    if here and len(here) == len(named):
        return f"What was tested is in this folder, by its hash: {', '.join(sorted(here))}. "
    return ""


@dataclass(frozen=True)
class _Signature:
    """Whether the file is a receipt, and the key that signed it, "" where it was not checked."""

    is_receipt: bool
    key: str

    def note(self, found: Examination) -> None:
        """Add what is known of the signature."""
        if self.key:
            found.checked.insert(0, f"the signature, by the key {self.key}")
        elif self.is_receipt:
            found.unchecked.append("the signature of the receipt: give the public key, --key")
            found.certain = False


def _verify(
    screen: Screen, document: dict[str, Any], against: Against, file: Path, signature: _Signature
) -> int:
    text = json.dumps(document)
    alone = examine(text)
    if not alone.readable:
        return _tell(screen, "certificate", alone)
    try:
        mechanism, distribution = against.of(document)
        report = alone
        if mechanism is not None:
            with mute_output():
                report = examine(text, mechanism, distribution)
    except LiptestError as error:
        return screen.error(error, find_code(error), _name(document))
    signature.note(report)
    verdict = document["verdict"]
    code = _tell(screen, f"{verdict['mechanism']}   {verdict['decision']}", report)
    if code == _OPEN and report.unchecked:
        words, command = against.next_words(document, file)
        screen.paragraph(words)
        screen.command(printable(command))
    return code


# Lines of what is wrong; one other number in a certificate changes many.
_MOST_PROBLEMS = 6


def _tell(screen: Screen, title: str, found: Examination) -> int:
    code = 1 if found.problems else 0 if found.certain else 3
    lines = [title, _WORDS[code]]
    lines += [f"Wrong: {told}" for told in found.problems[:_MOST_PROBLEMS]]
    if (more := len(found.problems) - _MOST_PROBLEMS) > 0:
        lines.append(f"Wrong: {more} more of what follows from these, or is like them")
    lines += [f"Checked: {told}" for told in found.checked if not found.problems]
    lines += [f"Not checked: {told}" for told in found.unchecked]
    screen.paragraph("\n".join(map(printable, lines)))
    return code
