"""Servers of local protocols as classes, for ``test_changed_attributes``."""

# Classes as users write them.
# ruff: noqa: B008
from __future__ import annotations

import hashlib
import math
import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SHARED = np.zeros(2)
HELD = [0]


def answer(value: int) -> int:
    """Randomised response to a bit: the truth with probability 3/4, which is epsilon log 3."""
    return int(value) if random.random() < 0.75 else 1 - int(value)


class Server:
    """Counts answers."""

    def __init__(self) -> None:
        self.counts = np.zeros(2)
        self.total = 0

    def add(self, value: int) -> None:
        self.counts[answer(value)] += 1
        self.total += 1

    def add_all(self, values: Any) -> None:
        """Add what each record answers."""
        for value in values:
            self.add(value)


class PrivateNames:
    def __init__(self, truth: float) -> None:
        self.__counts = [0, 0]
        self.__truth = truth

    def __answer(self, value: int) -> int:
        return int(value) if random.random() < self.__truth else 1 - int(value)

    def add(self, value: int) -> PrivateNames:
        self.__counts[self.__answer(value)] += 1
        return self

    def shares(self) -> list[float]:
        return [count / sum(self.__counts) for count in self.__counts]


@dataclass
class Reports:
    truth: float = 0.75
    answers: list[int] = field(default_factory=list)

    def add(self, value: int) -> None:
        self.answers.append(int(value) if random.random() < self.truth else 1 - int(value))


class Client:
    def __init__(self, truth: float) -> None:
        self.truth = truth

    def tell(self, value: int) -> int:
        return int(value) if random.random() < self.truth else 1 - int(value)


class Estimates:
    def __init__(self, client: Client | None = None) -> None:
        self.counts: Any = defaultdict(int)
        self.client = client or Client(0.75)

    def collect(self, told: int) -> None:
        self.counts[told] += 1

    def collect_from(self, values: Any, weight: int = 1) -> Any:
        for _place, value in enumerate(values):
            self.counts[self.client.tell(value)] += weight
        return self.counts


class Sketch:
    """Each record adds to one line of a table, at a place by a hash of its value."""

    def __init__(self, lines: int, width: int) -> None:
        self.lines, self.width = lines, width
        self.table = [[0] * width for _ in range(lines)]

    def place(self, line: int, value: int) -> int:
        text = hashlib.sha256(f"{line}:{value}".encode()).hexdigest()
        return int(text, 16) % self.width

    def add(self, value: int) -> None:
        line = random.randrange(self.lines)
        if random.random() < 0.5:
            told = self.place(line, value)
        else:
            told = random.randrange(self.width)
        self.table[line][told] += 1


def counted(data: Any) -> Any:
    server = Server()
    server.add_all(data)
    return server.counts, server.total


def counted_from_list(data: Any) -> Any:
    server = Server()
    for value in data.tolist():
        server.add(value)
    return server.counts.tolist()


def with_private_names(data: Any) -> Any:
    server = PrivateNames(0.75)
    for value in data:
        server.add(value)
    return server.shares()


def reported(data: Any) -> Any:
    server = Reports()
    for value in data:
        server.add(value)
    return sum(server.answers)


def estimated(data: Any) -> Any:
    client, server = Client(0.75), Estimates()
    for value in data:
        server.collect(client.tell(value))
    return dict(server.counts)


def estimated_in_method(data: Any) -> Any:
    server = Estimates()
    counts = server.collect_from(data, weight=2)
    return counts[1]


def sketched(data: Any) -> Any:
    sketch = Sketch(2, 4)
    for value in data:
        sketch.add(value)
    return sketch.table


def counted_in_nested_lists(data: Any) -> Any:
    table = [[0, 0] for _ in range(2)]
    for value in data.tolist():
        table[random.randrange(2)][value if random.random() < 0.75 else 1 - value] += 1
    return table


def counted_at_places(data: Any) -> Any:
    """The keys are numbers of Python and of NumPy; places of an array do not tell which."""
    counts = np.zeros(4)
    for value in data.tolist():
        if np.random.random() < 0.5:
            key = value
        else:
            key = np.random.randint(0, 2, dtype=np.int64)
        counts[key] += 1
    return counts


PROVED = {
    counted: math.log(3),
    counted_from_list: math.log(3),
    with_private_names: math.log(3),
    reported: math.log(3),
    estimated: math.log(3),
    estimated_in_method: math.log(3),
    sketched: math.log(5),
    counted_in_nested_lists: math.log(3),
    counted_at_places: math.log(3),
}


# ---- what has to be refused


class ReadsAnotherName(Server):
    def __init__(self) -> None:
        super().__init__()
        self.seen = self.counts

    def add(self, value: int) -> None:
        told = 1 if self.seen[1] > 0 else answer(value)
        self.counts[told] += 1


class ReadsInList(Server):
    def __init__(self) -> None:
        super().__init__()
        self.held = [self.counts]

    def add(self, value: int) -> None:
        told = answer(value) if self.held[0][1] == 0 else int(value)
        self.counts[told] += 1


class ReadsByMethod(Server):
    def peek(self) -> int:
        return self.total

    def add(self, value: int) -> None:
        told = 1 if self.peek() > 0 else answer(value)
        self.counts[told] += 1
        self.total += told


class ReadsItself(Server):
    def add(self, value: int) -> None:
        truth = 0.5 if self.total % 2 else 0.99
        self.counts[int(value) if random.random() < truth else 1 - int(value)] += 1
        self.total += 1


class SharedByClass(Server):
    counts = np.zeros(2)

    def __init__(self) -> None:
        self.total = 0


class SharedByDefault(Server):
    def __init__(self, counts: Any = np.zeros(2)) -> None:
        self.counts, self.total = counts, 0


class SharedByModule(Server):
    def __init__(self) -> None:
        self.counts, self.total = SHARED, 0


class WithProperty(Server):
    def __init__(self) -> None:
        self.held = 0

    @property
    def number(self) -> int:
        return self.held

    @number.setter
    def number(self, value: int) -> None:
        HELD[0] = value
        self.held = value

    def add(self, value: int) -> None:
        self.number += answer(value)


class SetsOthers(Server):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        HELD[0] = len(name)


class Shadowed(Server):
    def __init__(self) -> None:
        super().__init__()
        self.add = self.tell_all  # type: ignore[method-assign]

    def tell_all(self, value: int) -> None:
        self.counts[int(value)] += 1


class KeepsLast(Server):
    last = 0

    def add(self, value: int) -> None:
        super_answer = answer(value)
        self.counts[super_answer] += 1
        self.last = value


class LeavesEarly(Server):
    def add_all(self, values: Any) -> None:
        for value in values:
            told = answer(value)
            self.counts[told] += 1
            if told == 1:
                break


class SkipsSome(Server):
    def add_all(self, values: Any) -> None:
        for value in values:
            if value == 0:
                continue
            self.counts[answer(value)] += 1


class SharesNoise(Server):
    def __init__(self) -> None:
        super().__init__()
        self.flip = int(random.random() < 0.5)

    def add(self, value: int) -> None:
        self.counts[int(value) ^ self.flip] += 1


class ChangesInAmount(Server):
    def bump(self) -> int:
        self.total = 1
        return 1

    def add(self, value: int) -> None:
        self.counts[int(value) if self.total else answer(value)] += self.bump()


class ChangesModule(Server):
    def add(self, value: int) -> None:
        HELD[0] += int(value)
        self.counts[answer(value)] += 1


REFUSED = [
    *(ReadsAnotherName, ReadsInList, ReadsByMethod, ReadsItself, SharedByClass, SharedByDefault),
    *(SharedByModule, WithProperty, SetsOthers, Shadowed, KeepsLast, LeavesEarly, SkipsSome),
    *(SharesNoise, ChangesInAmount, ChangesModule),
]
