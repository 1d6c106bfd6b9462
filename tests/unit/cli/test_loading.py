"""Mechanisms in files, columns of tables."""

from __future__ import annotations

import importlib
import json
import pickle
import sys

import numpy as np
import pytest

import liptest as lt
from liptest.cli import main
from liptest.cli.loading import load_mechanism, use_folder
from liptest.cli.tables import read_column
from liptest.cli.tables import read_whole_numbers as whole_numbers


@pytest.fixture(autouse=True)
def _no_vendor_in_use():
    yield
    use_folder(None)


@pytest.mark.slow
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
    with pytest.raises(lt.errors.InputError, match="RuntimeError"):
        load_mechanism(f"{tmp_path}/v.py:f")
    assert not [name for name in set(sys.modules) - before[0] if "_liptest_" in name]
    assert sys.path[0] == before[1][0]


def test_a_package_module_can_be_named():
    with pytest.raises(lt.errors.InputError, match="is not a mechanism"):
        load_mechanism("math:pi")


def test_npy_json_and_rows(tmp_path):
    np.save(tmp_path / "x.npy", np.array([1, 0, 1]))
    (tmp_path / "x.json").write_text(json.dumps([1, 0, 1]))
    for name in ("x.npy", "x.json"):
        assert read_column(tmp_path / name, None).tolist() == [1, 0, 1]
        assert read_column(tmp_path / name, None, "1:").tolist() == [0, 1]
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(lt.errors.InputError, match="is not a readable"):
        read_column(tmp_path / "bad.json", None)
    with pytest.raises(lt.errors.InputError, match="first:stop"):
        read_column(tmp_path / "x.npy", None, "5")


def test_private_values_are_not_quoted(tmp_path):
    values = np.array(["0", "secret"], dtype=object)
    with pytest.raises(lt.errors.InputError, match="secret"):
        whole_numbers(values, tmp_path)
    with pytest.raises(lt.errors.InputError) as caught:
        whole_numbers(values, tmp_path, private=True)
    assert "secret" not in str(caught.value)


def _vendor(folder, answer, *, lazily=False):
    """A vendor's file that imports a module of its own that is called as every vendor's is."""
    folder.mkdir()
    (folder / "helper.py").write_text(f"class Answer:\n    value = {answer}\n")
    line = "from helper import Answer"
    outside, inside = ("", line) if lazily else (line, "pass")
    (folder / "v.py").write_text(
        f"{outside}\ndef f(data, rng):\n    {inside}\n    return Answer.value\n"
    )
    return f"{folder}/v.py:f"


@pytest.mark.slow
@pytest.mark.parametrize("lazily", [False, True])
def test_two_vendors_helpers_of_one_name_do_not_meet(tmp_path, lazily):
    files = [_vendor(tmp_path / str(k), k, lazily=lazily) for k in (1, 2)]
    found = []
    for k in (0, 1, 0, 1):
        mechanism, _ = load_mechanism(files[k])
        found.append(list(lt.output_law(mechanism, [k % 2, len(found)])))
    assert found == [[1], [2], [1], [2]]


def test_an_installed_package_sees_no_vendors_module(tmp_path):
    load_mechanism(_vendor(tmp_path / "1", 1))
    assert "helper" in sys.modules
    with pytest.raises(lt.errors.InputError, match="is not a mechanism"):
        load_mechanism("math:pi")
    assert "helper" not in sys.modules
    assert str(tmp_path / "1") not in sys.path


@pytest.mark.slow
def test_a_vendors_own_package_is_found_again(tmp_path):
    folder = tmp_path / "1"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "inner.py").write_text("value = 7\n")
    (folder / "v.py").write_text(
        "def f(data, rng):\n    import parts.inner\n    return parts.inner.value\n"
    )
    other = _vendor(tmp_path / "2", 2)
    for number in range(2):
        mechanism, _ = load_mechanism(f"{folder}/v.py:f")
        assert list(lt.output_law(mechanism, [number])) == [7]
        load_mechanism(other)
        assert "parts" not in sys.modules


def test_a_near_name_is_proposed(tmp_path):
    with pytest.raises(lt.errors.InputError, match="did you mean 'f'"):
        load_mechanism(_vendor(tmp_path / "1", 1)[:-1] + "ff")


def test_a_module_of_somebody_else_is_no_vendors_helper(tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "helper.py").write_text("class Answer:\n    value = 99\n")
    monkeypatch.syspath_prepend(str(elsewhere))
    theirs = importlib.import_module("helper")
    mechanism, _ = load_mechanism(_vendor(tmp_path / "1", 1))
    assert list(lt.output_law(mechanism, [0])) == [1]
    use_folder(None)
    assert sys.modules.pop("helper") is theirs


@pytest.mark.parametrize(
    "text",
    [
        "def f(data, n, rng):\n    return rng.integers(2, size=n)\n",
        "import liptest as lt\nf = lt.Sampler(lambda x, n, rng: rng.integers(2, size=n))\n",
    ],
)
def test_a_sampler_is_sent_to_its_command(tmp_path, text):
    (tmp_path / "v.py").write_text(text)
    with pytest.raises(lt.errors.InputError, match=r"test it with liptest samples .*v\.py:f"):
        load_mechanism(f"{tmp_path}/v.py:f")


def test_tables_of_spreadsheets_and_tables_that_are_none(tmp_path):
    path = tmp_path / "bits.csv"
    path.write_bytes("\ufeffclick,é\r\n0,x\r\n1,y\r\n".encode())
    assert read_column(path, "click").tolist() == ["0", "1"]
    for content in (b"click\n0\xe9\n", b"click\n" + b"0" * 200_000 + b"\n"):
        path.write_bytes(content)
        with pytest.raises(lt.errors.InputError, match="it cannot be read as a CSV file in UTF-8"):
            read_column(path, "click")
    path.write_text("click,click\n0,1\n")
    with pytest.raises(lt.errors.InputError, match="has two such columns"):
        read_column(path, "click")


def test_a_private_table_without_a_header_is_not_quoted(tmp_path):
    path = tmp_path / "private.csv"
    path.write_text("secret,1\n0,1\n")
    with pytest.raises(lt.errors.InputError, match="no such column; it has 2") as caught:
        read_column(path, "click", private=True)
    assert "secret" not in str(caught.value)
    with pytest.raises(lt.errors.InputError, match="it has: secret, 1"):
        read_column(path, "click")


COUNTER = """
class Counter:
    def __init__(self, scale):
        self.scale = scale
    def release(self, data, rng):
        return float(data.sum() + rng.laplace(0, self.scale))

wide = Counter(2.0)
narrow = Counter(0.5)
"""


@pytest.mark.slow
def test_a_bound_method_is_named_with_points(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.py").write_text(COUNTER)
    monkeypatch.chdir(tmp_path)
    check = ["--epsilon", "0.5", "--records", "500", "--floats", "ideal"]
    assert main(["check", "mine.py:wide.release", *check, "--json", "wide.json"]) == 0
    assert "mine:wide.release   claim: epsilon 0.5" in capsys.readouterr().out
    assert main(["verify", "wide.json", "mine.py:wide.release"]) == 0
    # The state of the object is part of what was tested.
    assert main(["verify", "wide.json", "mine.py:narrow.release"]) == 1
    assert main(["check", "mine.py:narrow.release", *check]) == 1
    capsys.readouterr()
    assert main(["check", "mine.py:wide.relaese", *check]) == 2
    said = capsys.readouterr().err
    assert "wide has no attribute 'relaese'; it has: release, scale" in said
    assert main(["check", "mine.py:wide.scale", *check]) == 2
    assert main(["check", "mine.py:nothing.release", *check]) == 2
    assert "no object 'nothing.release'" in capsys.readouterr().err
