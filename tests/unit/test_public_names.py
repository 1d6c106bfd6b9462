"""Every public name loads, on first use only, and is what type checkers are told."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import liptest as lt
from liptest import errors


def test_every_public_name_loads():
    for name in lt.__all__:
        assert getattr(lt, name) is getattr(lt, name)
        assert name in dir(lt)


def test_every_error_is_public():
    tree = ast.parse(Path(errors.__file__).read_text(encoding="utf-8"))
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    assert len(classes) > 10
    assert all(getattr(lt.errors, name) is getattr(errors, name) for name in classes)


def test_dir_shows_the_public_names_only():
    assert dir(lt) == sorted(lt.__all__)
    assert 40 <= len(lt.__all__) <= 56  # fifty, what tables are declared with, and lt.sampler


def test_names_that_moved_work_for_one_version_and_say_where_they_are():
    moved = lt._MOVED
    assert {"InputError", "DJT12", "OrderStatistic", "minimum_cover"} <= set(moved)
    assert not set(moved) & set(lt.__all__)
    for name, home in moved.items():
        with pytest.warns(DeprecationWarning, match=f"lt.{name} is deprecated, write") as told:
            value = getattr(lt, name)
        advice = str(told[0].message).partition("write ")[2]
        assert told[0].filename == __file__
        if advice.startswith("from"):
            scope: dict[str, object] = {}
            exec(advice, scope)
            assert scope[name] is value
        else:
            assert eval(advice, {"lt": lt}) is value
        assert home


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(lt.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    told = {alias.asname for node in block.body for alias in node.names}
    assert told == set(lt.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lt.nothing


def test_importing_liptest_loads_no_numpy():
    code = "import sys, liptest; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
