"""Pairs of laws of real numbers that are alike, and pairs that only look so."""

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.base import through_densities
from liptest.privacy.composition import different_pairs
from liptest.privacy.notions import RhoClaim
from liptest.privacy.proofs.exhaustive import pair_blocks


def count(data, rng):
    return data.sum() + rng.laplace(0, 2)


def count_twice(data, rng):
    return data.sum() + rng.laplace(0, 2), 3 * data.sum() + rng.normal(0, 2)


def mixed(data, rng):
    moved = data.sum() if rng.random() < 0.25 else 2 * data.sum()
    return moved + rng.laplace(0, 2)


def scaled(data, rng):
    return data.sum() + rng.laplace(0, 1 + data.sum())


def weighed(data, rng):
    return rng.laplace(0, 2) if rng.random() < 1 / (2 + data.sum()) else -5.0


def halted(data, rng):
    noise = rng.laplace(0, 2)
    return data.sum() + noise if noise < data.sum() else "high"


def squared(data, rng):
    return data.sum() ** 2 + rng.laplace(0, 2)


def blocks_of(function, domain):
    def listed(seen):
        return list(pair_blocks(seen, domain, RhoClaim(1.0)))

    return through_densities(lt.mechanism(function), listed)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (count, 1),
        (count_twice, 1),
        (mixed, 6),
        (scaled, 6),
        (weighed, 6),
        (halted, 6),
        (squared, 6),
    ],
)
def test_pairs_are_compared_once_where_all_numbers_move(function, expected):
    blocks = blocks_of(function, lt.Hypercube(6))
    assert sum(len(different_pairs(block)) for block in blocks) == expected


def test_alike_pairs_have_one_loss():
    """Each kind, with the laws in both orders: the loss is that of the first of its kind."""

    def walked(data, rng):
        return np.floor(data.sum() / 2) + rng.laplace(0, 2)

    for block in blocks_of(walked, lt.Hypercube(7)):
        losses = block.laws.losses(block.left, block.right)
        firsts: dict[object, float] = {}
        for left, right, loss in zip(block.left, block.right, losses, strict=True):
            if left != right:
                kind = block.laws.pair_kind(int(left), int(right))
                assert firsts.setdefault(kind, loss) == loss
        assert len(firsts) == 1
