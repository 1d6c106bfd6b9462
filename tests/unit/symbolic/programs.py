"""Published mechanisms as lists of paths, by hand."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from liptest.symbolic.answers import AlignedPath, Answer
from liptest.symbolic.forms import Form, Rational
from liptest.symbolic.noise import Noise

Variables = tuple[Noise | Answer, ...]


def laplace(scale: Rational) -> Noise:
    return Noise("laplace", Fraction(scale))


def noisy(size: int, noise: Noise) -> tuple[Variables, list[Form]]:
    """Answers 0, 1, .. with fresh noise each."""
    noises: list[Noise | Answer] = []
    for i in range(size):
        noises += [Answer(i), noise]
    forms = [Form.variable(2 * i) + Form.variable(2 * i + 1) for i in range(size)]
    return tuple(noises), forms


def sparse_vector(
    size: int,
    threshold: Rational,
    query: Rational | None,
    *,
    stops: bool = True,
    value: bool = False,
) -> list[AlignedPath]:
    """Which answers exceed a noisy threshold; ``query`` None adds no noise to them."""
    noises: Variables = (laplace(threshold),)
    forms = []
    for i in range(size):
        form = Form.variable(len(noises))
        noises += (Answer(i, words=f"answer {i}"),)
        if query is not None:
            form = form + Form.variable(len(noises))
            noises += (laplace(query),)
        forms.append(form)
    line = Form.variable(0)
    yes = [(form - line).between(low=0, low_closed=True) for form in forms]
    no = [(form - line).between(high=0) for form in forms]
    if not stops:
        ways = product(*zip(no, yes, strict=True))
        return [AlignedPath(noises, way) for way in ways]
    paths = [AlignedPath(noises, tuple(no), words="none")]
    for i in range(size):
        places = (forms[i],) if value else ()
        paths.append(AlignedPath(noises, (*no[:i], yes[i]), places, words=f"stopped at {i}"))
    return paths


def noisy_maximum(size: int, noise: Noise, *, value: bool = False) -> list[AlignedPath]:
    """Which noisy answer is the largest, and its value."""
    noises, forms = noisy(size, noise)
    return [
        AlignedPath(
            noises,
            tuple((form - other).between(low=0) for other in forms if other is not form),
            (form,) if value else (),
            words=f"{i} is largest",
        )
        for i, form in enumerate(forms)
    ]


def noisy_answers(size: int, noise: Noise) -> list[AlignedPath]:
    """All noisy answers."""
    noises, forms = noisy(size, noise)
    return [AlignedPath(noises, (), tuple(forms))]


def prefix_sums(size: int, noise: Noise) -> list[AlignedPath]:
    """Sums of the first noisy answers."""
    noises, forms = noisy(size, noise)
    return [AlignedPath(noises, (), tuple(total(forms[: i + 1]) for i in range(size)))]


def total(forms: Sequence[Form]) -> Form:
    """Of some forms."""
    found = Form(0)
    for form in forms:
        found = found + form
    return found
