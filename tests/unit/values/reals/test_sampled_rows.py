"""Random samples and parts of real columns and rows: the loss of a sampled record, and of steps."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from liptest.symbolic.direct_sums import normal_epsilon
from liptest.symbolic.loss_compositions import SampledLoss, compose_losses
from liptest.verdicts import Decision
from tests.unit.written_programs import program

SHARE = 0.1
ROWS = 200
LOSS = math.log1p(SHARE * math.expm1(1))
DELTA = Fraction(1, 10**5)
SCALE = 8
MASK = "mask = rng.random(len(data)) < 0.1\n"
X = "x = data['x'].to_numpy()\n"
BOTH = "rows = data[['x', 'z']].to_numpy()\n"
#: Sums to which a record adds between 0 and 1.
TOLD = "\nreturn total + rng.laplace(0, 1)"
CUT = "rows = rows * np.minimum(1, 1 / np.linalg.norm(rows, axis=1))[:, None]\n"
#: A vector of norm 1 at most, with normal noise.
STEP = "return (rows.sum(axis=0) + rng.normal(0, 8, 2)).tolist()"

COLUMNS = {
    "bits": f"{X}{MASK}total = x[mask].clip(0, 1).sum(){TOLD}",
    "entries of a frame": f"{MASK}total = data['x'][mask].clip(0, 1).sum(){TOLD}",
    "rows of a frame": f"{MASK}total = data[mask]['x'].clip(0, 1).sum(){TOLD}",
    "places": f"{X}{MASK}total = x[np.flatnonzero(mask)].clip(0, 1).sum(){TOLD}",
    "a product": f"{X}{MASK}total = (x.clip(0, 1) * mask).sum(){TOLD}",
    "a product first": f"{X}{MASK}total = np.clip(x * mask, 0, 1).sum(){TOLD}",
    "a product of vectors": f"{X}{MASK}total = mask @ x.clip(0, 1){TOLD}",
    "where": f"{X}{MASK}total = np.where(mask, x.clip(0, 1), 0).sum(){TOLD}",
    "where not": f"{X}{MASK}total = np.where(~mask, 0.0, x.clip(0, 1)).sum(){TOLD}",
    "a count": f"{X}{MASK}total = (x[mask] > 2).sum(){TOLD}",
    "a count of both": f"{X}{MASK}total = ((x > 2) & mask).sum(){TOLD}",
    "a choice": f"{X}total = rng.choice(x, 20, replace=False).clip(0, 1).sum(){TOLD}",
    "chosen places": (
        f"{X}total = x[rng.choice(len(x), 20, replace=False)].clip(0, 1).sum(){TOLD}"
    ),
    "an order": f"{X}total = rng.permutation(x)[:20].clip(0, 1).sum(){TOLD}",
    "rows of an order": f"total = data.sample(n=20, random_state=rng)['x'].clip(0, 1).sum(){TOLD}",
    "a loop": (
        f"total = 0.0\nfor v in data['x']:\n    if rng.random() < 0.1:\n"
        f"        total += min(max(v, 0), 1){TOLD}"
    ),
    "a generator": (f"{X}total = sum(min(max(v, 0), 1) for v in x if rng.random() < 0.1){TOLD}"),
    "a list": (
        f"some = [v for v in data['x'].tolist() if rng.random() < 0.1]\n"
        f"total = sum(min(max(v, 0), 1) for v in some){TOLD}"
    ),
    "pairs": (
        f"{MASK}total = 0.0\nfor v, bit in zip(data['x'], mask):\n    if bit:\n"
        f"        total += min(max(v, 0), 1){TOLD}"
    ),
}
VECTORS = {
    "bits": f"{BOTH}{MASK}rows = rows[mask]\n{CUT}{STEP}",
    "bits and all columns": f"{BOTH}{MASK}rows = rows[mask, :]\n{CUT}{STEP}",
    "bits at the end": f"{BOTH}{CUT}{MASK}rows = rows[mask]\n{STEP}",
    "rows of a frame": f"{MASK}rows = data[mask][['x', 'z']].to_numpy()\n{CUT}{STEP}",
    "a product": f"{BOTH}{CUT}{MASK}rows = rows * mask[:, None]\n{STEP}",
    "a product of numbers": f"{BOTH}{CUT}{MASK}rows = rows * mask.astype(float)[:, None]\n{STEP}",
    "factors": (
        f"{BOTH}{MASK}f = np.minimum(1, 1 / np.linalg.norm(rows, axis=1)) * mask\n"
        f"rows = rows * f[:, None]\n{STEP}"
    ),
    "where": f"{BOTH}{CUT}{MASK}rows = np.where(mask[:, None], rows, 0.0)\n{STEP}",
    "a product of matrices": (
        f"{BOTH}{CUT}{MASK}return (mask @ rows + rng.normal(0, 8, 2)).tolist()"
    ),
    "transposed": f"{BOTH}{CUT}{MASK}return (rows.T @ mask + rng.normal(0, 8, 2)).tolist()",
    "a loop": (
        f"{BOTH}total = np.zeros(2)\nfor row in rows:\n    if rng.random() < 0.1:\n"
        f"        total += row * min(1.0, 1 / np.linalg.norm(row))\n"
        f"return (total + rng.normal(0, 8, 2)).tolist()"
    ),
    "a gradient": (
        f"{BOTH}y = data['y'].to_numpy()\n{MASK}some = rows[mask]\n"
        f"rows = some * (some @ np.zeros(2) - y[mask])[:, None]\n{CUT}{STEP}"
    ),
}
#: Fixed numbers of rows: who is replaced is in both samples, or in none.
FIXED = {
    "a choice of rows": f"{BOTH}rows = rng.choice(rows, 20, replace=False)\n{CUT}{STEP}",
    "places": f"{BOTH}rows = rows[rng.choice(len(rows), 20, replace=False)]\n{CUT}{STEP}",
    "taken": f"{BOTH}rows = np.take(rows, rng.permutation(len(rows))[:20], axis=0)\n{CUT}{STEP}",
    "an order": f"{BOTH}rows = rng.permutation(rows)[:20]\n{CUT}{STEP}",
}


def points(rows: int = ROWS) -> lt.Table:
    return lt.Table({"x": lt.Real(-5, 5), "z": lt.Real(-5, 5), "y": lt.Bit()}, rows=rows)


def price_of(text: str, delta: Fraction = Fraction(0), rows: int = ROWS) -> float:
    table = points(rows)
    found = align(lt.mechanism(program(text)).on_domain(table), table, delta=delta)
    assert found.price is not None, found.reason
    return found.epsilon


@pytest.mark.slow
@pytest.mark.parametrize("name", COLUMNS)
def test_the_loss_of_a_sample_of_numbers_is_proved(name: str) -> None:
    assert price_of(COLUMNS[name]) == pytest.approx(LOSS, rel=1e-9)


def proved_of_steps(steps: int, shift: float, missing: float) -> float:
    loss = SampledLoss(
        Fraction(SHARE), Fraction(0), Fraction(shift), Fraction(0), Fraction(missing)
    )
    proved = compose_losses([loss] * steps, DELTA)
    assert proved is not None
    return float(proved)


@pytest.mark.slow
@pytest.mark.parametrize("name", VECTORS)
def test_the_loss_of_a_sample_of_rows_is_proved(name: str) -> None:
    """A replaced vector moves the sum by 2, a missing one by 1."""
    expected = proved_of_steps(1, 2 / SCALE, 1 / SCALE)
    assert price_of(VECTORS[name], DELTA) == pytest.approx(expected, rel=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIXED)
def test_the_loss_of_so_many_rows_is_proved(name: str) -> None:
    expected = proved_of_steps(1, 2 / SCALE, 2 / SCALE)
    assert price_of(FIXED[name], DELTA) == pytest.approx(expected, rel=3e-3)


def test_one_spelling_of_each() -> None:
    assert price_of(COLUMNS["bits"]) == pytest.approx(LOSS, rel=1e-9)
    assert price_of(VECTORS["bits"], DELTA) < 0.11


def descent(steps: int, mask: str) -> str:
    return (
        f"{BOTH}y, w = data['y'].to_numpy(), np.zeros(2)\nfor _ in range({steps}):\n"
        f"    mask = {mask}\n    some, labels = rows[mask], y[mask]\n"
        f"    own = some * (some @ w - labels)[:, None]\n"
        f"    own = own * np.minimum(1, 1 / np.linalg.norm(own, axis=1))[:, None]\n"
        f"    w = w - 0.1 * (own.sum(axis=0) + rng.normal(0, 8, 2)) / 20\nreturn w.tolist()"
    )


@pytest.mark.slow
@pytest.mark.parametrize("steps", [2, 6, 20])
def test_steps_with_samples_of_their_own_are_composed(steps: int) -> None:
    text = descent(steps, "rng.random(len(rows)) < 0.1")
    expected = proved_of_steps(steps, 2 / SCALE, 1 / SCALE)
    assert price_of(text, DELTA) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_many_steps_of_all_rows_are_one_shift() -> None:
    """The squares of the shifts add up, however many vectors a record has (theory, size, S21)."""
    text = descent(20, "np.ones(len(rows), dtype=bool)")
    joint = normal_epsilon(Fraction(math.sqrt(20) * 2 / SCALE), DELTA, Fraction(0))
    assert joint is not None
    assert price_of(text, DELTA) == pytest.approx(float(joint), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [1, 3])
def test_batches_of_an_epoch_cost_what_one_of_them_costs(epochs: int) -> None:
    """A record is in one batch of each order."""
    text = (
        f"{BOTH}told = []\nfor _ in range({epochs}):\n    order = rng.permutation(len(rows))\n"
        "    for k in range(10):\n        own = rows[order[20 * k : 20 * k + 20]]\n"
        "        own = own * np.minimum(1, 1 / np.linalg.norm(own, axis=1))[:, None]\n"
        "        told += (own.sum(axis=0) + rng.normal(0, 8, 2)).tolist()\nreturn told"
    )
    joint = normal_epsilon(Fraction(math.sqrt(epochs) * 2 / SCALE), DELTA, Fraction(0))
    assert joint is not None
    assert price_of(text, DELTA) == pytest.approx(float(joint), rel=1e-6)
    overlapping = text.replace("20 * k + 20", "20 * k + 21")
    assert price_of(overlapping, DELTA) > 1.2 * float(joint)


@pytest.mark.slow
def test_pure_losses_of_samples_of_their_own_add_up() -> None:
    text = (
        f"{X}x = x.clip(0, 1)\ntold = []\nfor _ in range(3):\n    {MASK}"
        f"    told.append(x[mask].sum() + rng.laplace(0, 1))\nreturn told"
    )
    assert price_of(text) == pytest.approx(3 * LOSS, rel=1e-9)
    assert price_of(text, Fraction(1, 1000)) < 3 * LOSS


L = "+ rng.laplace(0, 1)"
H = f"{MASK}x = data['x'].to_numpy().clip(0, 1)\n"
U = "u = rng.random(len(data))\nx = data['x'].to_numpy().clip(0, 1)\n"
ORDER = "o = rng.permutation(len(data))\nx = data['x'].to_numpy().clip(0, 1)\n"
#: Programs that are not private with a loss, which a wrong use of samples would prove.
LEAKS: dict[str, tuple[str, float]] = {
    "both parts": (
        f"{H}other = np.logical_not(mask)\nreturn x[mask].sum() {L}, x[other].sum() {L}",
        0.99,
    ),
    "how many": (f"{H}return len(x[mask]), x[mask].sum() {L}", 0.99),
    "a count of bits": (f"{H}return int(mask.sum()), x[mask].sum() {L}", 0.99),
    "a bit": (f"{H}return bool(mask[0]), x[mask].sum() {L}", 0.99),
    "a mean": (f"{H}return x[mask].mean() {L}", 0.99),
    "one sample twice": (f"{H}return x[mask].sum() {L}, x[mask].sum() {L}", 2.05 * LOSS),
    "a sample and all": (f"{H}return x[mask].sum() {L}, x.sum() {L}", 0.999 * (1 + LOSS)),
    "the first of a sample": (f"{H}return x[mask][:3].sum() - x[mask].sum() {L}", 0.5),
    "bits of the data": (f"{X}mask = rng.random(len(data)) < x\nreturn x[mask].sum() {L}", 0.5),
    "floats that are used again": (f"{U}return x[u < 0.1].sum() {L}, x[u >= 0.1].sum() {L}", 0.99),
    "nested samples": (f"{U}return x[u < 0.1].sum() {L}, x[u < 0.2].sum() {L}", 0.45),
    "noise of the bits": (f"{U}return x[u < 0.1].sum() + 10 * u[0]", 0.99),
    "halves of an order": (f"{ORDER}return x[o[:20]].sum() {L}, x[o[20:]].sum() {L}", 0.99),
    "a bit that is set": (f"{H}mask[0] = True\nreturn x[mask].sum() {L}", 0.99),
    "numbers without bounds": (f"{X}{MASK}return x[mask].sum() {L}", 0.5),
    "two signs": (f"{MASK}x = data['x'].to_numpy().clip(-1, 1)\nreturn x[mask].sum() {L}", 0.49),
    "sums of a sum": (
        f"{H}k = rng.random(len(data)) < 0.1\nreturn x[mask].sum() + x[k].sum() {L}",
        0.999 * 2 * LOSS,
    ),
    "one noise": (
        f"{H}k = rng.random(len(data)) < 0.1\nn = rng.laplace(0, 1)\n"
        f"return x[mask].sum() + n, x[k].sum() + n",
        5.0,
    ),
    "two ways to add up": (f"{H}x = x / 3\nreturn float(x[mask].sum() - (x * mask).sum())", 5.0),
    "bits are added": (f"{H}return (x + mask).sum() {L}", 0.5),
    "steps with one sample": (
        f"{H}return [x[mask].sum() + rng.laplace(0, 1) for _ in range(3)]",
        0.999 * math.log1p(SHARE * math.expm1(3)),
    ),
    "a share that was told": (
        f"{X}x = x.clip(0, 1)\nt = x.sum() {L}\nq = 0.1 if t < 3 else 0.5\n"
        f"mask = rng.random(len(data)) < q\nreturn t, x[mask].sum() {L}",
        0.999 * (1 + math.log1p(0.5 * math.expm1(1))),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAKS)
def test_what_tells_more_is_not_proved(name: str) -> None:
    text, epsilon = LEAKS[name]
    verdict = lt.check_privacy(
        program(text), points(40), epsilon=epsilon, floats="ideal", seed=1, method="alignment"
    )
    assert verdict.decision is not Decision.YES


@pytest.mark.slow
def test_places_in_a_random_selection_are_not_known() -> None:
    """Of bits, too: the first five of a sample are not all of it, where there are more."""
    for index in ("[:5]", "[0]", "[[0, 1]]", "[::-1]"):
        text = f"{MASK}return np.sum(data[mask]{index}) - data[mask].sum()"
        found = align(lt.mechanism(program(text)), lt.Hypercube(20))
        assert found.price is None
        assert "places in a random selection" in found.reason


@pytest.mark.slow
def test_a_sample_may_have_no_last_record() -> None:
    """That it raises where nobody is sampled tells something: the loss is a little larger."""
    for text in (
        f"{MASK}return np.cumsum(data[mask])[-1] {L}",
        f"{MASK}return data[mask].max() {L}",
    ):
        found = align(lt.mechanism(program(text)), lt.Hypercube(60))
        assert found.price is None


@pytest.mark.slow
def test_parts_that_are_named_cost_what_one_of_them_costs() -> None:
    """A record is in one of them (theory S9)."""
    halves = f"{X}x = x.clip(0, 1)\nreturn x[:100].sum() {L}, x[100:].sum() {L}"
    assert price_of(halves) == pytest.approx(1, rel=1e-9)
    overlap = f"{X}x = x.clip(0, 1)\nreturn x[:101].sum() {L}, x[100:].sum() {L}"
    assert price_of(overlap) == pytest.approx(2, rel=1e-9)
    means = f"{X}x = x.clip(0, 1)\nreturn x[:100].mean() + rng.laplace(0, 0.01)"
    assert price_of(means) == pytest.approx(1, rel=1e-9)
