"""Fingerprints: what changes them, what does not, and that they hold in another process."""

import functools
import importlib
import os
import subprocess
import sys
import types
from collections import deque
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction as F
from functools import cached_property, partial

import numpy as np
import pytest

import liptest as lt
from liptest.cli.loading import load_object
from liptest.runs.fingerprints import distribution_hash, fingerprint


def coin(datasets, share=0.5):
    return np.log(np.tile([share, 1 - share], (len(datasets), 1)))


def code(log_pmf, outputs=(0, 1), **options):
    return fingerprint(lt.ClosedForm(outputs, log_pmf, name="m", **options)).code


def closing_over(value):
    def log_pmf(datasets):
        return coin(datasets) if value is not None else None

    return log_pmf


class Slots:
    __slots__ = ("share",)

    def __init__(self, share):
        self.share = share


class Plain:
    def __init__(self, share):
        self.share = share

    def ask(self, datasets):
        return coin(datasets, self.share)


@dataclass(frozen=True)
class Frozen:
    share: float
    inner: object = None


PAIRS = {
    "int": (1, 2),
    "int and float": (1, 1.0),
    "int and bool": (1, True),
    "text": ("a", "b"),
    "text and bytes": ("a", b"a"),
    "fraction": (F(1, 2), F(1, 3)),
    "decimal": (Decimal(1), Decimal(2)),
    "numpy int": (np.int64(1), np.int64(2)),
    "numpy float": (np.float32(1), np.float32(2)),
    "numpy types": (np.int32(1), np.int64(1)),
    "array": (np.array([1, 2]), np.array([1, 3])),
    "shape": (np.zeros((2, 3)), np.zeros((3, 2))),
    "array of objects": (np.array([F(1)], object), np.array([F(2)], object)),
    "list": ([1, 2], [1, 3]),
    "nesting": ([[1, 2], [3]], [[1], [2, 3]]),
    "list and tuple": ([1], (1,)),
    "set": ({1, 2}, {1, 3}),
    "dict": ({"a": 1}, {"a": 2}),
    "keys": ({"a": 1}, {"b": 1}),
    "range": (range(3), range(4)),
    "slice": (slice(3), slice(4)),
    "bytearray": (bytearray(b"a"), bytearray(b"b")),
    "deque": (deque([1, 2]), deque([1, 3])),
    "slots": (Slots(1), Slots(2)),
    "object": (Plain(1), Plain(2)),
    "dataclass": (Frozen(1), Frozen(2)),
    "method": (Plain(1).ask, Plain(2).ask),
    "partial": (partial(coin, share=0.5), partial(coin, share=0.6)),
    "positions of a partial": (partial(coin, 1), partial(coin, 2)),
    "function": (coin, closing_over),
    "built-in": (len, sum),
    "ufunc": (np.log, np.exp),
    "type": (int, float),
    "module": (os, sys),
    "distribution": tuple(lt.ProductDistribution.bernoulli([p]) for p in (0.25, 0.5)),
    "cached function": (
        functools.lru_cache(coin),
        functools.lru_cache(lambda datasets: coin(datasets)),
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_what_a_function_closes_over_counts(pair):
    first, second = pair
    assert code(closing_over(first)) == code(closing_over(first))
    assert code(closing_over(first)) != code(closing_over(second))


@pytest.mark.parametrize("name", ["partial", "method"])
def test_callables_that_are_no_functions(name):
    first, second = PAIRS[name]
    assert code(first) != code(second)
    assert os.path.basename(__file__) in fingerprint(lt.ClosedForm([0, 1], first)).files


def test_parameters_of_the_mechanism_count():
    known = code(coin)
    assert known == code(coin)
    assert known != code(coin, outputs=(0, 2))
    assert known != code(coin, error=1e-9)
    assert known != code(coin, exact_zeros=True)
    assert fingerprint(lt.catalogue.randomised_response(2, 1.0)).code != (
        fingerprint(lt.catalogue.randomised_response(2, 1.5)).code
    )


def test_references_are_told_apart_from_other_references():
    one, two = [1], [2]
    assert code(closing_over([one, two, one])) != code(closing_over([one, two, two]))


def test_an_object_that_contains_itself():
    loop = [1]
    loop.append(loop)
    assert code(closing_over(loop)) == code(closing_over(loop))


def test_caches_that_say_so_do_not_count():
    class Lazy(Plain):
        @cached_property
        def table(self):
            return [self.share] * 3

    lazy = Lazy(0.5)
    before = code(closing_over(lazy))
    assert lazy.table
    assert code(closing_over(lazy)) == before


def module_of(text, name="scratch"):
    module = types.ModuleType(name)
    exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    return module


BODIES = {
    "attribute names": ("np.log(x)", "np.exp(x)"),
    "constants": ("x + 1", "x + 2"),
    "sets of constants": ("x in {'a', 'b'}", "x in {'a', 'c'}"),
    "operators": ("x + x", "x - x"),
    "inner functions": ("(lambda y: y + 1)(x)", "(lambda y: y + 2)(x)"),
    "names of globals": ("one(x)", "two(x)"),
}


@pytest.mark.parametrize("pair", BODIES.values(), ids=BODIES)
def test_code_without_a_file_is_read_from_memory(pair):
    texts = [
        f"import numpy as np\none = two = abs\ndef f(x):\n    return {body}\n" for body in pair
    ]
    first, again, second = (code(module_of(text).f) for text in (texts[0], *texts))
    assert first == again
    assert first != second


def test_a_global_that_points_elsewhere_is_noticed():
    text = (
        "def calm(x): return x\n"
        "def leak(x): return x + 1\n"
        "zz_chosen = calm\n"
        "def f(x): return zz_chosen(x) if x else (calm, leak)\n"
    )
    module = module_of(text)
    before = code(module.f)
    module.zz_chosen = module.leak
    assert code(module.f) != before
    module.zz_chosen = module.calm
    assert code(module.f) == before


def test_methods_of_classes_of_the_vendor_count():
    text = (
        "class Base:\n    def more(self): return 1\n"
        "class Noise(Base):\n    level = 1\n    @staticmethod\n    def plain(x): return x\n"
        "    @property\n    def prop(self): return 2\n"
        "def f(x): return Noise.plain(x)\n"
    )
    changes = {
        "plain": ("Noise", staticmethod(lambda x: -x)),
        "level": ("Noise", 2),
        "prop": ("Noise", property(lambda self: 3)),
        "more": ("Base", lambda self: 2),
    }
    for name, (kind, value) in changes.items():
        module = module_of(text)
        before = code(module.f)
        assert before == code(module_of(text).f)
        setattr(getattr(module, kind), name, value)
        assert code(module.f) != before


class TestFiles:
    @pytest.fixture
    def vendor(self, tmp_path, monkeypatch):
        package = tmp_path / "vendorpack"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "main.py").write_text(
            "import numpy as np\nimport json\nfrom . import near\nfrom vendorpack.far import deep\n"
            "def log_pmf(x):\n    return np.log(np.full((len(x), 2), near.half()))\n"
        )
        (package / "near.py").write_text("def half():\n    return 0.5\n")
        (package / "far").mkdir()
        (package / "far" / "__init__.py").write_text("from vendorpack.far.deeper import deep\n")
        (package / "far" / "deeper.py").write_text("deep = 1\n")
        (package / "unused.py").write_text("unused = 1\n")
        monkeypatch.syspath_prepend(tmp_path)
        yield importlib.import_module("vendorpack.main"), package
        for name in [name for name in sys.modules if name.startswith("vendorpack")]:
            del sys.modules[name]

    def test_local_imports_are_followed_and_packages_noted(self, vendor):
        found = fingerprint(lt.ClosedForm([0, 1], vendor[0].log_pmf))
        expected = {"main.py", "near.py", "__init__.py", "far/__init__.py", "far/deeper.py"}
        assert {name.replace(os.sep, "/") for name in found.files} == expected
        assert set(found.packages) == {"numpy"}
        assert found.packages["numpy"] == np.__version__

    @pytest.mark.parametrize(
        ("name", "counts"),
        [("main.py", True), ("near.py", True), ("far/deeper.py", True), ("unused.py", False)],
    )
    def test_an_edit_of_what_is_imported_counts(self, vendor, name, counts):
        before = code(vendor[0].log_pmf)
        path = vendor[1] / name
        path.write_text(path.read_text() + "# edited\n")
        assert (code(vendor[0].log_pmf) != before) is counts

    def test_a_partial_of_a_local_function_leads_to_its_files(self, vendor):
        plain = fingerprint(lt.ClosedForm([0, 1], vendor[0].log_pmf))
        assert fingerprint(lt.ClosedForm([0, 1], partial(vendor[0].log_pmf))).files == plain.files

    def test_the_folder_does_not_count(self, vendor, tmp_path, monkeypatch):
        before = fingerprint(lt.ClosedForm([0, 1], vendor[0].log_pmf))
        assert not any(str(tmp_path) in name for name in before.files)


SCRIPT = """
import numpy as np
import liptest as lt
from liptest.runs.fingerprints import distribution_hash, fingerprint

def log_pmf(x):
    if str(len(x)) in {"a", "b", "c", "d", "e"}:
        return None
    return np.log(np.full((len(x), 2), 0.5))

mechanism = lt.ClosedForm([0, 1], log_pmf)
sampled = lt.SampledDistribution(lt.Hypercube(2), lambda n, rng: rng.integers(0, 2, (n, 2)))
print(fingerprint(mechanism).code, distribution_hash(sampled))
print(fingerprint(lt.catalogue.permute_and_flip(3, 1.0)).code)
"""


@pytest.mark.slow
def test_fingerprints_are_the_same_in_every_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    found = {
        subprocess.run(
            [sys.executable, str(script)],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(found) == 1


class TestDistributions:
    def test_equal_laws_have_equal_hashes(self):
        first, second = (lt.ProductDistribution.bernoulli([0.1, 0.2]) for _ in range(2))
        assert distribution_hash(first) == distribution_hash(second)

    def test_different_laws_have_different_hashes(self):
        laws = [
            lt.ProductDistribution.bernoulli([0.1, 0.2]),
            lt.ProductDistribution.bernoulli([0.1, np.nextafter(0.2, 1)]),
            lt.ProductDistribution.bernoulli([0.1, 0.2, 0.5]),
            lt.ProductDistribution(lt.Hypergrid([2, 2]), [[0.9, 0.1], [0.8, 0.2]]),
            lt.ProductDistribution(lt.RecordGrid([2, 2]), [[0.9, 0.1], [0.8, 0.2]]),
            lt.SampledDistribution(lt.Hypercube(2), lambda n, rng: rng.integers(0, 2, (n, 2))),
            lt.SampledDistribution(lt.Hypercube(2), lambda n, rng: np.zeros((n, 2), int)),
            lt.SampledDistribution(lt.Hypercube(3), lambda n, rng: np.zeros((n, 3), int)),
        ]
        assert len({distribution_hash(law) for law in laws}) == len(laws)


@pytest.mark.slow
def test_a_file_is_the_same_in_another_folder(tmp_path):
    """As ``liptest verify`` loads it on another machine; what it holds counts, as before."""
    text = "class Kept:\n    share = {}\n\n\ndef answer(data):\n    return Kept.share\n"
    hashes = []
    for folder, share in (("a", 1), ("b", 1), ("c", 2)):
        path = tmp_path / folder / "mine.py"
        path.parent.mkdir()
        path.write_text(text.format(share))
        hashes.append(fingerprint(load_object(f"{path}:answer")[0]))
    assert hashes[0] == hashes[1] != hashes[2]
