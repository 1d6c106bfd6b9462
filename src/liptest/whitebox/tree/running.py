"""One run of a function under analysis, and what its exceptions mean."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from liptest.errors import MechanismError, shown
from liptest.mechanisms.laws import Output
from liptest.values import lines
from liptest.whitebox.outputs import raised
from liptest.whitebox.stand_ins.session import Session
from liptest.whitebox.tree.choices import ChoiceTree
from liptest.whitebox.tree.paths import Abort

_FOLDERS = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    os.path.dirname(os.path.abspath(lines.__file__)) + os.sep,
)


# What NumPy and random never raise on wrong arguments: our stand-ins are broken.
_OURS_ONLY = (AssertionError, NameError, KeyError, NotImplementedError)


#: ``(data, rng) -> output``.
RandomFunction = Callable[[Any, Any], Any]


class Run:
    """One run of the function; keeps the words of the first exception, never its frames.

    ``data()`` is what the function is given in this run.
    """

    __slots__ = ("_canonical", "_function", "_name", "_rng", "_session", "data", "exception")

    def __init__(
        self,
        function: RandomFunction,
        data: Callable[[], Any],
        rng: Any,
        name: str,
        canonical: Callable[[Any], Output],
        session: Session,
    ) -> None:
        self._session = session
        self._canonical = canonical
        self._function = function
        self.data = data
        self._rng = rng
        self._name = name
        self.exception: str | None = None

    def follow(self, tree: ChoiceTree) -> None:
        """Ask this tree from now on."""
        self._rng._tree = tree
        self._session.follow(tree)

    def real_floats(self) -> AbstractContextManager[None]:
        """With Python's own ``float`` in the code of the function."""
        return self._session.real_floats()

    def __call__(self) -> Output:
        if self._session.touched:
            self._session.begin()
        try:
            output = self._function(self.data(), self._rng)
        except (Abort, KeyboardInterrupt):
            raise
        except (RecursionError, MemoryError) as error:
            raise _ended_by_the_machine(self._name, error) from error
        except Exception as error:
            if isinstance(error, _OURS_ONLY) and _raised_in_liptest(error):
                raise  # a fault of liptest is no output of the program
            if self.exception is None:
                self.exception = _words(error)
            return raised(error)
        except BaseException as error:
            ended = raised(error)
        else:
            return self._canonical(output)
        raise MechanismError(
            f"{self._name}: it raised {ended.exception}, which ends the program; a mechanism must "
            f"return an output or raise an Exception"
        )


def _ended_by_the_machine(name: str, error: Exception) -> MechanismError:
    return MechanismError(
        f"{name}: it raised {type(error).__name__}: where stack or memory end depends on the "
        f"machine and on who calls, so it is no output; let it ask for less, or give it more "
        f"(sys.setrecursionlimit; the frames of the analysis count, too)"
    )


def _raised_in_liptest(error: Exception) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_FOLDERS)


def _words(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {shown(str(error), 200)}"
    except Exception:
        return type(error).__name__
