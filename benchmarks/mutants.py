"""Small mistakes, put into the code that decides verdicts one by one: do the quick tests see them?

    nice -n 19 python benchmarks/mutants.py                    # 150 sites, chosen by seed 0
    nice -n 19 python benchmarks/mutants.py --sites 40 --seed 1
    python benchmarks/mutants.py --only privacy/comparison.py --sites 20

A site is a comparison, an operation, a condition, a number, or a call of two arguments; its mutant
is the other comparison, the other operation, and so on. Each mutated file is run against the quick
tests that cover it, in a copy of the sources; the tests must fail. What lives is printed with its
line. ``equivalent_mutants.py`` holds mutations that nobody could see, with the reason;
``mutant_runs.py`` does the same a good deal quicker, in one process.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equivalent_mutants import BY_REASON

ROOT = Path(__file__).resolve().parents[1]
UNIT = "tests/unit"
PRIVACY = f"{UNIT}/privacy"
ENDS = f"{PRIVACY}/test_ends_of_verdicts.py"
COMPARED = [
    *(f"{PRIVACY}/test_{name}.py" for name in ("certify", "same_law", "remedies", "delta_ties")),
    *(f"{PRIVACY}/test_{name}.py" for name in ("underflow", "odd_laws", "enclosures", "screening")),
    *(f"{PRIVACY}/test_{name}.py" for name in ("lines_of_comparison", "judgements_one_by_one")),
    f"{PRIVACY}/test_notions.py",
    f"{UNIT}/mechanisms/test_neighbourhoods.py",
    "tests/property/test_privacy_compare.py",
]
MECHANISMS = [
    *(f"{UNIT}/mechanisms/test_{name}.py" for name in ("shift", "vector_shift", "noise", "laws")),
    f"{UNIT}/mechanisms/test_witnesses_of_noise.py",
    "tests/property/test_noise_laws.py",
]
NOTIONS = [
    *(f"{PRIVACY}/test_{name}.py" for name in ("divergences", "divergences_of_balls", "notions")),
    *(f"{PRIVACY}/test_{name}.py" for name in ("orders", "ends_and_texts")),
    ENDS,
]
#: Files that decide verdicts, and the tests that cover them.
OF_PROOFS = [
    f"{PRIVACY}/test_exhaustive.py",
    f"{PRIVACY}/test_remedies.py",
    f"{PRIVACY}/test_same_law.py",
    f"{PRIVACY}/test_correlated.py",
    f"{PRIVACY}/test_privacy_verdicts.py",
    f"{PRIVACY}/test_at_any_size.py",
    f"{PRIVACY}/test_workers.py",
    ENDS,
]
COVERED = {
    "privacy/comparison.py": COMPARED,
    "privacy/judge.py": [
        *COMPARED,
        f"{PRIVACY}/test_judge_parts.py",
        f"{PRIVACY}/test_stops.py",
        f"{UNIT}/enumerate/test_tracing.py",
    ],
    "privacy/claims.py": [f"{PRIVACY}/test_claims.py", f"{PRIVACY}/test_claim_texts.py", *COMPARED],
    "privacy/witnesses.py": [
        *COMPARED,
        *(f"{UNIT}/evidence/test_{name}.py" for name in ("check_witness", "verify_tampering")),
        f"{PRIVACY}/test_exhaustive.py",
        f"{PRIVACY}/test_by_records.py",
    ],
    "privacy/wording/remedies.py": [f"{PRIVACY}/test_remedies.py", ENDS],
    "privacy/proofs/exhaustive.py": [
        f"{PRIVACY}/test_exhaustive.py",
        f"{PRIVACY}/test_worst_pairs.py",
        f"{PRIVACY}/test_remedies.py",
        ENDS,
        f"{UNIT}/statistics/test_count_and_sums.py",
        "tests/property/test_privacy_exhaustive.py",
        "tests/property/test_difference_pairs.py",
    ],
    **dict.fromkeys(("privacy/proofs/proof.py", "privacy/exact.py"), OF_PROOFS),
    "privacy/samples/intervals.py": [f"{PRIVACY}/test_intervals.py", f"{PRIVACY}/test_counts.py"],
    "privacy/proofs/domain_laws.py": [
        f"{PRIVACY}/test_distinct_laws.py",
        f"{PRIVACY}/test_exhaustive.py",
        "tests/property/test_whole_domains.py",
    ],
    "privacy/searches/refutation.py": [
        f"{PRIVACY}/test_at_any_size.py",
        f"{PRIVACY}/test_judgements_one_by_one.py",
        ENDS,
    ],
    "privacy/divergences/renyi.py": NOTIONS,
    "privacy/divergences/tradeoff.py": NOTIONS,
    "privacy/divergences/screening.py": [
        *(f"{PRIVACY}/test_{name}.py" for name in ("screening_of_notions", "quantiles")),
        *NOTIONS,
    ],
    "privacy/divergences/quantiles.py": [f"{PRIVACY}/test_quantiles.py"],
    "mechanisms/shift.py": MECHANISMS,
    "mechanisms/additive.py": MECHANISMS,
    "evidence/check_witness.py": [
        f"{UNIT}/evidence/test_check_witness.py",
        f"{UNIT}/evidence/test_check_witness_bounds.py",
        f"{UNIT}/evidence/test_user_tables.py",
        f"{PRIVACY}/test_ends_and_texts.py",
        f"{PRIVACY}/test_judgements_one_by_one.py",
    ],
}
#: "file: function: old -> new" of mutations that nobody could see, and why.
EQUIVALENT = {name: reason for reason, names in BY_REASON.items() for name in names}

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATIONS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "lower": "upper", "upper": "lower"}
# Calls whose first arguments may change places, or are words of a message.
UNORDERED = {
    "maximum",
    "minimum",
    "isclose",
    "gcd",
    "lcm",
    "array_equal",
    "call_user_code",
    "_is_exact",
}
# Tests of one mutant that take longer have not ended.
SECONDS = 240


@dataclass(frozen=True)
class Site:
    """A place in a file, by the number of its node in the order of a walk."""

    file: str
    function: str
    node: int
    line: int
    old: str
    new: str

    @property
    def name(self) -> str:
        return f"{self.file}: {self.function}: {self.old} -> {self.new}"


def sites_of(file: str, text: str) -> list[Site]:
    """Every site of a file, in the order of the text."""
    tree = ast.parse(text)
    inside = {id(n): where for where, node in functions(tree) for n in decided(node)}
    around = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = []
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in inside and (mutant := mutated(node)) is not None:
            names = texts_of(node, mutant, around)
            found.append(Site(file, inside[id(node)], number, node.lineno, *names))
    return sorted(found, key=lambda site: (site.line, site.node))


def texts_of(node: Any, mutant: Any, around: dict[ast.AST, ast.AST]) -> tuple[str, str]:
    """The node and the mutant as text; of a constant, what it stands in."""
    if not isinstance(node, ast.Constant):
        return ast.unparse(node), ast.unparse(mutant)
    whole = around[node]
    while isinstance(whole, (ast.UnaryOp, ast.Tuple, ast.keyword)):
        whole = around[whole]
    value, old = node.value, ast.unparse(whole)
    node.value = mutant.value
    new = ast.unparse(whole)
    node.value = value
    return old, new


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods, by their qualified names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield f"{prefix}{node.name}", node


def decided(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What a function does, but for what it says: messages, names of types, assertions."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        is_strict = isinstance(node, ast.keyword) and node.arg == "strict"
        if is_strict or isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert)):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node).endswith(".reshape(-1)"):
            stack.append(node.func)  # any number below 0 stands for the length that is left
            continue
        yield node
        skipped = {id(getattr(node, "annotation", None)), id(getattr(node, "returns", None))}
        stack += [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]


def mutated(node: ast.AST) -> ast.AST | None:
    """The node with a small mistake, or None."""
    made = None
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        ops = [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
        made = ast.Compare(node.left, ops, node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        made = ast.BinOp(node.left, OPERATIONS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        made = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        made = node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        made = ast.Constant(value)
    elif isinstance(node, ast.Call):
        made = mutated_call(node)
    return None if made is None else ast.copy_location(made, node)


def mutated_call(node: ast.Call) -> ast.Call | None:
    """Two arguments in each other's place, or the other of two functions."""
    function = node.func
    if isinstance(function, ast.Name) and function.id in NAMES:
        return ast.Call(ast.Name(NAMES[function.id]), node.args, node.keywords)
    if isinstance(function, ast.Attribute) and function.attr in NAMES:
        other = ast.Attribute(function.value, NAMES[function.attr])
        return ast.Call(other, node.args, node.keywords)
    if len(node.args) < 2 or any(isinstance(one, ast.Starred) for one in node.args):
        return None
    first, second, *rest = node.args
    called = ast.unparse(function).rpartition(".")[2]
    if called in UNORDERED or ast.dump(first) == ast.dump(second):
        return None
    return ast.Call(function, [second, first, *rest], node.keywords)


class Replacing(ast.NodeTransformer):
    """Puts the mutant in the place of its node."""

    def __init__(self, wanted: ast.AST) -> None:
        self.wanted = wanted

    def visit(self, node: ast.AST) -> ast.AST:
        made = mutated(node) if node is self.wanted else None
        return self.generic_visit(node) if made is None else made


def text_with(site: Site, text: str) -> str:
    """The file with the mutation; comments are lost, lines are not the same."""
    tree = ast.parse(text)
    wanted = list(ast.walk(tree))[site.node]
    return ast.unparse(ast.fix_missing_locations(Replacing(wanted).visit(tree)))


def fate(site: Site, folder: Path) -> str:
    """What becomes of a mutation under the tests that cover its file."""
    target = folder / "src" / "liptest" / site.file
    original = target.read_text(encoding="utf-8")
    target.write_text(text_with(site, original), encoding="utf-8")
    tests = [name for name in COVERED[site.file] if (ROOT / name).exists()]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*command, *tests],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "endless"
    finally:
        target.write_text(original, encoding="utf-8")
    return "killed" if done.returncode in (1, 2) else "LIVED"


def chosen(sites: list[Site], count: int, seed: int) -> list[Site]:
    """So many in no order, so that the first of them are a sample too; the same for a seed."""
    return random.Random(seed).sample(sites, min(count, len(sites)))


def told(counts: dict[str, int]) -> str:
    """All counts, and the share that was noticed; so is a mutant whose tests do not end."""
    noticed = counts["killed"] + counts["endless"]
    share = noticed / max(1, noticed + counts["LIVED"])
    return f"{', '.join(f'{word} {count}' for word, count in counts.items())}: {share:.1%} noticed"


def main() -> int:
    """Print what became of each mutant, and the share that was killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sites", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=sorted(COVERED), action="append")
    options = parser.parse_args()
    source = ROOT / "src" / "liptest"
    every = [
        site
        for file in options.only or COVERED
        for site in sites_of(file, (source / file).read_text(encoding="utf-8"))
    ]
    counts = dict.fromkeys(("killed", "endless", "LIVED", "equivalent"), 0)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copytree(ROOT / "src", folder / "src")
        for site in chosen(every, options.sites, options.seed):
            word = "equivalent" if site.name in EQUIVALENT else fate(site, folder)
            counts[word] += 1
            print(f"{word:10} {site.file}:{site.line} {site.function}: {site.old} -> {site.new}")
            sys.stdout.flush()
    print(f"{len(every)} sites; {told(counts)}")
    return int(bool(counts["LIVED"]))


if __name__ == "__main__":
    sys.exit(main())
