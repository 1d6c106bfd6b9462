"""What code imports while it runs is imported as if it stood at the top of its file.

Modules make generators, read the environment and note the time while they are imported. So all is
as it was before the analysis meanwhile, and afterwards the program is looked through once more:
what the module holds gets its stand-ins. Modules of the program itself may not read the clock, or
start a thread or another program, where they are imported in a run: what they keep of it would
be an answer that no other process gives. Installed packages do so for themselves.

A run that is given up while it imports would leave half a module. So installed packages take the
time that they need, and halves of the program's own modules are forgotten.
"""

from __future__ import annotations

import dis
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType, ModuleType
from typing import Any

from liptest.enumerate.intercept.analysis_session import Session, active, pop, push
from liptest.enumerate.intercept.replaceable_names import find_attribute, is_others
from liptest.enumerate.watch.compiled_code import is_import_of_parts
from liptest.enumerate.watch.run_watch import wait_for
from liptest.enumerate.watch.side_effects import RandomnessWatch, stay_unnoticed
from liptest.errors import LiptestError
from liptest.values.faults import raises_as_numpy
from liptest.values.lines import is_of_packages

Load = Callable[[str, Any], ModuleType]
# Where the interpreter looks for what imports a module that is not loaded.
_BOOTSTRAP: Any = importlib._bootstrap


class Imports:
    """Imports of one analysis.

    ``install()`` puts all stand-ins in their places and returns the generators that have none,
    ``install_asking()`` those for what asks the machine, and ``take_back()`` takes them away.
    """

    def __init__(
        self,
        session: Session,
        install: Callable[[], list[tuple[str, Any]]],
        install_asking: Callable[[], None],
        take_back: Callable[[], None],
    ) -> None:
        self._session = session
        self._install = install
        self._install_asking = install_asking
        self._take_back = take_back
        self._is_own = self._is_busy = False
        #: Modules of the program whose import has begun, and has not ended well.
        self._half_made: set[str] = set()

    def begin(self) -> None:
        """Put the stand-ins in their places."""
        self._session.watch = RandomnessWatch(self._session.name, self._install())

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Look at what is imported for the first time, by this thread."""
        original: Load = _BOOTSTRAP._find_and_load

        def load(name: str, import_: Any) -> ModuleType:
            if active() is not self._session or self._is_busy:
                return _import(original, name, import_)
            if not _is_there(name):
                return _import(original, name, import_)
            if self._is_own and not is_installed(name):
                return self._import(original, name, import_)
            return self._load(original, name, import_, _is_computed(sys._getframe(1)))

        _BOOTSTRAP._find_and_load = load
        try:
            yield
        finally:
            _BOOTSTRAP._find_and_load = original
            for name in self._half_made:
                _forget(name)

    def _load(self, original: Load, name: str, import_: Any, is_computed: bool) -> ModuleType:
        session = self._session
        with ExitStack() as stack:
            stack.enter_context(wait_for(is_patient=True))
            stack.callback(self._go_on, self._is_own)
            self._is_own = not is_installed(name)
            stack.enter_context(session.watch.set_aside(is_heard=self._is_own))
            self._take_back()
            if self._is_own:
                self._install_asking()
            else:
                pop(session)
                stack.enter_context(stay_unnoticed())
            with wait_for(is_patient=not self._is_own):
                module = self._import(original, name, import_)
            if is_computed and not (is_others(name) or is_import_of_parts(sys._getframe(2), name)):
                session.imported.append(module)
            return module

    def _import(self, original: Load, name: str, import_: Any) -> ModuleType:
        """Import it, and forget a module of the program where the run is given up meanwhile."""
        if not self._is_own or name in sys.modules:
            return _import(original, name, import_)
        self._half_made.add(name)
        try:
            module = _import(original, name, import_)
        except BaseException as error:
            self._end(name, is_whole=isinstance(error, Exception))
            raise
        self._end(name, is_whole=True)
        return module

    def _end(self, name: str, *, is_whole: bool) -> None:
        if is_whole and self._session.tree.failure is None:
            self._half_made.discard(name)
        else:
            _forget(name)

    def _go_on(self, is_own: bool) -> None:
        """All stand-ins are put in their places again, also in what was imported."""
        self._is_own, session = is_own, self._session
        self._is_busy = True
        try:
            self._take_back()
            if active() is not session:
                push(session)
            if is_own:
                self._install_asking()
            else:
                session.watch.hold(self._install())
        except LiptestError as error:
            session.tree.fail(error)
        finally:
            self._is_busy = False


@raises_as_numpy
def _import(original: Load, name: str, import_: Any) -> ModuleType:
    """What this raises Python would raise too, as for a module that is not there."""
    return original(name, import_)


def _forget(name: str) -> None:
    """A module, and all that are part of it."""
    for inside in [
        module for module in sys.modules if module == name or module.startswith(f"{name}.")
    ]:
        del sys.modules[inside]


def is_installed(name: str) -> bool:
    """Whether a module is of the standard library or of an installed package."""
    top = name.partition(".")[0]
    if is_others(top):
        return True
    spec = find_attribute(sys.modules.get(top), "__spec__") or importlib.util.find_spec(top)
    inside = find_attribute(spec, "submodule_search_locations") or ()
    places = find_attribute(spec, "origin"), *inside
    return any(isinstance(place, str) and is_of_packages(place) for place in places)


def _is_computed(frame: FrameType) -> bool:
    """Whether no import statement imports, but a function that is given a name."""
    return frame.f_code.co_code[frame.f_lasti] != _IMPORT_NAME


_IMPORT_NAME = dis.opmap["IMPORT_NAME"]


def _is_there(name: str) -> bool:
    """Whether a module can be imported, as far as that is known without importing anything."""
    parent = name.rpartition(".")[0]
    try:
        package = name if parent in sys.modules else name.partition(".")[0]
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError, AttributeError):
        return False
