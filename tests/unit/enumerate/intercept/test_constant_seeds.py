"""Constant seeds of generators that a function holds: NO, for the output is determined."""

from __future__ import annotations

import argparse
import functools
import linecache
import math
import random
import re
import sys
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng as make_generator

import liptest as lt
from liptest.enumerate.intercept.constant_seeds import literals_in
from liptest.errors import MechanismError
from tests.unit.enumerate import seed_settings
from tests.unit.enumerate.seed_settings import IMPORTED as RENAMED
from tests.unit.enumerate.seed_settings import make as make_elsewhere

LAW = lt.ProductDistribution.bernoulli([0.5])
SEED = 1234
HELD = np.random.default_rng(42)
NAMED = np.random.default_rng(SEED)
SPAWNED = np.random.default_rng(np.random.SeedSequence(9).spawn(2)[1])
LEGACY = np.random.RandomState(11)
PYTHON = random.Random("seven")
DRAWN_BEFORE = random.Random(77)
for _ in range(3000):
    DRAWN_BEFORE.random()
BOUND = np.random.default_rng(5).random
FRESH = np.random.default_rng()
# Seeds that follow from constants: each was taken for a fresh one, and the claim was YES by proof.
SEEDS, CONFIG, NUMBER = [101, 102, 103], {"seed": 111, "rounds": 5}, 121
POWER = np.random.default_rng(10**6)
SUM = np.random.default_rng(NUMBER + 2024)
TYPED = np.random.default_rng(np.int64(99_001))
AS_ARRAY = np.random.default_rng(np.array([4, 5]))
PARSED = np.random.RandomState(int("7707"))
MERSENNE = random.Random(2**31 - 1)
OF_CONFIG = np.random.default_rng(CONFIG["seed"])
OF_LIST = [np.random.default_rng(seed) for seed in SEEDS][1]
OF_RANGE = [np.random.default_rng(100 + place) for place in range(30)][27]
EITHER = np.random.default_rng(131 if SEEDS else None)
IMPORTED = np.random.default_rng(RENAMED)
OF_MODULE = random.Random(seed_settings.OTHER + 1)
ASKED = np.random.default_rng(seed_settings.ASKED)
BEFORE = np.random.default_rng(NUMBER)
NUMBER = 122
# Of generators that jumped, that were given a state, or whose seed another one drew.
JUMPED = np.random.Generator(np.random.PCG64(171).jumped(2))
COUNTED = np.random.Generator(np.random.Philox(172).jumped())
GIVEN_STATE = np.random.default_rng()
GIVEN_STATE.bit_generator.state = np.random.PCG64(173).state
SMALL = np.random.Generator(np.random.SFC64())
SMALL.bit_generator.state = np.random.SFC64(174).state
MASTER = np.random.default_rng(175)
FIRST_SEED = MASTER.integers(2**31)
OF_ANOTHER = [np.random.default_rng(MASTER.integers(2**31)) for _ in range(3)][2]
STATES = np.random.SeedSequence(176).generate_state(4)
OF_STATES = np.random.default_rng(STATES[2])
OF_PYTHON = np.random.default_rng(random.Random(177).randint(1, 10**9))
OF_LEGACY = random.Random(int(np.random.RandomState(178).randint(0, 2**31, size=3)[1]))


def seeded(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


HANDED = seeded(141)
SECRET = np.random.default_rng(random.SystemRandom().getrandbits(40))


class Handed:
    def __init__(self, first: int) -> None:
        self.rng = np.random.default_rng(first)


OF_OBJECT = Handed(151).rng
MADE_ELSEWHERE = seed_settings.make(179)
RENAMED_MAKER = make_elsewhere(*[180])
BY_PARTIAL = functools.partial(make_elsewhere, 181)()


@dataclass
class Settings:
    rounds: int
    seed: int = 0
    other: int = field(default=182)


OF_SETTINGS = np.random.default_rng(Settings(3, 183).seed)
OF_FIELD = np.random.default_rng(Settings(3).other)
UNPACKED = np.random.default_rng(Settings(**{"rounds": 2, "seed": 184}).seed)
PARSER = argparse.ArgumentParser()
PARSER.add_argument("--first-seed", type=int, default=185)
OF_PARSER = np.random.default_rng(PARSER.parse_args([]).first_seed)


class Holder:
    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, data: Any) -> int:
        return int(data[0]) ^ int(self.rng.random() < 0.25)


def flips(draw: Any) -> Any:
    return lambda data: int(data[0]) ^ int(draw() < 0.25)


DETERMINED = {
    "a Generator": lambda data: int(data[0]) ^ int(HELD.random() < 0.25),
    "a named seed": lambda data: int(data[0]) ^ int(NAMED.random() < 0.25),
    "a spawned one": lambda data: int(data[0]) ^ int(SPAWNED.random() < 0.25),
    "a RandomState": lambda data: int(data[0]) ^ int(LEGACY.random_sample() < 0.25),
    "a Random": lambda data: int(data[0]) ^ int(PYTHON.random() < 0.25),
    "a Random that was used": lambda data: int(data[0]) ^ int(DRAWN_BEFORE.random() < 0.25),
    "a bound method": lambda data: int(data[0]) ^ int(BOUND() < 0.25),
    "an attribute": Holder(),
    "a closure": flips(np.random.default_rng(3).random),
    "a power": flips(POWER.random),
    "a sum": flips(SUM.random),
    "a type": flips(TYPED.random),
    "an array": flips(AS_ARRAY.random),
    "a text": flips(PARSED.random_sample),
    "a RandomState of a sum": flips(MERSENNE.random),
    "a configuration": flips(OF_CONFIG.random),
    "a list": flips(OF_LIST.random),
    "a range": flips(OF_RANGE.random),
    "one of two": flips(EITHER.random),
    "an imported name": flips(IMPORTED.random),
    "a name of a module": flips(OF_MODULE.random),
    "a name that was given another": flips(BEFORE.random),
    "an argument": flips(HANDED.random),
    "an argument of a class": flips(OF_OBJECT.random),
    "one that jumped": flips(JUMPED.random),
    "a counter that jumped": flips(COUNTED.random),
    "one that was given a state": flips(GIVEN_STATE.random),
    "a small one that was given a state": flips(SMALL.random),
    "a seed that another drew": flips(OF_ANOTHER.random),
    "a seed of a sequence": flips(OF_STATES.random),
    "a seed that a Random drew": flips(OF_PYTHON.random),
    "a seed that a RandomState drew": flips(OF_LEGACY.random),
    "a maker in another file": flips(MADE_ELSEWHERE.random),
    "a maker under another name": flips(RENAMED_MAKER.random),
    "a partial maker": flips(BY_PARTIAL.random),
    "a field of a dataclass": flips(OF_SETTINGS.random),
    "a default of a field": flips(OF_FIELD.random),
    "unpacked arguments": flips(UNPACKED.random),
    "a default of the command line": flips(OF_PARSER.random),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DETERMINED)
def test_a_constant_seed_is_a_no_that_names_its_line(name: str) -> None:
    verdict = lt.check_privacy(lt.mechanism(DETERMINED[name], name="m"), LAW, epsilon=1.2)
    assert verdict.decision == "NO"
    assert "determined by the constant seed" in str(verdict)
    assert re.search(r"(test_constant_seeds|seed_settings).py:", str(verdict))
    assert verdict.witness is not None
    assert verdict.witness.probability == 1.0


def test_a_constant_that_is_too_large_is_not_calculated() -> None:
    huge = "[0] * 10**12", "'a' * 10**12", "1 << 10**12", "9**9**9", "10.0 ** 10**6", "2 ** -1"
    texts = [*huge, "range(10**12)", "1 // 0", "[*range(3)][1] + 2", "10**3"]
    linecache.cache["<large>"] = 1, None, [f"default_rng({text})\n" for text in texts], "<large>"
    values = [literal.value for literal in literals_in("<large>")]
    assert 1000 in values
    assert all(len(repr(value)) < 1500 for value in values)


@pytest.mark.parametrize(
    "line",
    [
        *("from .seed_settings import IMPORTED as n", "from ..enumerate.seed_settings import *"),
        *("from . import seed_settings as n", "import tests.unit.enumerate.seed_settings as n"),
    ],
)
def test_constants_of_other_files_are_found(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("tests.unit.enumerate.importing")
    module.__file__, module.__package__ = f"<{line}>", "tests.unit.enumerate"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    seed = "IMPORTED" if line.endswith("*") else "n if n else n.IMPORTED"
    lines = [f"{line}\n", f"RNG = default_rng({seed})\n"]
    linecache.cache[f"<{line}>"] = 1, None, lines, f"<{line}>"
    assert 161 in [literal.value for literal in literals_in(f"<{line}>")]


@pytest.mark.slow
def test_a_seed_that_is_asked_of_the_machine_is_not_constant() -> None:
    verdict = lt.check_privacy(lt.mechanism(flips(ASKED.random), name="m"), LAW, epsilon=1.2)
    assert verdict.decision == "YES"


def test_the_generator_is_left_where_it_was() -> None:
    before = (
        HELD.bit_generator.state,
        PYTHON.getstate(),
        LEGACY.get_state(legacy=False)["state"]["pos"],
    )
    for name in ("a Generator", "a Random", "a RandomState"):
        lt.mechanism(DETERMINED[name]).law(np.array([1]))
    after = (
        HELD.bit_generator.state,
        PYTHON.getstate(),
        LEGACY.get_state(legacy=False)["state"]["pos"],
    )
    assert before == after


@pytest.mark.slow
@pytest.mark.parametrize("generator", [FRESH, SECRET])
def test_others_are_taken_as_freshly_seeded_and_the_verdict_says_so(generator: Any) -> None:
    tested = lt.mechanism(lambda data: int(data[0]) ^ int(generator.random() < 0.25), name="m")
    verdict = lt.check_privacy(tested, LAW, epsilon=1.2)
    assert verdict.decision == "YES"
    assert "generators made elsewhere (generator) taken as freshly seeded" in str(verdict)
    fresh = lt.mechanism(lambda data, rng: int(data[0]) ^ int(rng.random() < 0.25), name="f")
    assert "elsewhere" not in str(lt.check_privacy(fresh, LAW, epsilon=1.2))


@pytest.mark.slow
def test_a_determined_output_that_tells_nothing_at_first_is_no_yes() -> None:
    tested = lt.mechanism(lambda data: int(data[0]) if HELD.random() < 0.01 else 0, name="m")
    with pytest.raises(MechanismError, match=r"constant seed 42 \(test_const.*later ones nothing"):
        lt.check_privacy(tested, LAW, epsilon=1.2)
    with pytest.raises(MechanismError, match="later ones nothing"):
        lt.exact_epsilon(tested, LAW.domain)
    with pytest.raises(MechanismError, match="later ones nothing"):
        lt.privacy_profile(tested, LAW)
    assert lt.exact_epsilon(lt.mechanism(DETERMINED["a Generator"]), LAW.domain).value == math.inf


@pytest.mark.slow
def test_one_that_is_not_drawn_from_is_no_trouble() -> None:
    def unused(data: Any, rng: Any) -> int:
        return int(rng.integers(2)) if HELD is not None else int(HELD.integers(2))

    assert lt.check_privacy(lt.mechanism(unused), LAW, epsilon=1.0).decision == "YES"


MAKE = np.random.default_rng
PAIR, OTHER = np.random.default_rng, 27
NOTED: Any = np.random.default_rng
ALIASED = {
    "assigned": MAKE(21),
    "assigned with others": PAIR(22),
    "a seed assigned with others": np.random.default_rng(OTHER),
    "with a type": NOTED(28),
    "imported": make_generator(23),
    "partial": functools.partial(np.random.default_rng, 24)(),
    "getattr": getattr(np.random, "default_rng")(25),  # noqa: B009
    "a table": {"default_rng": np.random.default_rng}["default_rng"](26),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALIASED)
def test_makers_by_other_names(name: str) -> None:
    generator = ALIASED[name]
    tested = lt.mechanism(lambda data: int(data[0]) ^ int(generator.random() < 0.25), name="m")
    verdict = lt.check_privacy(tested, LAW, epsilon=1.2)
    assert verdict.decision == "NO"
    assert "determined by the constant seed 2" in str(verdict)


def with_default(data: Any, rng: Any = np.random.default_rng(31)) -> Any:  # noqa: B008
    return data.sum() + rng.laplace()


def with_fresh_default(data: Any, rng: Any = np.random.default_rng()) -> Any:  # noqa: B008
    return data.sum() + rng.laplace()


@pytest.mark.slow
@pytest.mark.parametrize("records", [3, 5000])
def test_a_default_with_a_constant_seed_is_told(records: int) -> None:
    domain = lt.Hypercube(records)
    verdict = lt.check_privacy(with_default, domain, epsilon=1)
    assert verdict.decision == "YES"
    assert "that of the default has the constant seed 31 (test_constant_seeds.py:" in str(verdict)
    verdict = lt.check_privacy(with_fresh_default, domain, epsilon=1)
    assert verdict.decision == "YES"
    assert "constant seed" not in str(verdict)


@pytest.mark.slow
def test_a_proof_for_any_size_tells_what_was_taken_for_granted() -> None:
    def count(data: Any) -> Any:
        return data.sum() + FRESH.laplace()

    verdict = lt.check_privacy(count, lt.Hypercube(5000), epsilon=1)
    assert verdict.decision == "YES"
    assert "generators made elsewhere (FRESH) taken as freshly seeded" in str(verdict)


SOURCE = """
import random
import numpy as np
random.seed(1)
np.random.seed(1)
def python(data): return int(data[0]) ^ int(random.random() < 0.25)
def numpy(data): return int(data[0]) ^ int(np.random.random() < 0.25)
def later():
    random.seed(2)
"""


@pytest.mark.slow
def test_seeding_a_module_at_import(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "vendor_seeds.py"
    path.write_text(SOURCE)
    vendor = types.ModuleType("vendor_seeds")
    kept = random.getstate(), np.random.get_state()
    try:
        exec(compile(SOURCE, str(path), "exec"), vars(vendor))
        for function in (vendor.python, vendor.numpy):
            verdict = lt.check_privacy(lt.mechanism(function), LAW, epsilon=1.2)
            assert verdict.decision == "NO"
            assert "constant seed 1 (vendor_seeds.py:" in str(verdict)
        vendor.later()
        assert lt.check_privacy(lt.mechanism(vendor.python), LAW, epsilon=1.2).decision == "YES"
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("rng = np.random.default_rng(7)", [7]),
        ("rng = np.random.\uff44efault_rng(7)", [7]),  # which Python reads as the same name
        ("rng = np.random.new(7)", []),
    ],
)
def test_seeds_of_a_file(text: str, seeds: list[int]) -> None:
    file = f"<seeds {text}>"
    linecache.cache[file] = len(text), None, [text], file
    assert [literal.value for literal in literals_in(file)] == seeds
