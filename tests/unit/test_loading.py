"""Mechanisms in files, columns of tables."""

from __future__ import annotations

import json
import pickle
import sys

import numpy as np
import pytest

import liptest as lt
from liptest.loading import load_mechanism, read_column, whole_numbers


def test_two_files_of_one_name_do_not_meet(tmp_path):
    found = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "v.py").write_text(f"def f(data, rng):\n    return {number}\n")
        mechanism, label = load_mechanism(f"{folder}/v.py:f")
        assert label == "v:f"
        found.append(list(lt.output_law(mechanism, [0])))
    assert found == [[1], [2]]


def test_a_loaded_mechanism_pickles(tmp_path):
    (tmp_path / "v.py").write_text("def f(data, rng):\n    return int(rng.integers(3))\n")
    mechanism, _ = load_mechanism(f"{tmp_path}/v.py:f")
    again = pickle.loads(pickle.dumps(mechanism))
    assert lt.output_law(again, [0]) == lt.output_law(mechanism, [0])


def test_a_failed_import_leaves_nothing_behind(tmp_path):
    (tmp_path / "v.py").write_text("raise RuntimeError('no')\n")
    before = set(sys.modules), list(sys.path)
    with pytest.raises(lt.InputError, match="RuntimeError"):
        load_mechanism(f"{tmp_path}/v.py:f")
    assert not [name for name in set(sys.modules) - before[0] if "_liptest_" in name]
    assert sys.path[0] == before[1][0]


def test_a_package_module_can_be_named():
    with pytest.raises(lt.InputError, match="is no mechanism"):
        load_mechanism("math:pi")


def test_npy_json_and_rows(tmp_path):
    np.save(tmp_path / "x.npy", np.array([1, 0, 1]))
    (tmp_path / "x.json").write_text(json.dumps([1, 0, 1]))
    for name in ("x.npy", "x.json"):
        assert read_column(tmp_path / name, None).tolist() == [1, 0, 1]
        assert read_column(tmp_path / name, None, "1:").tolist() == [0, 1]
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(lt.InputError, match="no readable"):
        read_column(tmp_path / "bad.json", None)
    with pytest.raises(lt.InputError, match="first:stop"):
        read_column(tmp_path / "x.npy", None, "5")


def test_private_values_are_not_quoted(tmp_path):
    values = np.array(["0", "secret"], dtype=object)
    with pytest.raises(lt.InputError, match="secret"):
        whole_numbers(values, tmp_path)
    with pytest.raises(lt.InputError) as caught:
        whole_numbers(values, tmp_path, private=True)
    assert "secret" not in str(caught.value)
