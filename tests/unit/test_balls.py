"""One precision for each thread, whatever the others calculate with."""

import concurrent.futures
import logging
import math
import multiprocessing
import threading
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

import liptest as lt
from liptest.balls import FLOAT_BITS, outside_precision, precision
from liptest.mechanisms.laws import OutputLaw
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer, compare_laws
from liptest.symbolic import probability
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System


@pytest.fixture(autouse=True)
def _kept():
    assert ctx.prec == FLOAT_BITS
    yield
    assert ctx.prec == FLOAT_BITS


def in_threads(function, arguments):
    with concurrent.futures.ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(function, arguments))


def test_every_thread_gets_the_precision_that_it_asks_for():
    ready = threading.Barrier(8)

    def ask(bits):
        ready.wait(30)
        seen = set()
        for _ in range(200):
            with precision(bits):
                third = arb(1) / 3
                seen.add((ctx.prec, third.rel_accuracy_bits() >= bits - 2))
                with precision(2 * bits):
                    seen.add((ctx.prec, (arb(1) / 3).rel_accuracy_bits() >= 2 * bits - 2))
                seen.add((ctx.prec, True))
        return seen

    asked = [64, 100, 128, 200, 256, 512, 1000, 2048]
    assert in_threads(ask, asked) == [{(bits, True), (2 * bits, True)} for bits in asked]


def test_it_is_put_back_after_an_exception():
    with pytest.raises(ZeroDivisionError), precision(100), precision(300):
        raise ZeroDivisionError
    with precision(100):
        with pytest.raises(ZeroDivisionError), precision(300):
            raise ZeroDivisionError
        assert ctx.prec == 100


def test_others_calculate_while_a_thread_is_outside():
    def other():
        with precision(512):
            return ctx.prec

    with precision(100), precision(200):
        with outside_precision():
            assert ctx.prec == FLOAT_BITS
            assert in_threads(lambda _: other(), [0]) == [512]
            with precision(300):
                assert ctx.prec == 300
        assert ctx.prec == 200
        with pytest.raises(ZeroDivisionError), outside_precision():
            raise ZeroDivisionError
        assert ctx.prec == 200
    with outside_precision():
        assert ctx.prec == FLOAT_BITS


def test_two_threads_that_compare_and_integrate_do_not_disturb_each_other():
    left = OutputLaw.from_fractions({0: Fraction(1, 3), 1: Fraction(2, 3)})
    right = OutputLaw.from_fractions({0: Fraction(2, 3), 1: Fraction(1, 3)})
    claim = Claim(lt.log(2), 0.0, 0.0)
    noises = [Noise("laplace", Fraction(1)) for _ in range(3)]
    gaps = [Form.variable(0) - Form.variable(k) for k in (1, 2)]
    constraints = [gap.between(Fraction(k, 7), None) for k, gap in enumerate(gaps)]

    def work(kind):
        for _ in range(30):
            if kind:
                assert compare_laws(left, right, claim).answer is Answer.CLEAR
            else:
                probability.forget()
                assert System(noises).probability(constraints).rel_accuracy_bits() >= 56

    in_threads(work, [0, 1, 0, 1])


@pytest.mark.slow
def test_code_that_is_analysed_while_balls_are_compared_waits_for_nobody():
    """An analysis waits for balls, balls never for an analysis: else both would wait for ever."""
    analysing = threading.Event()
    laws = []

    class Telling(logging.Handler):
        def emit(self, record):
            analysing.set()

    # What logs does not count as memory of a program.
    logger = logging.getLogger("test_balls")
    logger.is_calculating = False
    logger.addHandler(Telling())

    def patient(data, rng):
        logger.error("analysing")
        while not logger.is_calculating:
            pass
        return bool(data.sum() + rng.laplace(0, 1) > 0.5)

    def analyse():
        laws.append(lt.output_law(lt.mechanism(patient), [0, 1]))

    def calculate():
        analysing.wait()
        with precision(100):
            logger.is_calculating = True
            laws.append(
                lt.output_law(lt.mechanism(lambda data, rng: bool(rng.random() < 0.5)), [0])
            )
            assert ctx.prec == 100

    threads = [threading.Thread(target=work, daemon=True) for work in (analyse, calculate)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(laws) == 2


@pytest.mark.slow
def test_a_forked_process_can_calculate_while_another_thread_does(tmp_path):
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("nothing is forked here")
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            with precision(2048):
                math.fsum(float(arb(k).log()) for k in range(1, 50))

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(5):
            child = multiprocessing.get_context("fork").Process(target=_calculates_in_a_child)
            child.start()
            child.join(30)
            assert child.exitcode == 0
    finally:
        stop.set()
        thread.join()


def _calculates_in_a_child():
    assert ctx.prec == FLOAT_BITS
    with precision(100):
        assert np.isclose(float(arb(2).log()), math.log(2))
