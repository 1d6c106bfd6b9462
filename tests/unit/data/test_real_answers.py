"""Real answers of queries: which moves are neighbours, what is refused, copies."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import liptest as lt
from liptest.data.distributions import DomainAlone, check_distribution, require_draws
from liptest.errors import InputError


def test_all_answers_move_by_the_sensitivity():
    domain = lt.Answers(3, sensitivity=0.5)
    assert (domain.dimension, domain.sensitivity, domain.kind) == (3, Fraction(1, 2), "all")
    here = np.zeros((4, 3))
    there = np.array([[0, 0, 0], [0.5, -0.5, 0], [0.25, 0, 0], [0.5, 0.75, 0]])
    assert domain.distance(here, there).tolist() == [0, 1, 1, 2]
    assert repr(domain) == "Answers(3, sensitivity=1/2, relation='all')"
    assert "at most 1/2" in domain.neighbour_words


def test_one_answer_moves():
    domain = lt.Answers(3, relation="one")
    there = [[1, 0, 0], [0, -1, 0], [1, 1, 0], [0, 0, 2]]
    assert domain.distance(np.zeros((4, 3)), there).tolist() == [1, 1, 2, 2]


def test_listed_moves_go_both_ways():
    domain = lt.Answers(2, 2, [[1, -1], (0, 0.5)])
    assert domain.moves == ((2, -2), (0, 1))
    there = [[2, -2], [-2, 2], [0, -1], [1, -1]]
    assert domain.distance(np.zeros((4, 2)), there).tolist() == [1, 1, 1, 2]
    assert sorted(domain.whole_moves()) == [(-2, 2), (0, -1), (0, 1), (2, -2)]


@pytest.mark.parametrize(
    "domain", [lt.Answers(3), lt.Answers(3, 2.5, "one"), lt.Answers(2, 1, [[1, 3], [1, -1]])]
)
def test_whole_moves_are_neighbours(domain):
    moves = domain.whole_moves()
    assert moves
    assert len(set(moves)) == len(moves)
    assert set(domain.distance(np.zeros((len(moves), domain.dimension)), moves)) == {1}
    assert {tuple(-step for step in move) for move in moves} == set(moves)


def test_whole_moves_of_all_answers_are_the_corners():
    assert set(lt.Answers(3).whole_moves()) == set(product((-1, 1), repeat=3))
    assert lt.Answers(3, 0.5).whole_moves() == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"m": 0},
        {"m": 2, "sensitivity": 0},
        {"m": 2, "sensitivity": float("inf")},
        {"m": 2, "sensitivity": True},
        {"m": 2, "relation": "most"},
        {"m": 2, "relation": [[1]]},
        {"m": 2, "relation": [[0, 0]]},
        {"m": 2, "relation": [["a", 1]]},
        {"m": 2, "relation": []},
    ],
)
def test_what_is_no_domain_is_refused(wrong):
    with pytest.raises(InputError):
        lt.Answers(**wrong)


@pytest.mark.parametrize("relation", ["all", "one", [[0.1, 1], [1, 1]]])
def test_copies_are_equal(relation):
    domain = lt.Answers(2, 0.3, relation)
    for other in (pickle.loads(pickle.dumps(domain)), copy.deepcopy(domain)):
        assert other == domain
        assert hash(other) == hash(domain)
        assert other.relation == domain.relation
    assert domain != lt.Answers(2, 0.4, relation) != lt.AnswerGrid([3, 3], relation="all")


def test_answers_are_not_visited():
    domain = lt.Answers(2)
    points = np.zeros((1, 2), dtype=int)
    for visit in (domain.neighbour_changes, domain.neighbours):
        with pytest.raises(InputError, match="AnswerGrid"):
            visit(points)
    assert domain.small(1) == lt.Answers(1)
    assert lt.Answers(2, 1, [[1, 1]]).small(1) is None


def test_a_domain_alone_is_drawn_from_but_promises_nothing():
    law = DomainAlone(lt.RecordGrid([2, 5]))
    drawn = law.sample(np.random.default_rng(1), 200)
    assert drawn.max(axis=0).tolist() == [1, 4]
    assert check_distribution(law) is law
    with pytest.raises(InputError, match=r"uniform\(RecordGrid\(\[2, 5\]\)\)"):
        require_draws(law, "method='edges'")
    require_draws(lt.ProductDistribution.uniform(law.domain), "method='edges'")
    assert pickle.loads(pickle.dumps(law)).domain == law.domain
