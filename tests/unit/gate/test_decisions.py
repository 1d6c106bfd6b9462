"""Releases of what is decided on noisy sums: largest ones, thresholds, chance (theory S17)."""

import json
import random
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.cli import main
from liptest.errors import GateError, InputError
from liptest.gate.decisions import (
    Chance,
    FirstLargest,
    Reaches,
    Tell,
    draw_leaf,
    list_leaves,
    read_nodes,
    sums_told_in,
)
from liptest.gate.noisy_sums import NoisySum, NoisySums
from liptest.gate.plain import read_output, write_text
from liptest.gate.sealed_sums import SealedSums
from liptest.gate.sealing import read_sealed
from liptest.gate.sum_sealing import seal_decisions
from liptest.symbolic.noise import Noise
from liptest.values.answers.decisions import holds_at
from tests.statistical.binomial import fits

N = 5000
PEOPLE = lt.ProductDistribution.uniform(lt.RecordGrid([8] * N))
PRIVATE = np.arange(N) % 8


def most_frequent(data, rng):
    """Report noisy max over 8 counts."""
    return int(np.argmax(np.bincount(data, minlength=8) + rng.laplace(0, 2.0, size=8)))


def first_above(data, rng):
    """AboveThreshold over cumulated counts."""
    threshold = 2000 + rng.laplace(0, 2.0)
    for k in range(8):
        if (data <= k).sum() + rng.laplace(0, 4.0) >= threshold:
            return k
    return None


def clipped(data, rng):
    """A count that is never below 0."""
    return max(0, int((data == 3).sum() + rng.geometric(0.5) - rng.geometric(0.5)))


def sometimes(data, rng):
    """A count that is told in three of four runs."""
    if rng.random() < 0.25:
        return "no answer"
    return int((data == 3).sum() + rng.geometric(0.5) - rng.geometric(0.5))


def above_with_value(data, rng):
    """Whether a noisy mean is large, and if so what it is, with noise of its own."""
    if data.mean() + rng.laplace(0, 14 / N) > 3:
        return ["above", float(data.mean() + rng.laplace(0, 14 / N))]
    return ["below", None]


PROGRAMS = [
    (most_frequent, 1.0, None),
    (first_above, 1.0, None),
    (clipped, 0.7, None),
    (sometimes, 0.7, None),
    (above_with_value, 1.0, F(1, 100)),
]


def gate(program, epsilon, **options):
    return lt.PrivacyGate(lt.mechanism(program), PEOPLE, epsilon=epsilon, **options)


class TestGate:
    @pytest.mark.slow
    @pytest.mark.parametrize(("program", "epsilon", "step"), PROGRAMS)
    def test_what_is_decided_on_many_records_is_released(self, program, epsilon, step):
        told = gate(program, epsilon, grid_step=step)
        verdict = told.certificate.verdict
        assert (verdict.decision, verdict.guarantee.kind) == ("YES", "proof")
        assert isinstance(told.sealed, SealedSums)
        assert told.sealed.decides
        assert "decisions on" in told.certificate.release_source
        assert told.release(PRIVATE).is_released
        again = read_sealed(json.loads(json.dumps(told.sealed.to_dict())), "x", PEOPLE.domain)
        assert again.digest == told.sealed.digest

    @pytest.mark.slow
    @pytest.mark.parametrize(("program", "epsilon", "step"), PROGRAMS)
    def test_half_of_the_claim_is_refused(self, program, epsilon, step):
        refusing = gate(program, epsilon * 0.49, grid_step=step)
        assert refusing.certificate.decision != "YES"
        assert not refusing.release(PRIVATE).is_released

    @pytest.mark.slow
    def test_the_first_above_is_near_the_threshold(self):
        sealed = seal_decisions(lt.mechanism(first_above), PEOPLE.domain, F(1), "x")
        below = random.Random(3).randrange
        drawn = {sealed.draw(PRIVATE, below) for _ in range(20)}
        assert drawn <= {"2", "3", "4"}

    @pytest.mark.slow
    def test_a_domain_alone_is_enough_for_a_proof(self):
        told = lt.PrivacyGate(lt.mechanism(clipped), PEOPLE.domain, epsilon=0.7)
        assert told.certificate.verdict.guarantee.kind == "proof"
        assert told.release(PRIVATE).is_released
        small = lt.PrivacyGate(lt.mechanism(clipped), lt.Hypercube(3), epsilon=0.7)
        assert small.certificate.decision == "YES"

    def test_real_numbers_that_are_told_need_a_step(self):
        with pytest.raises(InputError, match="cannot be sealed"):
            gate(above_with_value, 1.0)

    def test_what_is_calculated_from_decided_sums_is_refused(self):
        def root(data, rng):
            noisy = data.sum() + rng.laplace(0, 7)
            return float(np.sqrt(noisy)) if noisy > 0 else -1.0

        with pytest.raises(GateError, match="calculated from noisy sums"):
            seal_decisions(lt.mechanism(root), PEOPLE.domain, F(1), "x")

    def test_a_choice_by_weights_is_refused(self):
        def chosen(data, rng):
            scores = np.bincount(data, minlength=8) * 0.5
            weights = np.exp(scores - scores.max())
            return int(rng.choice(8, p=weights / weights.sum()))

        with pytest.raises(GateError, match="weights in floats"):
            seal_decisions(lt.mechanism(chosen), PEOPLE.domain, F(1), "x")


class TestLaws:
    """The sealed tree has the law of the code: exact laws on small domains, against draws."""

    @pytest.mark.slow
    @pytest.mark.parametrize("data", [[0, 0, 0], [1, 2, 1], [2, 2, 2]])
    @pytest.mark.parametrize(
        "program",
        [
            lambda data, rng: int(
                np.argmax(np.bincount(data, minlength=3) + rng.laplace(0, 1.0, size=3))
            ),
            lambda data, rng: bool(int(data.sum()) + rng.geometric(0.5) - rng.geometric(0.5) == 2),
            lambda data, rng: (
                "chance" if rng.integers(3) == 1 else bool(data.sum() + rng.normal(0, 2) > 3)
            ),
        ],
        ids=["largest", "equality", "chance"],
    )
    def test_draws_follow_the_law_of_the_code(self, program, data):
        domain, mechanism = lt.RecordGrid([3] * 3), lt.mechanism(program)
        sealed = seal_decisions(mechanism, domain, F(1), "x")
        law = mechanism.law(np.array(data))
        masses = {
            write_text(output): float(np.exp(log))
            for output, log in zip(law.outputs, law.log_probabilities, strict=True)
        }
        below = random.Random(11).randrange
        drawn = [sealed.draw(np.array(data), below) for _ in range(1500)]
        counts = [drawn.count(text) for text in masses]
        assert sum(counts) == 1500
        assert fits(counts, list(masses.values()))

    @pytest.mark.parametrize("program", [first_above, most_frequent, clipped, sometimes])
    @pytest.mark.slow
    def test_its_price_is_that_of_the_code(self, program):
        own = lt.mechanism(program)
        sealed = seal_decisions(own, PEOPLE.domain, F(1), "x").mechanism
        for epsilon in (0.69, 0.7, 0.99, 1.0):
            verdicts = {
                lt.check_privacy(one, PEOPLE.domain, epsilon=epsilon, method="alignment").decision
                for one in (own, sealed)
            }
            assert len(verdicts) == 1


# ---- trees of their own


class Numbers:
    """In the place of ``DrawnSums``: sums with these values."""

    def __init__(self, values):
        self._values = values

    def parts(self, number):
        return F(self._values[number]), []


@st.composite
def trees(draw):
    """Nodes on three sums, parents before their children."""
    nodes = []
    waiting = [0]
    total = 1
    while waiting:
        waiting.pop(0)
        kind = draw(st.integers(0, 3)) if total < 20 else 0
        count = (0, 2, 3, 2)[kind]
        ways = tuple(range(total, total + count))
        waiting += ways
        total += count
        if kind == 0:
            nodes.append(Tell(write_text(len(nodes))))
        elif kind == 1:
            bound = F(draw(st.integers(-2, 2)))
            nodes.append(Reaches(draw(st.integers(0, 2)), bound, draw(st.booleans()), ways))
        elif kind == 2:
            nodes.append(FirstLargest(tuple(draw(st.permutations([0, 1, 2]))), ways))
        else:
            nodes.append(Chance((1, 2), ways))
    return tuple(nodes)


SUMS = NoisySums(
    lt.RecordGrid([4, 4]),
    tuple(Noise("two-sided geometric", F(1, 3)) for _ in range(3)),
    tuple(NoisySum(((k, F(1)),), F(0), ((k, F(1)),)) for k in range(3)),
)


class TestTrees:
    @pytest.mark.slow
    @given(trees(), st.lists(st.integers(-2, 2), min_size=3, max_size=3), st.sampled_from([0, 1]))
    def test_exactly_the_leaf_that_is_drawn_has_its_conditions(self, nodes, values, ticket):
        """Conditions are a partition: the answers are these values, and there is no noise."""
        drawn = draw_leaf(nodes, Numbers(values), lambda _: ticket)
        at = [*map(F, values), F(0), F(0), F(0)]
        holding = []
        for leaf, asked, won in list_leaves(nodes, SUMS):
            of_contests = (one for contest, place in won for one in contest.way(place))
            conditions = [*asked, *of_contests]
            sums = [sum((by * at[v] for v, by in one.terms), F(0)) for one in conditions]
            if all(map(holds_at, conditions, sums)):
                holding.append(leaf)
        possible = leaves_by_chance(nodes, ticket)
        assert [leaf for leaf in holding if leaf in possible] == [drawn]

    @pytest.mark.slow
    @given(trees())
    def test_a_tree_is_read_as_it_was_written(self, nodes):
        listed = json.loads(json.dumps([node.to_list() for node in nodes]))
        assert read_nodes(listed, 3) == nodes

    def test_sums_that_are_told_are_found(self):
        assert sums_told_in(read_output('[{"place":2},[{"place":0}],1]')) == [0, 2]

    def test_ends_that_are_asked_twice_are_the_narrower_ones(self):
        """Above 1 and at least 1, below 3 and at most 2: above 1, at most 2."""
        nodes = (
            *(Reaches(0, F(1), k == 1, (k + 1, k + 5)) for k in range(2)),
            *(Reaches(0, F(k), k == 2, (k + 5, 6 - k)) for k in (3, 2)),
            *(Tell(write_text(k)) for k in range(4, 9)),
        )
        nodes = read_nodes([node.to_list() for node in nodes], 3)
        [asked] = next(asked for leaf, asked, _ in list_leaves(nodes, SUMS) if leaf.shape == "4")
        assert (asked.low, asked.low_closed) == (1, False)
        assert (asked.high, asked.high_closed) == (2, True)


def leaves_by_chance(nodes, ticket):
    """The leaves that remain where chance always draws the same ticket."""
    waiting, found = [nodes[0]], []
    while waiting:
        node = waiting.pop()
        ways = node.children
        if isinstance(node, Tell):
            found.append(node)
        if isinstance(node, Chance):
            ways = [ways[node.choose(None, lambda _: ticket)]]
        waiting += [nodes[way] for way in ways]
    return found


LEAF, OTHER = ["tell", "1"], ["tell", "2"]
REACHES = ["reaches", 0, ["0", "1"], False, [1, 2]]


class TestReading:
    @pytest.mark.parametrize(
        "nodes",
        [
            [],
            [LEAF, OTHER],  # of which nobody is the parent
            [["reaches", 0, ["0", "1"], False, [0, 1]], LEAF],  # without an end
            [["reaches", 0, ["0", "1"], False, [1, 1]], LEAF],
            [["reaches", 0, ["0", "1"], False, [1, 3]], LEAF, OTHER],
            [["reaches", 0, ["0", "1"], False, [1, True]], LEAF],
            [["reaches", 0, ["0", "1"], False, [1]], LEAF],
            [["reaches", 0, ["0", "1"], 1, [1, 2]], LEAF, OTHER],
            [["reaches", 7, ["0", "1"], False, [1, 2]], LEAF, OTHER],
            [["reaches", False, ["0", "1"], False, [1, 2]], LEAF, OTHER],
            [["reaches", -1, ["0", "1"], False, [1, 2]], LEAF, OTHER],
            [["reaches", 0, ["0", "0"], False, [1, 2]], LEAF, OTHER],
            [["reaches", 0, ["f" * 101, "1"], False, [1, 2]], LEAF, OTHER],
            [REACHES, REACHES, LEAF],
            [REACHES, LEAF, ["tell", '{"place":3}']],
            [REACHES, LEAF, ["tell", '{"place":"x"}']],
            [REACHES, LEAF, ["tell", "nothing"]],
            [REACHES, LEAF, ["tell", 2]],
            [["largest", [0, 0], [1, 2]], LEAF, OTHER],
            [["largest", [0, 1, 2], [1, 2]], LEAF, OTHER],
            [["largest", [], []]],
            [["chance", ["1", "0"], [1, 2]], LEAF, OTHER],
            [["chance", ["1", "-1"], [1, 2]], LEAF, OTHER],
            [["chance", ["1", "f" * 101], [1, 2]], LEAF, OTHER],
            [["chance", ["1"], [1, 2]], LEAF, OTHER],
            [["what", [0, 1], [1, 2]], LEAF, OTHER],
            [LEAF] * 20_000,
        ],
    )
    def test_what_is_no_tree_is_not_read(self, nodes):
        document = SealedSums(SUMS, F(1), (Tell("1"),)).to_dict()
        del document["shape"]
        read_sealed({**document, "nodes": [REACHES, LEAF, OTHER]}, "x")
        with pytest.raises(InputError, match="is not what liptest seals"):
            read_sealed({**document, "nodes": nodes}, "x")

    def test_ways_of_all_leaves_together_are_few(self):
        """A chain of 4,000 comparisons has eight million steps to its leaves."""
        nodes = [
            ["reaches", 0, [f"{k:x}", "1"], False, [2 * k + 1, 2 * k + 2]] for k in range(4000)
        ]
        chain = []
        for k, node in enumerate(nodes):
            chain += [node, ["tell", f"{k}"]]
            node[4] = [2 * k + 1, 2 * k + 2]
        document = SealedSums(SUMS, F(1), (Tell("1"),)).to_dict()
        del document["shape"]
        with pytest.raises(InputError):
            read_sealed({**document, "nodes": [*chain, LEAF]}, "x")
        read_sealed({**document, "nodes": [*chain[:2000], LEAF]}, "x")

    def test_sums_without_noise_are_decided_on_by_nobody(self):
        bare = NoisySums(SUMS.domain, (), (NoisySum(((1, F(1)),), F(0), ()),))
        nodes = read_nodes([["reaches", 0, ["1", "1"], False, [1, 2]], LEAF, OTHER], 1)
        sealed = SealedSums(bare, F(1), nodes)
        verdict = lt.check_privacy(sealed.mechanism, bare.domain, epsilon=5.0, method="alignment")
        assert verdict.decision == "INCONCLUSIVE"

    def test_a_constant_that_is_decided_on_is_no_proof_of_anything(self):
        constant = NoisySums(SUMS.domain, (), (NoisySum((), F(1), ()),))
        nodes = read_nodes([["reaches", 0, ["1", "1"], False, [1, 2]], LEAF, OTHER], 1)
        sealed = SealedSums(constant, F(1), nodes)
        verdict = lt.check_privacy(
            sealed.mechanism, constant.domain, epsilon=5.0, method="alignment"
        )
        assert verdict.decision in ("INCONCLUSIVE", "YES")
        assert sealed.draw(np.array([0, 0]), random.Random(1).randrange) == "1"


VENDOR = """
import numpy as np
def most(data, rng):
    return int(np.argmax(np.bincount(data, minlength=8) + rng.laplace(0, 2.0, size=8)))
def low(data, rng):
    return int(np.argmax(np.bincount(data, minlength=8) + rng.laplace(0, 1.0, size=8)))
"""


@pytest.mark.slow
class TestCommand:
    @pytest.fixture
    def release(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "vendor.py").write_text(VENDOR, encoding="utf-8")
        rows = "\n".join(map(str, PRIVATE.tolist()))
        (tmp_path / "private.csv").write_text(f"group\n{rows}\n", encoding="utf-8")

        def command(name):
            data = ("--records", str(N), "--values", "8", "--private", "private.csv")
            return main(["release", f"vendor.py:{name}", *data, "--epsilon", "1"])

        return command

    def test_the_largest_of_many_records_is_released(self, release, capsys):
        assert release("most") == 0
        assert "decisions on 8 noisy sums" in capsys.readouterr().out
        assert release("low") != 0
