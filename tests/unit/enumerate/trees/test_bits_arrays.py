"""Arrays of symbolic bits behave as NumPy's: types, views, writing, functions, errors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.enumerate.trees.outputs import canonical_output as canonical
from liptest.enumerate.trees.outputs import make_raised
from tests.unit.enumerate.bits import law_of

DATA = np.array([1, 0, 1])


def answer(program: Callable[[Any], Any], bits: Any) -> Any:
    try:
        output = program(bits)
    except Exception as error:
        return make_raised(error)
    return canonical(output, "program", typed=True)


def enumerated(program: Callable[[Any], Any], shape: tuple[int, ...]) -> dict[Any, Fraction]:
    """The law with plain arrays of fair bits."""
    size = int(np.prod(shape))
    law: dict[Any, Fraction] = {}
    for bits in product((False, True), repeat=size):
        output = answer(program, np.array(bits).reshape(shape))
        law[output] = law.get(output, Fraction(0)) + Fraction(1, 2**size)
    return law


def symbolic(program: Callable[[Any], Any], shape: tuple[int, ...]) -> dict[Any, Fraction]:
    tree = ChoiceTree("program")
    rng = ChoiceGenerator(tree)
    return tree.law(lambda: answer(program, rng.random(shape) < 0.5))


def written(bits: Any) -> Any:
    bits[0] = True
    return bits


def written_through_a_view(bits: Any) -> Any:
    view = bits[1:]
    view[0] = bits[0]
    bits[2] ^= True
    return bits, view.sum()


def copies_are_apart(bits: Any) -> Any:
    some = bits[[0, 1]], bits.copy(), copy.deepcopy(bits), bits.flatten(), bits[bits | True]
    bits[:] = False
    return [one.sum() for one in (*some, bits, bits.ravel(), bits.reshape(3, 1), bits.T)]


def sorted_in_place(bits: Any) -> Any:
    bits.sort()
    return bits


def filled(bits: Any) -> Any:
    bits.fill(True)
    return bits.sum()


def in_place(bits: Any) -> Any:
    whole = bits.astype(int)
    whole += 2 * bits
    whole *= bits
    whole -= DATA
    return whole


def in_place_of_another_type(bits: Any) -> Any:
    whole = bits.astype(int)
    whole += 0.5
    return whole


def out_arguments(bits: Any) -> Any:
    target = bits.astype(int)
    found = np.add(bits, DATA, out=target)
    plain = np.zeros(3, dtype=int)
    np.add(bits, DATA, out=plain)
    return found is target, target, plain


def by_masks(bits: Any) -> Any:
    plain = np.arange(3)
    plain[bits] = 7
    whole = DATA + bits
    whole[bits] = 9
    whole[whole == 1] = 4
    return plain, whole, DATA[bits]


def put(bits: Any) -> Any:
    np.put(bits, [0, 2], [True, False])
    bits.flat[1] = bits[0] ^ bits[1]
    return bits, list(bits.flat)


PROGRAMS: list[Callable[[Any], Any]] = [
    *(written, written_through_a_view, copies_are_apart, sorted_in_place, filled, in_place),
    *(in_place_of_another_type, out_arguments, by_masks, put),
    lambda b: (b.shape, b.ndim, b.size, b.dtype, len(b), b.itemsize, b.nbytes),
    lambda b: (np.shape(b), np.ndim(b), np.size(b), np.zeros_like(b), np.ones_like(b, dtype=int)),
    lambda b: isinstance(b, np.ndarray),
    lambda b: list(b),
    lambda b: [bool(x) for x in b],
    lambda b: True in b,
    lambda b: b if b[0] else None,
    lambda b: 1 if b else 0,
    lambda b: bool(b[:1]),
    lambda b: b[5],
    lambda b: b[:1].item(),
    lambda b: b.item(1),
    lambda b: b.item(),
    lambda b: hash(b),
    lambda b: bytes(b),
    lambda b: b.tobytes(),
    lambda b: str(b),
    lambda b: f"{b}",
    lambda b: b - b,
    lambda b: -b,
    lambda b: b + DATA[:2],
    lambda b: b + np.array([[1], [2]]),
    lambda b: ([1, 2, 3] * b, b * (1.5, 0, -1)),
    lambda b: b & "text",
    lambda b: b == "text",
    lambda b: 1 / (b + 1),
    lambda b: 1 / b,
    lambda b: np.log(b + 1),
    lambda b: np.sqrt(b - 1.0),
    lambda b: b.astype(np.uint8) - np.uint8(1),
    lambda b: b.astype(np.float32).sum(),
    lambda b: b.astype(np.float32).mean(),
    lambda b: b.astype(np.float16).sum(),
    lambda b: b.astype(np.int8).sum(),
    lambda b: b.astype(np.uint8).mean(),
    lambda b: (b * 0.1).sum(),
    lambda b: (b * 0.1).mean(),
    lambda b: np.where(b, -0.0, 0.0),
    lambda b: np.where(b, -0.0, 0.0).sum(),
    lambda b: np.where(b, np.nan, 1.0).max(),
    lambda b: np.where(b, np.inf, 1.0).sum(),
    lambda b: np.where(b, "yes", "no"),
    lambda b: np.where(b, None, "no"),
    lambda b: np.where(b),
    lambda b: b.nonzero(),
    lambda b: (b * 2**62).sum(),
    lambda b: (b * 2**61).sum(),
    lambda b: np.array([b[0], b[1], 1]),
    lambda b: np.asarray(b) + 1,
    lambda b: np.array(b, dtype=float),
    lambda b: np.concatenate([b, DATA]),
    lambda b: np.stack([b, b ^ True]).sum(axis=0),
    lambda b: np.hstack([b, 1.5]),
    lambda b: np.vstack([b, DATA]).sum(),
    lambda b: np.column_stack([b, DATA]),
    lambda b: np.append(b, [True]),
    lambda b: np.flip(b) & b,
    lambda b: np.tile(b, 2).sum(),
    lambda b: np.repeat(b, 2).sum(),
    lambda b: np.cumsum(b),
    lambda b: np.bincount(b, minlength=3),
    lambda b: np.unique(b),
    lambda b: np.array_equal(b, DATA),
    lambda b: np.array_equal(b, DATA[:2]),
    lambda b: np.logical_or.reduce(b),
    lambda b: np.add.reduce(b),
    lambda b: np.add.outer(b, DATA).sum(),
    lambda b: np.einsum("i,i", b.astype(int), DATA),
    lambda b: np.divmod(b + 3, 2),
    lambda b: np.median(b),
    lambda b: b.std(),
    lambda b: b.sum(dtype=np.int8),
    lambda b: b.sum(keepdims=True),
    lambda b: b.sum(axis=0),
    lambda b: b.sum(axis=1),
    lambda b: b.sum(initial=5),
    lambda b: np.sum(b, where=DATA == 1),
    lambda b: b.any(axis=0) and b.all(),
    lambda b: b.max() + b.min(),
    lambda b: b[:0].sum(),
    lambda b: b[:0].max(),
    lambda b: b @ DATA + DATA @ b,
    lambda b: b @ b,
    lambda b: b.astype(int) @ np.arange(6).reshape(3, 2),
    lambda b: np.arange(6).reshape(2, 3) @ b,
    lambda b: np.outer(b, DATA),
    lambda b: b.dot(np.array([0.1, 0.2, 0.3])),
    lambda b: b.dot(np.array([0.5, 0.25, -3])),
    lambda b: np.inner(b, DATA),
    lambda b: np.inner(b, DATA[:2]),
    lambda b: np.clip(b + DATA, 0, 1),
    lambda b: (b + 0.5).round(),
    lambda b: np.round(b * 0.26, 1),
    lambda b: b.argmax() - b.argmin(),
    lambda b: np.argsort(b),
    lambda b: np.searchsorted([0, 1], b),
    lambda b: np.isin(b, [True]),
    lambda b: np.any(b) | np.all(b),
    lambda b: np.nonzero(b == DATA)[0],
    lambda b: divmod(b + 3, 2),
    lambda b: (b.real, b.T, b.squeeze(), b.swapaxes(0, 0)),
    lambda b: pickle.loads(pickle.dumps(b)),
    lambda b: sum(b) + max(b) - min(b),
    lambda b: {int(x) for x in b},
    lambda b: dict(zip("abc", b, strict=True)),
    lambda b: any(b) and all(b),
    lambda b: b[0] + b[1],
    lambda b: (b[0] ^ b[1]) & ~b[2],
    lambda b: b[0] + 1.5 * b[1] - b[2],
    lambda b: (b[0] < b[1], b[0] == b[1], b[1] > 0),
    lambda b: np.int8(100) * b[0] + np.int8(100) * b[1],
    lambda b: b[0].astype(int) << 3,
    lambda b: DATA * b[0] + DATA[::-1] * b.sum(),
    lambda b: DATA[int(b.sum()) - 1],
    lambda b: b.nothing,
    lambda b: b.sum().nothing,
    lambda b: b(),
]
MATRICES: list[Callable[[Any], Any]] = [
    lambda b: b.sum(axis=0),
    lambda b: np.sum(b, axis=-1),
    lambda b: b.sum(),
    lambda b: b.mean(axis=1),
    lambda b: b.any(axis=0),
    lambda b: b.argmax(axis=1),
    lambda b: b.argmax(),
    lambda b: np.count_nonzero(b),
    lambda b: np.count_nonzero(b, axis=0),
    lambda b: b.T[0] & b[0],
    lambda b: b.reshape(-1).sum() - b.ravel()[0],
    lambda b: b[:, 0] | b[:, 1],
    lambda b: b[0] @ b[1],
    lambda b: b @ b,
    lambda b: b[..., 0],
    lambda b: b[0, 1],
    lambda b: [row.sum() for row in b],
    lambda b: np.concatenate([b, b ^ True], axis=1).sum(axis=1),
    lambda b: np.transpose(b)[1],
    lambda b: b.max(axis=0) if b.any() else b.min(),
    lambda b: np.expand_dims(b, 0).shape,
    lambda b: len(b),
    lambda b: b.diagonal(),
    lambda b: b.tolist(),
    lambda b: np.delete(b, 0, axis=0),
]


@pytest.mark.parametrize(("place", "program"), list(enumerate(PROGRAMS)))
def test_it_answers_as_an_array(place: int, program: Callable[[Any], Any]) -> None:
    assert symbolic(program, (3,)) == enumerated(program, (3,))


@pytest.mark.parametrize(("place", "program"), list(enumerate(MATRICES)))
def test_it_answers_as_a_matrix(place: int, program: Callable[[Any], Any]) -> None:
    assert symbolic(program, (2, 2)) == enumerated(program, (2, 2))


@pytest.mark.parametrize(
    "program",
    [
        lambda b: b.view(np.uint8),
        lambda b: b.ctypes,
        lambda b: b.data,
        lambda b: np.put_along_axis(b, np.array([0]), 1, 0),
    ],
)
def test_ways_into_its_memory_are_refused(program: Callable[[Any], Any]) -> None:
    with pytest.raises(lt.errors.UnsupportedRandomnessError):
        symbolic(program, (2,))


def test_writing_into_an_array_of_floats_and_its_views() -> None:
    def program(rng: Any) -> Any:
        floats = rng.random(4)
        view, apart = floats[1:], floats[[1, 2]]
        bits = floats < 0.5
        view[0] = 0.75
        return int(bits.sum()), bool(floats[1] < 0.5), bool(view[0] > 0.7), int((apart < 0.5).sum())

    law = law_of(program)
    assert {(known, top) for _, known, top, _ in law} == {(False, True)}
    assert law[4, False, True, 2] == Fraction(1, 16)
    assert sum(mass for (*_, low), mass in law.items() if low == 1) == Fraction(1, 2)


def test_floats_that_are_used_in_other_ways_are_numbers_of_their_own() -> None:
    def program(rng: Any) -> Any:
        floats = rng.random(2)
        bits = floats < 0.5
        doubled = 2 * floats
        return int(bits.sum()), int((doubled >= 1.5).sum())

    law = law_of(program)
    assert law[2, 0] == Fraction(1, 4)
    assert law[0, 2] == Fraction(1, 16)
    assert sum(law.values()) == 1


@pytest.mark.parametrize(
    ("draw", "dtype", "values"),
    [
        (lambda rng: rng.integers(0, 2, size=3), np.int64, {0, 1}),
        (lambda rng: rng.integers(5, 6, size=3, endpoint=True), np.int64, {5, 6}),
        (lambda rng: rng.integers([0, 3, 3], [2, 5, 5]), np.int64, {0, 1, 3, 4}),
        (lambda rng: rng.integers(2, size=3, dtype=np.uint8), np.uint8, {0, 1}),
        (lambda rng: rng.integers(0, 2, size=3, dtype=bool), np.bool_, {0, 1}),
        (lambda rng: rng.choice([-1, 1], size=3), np.int64, {-1, 1}),
        (lambda rng: rng.choice(2, size=3), np.int64, {0, 1}),
        (lambda rng: rng.choice(np.array([0.5, -2.5]), 3), np.float64, {0.5, -2.5}),
        (lambda rng: rng.binomial(1, 0.5, size=3), np.int64, {0, 1}),
        (lambda rng: rng.binomial(1, [0.5, 0.5, 0.5]), np.int64, {0, 1}),
        (lambda rng: rng.choice(["a", "b"], size=3), np.dtype("<U1"), {"a", "b"}),
    ],
)
def test_draws_of_two_values(draw: Callable[[Any], Any], dtype: Any, values: set[Any]) -> None:
    law = law_of(lambda rng: tuple(draw(rng).tolist()))
    assert len(law) == 8
    assert set(law.values()) == {Fraction(1, 8)}
    assert {value for output in law for value in output} == values
    assert list(law_of(lambda rng: draw(rng).dtype)) == [np.dtype(dtype)]


def test_binomial_of_one_trial_has_the_weights_of_the_float() -> None:
    p = [0.1, 0.0, 1.0, 1e-300]
    law = law_of(lambda rng: tuple(rng.binomial(1, p).tolist()))
    assert law[1, 0, 1, 0] == Fraction(0.1) * (1 - Fraction(1e-300))
    assert {output[1:3] for output in law} == {(0, 1)}


def test_data_that_is_only_read_through_bits_is_noted() -> None:
    def flips_the_first(data: Any, rng: Any) -> Any:
        flip = rng.random(2) < 0.25
        return bool((data[0] == 1) ^ flip[0])

    mechanism = lt.mechanism(flips_the_first)
    laws, reads = mechanism.laws_and_reads(np.array([[1, 0, 0], [0, 1, 1]]))
    assert [law[True] for law in laws] == [0.75, 0.25]
    assert [[kind for _, kind in some] for some in reads] == [[("entry", 0)]] * 2


@pytest.mark.parametrize(
    "program",
    [
        lambda data, rng: int((data * (rng.random(len(data)) < 0.5)).sum()),
        lambda data, rng: int((data + (rng.random(3) < 0.5).sum()).sum()),
        lambda data, rng: int(((rng.random(3) < 0.5).sum() * data).max()),
        lambda data, rng: int(data @ (rng.random(3) < 0.5)),
        lambda data, rng: int((rng.random(3) < 0.5) @ data),
        lambda data, rng: int((data ^ (rng.random(3) < 0.5)).sum()),
        lambda data, rng: int((data == rng.integers(0, 2, size=3)).sum()),
        lambda data, rng: int(np.where(rng.random(3) < 0.5, data, 1 - data).sum()),
        lambda data, rng: int(data.sum() + (rng.random(3) < 0.5).sum()),
        lambda data, rng: int(((rng.random(3) < 0.5) & (data > 0)).sum()),
        lambda data, rng: int((rng.random(3) < np.where(data == 1, 0.5, 0.5)).sum() + data.sum()),
        lambda data, rng: int((rng.random(3) < data / 2).sum() + data[1]),
    ],
)
def test_with_data_that_notes_its_reads(program: Callable[[Any, Any], Any]) -> None:
    law = lt.mechanism(program).law(DATA)

    def real(bits: Any) -> Any:
        class Given:
            def random(self, size: Any) -> Any:
                return np.where(bits, 0.25, 0.75)

            def integers(self, low: int, high: int, size: Any) -> Any:
                return bits.astype(int)

        return program(DATA, Given())

    expected = enumerated(real, (3,))
    pairs = zip(law.outputs, law.fractions, strict=True)
    assert {canonical(output, "", typed=True): mass for output, mass in pairs} == expected
