"""Randomised response with a fault: it says the truth three times out of four."""


def answer(bits, rng):
    return int(bits[0]) if rng.random() < 0.75 else 1 - int(bits[0])
