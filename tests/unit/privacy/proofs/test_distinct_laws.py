"""Collections of laws keep equal laws once and never merge different ones."""

import numpy as np
import pytest

from liptest.errors import BudgetError
from liptest.mechanisms.laws import ZERO_LOG, LawTable
from liptest.privacy.proofs import domain_laws
from liptest.privacy.proofs.domain_laws import DistinctLaws


def table(outputs, logs, rows=None, errors=None, zeros_exact=True):
    logs = np.array(logs, dtype=float)
    spread = np.zeros(len(logs)) if errors is None else np.array(errors)
    return LawTable(tuple(outputs), logs, rows, spread, zeros_exact)


def test_equal_laws_share_a_row_also_over_other_outputs():
    distinct = DistinctLaws()
    x, y = distinct.add(table("ab", [[-1.0, -2.0], [-2.0, -1.0]]), 2)
    assert distinct.add(table("ba", [[-2.0, -1.0], [-1.0, -2.0]]), 2).tolist() == [x, y]
    (z,) = distinct.add(table("bc", [[-1.0, -2.0]]), 1)
    other = [[ZERO_LOG, -1.0, -2.0], [-2.0, ZERO_LOG, -1.0]]
    assert distinct.add(table("cab", other), 2).tolist() == [x, z]
    laws = distinct.laws()
    assert (len(distinct), laws.outputs) == (3, ("a", "b", "c"))
    assert laws.logs[z].tolist() == [ZERO_LOG, -1.0, -2.0]
    assert laws.logs[[x, y]].tolist() == [[-1.0, -2.0, ZERO_LOG], [-2.0, -1.0, ZERO_LOG]]


def test_the_last_digit_keeps_laws_apart():
    distinct = DistinctLaws()
    logs = [[-1.0, -2.0], [np.nextafter(-1.0, 0), -2.0], [-1.0, np.nextafter(-2.0, 0)]]
    ids = distinct.add(table("ab", logs), 3)
    assert sorted(ids) == [0, 1, 2]
    assert distinct.laws().logs[ids].tolist() == logs


def test_exact_keys_keep_laws_of_equal_logs_apart():
    distinct = DistinctLaws()
    logs = [[-1.0, -2.0]] * 3
    first = LawTable(("a", "b"), np.array(logs), None, np.zeros(3), exact=("x", "y", "x"))
    later = LawTable(("b", "a"), np.array(logs)[:, ::-1], None, np.zeros(3), exact=("y", "z", "x"))
    x, y, again = distinct.add(first, 3)
    assert x == again != y
    second_y, z, second_x = distinct.add(later, 3)
    assert (second_x, second_y) == (x, y)
    assert len({x, y, z}) == len(distinct) == 3


def test_rows_of_a_table_are_followed():
    distinct = DistinctLaws()
    rows = np.array([1, 0, 1, 1])
    ids = distinct.add(table("ab", [[-1.0, -2.0], [-2.0, -1.0]], rows), 4)
    assert distinct.laws().logs[ids, 0].tolist() == [-2.0, -1.0, -2.0, -2.0]


def test_the_larger_error_is_kept():
    distinct = DistinctLaws()
    (only,) = distinct.add(table("a", [[0.0]], errors=[1e-9]), 1)
    distinct.add(table("a", [[0.0]], errors=[1e-6]), 1)
    distinct.add(table("a", [[0.0]], errors=[1e-12]), 1)
    assert (only, distinct.laws().errors.tolist()) == (0, [1e-6])


def test_the_larger_error_is_kept_within_one_table_too():
    distinct = DistinctLaws()
    ids = distinct.add(table("a", [[0.0], [-1.0], [0.0]], errors=[1e-12, 1e-9, 1e-6]), 3)
    assert (ids[0], len(distinct)) == (ids[2], 2)
    assert distinct.laws().errors[ids].tolist() == [1e-6, 1e-9, 1e-6]


def test_equal_logs_hide_nothing_that_was_not_explored():
    logs = np.log([[0.5, 0.5], [0.5, 0.5]])
    parts = np.array([0.0, 1e-18])
    together = LawTable(("a", "b"), logs, None, np.array([0.0, np.inf]), unexplored=parts)
    distinct = DistinctLaws()
    ids = distinct.add(together, 2)
    assert distinct.laws().unexplored[ids[1]] == 1e-18
    assert distinct.laws().errors[ids[1]] == np.inf
    later = DistinctLaws()
    later.add(table("ab", logs[:1]), 1)
    ids = later.add(together, 2)
    assert later.laws().unexplored[ids[1]] == 1e-18


def test_the_memory_of_laws_has_an_end(monkeypatch):
    monkeypatch.setattr(domain_laws, "_MEMORY", 8 * 2 * 3)
    distinct = DistinctLaws()
    distinct.add(table("ab", [[-1.0, -2.0], [-2.0, -1.0], [-1.5, -1.5]]), 3)
    with pytest.raises(BudgetError, match="more than 3 distinct laws over 2 outputs"):
        distinct.add(table("ab", [[-0.5, -2.5]]), 1)


def test_one_table_of_uncertain_zeros_makes_all_zeros_uncertain():
    distinct = DistinctLaws()
    distinct.add(table("ab", [[0.0, ZERO_LOG]]), 1)
    assert distinct.laws().zeros_exact
    distinct.add(table("a", [[-0.5]], zeros_exact=False), 1)
    assert not distinct.laws().zeros_exact


@pytest.mark.parametrize("collide", [False, True])
def test_colliding_hashes_merge_nothing(collide, monkeypatch):
    if collide:
        monkeypatch.setattr(domain_laws, "_keys", lambda logs, _: np.zeros(len(logs), np.uint64))
    distinct = DistinctLaws()
    logs = np.random.default_rng(1).integers(0, 3, (20, 2)) * -1.0
    ids = distinct.add(table("ab", logs), 20)
    again = distinct.add(table("ab", logs), 20)
    kept = distinct.laws().logs
    assert np.array_equal(kept[ids], logs)
    assert np.array_equal(kept[again], logs)
    if not collide:
        assert np.array_equal(ids, again)
        assert len(distinct) == len(np.unique(logs, axis=0))


@pytest.mark.parametrize("width", [1, 63, 64, 700])
def test_losses_are_those_of_each_pair_alone(width):
    rng = np.random.default_rng(width)
    logs = np.log(rng.dirichlet(np.ones(width), 50))
    table = LawTable(tuple(range(width)), logs, None, np.zeros(50), True)
    left, right = rng.integers(0, 50, (2, 333))
    alone = [np.abs(logs[a] - logs[b]).max() for a, b in zip(left, right, strict=True)]
    assert table.losses(left, right).tolist() == alone
    assert table.losses(left[:0], right[:0]).shape == (0,)
